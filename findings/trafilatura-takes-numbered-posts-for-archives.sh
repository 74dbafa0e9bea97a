#!/usr/bin/env bash
# One would guess: the links that trafilatura finds in a feed are the links of the feed's entries.
# What happens: each goes through courlan, whose rules for addresses leave out what looks like a list or a file. "Numeric", one of the
# permalinks that WordPress offers, is /archives/123: the feed of such a blog has no posts to trafilatura, while its sitemap has them. So
# it is with posts below page/, gallery/, user/ or search/, in a folder named after a tag (tags/rye/), or that end in .md or .js
# (/node.js). /archive/rye, /tag-heuer and /rye.html are kept. Nothing is said.
# Seen with: trafilatura 2.3.1, courlan 1.4.0. Source: 80 addresses of posts, as generators and engines make them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet trafilatura==2.3.1 courlan==1.4.0 lxml_html_clean==0.4.6
cat > try.py <<'PY'
from trafilatura.feeds import FeedParameters, extract_links

SITE = "https://blog.example.org"
PATHS = ("/archives/123", "/archives/2024/01/rye", "/archive/rye", "/2024/01/31/rye/", "/?p=123", "/page/rye", "/gallery/rye", "/user/rye",
         "/search/rye", "/tags/rye/", "/tag-heuer", "/notes/rye.md", "/node.js", "/rye.html")
items = "".join(f"<item><title>Rye</title><link>{SITE}{path}</link></item>" for path in PATHS)
feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Mill</title><link>{SITE}/</link><description>All</description>{items}</channel></rss>'
found = extract_links(feed, FeedParameters(SITE, "example.org", SITE))
for path in PATHS:
    print(path, "found" if SITE + path in found else "left out")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
/archives/123 left out
/archives/2024/01/rye left out
/archive/rye found
/2024/01/31/rye/ found
/?p=123 found
/page/rye left out
/gallery/rye left out
/user/rye left out
/search/rye left out
/tags/rye/ left out
/tag-heuer found
/notes/rye.md left out
/node.js left out
/rye.html found
SEEN
