#!/usr/bin/env bash
# One would guess: a text that is given as `content` stands in each feed that can have it: <content> in Atom, <content:encoded> in RSS.
# What happens: feedgenerator (Pelican's, and the copy of Django's that others use) writes it to Atom and drops it from RSS without a
# word. With `description` as a summary the RSS of a site has summaries, the Atom whole texts; with `content` alone the RSS has nothing.
# Seen with: feedgenerator 2.2.1, feedparser 6.0.14. Source: one item in each of its feeds.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet feedgenerator==2.2.1 feedparser==6.0.14
cat > try.py <<'PY'
import feedgenerator, feedparser

for kind in (feedgenerator.Atom1Feed, feedgenerator.Rss201rev2Feed):
    feed = kind("Mill", "https://blog.example.org/", "All")
    feed.add_item("Rye", "https://blog.example.org/rye/", "In short.", content="<p>The whole text.</p>")
    (entry,) = feedparser.parse(feed.writeString("utf-8")).entries
    print(kind.__name__, entry.summary, [content.value for content in entry.get("content", [])])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
Atom1Feed In short. ['<p>The whole text.</p>']
Rss201rev2Feed In short. []
SEEN
