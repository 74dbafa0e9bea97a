#!/usr/bin/env bash
# One would guess: the texts in search.json, which hexo-generator-searchdb makes for the search of a theme, are those of the posts without their tags, as
# their titles are.
# What happens: tags are taken out and entities stay, and Hexo's renderer of Markdown writes more of them than it has to: TCP/IP is TCP&#x2F;IP, R&D is
# R&amp;D, `Vec<T>` Vec&lt;T&gt;, and a quotation mark in code &quot;. Who compares what is typed with these texts finds none of them,
# and amp, quot and x2F in many. The title keeps R&D. A heading and the word below it are one word (MillsGrain).
# Seen with: hexo-generator-searchdb 1.5.0, hexo 8.1.2, hexo-renderer-marked 7.0.1. Source: one post, and its page read by a parser of HTML.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > package.json <<'JSON'
{"name": "mill", "private": true, "hexo": {"version": "8.1.2"}}
JSON
npm install --silent --no-audit --no-fund hexo@8.1.2 hexo-generator-searchdb@1.5.0 hexo-renderer-marked@7.0.1
mkdir -p source/_posts
cat > _config.yml <<'YAML'
title: Mill
search: {path: search.json, field: post, content: true}
YAML
cat > source/_posts/rye.md <<'MD'
---
title: R&D
date: 2026-03-04
---
TCP/IP and R&D, `Vec<T>` and 1/2.

## Mills

Grain.

```js
say("rye");
```
MD
npx hexo generate --silent
node -p 'JSON.parse(require("fs").readFileSync("public/search.json", "utf8")).map(({ title, content }) => `${title}: ${content.replace(/\s+/g, " ")}`).join("")' | tee seen
diff seen - <<'SEEN'
R&D: TCP&#x2F;IP and R&amp;D, Vec&lt;T&gt; and 1&#x2F;2. MillsGrain. say(&quot;rye&quot;); 
SEEN
