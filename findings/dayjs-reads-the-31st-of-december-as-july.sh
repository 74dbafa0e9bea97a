#!/usr/bin/env bash
# One would guess: Day.js, told the format of a date, says that a date is not valid where it does not fit the format, as date-fns and Luxon do.
# What happens: what is too large runs on into the next month or year: 31/12/2026 read as MM/DD/YYYY is the 12th of July 2028, 2026-02-30 the second of
# March, 25:70 ten past two of the next day, and isValid() is true for all. Without a format, a day of the year as ISO 8601 has it (2026-063, the fourth of
# March) is the third of June, as its digits are taken for a month and a day, and a week (2026-W10) no date. "4 march 2026" and "Sept" are no months,
# as case and letters have to be those of its list. `true` for strict as the third argument refuses the first four.
# Seen with: dayjs 1.11.23, date-fns 4.4.0, luxon 3.7.2. Source: 18 dates.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund dayjs@1.11.23 date-fns@4.4.0 luxon@3.7.2
cat > try.mjs <<'JS'
import { parse, parseISO } from "date-fns";
import dayjs from "dayjs";
import custom from "dayjs/plugin/customParseFormat.js";
import { DateTime } from "luxon";
dayjs.extend(custom);
const shown = (date) => (isNaN(date) ? "none" : date.toISOString().slice(0, 16));
for (const [text, format] of [["31/12/2026", "MM/DD/YYYY"], ["2026-02-30", "YYYY-MM-DD"], ["2026-03-04 25:70", "YYYY-MM-DD HH:mm"], ["4 march 2026", "D MMMM YYYY"]]) {
  const token = format.replaceAll("Y", "y").replaceAll("D", "d");
  const others = [parse(text, token, 0), DateTime.fromFormat(text, token).toJSDate()].map(shown);
  console.log(`${text} as ${format}: dayjs ${shown(dayjs(text, format).toDate())}, strict ${shown(dayjs(text, format, true).toDate())}, date-fns ${others[0]}, luxon ${others[1]}`);
}
for (const text of ["2026-063", "2026-W10", "2026-03-04"])
  console.log(`${text}: dayjs ${shown(dayjs(text).toDate())}, date-fns ${shown(parseISO(text))}, luxon ${shown(DateTime.fromISO(text).toJSDate())}`);
JS
TZ=UTC node try.mjs | tee seen
diff seen - <<'SEEN'
31/12/2026 as MM/DD/YYYY: dayjs 2028-07-12T00:00, strict none, date-fns none, luxon none
2026-02-30 as YYYY-MM-DD: dayjs 2026-03-02T00:00, strict none, date-fns none, luxon none
2026-03-04 25:70 as YYYY-MM-DD HH:mm: dayjs 2026-03-05T02:10, strict none, date-fns none, luxon none
4 march 2026 as D MMMM YYYY: dayjs none, strict none, date-fns 2026-03-04T00:00, luxon 2026-03-04T00:00
2026-063: dayjs 2026-06-03T00:00, date-fns 2026-03-04T00:00, luxon 2026-03-04T00:00
2026-W10: dayjs none, date-fns 2026-03-02T00:00, luxon 2026-03-02T00:00
2026-03-04: dayjs 2026-03-04T00:00, date-fns 2026-03-04T00:00, luxon 2026-03-04T00:00
SEEN
