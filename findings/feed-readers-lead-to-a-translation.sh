#!/usr/bin/env bash
# One would guess: the link of an entry that also links to its translations (rel="alternate" with hreflang, as RFC 4287 allows) is the link to
# the entry itself, in the language of the feed, or at least the first one.
# What happens: feedparser's `link` is the last alternate one, so that an entry with its French page behind it is a French page to whoever reads
# `link`; that of rss-parser and feed-extractor is the first, so that French first makes it French, too. None looks at hreflang or
# xml:lang. The links of two readers of one feed are different pages.
# Seen with: feedparser 6.0.14, rss-parser 3.13.0, @extractus/feed-extractor 8.0.3. Source: one entry with its links in both orders.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund rss-parser@3.13.0 @extractus/feed-extractor@8.0.3
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet feedparser==6.0.14
feed() {
  echo '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Mill</title><id>urn:mill</id><updated>2026-03-04T00:00:00Z</updated>'
  echo "<entry><id>urn:rye</id><title>Rye</title><updated>2026-03-04T00:00:00Z</updated>$1$2</entry></feed>"
}
english='<link rel="alternate" type="text/html" hreflang="en" href="https://blog.example.org/rye/"/>'
french='<link rel="alternate" type="text/html" hreflang="fr" href="https://blog.example.org/fr/seigle/"/>'
feed "$english" "$french" > english-first.xml
feed "$french" "$english" > french-first.xml
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { extractFromXml } from "@extractus/feed-extractor";
import Parser from "rss-parser";
for (const name of ["english-first", "french-first"]) {
  const text = readFileSync(`${name}.xml`, "utf8");
  console.log(`${name}, rss-parser:`, (await new Parser().parseString(text)).items[0].link);
  console.log(`${name}, feed-extractor:`, extractFromXml(text).entries[0].link);
}
JS
cat > try.py <<'PY'
import feedparser

for name in ("english-first", "french-first"):
    print(f"{name}, feedparser:", feedparser.parse(f"{name}.xml").entries[0].link)
PY
{ node try.mjs; venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
english-first, rss-parser: https://blog.example.org/rye/
english-first, feed-extractor: https://blog.example.org/rye/
french-first, rss-parser: https://blog.example.org/fr/seigle/
french-first, feed-extractor: https://blog.example.org/fr/seigle/
english-first, feedparser: https://blog.example.org/fr/seigle/
french-first, feedparser: https://blog.example.org/rye/
SEEN
