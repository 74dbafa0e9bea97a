#!/usr/bin/env bash
# One would guess: a title that is given to a generator of feeds is the same title in the RSS and in the Atom that it writes.
# What happens: the package feed (which Docusaurus uses) puts it as it is into <title type="html"> of Atom, where `<T>` is a tag.
# "Why Vec<T> & not [T]" is that title in its RSS and its JSON Feed, and "Why Vec & not [T]" in its Atom, for feedparser and any reader
# that shows HTML: a search for Vec<T> finds the post by one feed of the site only.
# Seen with: feed 6.0.0, feedparser 6.0.14. Source: the three feeds of one item.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund feed@6.0.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet feedparser==6.0.14
cat > write.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { Feed } from "feed";
const feed = new Feed({ id: "https://blog.example.org/", link: "https://blog.example.org/", title: "Mill", copyright: "" });
const link = "https://blog.example.org/vec/";
feed.addItem({ title: "Why Vec<T> & not [T]", id: link, link, date: new Date("2026-03-04") });
writeFileSync("rss.xml", feed.rss2());
writeFileSync("atom.xml", feed.atom1());
console.log("JSON:", JSON.parse(feed.json1()).items[0].title);
JS
node write.mjs | tee seen
cat > read.py <<'PY'
import feedparser

for name in ("rss", "atom"):
    print(f"{name}:", feedparser.parse(f"{name}.xml").entries[0].title)
PY
venv/bin/python read.py | tee -a seen
grep -o '<title type=.*' atom.xml | tee -a seen
diff seen - <<'SEEN'
JSON: Why Vec<T> & not [T]
rss: Why Vec<T> & not [T]
atom: Why Vec & not [T]
<title type="html"><![CDATA[Why Vec<T> & not [T]]]></title>
SEEN
