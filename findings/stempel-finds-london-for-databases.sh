#!/usr/bin/env bash
# One would guess: Lucene's Polish analyzer (Stempel, in Elasticsearch and OpenSearch the plugin analysis-stempel) gives the forms of a
# common noun one stem, and leaves words alone that it does not know.
# What happens: its table ends unknown and many known words in -ć, like a verb, whatever is left of them. bazy (of the database), news,
# Londyn (London), baby and celu (of the aim) are all "ć", so that each finds the others; prasy (of the press) and Praga (Prague) are "pć",
# kredyt and kanały (channels) "kć". Google is gooź, Windows winć, url urć and http httpić, forms of one noun (zdjęcie, zdjęcia, zdjęć,
# picture) have three stems, and lat (of years) is a stop word. Of the 30,000 most frequent words 106 share 16 such stems of one or two
# letters.
# Seen with: lucene-analysis-stempel 9.12.3, and 10.4.0, which Elasticsearch 9.4.3 has. Source: run; Lucene's javadoc calls its stems
# "algorithmic".
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
for pin in lucene-core:9.12.3 lucene-analysis-common:9.12.3 lucene-analysis-stempel:9.12.3; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="org.apache.lucene:$pin" \
    -DoutputDirectory=lib
done
cat > Try.java <<'JAVA'
import org.apache.lucene.analysis.pl.PolishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class Try {
    public static void main(String[] texts) throws Exception {
        var analyzer = new PolishAnalyzer();
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
  "bazy danych, news, Londyn, baby, celu" "prasy, Praga; kredyt, kanały" "zdjęcie zdjęcia zdjęć" "wyszukiwarka wyszukiwarki" \
  "Google Windows url http api" "dwadzieścia lat" 2> /dev/null | tee seen
diff seen - <<'SEEN'
bazy danych, news, Londyn, baby, celu -> ć danych ć ć ć ć
prasy, Praga; kredyt, kanały -> pć pć kć kć
zdjęcie zdjęcia zdjęć -> zdjąć zdć zdjęy
wyszukiwarka wyszukiwarki -> wyszukiwarka wyszukiwarky
Google Windows url http api -> gooź winć urć httpić apić
dwadzieścia lat -> dwadzieście
SEEN
