#!/usr/bin/env bash
# One would guess: Lucene's MorfologikAnalyzer, the Polish one with a dictionary, finds a word whether it is typed with a capital or
# without, as each analyzer of Lucene for a language does.
# What happens: it changes no capitals. What the dictionary lacks stays as it was written: Docker and docker, PHP and php, Linux and linux
# are two words each. Of what it has, names keep theirs: Warszawie (in Warsaw) is Warszawa, but warszawie, as one types it, warszawa, and
# polska is the adjective polski, Polska the country, so that a search in small letters finds no place and no person (Anny: Anna, anna:
# anna). "w" (in) is also wiek (century), which finds each sentence with "in". The Ukrainian analyzer of the same package writes all it does
# not know in small letters.
# Seen with: lucene-analysis-morfologik 9.12.3 with morfologik-polish 2.1.9, and 10.4.0. Source: words of titles and queries.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
for pin in org.apache.lucene:lucene-core:9.12.3 org.apache.lucene:lucene-analysis-common:9.12.3 \
  org.apache.lucene:lucene-analysis-morfologik:9.12.3 org.carrot2:morfologik-stemming:2.1.9 org.carrot2:morfologik-fsa:2.1.9 \
  org.carrot2:morfologik-polish:2.1.9; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$pin" \
    -DoutputDirectory=lib
done
cat > Try.java <<'JAVA'
import org.apache.lucene.analysis.morfologik.MorfologikAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class Try {
    public static void main(String[] texts) throws Exception {
        var analyzer = new MorfologikAnalyzer();
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
  "Docker docker" "PHP php" "Warszawie warszawie" "Polska polska" "Anny anna" "Blog blogi" "w Gdańsku" 2> /dev/null | tee seen
diff seen - <<'SEEN'
Docker docker -> Docker docker
PHP php -> PHP php
Warszawie warszawie -> Warszawa warszawa
Polska polska -> Polska polski
Anny anna -> Anna anna
Blog blogi -> blog blog
w Gdańsku -> w wiek Gdańsk
SEEN
