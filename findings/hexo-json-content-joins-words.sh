#!/usr/bin/env bash
# One would guess: the `text` of a post in content.json, which themes of Hexo search, has a space where a heading or a line of code ends.
# What happens: hexo-generator-json-content takes the tags out and puts nothing in their place. A heading and the first word below it
# are one word ("GranitePolished"), the last word of a line of code is one with the next line ("millmill"), and the last line number
# with the first ("12import"): a search for whole words finds none of them.
# Seen with: hexo 8.1.2, hexo-generator-json-content 4.2.3, hexo-renderer-marked 7.0.1, hexo-util 4.0.0. Source: a post as Hexo makes them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > package.json <<'JSON'
{ "name": "mill", "private": true, "hexo": { "version": "8.1.2" }, "overrides": { "hexo-util": "4.0.0" } }
JSON
npm install --silent --no-audit --no-fund hexo@8.1.2 hexo-generator-json-content@4.2.3 hexo-renderer-marked@7.0.1
mkdir -p source/_posts themes/bare/layout
printf 'title: Mill\nurl: https://blog.example.org\ntheme: bare\n' > _config.yml
printf -- '---\ntitle: Stones\ndate: 2026-03-04\n---\nFirst.\n\n## Granite\n\nPolished once.\n\n```python\nimport mill\nmill.run()\n```\n' > source/_posts/stones.md
npx hexo generate --silent > /dev/null
node -e '
const text = JSON.parse(require("fs").readFileSync("public/content.json")).posts[0].text;
console.log(text);
if (text !== "First. GranitePolished once. 12import millmill.run()") process.exit(1);
'
