#!/usr/bin/env bash
# One would guess: TextContentRenderer of commonmark-java, which makes plain text of Markdown (for excerpts, mails, an index), leaves the
# words of a sentence beside each other.
# What happens: code and the text of a link stand in straight quotation marks, and the address behind: "See [the
# docs](https://example.org/x) now" is See "the docs" (https://example.org/x) now, so that the phrase "docs now" is not in it, and every
# post is found by https and org. A picture is its alternative text in quotes and its file, a quotation stands in «», the marks of French,
# in any language, and a table is left as Markdown. Each has to be overridden by a renderer of one's own.
# Seen with: org.commonmark:commonmark 0.32.0. Source: 15 pieces of Markdown; its documentation speaks of "minimal markup-like additions".
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -DoutputDirectory=lib \
  -Dartifact=org.commonmark:commonmark:0.32.0
cat > Try.java <<'JAVA'
import org.commonmark.parser.Parser;
import org.commonmark.renderer.text.TextContentRenderer;

public class Try {
    public static void main(String[] pieces) {
        for (String piece : pieces)
            System.out.println(piece + " -> " + TextContentRenderer.builder().build().render(Parser.builder().build().parse(piece)));
    }
}
JAVA
java -Dfile.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp 'lib/*' Try.java 'See [the docs](https://example.org/x) now' \
  'Use `Vec<T>` now' 'A ![mill](/mill.png) turns' '> Rye is milled' '**Rye** is *milled*' 2> /dev/null | tee seen
diff seen - <<'SEEN'
See [the docs](https://example.org/x) now -> See "the docs" (https://example.org/x) now
Use `Vec<T>` now -> Use "Vec<T>" now
A ![mill](/mill.png) turns -> A "mill" (/mill.png) turns
> Rye is milled -> «Rye is milled»
**Rye** is *milled* -> Rye is milled
SEEN
