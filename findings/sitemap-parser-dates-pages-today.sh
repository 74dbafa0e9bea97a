#!/usr/bin/env bash
# One would guess: a page whose <lastmod> is 2026-03, as W3C's dates may be and sitemaps.org allows, was last changed on the first of
# that month, or some day of it that stays the same.
# What happens: ultimate-sitemap-parser takes what is missing from today (it leaves them to dateutil, which does so). The date is
# another one each day, and that of a page with 2026 is today's: a crawler that fetches what has changed fetches it every day.
# htmldate does the same with <time datetime="2026-03">, but takes the first of the month from the text "2026-03".
# Seen with: ultimate-sitemap-parser 1.8.1, htmldate 1.11.0, python-dateutil 2.9.0.post0. Source: one sitemap, and two pages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet ultimate-sitemap-parser==1.8.1 htmldate==1.11.0 python-dateutil==2.9.0.post0
cat > try.py <<'PY'
from datetime import date
from htmldate import find_date
from usp.tree import sitemap_from_str

PLACE = "https://blog.example.org/"
STATED = ("2026-03-04", "2026-03", "2026")
urls = "".join(f"<url><loc>{PLACE}{stated}</loc><lastmod>{stated}</lastmod></url>" for stated in STATED)
sitemap = sitemap_from_str(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>')
read = {page.url.removeprefix(PLACE): page.last_modified.date() for page in sitemap.all_pages()}
today = date.today()
print("today:", today)
for stated, found in read.items():
    print(f"{stated}: {found}")
pages = ('<time datetime="2026-03">March</time>', "<p>Published 2026-03</p>")
found = [find_date(f"<html><body><article>{page}<p>Rye is milled.</p></article></body></html>") for page in pages]
print(dict(zip(pages, found)))
assert found == [f"2026-03-{today.day:02}", "2026-03-01"]
assert read["2026-03-04"] == date(2026, 3, 4)
assert read["2026-03"] == date(2026, 3, today.day)
assert (read["2026"].year, read["2026"].month) == (2026, today.month)
PY
venv/bin/python try.py
