#!/usr/bin/env bash
# One would guess: a library that finds dates in English text reads the year that stands in a date, or finds no date there.
# What happens: olebedev/when has rules without a year: "March 4, 2019" is the fourth of March of the present year, and of 2019-11-23 it
# reads 11-23, at that minute of today. tj/go-naturaldate takes numbers beside a month for days and hours: "4 March 2019" is a day in May,
# "May 2019" one in July, "January 15" the fourth at three o'clock, "top 5" five o'clock today, all without an error. when finds nothing in
# "May 2019". Whoever sorts posts or old mails by such dates has all of them in this year.
# Seen with: when v1.1.0, go-naturaldate v1.3.0. Source: 22 dates and phrases, at noon of 4 March 2026.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
go mod init try 2> /dev/null
for pin in github.com/olebedev/when@1.1.0 github.com/tj/go-naturaldate@1.3.0; do
  go get "${pin/@/@v}" 2> /dev/null # to Go they are v1.1.0 and v1.3.0
done
cat > main.go <<'GO'
package main

import (
	"fmt"
	"time"

	"github.com/olebedev/when"
	"github.com/tj/go-naturaldate"
)

func main() {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"March 4, 2019", "4 March 2019", "2019-11-23", "5th of November 2020", "May 2019", "January 15", "top 5", "yesterday",
	} {
		seen := "nothing"
		if result, err := when.EN.Parse(text, now); err == nil && result != nil {
			seen = result.Time.Format("2006-01-02 15:04") + " [" + result.Text + "]"
		}
		other := "an error"
		if found, err := naturaldate.Parse(text, now); err == nil {
			other = found.Format("2006-01-02 15:04")
		}
		fmt.Printf("%s: when %s, naturaldate %s\n", text, seen, other)
	}
}
GO
go run . | tee seen
diff seen - <<'SEEN'
March 4, 2019: when 2026-03-04 12:00 [March 4], naturaldate an error
4 March 2019: when nothing, naturaldate 2025-05-27 03:00
2019-11-23: when 2026-03-04 11:23 [11-23], naturaldate an error
5th of November 2020: when nothing, naturaldate 2026-01-28 04:00
May 2019: when nothing, naturaldate 2025-07-27 03:00
January 15: when 2026-01-15 12:00 [January 15], naturaldate 2026-01-04 15:00
top 5: when nothing, naturaldate 2026-03-04 05:00
yesterday: when 2026-03-03 12:00 [yesterday], naturaldate 2026-03-03 00:00
SEEN
