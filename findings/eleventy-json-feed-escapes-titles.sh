#!/usr/bin/env bash
# One would guess: the title of a post in the JSON Feed of Eleventy's own plugin is the title, as jsonfeed.org has it: plain text.
# What happens: the template of its JSON Feed escapes it as for HTML, as those of RSS and Atom rightly do. "Salt & pepper" is
# "Salt &amp; pepper" there, so that a reader that keeps to the format shows and indexes `amp`.
# Seen with: @11ty/eleventy 3.1.8, @11ty/eleventy-plugin-rss 3.0.0. Source: the three feeds of one post.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @11ty/eleventy@3.1.8 @11ty/eleventy-plugin-rss@3.0.0
cat > eleventy.config.mjs <<'JS'
import { feedPlugin } from "@11ty/eleventy-plugin-rss";
const metadata = { title: "Mill", subtitle: "", language: "en", base: "https://blog.example.org/", author: { name: "Ann" } };
export default (config) => {
  for (const type of ["json", "rss", "atom"]) {
    config.addPlugin(feedPlugin, { type, outputPath: `/feed.${type}`, collection: { name: "posts", limit: 0 }, metadata });
  }
};
JS
printf -- '---\ntitle: Salt & pepper\ndate: 2026-03-04\ntags: posts\n---\nGround.\n' > post.md
npx eleventy --quiet
for type in json rss atom; do echo "$type: $(grep -o 'Salt[^<"]*pepper' "_site/feed.$type")"; done | tee seen
diff seen - <<'SEEN'
json: Salt &amp; pepper
rss: Salt &amp; pepper
atom: Salt &amp; pepper
SEEN
