#!/usr/bin/env bash
# One would guess: Lucene's analyzer for Chinese (SmartChineseAnalyzer, in Elasticsearch the plugin analysis-smartcn), which is for "Chinese
# or mixed Chinese-English text", keeps a word of another alphabet together, and knows both ways of writing Chinese.
# What happens: it knows a to z and the characters of GB2312. Each other letter is a word of its own: Привет is six words, as is any
# Russian, Greek or Korean one, Schrödinger is schr, ö and dinger, and São Paulo four words. Capitals of these stay capitals, so that МИР
# and мир have no token in common. In traditional characters (臺灣, 搜尋) each character that GB2312 lacks is a word, so that 資料庫 (database)
# finds all three anywhere. A digit ends a word: utf8 is utf and 8.
# Seen with: lucene-analysis-smartcn 9.12.3, and 10.4.0, which Elasticsearch 9.4.3 has. Source: its javadoc, and names in posts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
for pin in lucene-core:9.12.3 lucene-analysis-common:9.12.3 lucene-analysis-smartcn:9.12.3; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory=lib \
    -Dartifact="org.apache.lucene:$pin"
done
cat > Try.java <<'JAVA'
import org.apache.lucene.analysis.cn.smart.SmartChineseAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class Try {
    public static void main(String[] texts) throws Exception {
        var analyzer = new SmartChineseAnalyzer();
        for (String text : texts) {
            var line = new StringBuilder(text + " ->");
            try (var stream = analyzer.tokenStream("text", text)) {
                var term = stream.addAttribute(CharTermAttribute.class);
                stream.reset();
                while (stream.incrementToken()) line.append(" ").append(term);
                stream.end();
            }
            System.out.println(line);
        }
    }
}
JAVA
java -Dfile.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp 'lib/*' Try.java \
  "Привет" "МИР мир" "Schrödinger 方程" "在 São Paulo 的 café" "한국어" "搜索引擎与数据库" "搜尋引擎與資料庫" "utf8 x86" 2> /dev/null | tee seen
diff seen - <<'SEEN'
Привет -> П р и в е т
МИР мир -> М И Р м и р
Schrödinger 方程 -> schr ö dinger 方程
在 São Paulo 的 café -> 在 s ã o paulo 的 caf é
한국어 -> 한 국 어
搜索引擎与数据库 -> 搜索引擎 与 数据库
搜尋引擎與資料庫 -> 搜 尋 引擎 與 資 料 庫
utf8 x86 -> utf 8 x 86
SEEN
