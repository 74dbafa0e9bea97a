#!/usr/bin/env bash
# One would guess: dateparser's search_dates, told that a text is English, finds the dates in it, and at worst a month in "may" or a day in
# "sat" besides.
# What happens: "we" is Wednesday, so that each text in which somebody says we has a date of the last week. "A second look" is one second ago,
# "The 2nd of 5 posts" the fifth of February, "Go 1.22 in May" the 22nd of May, and "Route 66 and 24/7" July of 2066. A date with words
# beside it can be lost: "Posted on 2025-03-04, 5 min read", as themes write it above a post, is five minutes ago.
# Seen with: dateparser 1.5.0, asked on 30 November 2026. Source: 20 sentences as posts have them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet dateparser==1.5.0
cat > try.py <<'PY'
import datetime
from dateparser.search import search_dates

SENTENCES = """Here we are
A second look at rye
The 2nd of 5 posts
We moved to Go 1.22 in May
Route 66 and 24/7
See chapter 4 on page 12
Posted on 2025-03-04, 5 min read
Released on October 2, 2023"""
for sentence in SENTENCES.splitlines():
    found = search_dates(sentence, languages=["en"], settings={"RELATIVE_BASE": datetime.datetime(2026, 11, 30)})
    print(f"{sentence}:", *(f'"{text}" {when:%Y-%m-%d %H:%M:%S}' for text, when in found or ()))
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
Here we are: "we" 2026-11-25 00:00:00
A second look at rye: "A second" 2026-11-29 23:59:59
The 2nd of 5 posts: "The 2nd of 5" 2026-02-05 00:00:00
We moved to Go 1.22 in May: "We" 2026-11-25 00:00:00 "22 in May" 2026-05-22 00:00:00
Route 66 and 24/7: "66 and 24/7" 2066-07-24 00:00:00
See chapter 4 on page 12:
Posted on 2025-03-04, 5 min read: "on 2025-03-04, 5 min" 2026-11-29 23:55:00
Released on October 2, 2023: "on October 2, 2023" 2023-10-02 00:00:00
SEEN
