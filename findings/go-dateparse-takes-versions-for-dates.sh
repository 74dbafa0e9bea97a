#!/usr/bin/env bash
# One would guess: araddon/dateparse with PreferMonthFirst(false) reads 4.3.2026 as the fourth of March, as it does 4/3/2026, and that "1.22" is
# no date.
# What happens: the option counts for slashes only. Points, which the countries that write the day first mostly use, are
# month.day.year always: 4.3.2026 is the third of April, and 13.4.2026 an error, also with RetryAmbiguousDateWithSwap. Numbers of
# versions are dates of the year 0: 3.14 is the 14th of March, 1.22 the 22nd of January, 1.2.3 the second of January at three o'clock. "Sept
# 4, 2026" and "Thursday, March 4, 2026" are none. EST is a name that moves nothing: 09:30 EST is 09:30 in UTC, -0500 is 14:30.
# Seen with: dateparse v0.0.0-20210429162001, the newest. Source: 60 texts, of which some are shown.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > main.go <<'GO'
package main

import (
	"fmt"
	"time"

	"github.com/araddon/dateparse"
)

func read(text string, options ...dateparse.ParserOption) string {
	date, err := dateparse.ParseAny(text, options...)
	if err != nil {
		return "no date"
	}
	return date.UTC().Format(time.DateTime)
}

func main() {
	day, swap := dateparse.PreferMonthFirst(false), dateparse.RetryAmbiguousDateWithSwap(true)
	for _, text := range []string{
		"4/3/2026", "13/4/2026", "4.3.2026", "04.03.26", "13.4.2026", "3.14", "1.22", "1.2.3", "Sept 4, 2026", "Thursday, March 4, 2026",
		"Wed, 04 Mar 2026 09:30:00 EST", "Wed, 04 Mar 2026 09:30:00 -0500",
	} {
		fmt.Printf("%s: %s; day first: %s; and swapped: %s\n", text, read(text), read(text, day), read(text, day, swap))
	}
}
GO
go mod init seen 2> /dev/null
pin=github.com/araddon/dateparse@0.0.0-20210429162001-6b43995a97de
go get "${pin/@/@v}" 2> /dev/null # to Go it is v0.0.0-…
go run . | tee seen
diff seen - <<'SEEN'
4/3/2026: 2026-04-03 00:00:00; day first: 2026-03-04 00:00:00; and swapped: 2026-03-04 00:00:00
13/4/2026: no date; day first: 2026-04-13 00:00:00; and swapped: 2026-04-13 00:00:00
4.3.2026: 2026-04-03 00:00:00; day first: 2026-04-03 00:00:00; and swapped: 2026-04-03 00:00:00
04.03.26: 2026-04-03 00:00:00; day first: 2026-04-03 00:00:00; and swapped: 2026-04-03 00:00:00
13.4.2026: no date; day first: no date; and swapped: no date
3.14: 0000-03-14 00:00:00; day first: 0000-03-14 00:00:00; and swapped: 0000-03-14 00:00:00
1.22: 0000-01-22 00:00:00; day first: 0000-01-22 00:00:00; and swapped: 0000-01-22 00:00:00
1.2.3: 0000-01-02 03:00:00; day first: 0000-01-02 03:00:00; and swapped: 0000-01-02 03:00:00
Sept 4, 2026: no date; day first: no date; and swapped: no date
Thursday, March 4, 2026: no date; day first: no date; and swapped: no date
Wed, 04 Mar 2026 09:30:00 EST: 2026-03-04 09:30:00; day first: 2026-03-04 09:30:00; and swapped: 2026-03-04 09:30:00
Wed, 04 Mar 2026 09:30:00 -0500: 2026-03-04 14:30:00; day first: 2026-03-04 14:30:00; and swapped: 2026-03-04 14:30:00
SEEN
