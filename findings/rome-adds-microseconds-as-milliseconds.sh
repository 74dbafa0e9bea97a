#!/usr/bin/env bash
# One would guess: ROME, Java's usual reader of feeds, reads the date of an entry to the second at least, as RFC 3339 (Atom) lets a second
# have any number of decimals, and Python (six), .NET (seven) and Go (nine) write them.
# What happens: decimals are read as a number of milliseconds. 09:30:00.123456 is two minutes later, the last moment of 2026 in .NET's form
# is a quarter to three in the night of 1 January 2027, and with nine decimals a post is up to eleven and a half days too late: newest posts
# come in another order, and a reader that hides what is in the future hides them. An offset without a colon, a time with a space, or
# without a zone, is no date at all, and nothing is said.
# Seen with: com.rometools:rome 2.1.0. Source: the dates of one feed, as the standard libraries of three languages print them.
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
mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=lib
cat > Try.java <<'JAVA'
import com.rometools.rome.io.SyndFeedInput;
import java.io.StringReader;

public class Try {
    public static void main(String[] dates) throws Exception {
        var feed = new StringBuilder("<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:mill</id><title>Mill</title>");
        for (String date : dates)
            feed.append("<entry><id>urn:" + date + "</id><title>Rye</title><updated>" + date + "</updated></entry>");
        for (var entry : new SyndFeedInput().build(new StringReader(feed + "</feed>")).getEntries())
            System.out.println(entry.getUri() + " -> " + (entry.getUpdatedDate() == null ? "no date" : entry.getUpdatedDate().toInstant()));
    }
}
JAVA
java -cp 'lib/*' Try.java 2026-03-04T09:30:00Z 2026-03-04T09:30:00.123Z 2026-03-04T09:30:00.123456Z 2026-12-31T23:59:59.9999999Z \
  2026-12-31T23:59:59.999999999Z 2026-03-04T09:30:00+0100 "2026-03-04 09:30:00+01:00" 2026-03-04T09:30:00 2> /dev/null | tee seen
diff seen - <<'SEEN'
urn:2026-03-04T09:30:00Z -> 2026-03-04T09:30:00Z
urn:2026-03-04T09:30:00.123Z -> 2026-03-04T09:30:00.123Z
urn:2026-03-04T09:30:00.123456Z -> 2026-03-04T09:32:03.456Z
urn:2026-12-31T23:59:59.9999999Z -> 2027-01-01T02:46:38.999Z
urn:2026-12-31T23:59:59.999999999Z -> 2027-01-12T13:46:38.999Z
urn:2026-03-04T09:30:00+0100 -> no date
urn:2026-03-04 09:30:00+01:00 -> no date
urn:2026-03-04T09:30:00 -> no date
SEEN
