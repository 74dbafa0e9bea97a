#!/usr/bin/env bash
# One would guess: `content` of an entry with <content type="xhtml"> is its markup as it stands in the feed.
# What happens: rss-parser parses it into an object and builds markup from that again: text comes first, then the elements, those
# of one name together. "Rye <b>is</b> milled" becomes "Rye  milled.<b>is</b>", and code goes behind the last paragraph. Phrases and
# excerpts of such a feed are not those of the post.
# Seen with: rss-parser 3.13.0; feedsmith 3.0.1 keeps the order. Source: one entry as in RFC 4287, read by four parsers.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund rss-parser@3.13.0 feedsmith@3.0.1
cat > feed.xml <<'XML'
<feed xmlns="http://www.w3.org/2005/Atom"><title>Mill</title><id>urn:mill</id><updated>2026-03-04T00:00:00Z</updated>
<author><name>Ann</name></author><entry><title>Rye</title><id>urn:rye</id><updated>2026-03-04T00:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Rye <b>is</b> milled.</p><pre>mill rye</pre><p>Then it is baked.</p></div></content>
</entry></feed>
XML
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import Parser from "rss-parser";
import { parseFeed } from "feedsmith";
const text = readFileSync("feed.xml", "utf8");
const built = (await new Parser().parseString(text)).items[0].content;
const kept = parseFeed(text).feed.entries[0].content.value;
console.log("rss-parser:", built);
console.log("feedsmith: ", kept);
if (!built.includes("<p>Rye  milled.<b>is</b></p><p>Then it is baked.</p><pre>mill rye</pre>")) process.exit(1);
if (kept !== "<p>Rye <b>is</b> milled.</p><pre>mill rye</pre><p>Then it is baked.</p>") process.exit(1);
JS
node try.mjs
