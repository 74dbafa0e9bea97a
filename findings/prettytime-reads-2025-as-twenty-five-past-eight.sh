#!/usr/bin/env bash
# One would guess: PrettyTime's parser, which finds dates in English text, finds the year in "in 2025" and the month in "Python 3.12 in
# May", or nothing.
# What happens: four digits are a time of day: "in 2025" is 20:25 of today, "since 1999" nothing, as there is no such minute. A number with
# a point is one, too: "Python 3.12 in May" is 3:12 of today, and May is lost, while "in May" alone is May. "top 5" is five o'clock.
# 4.3.2026 is four o'clock today. Who takes the first date of a query, or of a text, has today for each of these.
# Seen with: org.ocpsoft.prettytime:prettytime-nlp 5.0.9.Final. Source: queries and titles of posts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>seen</groupId><artifactId>seen</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.ocpsoft.prettytime</groupId><artifactId>prettytime-nlp</artifactId><version>5.0.9.Final</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=lib
cat > Try.java <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.TimeZone;
import org.ocpsoft.prettytime.nlp.PrettyTimeParser;

public class Try {
    public static void main(String[] texts) {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        for (String text : texts) {
            var line = new StringBuilder(text + " ->");
            for (var group : new PrettyTimeParser().parseSyntax(text)) {
                var found = group.getDates().get(0).toInstant();
                var time = found.atOffset(ZoneOffset.UTC);
                var day = time.toLocalDate().equals(LocalDate.now(ZoneOffset.UTC)) ? "today" : time.getMonth() + " " + time.getDayOfMonth();
                line.append(" [" + group.getText() + "] " + day + (time.getSecond() == 0 ? " " + time.toLocalTime() : ""));
            }
            System.out.println(line);
        }
    }
}
JAVA
java -cp 'lib/*' Try.java "in 2025" "since 1999" "posts from 2024" "Python 3.12 in May" "in May" "top 5" "4.3.2026" "March 4, 2026" 2> /dev/null | grep ' ->' | tee seen
diff seen - <<'SEEN'
in 2025 -> [2025] today 20:25
since 1999 ->
posts from 2024 ->
Python 3.12 in May -> [3.12] today 03:12
in May -> [May] MAY 1
top 5 -> [5] today 05:00
4.3.2026 -> [4] today 04:00
March 4, 2026 -> [March 4, 2026] MARCH 4
SEEN
