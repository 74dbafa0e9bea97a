#!/usr/bin/env bash
# One would guess: extruct, which reads what pages say of themselves, reads a date in <time>, and JSON-LD wherever its media type stands.
# What happens: <time itemprop="datePublished">2026-03-04</time>, whose text is its value where it has no `datetime`, is an empty date. JSON-LD
# with a parameter in its type (a profile, which its standard defines, or a charset), or with capitals in it, is not seen. And one block
# that is no JSON takes all others of the page along: extract() raises, with errors="log" the list is missing, however good the rest is.
# Seen with: extruct 0.18.0. Source: 26 pages with JSON-LD, and two with microdata.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet extruct==0.18.0
cat > try.py <<'PY'
import logging
import extruct

logging.disable(logging.CRITICAL)
POST = '{"@context": "https://schema.org", "@type": "BlogPosting", "headline": "Rye"}'
BLOCKS = {
    "as usual": f"<script type='application/ld+json'>{POST}</script>",
    "capitals": f"<script type='Application/LD+JSON'>{POST}</script>",
    "charset": f"<script type='application/ld+json; charset=utf-8'>{POST}</script>",
    "profile": f"""<script type='application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"'>{POST}</script>""",
    "beside another": f"<script type='application/ld+json'></script><script type='application/ld+json'>{POST}</script>",
}
for name, block in BLOCKS.items():
    found = extruct.extract(f"<html><head>{block}</head></html>", syntaxes=["json-ld"], errors="log")
    print(f"{name}:", [thing["headline"] for thing in found.get("json-ld", [])])
for time in ('<time itemprop="datePublished" datetime="2026-03-04">4 March</time>', '<time itemprop="datePublished">2026-03-04</time>'):
    page = f'<html><body><div itemscope itemtype="https://schema.org/BlogPosting">{time}</div></body></html>'
    print(f"{time}:", extruct.extract(page, syntaxes=["microdata"])["microdata"][0]["properties"])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
as usual: ['Rye']
capitals: []
charset: []
profile: []
beside another: []
<time itemprop="datePublished" datetime="2026-03-04">4 March</time>: {'datePublished': '2026-03-04'}
<time itemprop="datePublished">2026-03-04</time>: {'datePublished': ''}
SEEN
