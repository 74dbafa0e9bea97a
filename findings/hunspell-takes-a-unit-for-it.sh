#!/usr/bin/env bash
# One would guess: Lucene's HunspellStemFilter (the filter `hunspell` of Elasticsearch), with the English dictionary of spelling checkers, takes
# running to run, and leaves a word alone that is in the dictionary.
# What happens: a dictionary for spelling lists words and the endings and beginnings that each may have, so that it takes off both, and only
# what is listed. unit and units are it, invoice is voice, indices dices, reaction action, resource source, recall call, and Docker dock.
# running, programming, logging and written have entries of their own and stay, so that run, log and write do not find them; searching is
# searching and search. In German, behind `lowercase`, as chains have it, no noun has a stem, as nouns begin with a capital there: Häuser is
# häuser; with ignoreCase it is haus, but Datenbanken and Suchmaschinen stay. Italian libro and libri (book) are both librare, to free.
# Seen with: lucene-analysis-common 9.12.3 and 10.4.0, dictionary-en 4.0.0, dictionary-de 3.0.0, dictionary-it 2.0.0 (npm). Source: 80 words.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund dictionary-en@4.0.0 dictionary-de@3.0.0 dictionary-it@2.0.0
for pin in org.apache.lucene:lucene-core:9.12.3 org.apache.lucene:lucene-analysis-common:9.12.3; do
  mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory=lib \
    -Dartifact="$pin"
done
cat > Try.java <<'JAVA'
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.hunspell.Dictionary;
import org.apache.lucene.analysis.hunspell.HunspellStemFilter;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.store.ByteBuffersDirectory;

public class Try {
    static void stem(String language, boolean ignoreCase, String... words) throws Exception {
        Path folder = Path.of("node_modules/dictionary-" + language);
        Dictionary dictionary;
        try (var rules = Files.newInputStream(folder.resolve("index.aff")); var list = Files.newInputStream(folder.resolve("index.dic"))) {
            dictionary = new Dictionary(new ByteBuffersDirectory(), "hunspell", rules, List.of(list), ignoreCase);
        }
        for (String word : words) {
            var tokenizer = new WhitespaceTokenizer();
            tokenizer.setReader(new StringReader(word));
            var line = new StringBuilder(language + (ignoreCase ? ", ignoreCase, " : ", ") + word + ":");
            try (var stream = new HunspellStemFilter(new LowerCaseFilter(tokenizer), dictionary)) {
                var term = stream.addAttribute(CharTermAttribute.class);
                stream.reset();
                while (stream.incrementToken()) line.append(" ").append(term);
            }
            System.out.println(line);
        }
    }

    public static void main(String[] none) throws Exception {
        stem("en", false, "unit", "units", "invoice", "indices", "reaction", "resource", "recall", "Docker", "running", "programming", "logging", "written",
            "searching", "searched", "baking", "databases");
        for (boolean ignoreCase : new boolean[] {false, true}) stem("de", ignoreCase, "Häuser", "Bücher", "Datenbanken", "Suchmaschinen", "suchte");
        stem("it", false, "libro", "libri", "ricerche");
    }
}
JAVA
java -Dfile.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp 'lib/*' Try.java 2> /dev/null | tee seen
diff seen - <<'SEEN'
en, unit: it
en, units: it
en, invoice: voice
en, indices: dices
en, reaction: action
en, resource: source
en, recall: call
en, Docker: dock
en, running: running
en, programming: programming
en, logging: logging
en, written: written
en, searching: searching search
en, searched: search
en, baking: bake
en, databases: database
de, Häuser: häuser
de, Bücher: bücher
de, Datenbanken: datenbanken
de, Suchmaschinen: suchmaschinen
de, suchte: suchen
de, ignoreCase, Häuser: haus
de, ignoreCase, Bücher: bücher
de, ignoreCase, Datenbanken: datenbanken
de, ignoreCase, Suchmaschinen: suchmaschinen
de, ignoreCase, suchte: suchen
it, libro: librare
it, libri: librare
it, ricerche: ricerche
SEEN
