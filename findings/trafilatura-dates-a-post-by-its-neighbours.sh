#!/usr/bin/env bash
# One would guess: where the head of a page has no date, trafilatura takes that of the article: its own <time>, or the day written
# above it.
# What happens: htmldate, which it asks, takes the earliest <time> of the whole page, in <aside> and <nav> too: a post of 2024 that
# names an older one beside it is one of 2022. htmldate by itself takes the latest, that of a newer post, unless `original_date` is on.
# 2024年1月31日 is the first of January to both. A page without a date is dated by the first year of "© 2019–2026", and one that
# speaks of the server 10.12.20.21 is of 10 December 2020.
# Seen with: trafilatura 2.3.1, htmldate 1.11.0. Source: pages without a date in their head, as small themes write them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet trafilatura==2.3.1 htmldate==1.11.0 lxml_html_clean==0.4.6
cat > try.py <<'PY'
from htmldate import find_date
from trafilatura import extract_metadata

WORDS = "<p>" + "Rye is milled here, day by day, by hand. " * 12 + "</p>"
OWN = '<time datetime="2024-01-31">31 January 2024</time>'
OTHERS = '<ul><li>{0}<a href="/oats/">Oats</a></li><li>{1}<a href="/corn/">Corn</a></li></ul>'.format(
    '<time datetime="2022-05-02">2 May 2022</time>', '<time datetime="2025-03-09">9 March 2025</time>')
PAGES = {
    "own <time>": f"<article><h1>Rye</h1>{OWN}{WORDS}</article>",
    "<time> in <aside>": f"<article><h1>Rye</h1>{OWN}{WORDS}</article><aside>{OTHERS}</aside>",
    "<time> in <nav>": f"<article><h1>Rye</h1>{OWN}{WORDS}</article><nav>{OTHERS}</nav>",
    "Japanese": f'<article><h1>Rye</h1><p class="date">2024年1月31日</p>{WORDS}</article>',
    "copyright": f"<article><h1>Rye</h1>{WORDS}</article><footer>© 2019–2026 Mill</footer>",
    "address": f"<article><h1>Rye</h1><p>Our server is 10.12.20.21 now.</p>{WORDS}</article>",
    "no date": f"<article><h1>Rye</h1>{WORDS}</article>",
}
for name, body in PAGES.items():
    page = f"<!doctype html><html><head><title>Rye</title></head><body>{body}</body></html>"
    print(f"{name}: trafilatura {extract_metadata(page).date}, htmldate {find_date(page)}")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
own <time>: trafilatura 2024-01-31, htmldate 2024-01-31
<time> in <aside>: trafilatura 2022-05-02, htmldate 2025-03-09
<time> in <nav>: trafilatura 2022-05-02, htmldate 2025-03-09
Japanese: trafilatura 2024-01-01, htmldate 2024-01-01
copyright: trafilatura 2019-01-01, htmldate 2019-01-01
address: trafilatura 2020-12-10, htmldate 2020-12-10
no date: trafilatura None, htmldate None
SEEN
