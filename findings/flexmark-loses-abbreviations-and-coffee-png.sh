#!/usr/bin/env bash
# One would guess: flexmark's converter of HTML to Markdown, with its defaults, makes ![alt](address) of each picture, and keeps the words
# of a sentence.
# What happens: the word inside <abbr> is gone. "The <abbr title="HyperText">HTML</abbr> page" is "The page", with a definition of HTML,
# which is not in the text any more, below it. A .png with the name of one of GitHub's shortcuts (coffee, book, computer, house, a), in
# whatever folder or host, becomes the shortcut: "My desk" in /2026/coffee.png is ":coffee:", and address and alternative text are gone,
# while coffee.jpg stays: whether a picture survives the move of a blog hangs on its name. "1986. A good year" in a paragraph becomes a
# list.
# Seen with: com.vladsch.flexmark:flexmark-html2md-converter 0.64.8. Source: pictures of posts, and 22 other pieces of HTML.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>seen</groupId><artifactId>seen</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.vladsch.flexmark</groupId><artifactId>flexmark-html2md-converter</artifactId><version>0.64.8</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=lib
cat > Try.java <<'JAVA'
import com.vladsch.flexmark.html2md.converter.FlexmarkHtmlConverter;

public class Try {
    public static void main(String[] pieces) {
        for (String html : pieces)
            System.out.println(html + " -> " + FlexmarkHtmlConverter.builder().build().convert(html).strip().replaceAll("\\s+", " "));
    }
}
JAVA
java -cp 'lib/*' Try.java '<p>The <abbr title="HyperText">HTML</abbr> page</p>' '<p>1986. A good year</p>' \
  '<img src="/2026/coffee.png" alt="My desk">' '<img src="/2026/coffee.jpg" alt="My desk">' '<img src="/2026/rye.png" alt="Rye">' \
  '<img src="https://cdn.example.org/cat.png" alt="Tom in 2019">' '<img src="/img/book.png" alt="Cover">' 2> /dev/null | tee seen
diff seen - <<'SEEN'
<p>The <abbr title="HyperText">HTML</abbr> page</p> -> The page *[HTML]: HyperText
<p>1986. A good year</p> -> 1986. A good year
<img src="/2026/coffee.png" alt="My desk"> -> :coffee:
<img src="/2026/coffee.jpg" alt="My desk"> -> ![My desk](/2026/coffee.jpg)
<img src="/2026/rye.png" alt="Rye"> -> ![Rye](/2026/rye.png)
<img src="https://cdn.example.org/cat.png" alt="Tom in 2019"> -> :cat:
<img src="/img/book.png" alt="Cover"> -> :open_book:
SEEN
