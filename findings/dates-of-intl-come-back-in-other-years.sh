#!/usr/bin/env bash
# One would guess: a date that Node's Intl writes for readers (dateStyle "long" or "medium"), as generators put it above a post, is read back by a
# parser that has the language, or not at all.
# What happens: chrono takes "4 tháng 1, 2025" (Vietnamese) for 4 January 2027, the next one after today, as it sees no year there, and all dates
# of Egypt's medium form for today. dateparser takes मे, Marathi for May, for months: "४ मे, २०२५" is July 2026, and reads the Buddhist year of
# "4 มกราคม 2568", which Intl writes in Thai, as 2568. Each was asked with the language of the date.
# Seen with: chrono-node 2.10.3, dateparser 1.5.0, asked on 30 November 2026; texts as Node 20.20 writes them. Source: 48 dates in each of
# 73 locales, of which chrono reads 72 otherwise and dateparser 56.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund chrono-node@2.10.3
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet dateparser==1.5.0
cat > dates.json <<'JSON'
[["vi", "4 tháng 1, 2025"], ["vi", "23 tháng 12, 2025"], ["vi", "4 tháng 1 năm 2025"], ["ar", "٠٤\u200f/٠١\u200f/٢٠٢٥"],
 ["mr", "४ मे, २०२५"], ["mr", "४ जून, २०२५"], ["th", "4 มกราคม 2568"], ["th", "4 มกราคม 2025"]]
JSON
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import * as chrono from "chrono-node";
for (const [language, text] of JSON.parse(readFileSync("dates.json", "utf8"))) {
  const found = chrono[language]?.parseDate(text, new Date("2026-11-30T12:00:00Z"));
  if (chrono[language]) console.log(`chrono, ${language}: ${text} is ${found ? found.toISOString().slice(0, 10) : "none"}`);
}
JS
cat > try.py <<'PY'
import datetime
import json
import dateparser

for language, text in json.load(open("dates.json")):
    found = dateparser.parse(text, languages=[language], settings={"RELATIVE_BASE": datetime.datetime(2026, 11, 30)})
    print(f"dateparser, {language}: {text} is {found.date() if found else None}")
PY
{ TZ=UTC node try.mjs; venv/bin/python -W ignore try.py; } | tee seen
diff seen - <<'SEEN'
chrono, vi: 4 tháng 1, 2025 is 2027-01-04
chrono, vi: 23 tháng 12, 2025 is 2026-12-23
chrono, vi: 4 tháng 1 năm 2025 is 2025-01-04
chrono, ar: ٠٤‏/٠١‏/٢٠٢٥ is 2026-11-30
dateparser, vi: 4 tháng 1, 2025 is 2025-01-04
dateparser, vi: 23 tháng 12, 2025 is 2025-12-23
dateparser, vi: 4 tháng 1 năm 2025 is 2025-01-04
dateparser, ar: ٠٤‏/٠١‏/٢٠٢٥ is 2025-01-04
dateparser, mr: ४ मे, २०२५ is 2026-07-30
dateparser, mr: ४ जून, २०२५ is 2025-06-04
dateparser, th: 4 มกราคม 2568 is 2568-01-04
dateparser, th: 4 มกราคม 2025 is 2025-01-04
SEEN
