#!/usr/bin/env bash
# One would guess: the title of an entry of a feed is the text that stands there.
# What happens: @extractus/feed-extractor has its XML parser read numbers. The release 1.10 is called 1.1, 2.0 is 2, the note 007 is 7 and
# 1e3 is 1000. Ids, and categories, are read so, too: entries with the guids 1.1 and 1.10 are one entry to whoever goes by the id.
# The option xmlParserOptions: { parseTagValue: false } keeps them.
# Seen with: @extractus/feed-extractor 8.0.3; feedsmith 3.0.1 and rss-parser 3.13.0 keep the text. Source: a feed of releases.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @extractus/feed-extractor@8.0.3 feedsmith@3.0.1 rss-parser@3.13.0
cat > try.mjs <<'JS'
import { extractFromXml } from "@extractus/feed-extractor";
import { parseFeed } from "feedsmith";
import Parser from "rss-parser";
const item = (title) => `<item><title>${title}</title><guid isPermaLink="false">${title}</guid><link>https://blog.example.org/</link></item>`;
const feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>Releases</title><link>https://blog.example.org/</link>
  <description>All</description>${["1.10", "1.1", "2.0", "007", "1e3", "v2.0"].map(item).join("")}</channel></rss>`;
const kept = { xmlParserOptions: { parseTagValue: false } };
const read = {
  "feed-extractor": extractFromXml(feed).entries.map(({ title, id }) => [title, id]),
  "parseTagValue: false": extractFromXml(feed, kept).entries.map(({ title, id }) => [title, id]),
  feedsmith: parseFeed(feed).feed.items.map(({ title, guid }) => [title, guid.value]),
  "rss-parser": (await new Parser().parseString(feed)).items.map(({ title, guid }) => [title, guid]),
};
for (const [name, entries] of Object.entries(read)) console.log(`${name}:`, entries.map((entry) => entry.join(" = ")).join(", "));
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
feed-extractor: 1.1 = 1.1, 1.1 = 1.1, 2 = 2, 7 = 7, 1000 = 1000, v2.0 = v2.0
parseTagValue: false: 1.10 = 1.10, 1.1 = 1.1, 2.0 = 2.0, 007 = 007, 1e3 = 1e3, v2.0 = v2.0
feedsmith: 1.10 = 1.10, 1.1 = 1.1, 2.0 = 2.0, 007 = 007, 1e3 = 1e3, v2.0 = v2.0
rss-parser: 1.10 = 1.10, 1.1 = 1.1, 2.0 = 2.0, 007 = 007, 1e3 = 1e3, v2.0 = v2.0
SEEN
