#!/usr/bin/env bash
# One would guess: a parser that reads many forms of dates reads a time zone in each of them, or refuses the date.
# What happens: any-date-parser drops a numeric offset behind a date of RSS (RFC 822) and of JavaScript's own Date.toString(): 09:30 +0100
# and 09:30 -0500 are both 09:30 UTC, so that posts of two countries come in the wrong order, and one of the evening is of another day. EST
# in its place is read. With ISO 8601 the offset counts, unless the seconds are left out (09:30+01:00). 24:00 is the midnight before, a day
# too early. 1.22 and v1.22 are the first of February.
# Seen with: any-date-parser 2.2.4. Source: the dates of feeds, and 23 others.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund any-date-parser@2.2.4
cat > try.mjs <<'JS'
import parser from "any-date-parser";
for (const text of [
  "Wed, 04 Mar 2026 09:30:00 +0100", "Wed, 04 Mar 2026 09:30:00 -0500", "Wed, 04 Mar 2026 09:30:00 EST",
  "Wed Mar 04 2026 09:30:00 GMT+0100 (Central European Standard Time)", "2026-03-04T09:30:00+01:00", "2026-03-04T09:30+01:00",
  "2026-03-04T24:00:00Z", "v1.22",
]) {
  const js = new Date(text);
  console.log(`${text}: ${parser.fromString(text).toISOString()}, Date ${isNaN(js) ? "none" : js.toISOString()}`);
}
JS
TZ=UTC node try.mjs | tee seen
diff seen - <<'SEEN'
Wed, 04 Mar 2026 09:30:00 +0100: 2026-03-04T09:30:00.000Z, Date 2026-03-04T08:30:00.000Z
Wed, 04 Mar 2026 09:30:00 -0500: 2026-03-04T09:30:00.000Z, Date 2026-03-04T14:30:00.000Z
Wed, 04 Mar 2026 09:30:00 EST: 2026-03-04T14:30:00.000Z, Date 2026-03-04T14:30:00.000Z
Wed Mar 04 2026 09:30:00 GMT+0100 (Central European Standard Time): 2026-03-04T09:30:00.000Z, Date 2026-03-04T08:30:00.000Z
2026-03-04T09:30:00+01:00: 2026-03-04T08:30:00.000Z, Date 2026-03-04T08:30:00.000Z
2026-03-04T09:30+01:00: 2026-03-04T09:30:00.000Z, Date 2026-03-04T08:30:00.000Z
2026-03-04T24:00:00Z: 2026-03-04T00:00:00.000Z, Date 2026-03-05T00:00:00.000Z
v1.22: 2026-02-01T00:00:00.000Z, Date none
SEEN
