#!/usr/bin/env bash
# One would guess: Lucene's ICUFoldingFilter (icu_folding of Elasticsearch, in examples for all languages) takes accents off letters, so
# that café finds cafe, and leaves scripts without accents alone.
# What happens: it takes every mark off that Unicode writes as one. In Japanese パパ (papa) becomes ハハ, which is mother, かぎ (key) かき (oyster),
# and ガ カ. In Thai ม้า (horse) is มา (to come). In Hindi and Tamil the sign is gone that takes a vowel away: हिन्दी (Hindi) is हिनदी, and
# பல் (tooth) பல (many). Russian мой (my) is мои, its plural. asciifolding changes none of these. A filter of characters
# (unicode_set_filter) can keep scripts out.
# Seen with: lucene-analysis-icu 9.12.3 with icu4j 74.2, and 10.4.0, which Elasticsearch 9.4.3 has. Source: UTR 30, which the filter
# follows, was withdrawn; words of five languages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
for pin in org.apache.lucene:lucene-core:9.12.3 org.apache.lucene:lucene-analysis-common:9.12.3 org.apache.lucene:lucene-analysis-icu:9.12.3 com.ibm.icu:icu4j:74.2; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory=lib \
    -Dartifact="$pin"
done
cat > Try.java <<'JAVA'
import java.io.StringReader;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.icu.ICUFoldingFilter;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class Try {
    static WhitespaceTokenizer words(String text) {
        var words = new WhitespaceTokenizer();
        words.setReader(new StringReader(text));
        return words;
    }

    static String read(TokenStream stream) throws Exception {
        var line = new StringBuilder();
        var term = stream.addAttribute(CharTermAttribute.class);
        stream.reset();
        while (stream.incrementToken()) line.append(" ").append(term);
        return line.toString();
    }

    public static void main(String[] texts) throws Exception {
        for (String text : texts)
            System.out.println(text + ": icu" + read(new ICUFoldingFilter(words(text)))
                + ", ascii" + read(new ASCIIFoldingFilter(new LowerCaseFilter(words(text)))));
    }
}
JAVA
java -Dfile.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp 'lib/*' Try.java \
  "Café café" "パパ ハハ" "かぎ かき" "ม้า มา" "हिन्दी" "பல் பல" "мой мои" 2> /dev/null | tee seen
diff seen - <<'SEEN'
Café café: icu cafe cafe, ascii cafe cafe
パパ ハハ: icu ハハ ハハ, ascii パパ ハハ
かぎ かき: icu かき かき, ascii かぎ かき
ม้า มา: icu มา มา, ascii ม้า มา
हिन्दी: icu हिनदी, ascii हिन्दी
பல் பல: icu பல பல, ascii பல் பல
мой мои: icu мои мои, ascii мой мои
SEEN
