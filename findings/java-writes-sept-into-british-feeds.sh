#!/usr/bin/env bash
# One would guess: a date of RSS that Java writes with the pattern of RFC 822 (EEE, dd MMM yyyy) and an English locale is one that readers of feeds read, at
# least Java's own.
# What happens: for Britain and Australia the short form of September is Sept, for Australia June and July are whole words, and for Canada "Wed., 09
# Sep." has points, all since Java took its names from Unicode's tables. ROME, gofeed, podcastparser and Python's own email.utils
# find no date there, without an error: the posts of September, or all of a Canadian build machine, have none and go to the end of a list or are left
# out, while those of other months are right. feedparser and JavaScript's Date read all of them. Locale.ROOT or RFC_1123_DATE_TIME help.
# Seen with: OpenJDK 17, com.rometools:rome 2.1.0, gofeed 1.4.2, podcastparser 0.6.11, feedparser 6.0.14. Source: three months in eight locales.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>seen</groupId><artifactId>seen</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.rometools</groupId><artifactId>rome</artifactId><version>2.1.0</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=lib > /dev/null
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet podcastparser==0.6.11 feedparser==6.0.14
go mod init dates 2> /dev/null
pin=github.com/mmcdole/gofeed@1.4.2
go get "${pin/@/@v}" 2> /dev/null # to Go it is v1.4.2
cat > Try.java <<'JAVA'
import com.rometools.rome.io.SyndFeedInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

public class Try {
    public static void main(String[] arguments) throws Exception {
        var feed = new StringBuilder("<rss version='2.0'><channel><title>Mill</title><link>https://example.org</link><description>x</description>");
        for (String locale : new String[] {"en-US", "en-GB", "en-AU", "en-CA"})
            for (int month : new int[] {6, 9}) {
                var date = ZonedDateTime.of(2026, month, 9, 9, 30, 0, 0, ZoneOffset.UTC);
                var text = date.format(DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss Z", Locale.forLanguageTag(locale)));
                feed.append("<item><title>" + text + " (" + locale + ")</title><link>https://example.org/" + locale + month + "</link><description>x</description>");
                feed.append("<pubDate>" + text + "</pubDate></item>");
            }
        Files.writeString(Path.of("feed.xml"), feed + "</channel></rss>");
        for (var entry : new SyndFeedInput().build(Files.newBufferedReader(Path.of("feed.xml"))).getEntries())
            System.out.println("rome: " + entry.getTitle() + " " + (entry.getPublishedDate() == null ? "none" : "read"));
    }
}
JAVA
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/mmcdole/gofeed"
)

func main() {
	file, _ := os.Open("feed.xml")
	feed, err := gofeed.NewParser().Parse(file)
	if err != nil {
		panic(err)
	}
	for _, item := range feed.Items {
		if item.PublishedParsed == nil {
			fmt.Println("gofeed:", item.Title, "none")
		}
	}
}
GO
cat > try.py <<'PY'
import email.utils
import logging

import feedparser
import podcastparser

logging.disable()
for entry in podcastparser.parse("feed.xml", open("feed.xml", "rb"))["episodes"]:
    if not entry["published"]:
        print("podcastparser:", entry["title"], "none")
for entry in feedparser.parse("feed.xml").entries:
    if not email.utils.parsedate(entry.published):
        print("email.utils:", entry.title, "none")
    if not entry.published_parsed:
        print("feedparser:", entry.title, "none")
PY
{ java -cp 'lib/*' Try.java 2> /dev/null && go run . && venv/bin/python try.py | LC_ALL=C sort; } | tee seen
diff seen - <<'SEEN'
rome: Tue, 09 Jun 2026 09:30:00 +0000 (en-US) read
rome: Wed, 09 Sep 2026 09:30:00 +0000 (en-US) read
rome: Tue, 09 Jun 2026 09:30:00 +0000 (en-GB) read
rome: Wed, 09 Sept 2026 09:30:00 +0000 (en-GB) none
rome: Tue, 09 June 2026 09:30:00 +0000 (en-AU) read
rome: Wed, 09 Sept 2026 09:30:00 +0000 (en-AU) none
rome: Tue., 09 Jun. 2026 09:30:00 +0000 (en-CA) none
rome: Wed., 09 Sep. 2026 09:30:00 +0000 (en-CA) none
gofeed: Wed, 09 Sept 2026 09:30:00 +0000 (en-GB) none
gofeed: Wed, 09 Sept 2026 09:30:00 +0000 (en-AU) none
gofeed: Tue., 09 Jun. 2026 09:30:00 +0000 (en-CA) none
gofeed: Wed., 09 Sep. 2026 09:30:00 +0000 (en-CA) none
email.utils: Tue., 09 Jun. 2026 09:30:00 +0000 (en-CA) none
email.utils: Wed, 09 Sept 2026 09:30:00 +0000 (en-AU) none
email.utils: Wed, 09 Sept 2026 09:30:00 +0000 (en-GB) none
email.utils: Wed., 09 Sep. 2026 09:30:00 +0000 (en-CA) none
podcastparser: Tue., 09 Jun. 2026 09:30:00 +0000 (en-CA) none
podcastparser: Wed, 09 Sept 2026 09:30:00 +0000 (en-AU) none
podcastparser: Wed, 09 Sept 2026 09:30:00 +0000 (en-GB) none
podcastparser: Wed., 09 Sep. 2026 09:30:00 +0000 (en-CA) none
SEEN
