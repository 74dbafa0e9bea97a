#!/usr/bin/env bash
# One would guess: the RSS of a plugin that thousands of MkDocs sites use is XML whatever a tag is called, and code in it keeps its lines.
# What happens: tags are not escaped. One page tagged "R & D" makes the whole feed unreadable to all that parse XML strictly (feedparser
# goes on). A title with & is escaped twice in the RSS, and once in the JSON Feed, where it should not be. White space is folded
# everywhere, also in <pre>, so that each block of code is one line; in the JSON Feed it has its lines.
# Seen with: mkdocs-rss-plugin 1.19.0, mkdocs 1.6.1. Source: one page with `abstract_chars_count: -1`, which is the whole text.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mkdocs==1.6.1 mkdocs-rss-plugin==1.19.0
mkdir docs
cat > mkdocs.yml <<'YAML'
site_name: Mill
site_url: https://blog.example.org/
theme: { name: mkdocs, locale: en }
plugins:
  - rss: { use_git: false, abstract_chars_count: -1, categories: [tags], date_from_meta: { as_creation: date } }
YAML
printf -- '---\ndate: 2026-03-04\ntags: [grain, R & D]\n---\n# Salt & pepper\n\n    let sack = 1\n    let mill = 2\n' > docs/index.md
venv/bin/mkdocs build --quiet > log.txt 2>&1
cat > try.py <<'PY'
import json, re
from xml.etree import ElementTree

rss = open("site/feed_rss_created.xml").read()
try:
    ElementTree.fromstring(rss)
    print("well-formed")
except ElementTree.ParseError as error:
    print("not well-formed:", str(error).partition(":")[0])
print(re.findall(r"<category>.*?</category>|<title>Salt.*?</title>|let.*?mill = 2", rss))
item = json.load(open("site/feed_json_created.json"))["items"][0]
print([item["title"], *re.findall(r"let[^<]*", item["content_html"])])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
not well-formed: not well-formed (invalid token)
['<title>Salt &amp;amp; pepper</title>', '<category>R & D</category>', '<category>grain</category>', 'let sack = 1 let mill = 2']
['Salt &amp; pepper', 'let sack = 1\nlet mill = 2\n']
SEEN
