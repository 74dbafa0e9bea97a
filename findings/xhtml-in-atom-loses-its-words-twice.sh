#!/usr/bin/env bash
# One would guess: a reader of Atom gives the text of an entry in XHTML (<content type="xhtml">, which the format has beside HTML) as HTML
# with the same words.
# What happens: feedparser for Node writes it as markup without escaping: "Write Vec&lt;T&gt;, not &lt;main&gt;" becomes "Write Vec<T>, not
# <main>", in which T and main are tags, and are neither shown nor indexed. The same entry as type="html" is right. atoma for Python has
# neither title nor text of such an entry: both are None, without a word. podcastparser has its title and no text, and of the HTML it makes
# "Write Vec, not <main>".
# Seen with: feedparser 2.6.0 (npm), atoma 0.0.17, podcastparser 0.6.11. Source: one entry in two forms.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund feedparser@2.6.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet atoma==0.0.17 podcastparser==0.6.11
cat > feed.xml <<'XML'
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:mill</id><title>Mill</title><updated>2026-03-04T00:00:00Z</updated>
<entry><id>urn:html</id><title type="html">Rye &lt;b>bread&lt;/b></title><updated>2026-03-04T00:00:00Z</updated>
<link href="https://blog.example.org/1"/><content type="html">&lt;p>Write Vec&amp;lt;T&amp;gt;, not &amp;lt;main&amp;gt;&lt;/p></content></entry>
<entry><id>urn:xhtml</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Rye <b>bread</b></div></title><updated>2026-03-04T00:00:00Z</updated>
<link href="https://blog.example.org/2"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Write Vec&lt;T&gt;, not &lt;main&gt;</p></div></content></entry>
</feed>
XML
cat > try.mjs <<'JS'
import { createReadStream } from "node:fs";
import FeedParser from "feedparser";
for await (const item of createReadStream("feed.xml").pipe(new FeedParser()))
  console.log("feedparser", item.guid, item.title, item.description.replace(/<\/?div[^>]*>/g, ""));
JS
cat > try.py <<'PY'
import atoma, podcastparser

for entry in atoma.parse_atom_file("feed.xml").entries:
    print("atoma", entry.id_, entry.title and entry.title.value, entry.content and entry.content.value)
for episode in podcastparser.parse("https://blog.example.org/feed", open("feed.xml"))["episodes"]:
    print("podcastparser", episode["guid"], episode["title"], episode["description"])
PY
{ node try.mjs; venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
feedparser urn:html Rye bread <p>Write Vec&lt;T&gt;, not &lt;main&gt;</p>
feedparser urn:xhtml Rye bread <p>Write Vec<T>, not <main></p>
atoma urn:html Rye <b>bread</b> <p>Write Vec&lt;T&gt;, not &lt;main&gt;</p>
atoma urn:xhtml None None
podcastparser urn:html Rye <b>bread</b> Write Vec, not <main>
podcastparser urn:xhtml Rye bread 
SEEN
