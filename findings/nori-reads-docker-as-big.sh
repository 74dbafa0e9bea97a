#!/usr/bin/env bash
# One would guess: Lucene's Korean analyzer (nori, in Elasticsearch the plugin analysis-nori), told a word by itself, makes the same token
# of it as in a title, or at least keeps names that are nouns.
# What happens: its dictionary reads 도커 (Docker) behind a particle or a verb as "even" and a form of "to be big". "Install Docker on
# Windows" has the token 크 (big) and none for Docker: 도커 does not find it, and a search for 큰 집 (a big house) does. In "The basics
# of Docker" it is Docker. 노션 사용법 (using Notion) is "to play", 스벨트 (Svelte) a belt, the language 고 (Go) nothing, and 구글 (Google) two words.
# Users' own words (`user_dictionary`) mend each name that one thinks of.
# Seen with: lucene-analysis-nori 9.12.3, and 10.4.0, which Elasticsearch 9.4.3 has. Source: run on titles of posts about programming.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
for pin in lucene-core:9.12.3 lucene-analysis-common:9.12.3 lucene-analysis-nori:9.12.3; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory=lib \
    -Dartifact="org.apache.lucene:$pin"
done
cat > Try.java <<'JAVA'
import org.apache.lucene.analysis.ko.KoreanAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class Try {
    public static void main(String[] texts) throws Exception {
        var analyzer = new KoreanAnalyzer();
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
  "윈도우에서 도커 설치하기" "우분투에 도커 설치" "도커 입문" "도커 설치" "큰 집" "노션 사용법" "노션" "같이 놀다" "스벨트 입문" "고 언어" \
  "구글 검색" 2> /dev/null | tee seen
diff seen - <<'SEEN'
윈도우에서 도커 설치하기 -> 윈도우 크 설치
우분투에 도커 설치 -> 우분투 크 설치
도커 입문 -> 도커 입문
도커 설치 -> 도커 설치
큰 집 -> 크 집
노션 사용법 -> 놀 사용 법
노션 -> 놀
같이 놀다 -> 놀
스벨트 입문 -> 벨트 입문
고 언어 -> 언어
구글 검색 -> 구 글 검색
SEEN
