#!/usr/bin/env bash
# One would guess: VitePress' local search finds each page of the site by its words, and code by each of its words.
# What happens: its index is cut at headings and drops what stands before the first one. A page whose title is in the front matter, and
# which has no heading, is not in it at all, nor is the home page, while the sitemap has both. A page with a heading has no words of its
# introduction. The label of a block of code is one word with the first word of the code ("jsconst"), so that neither finds it;
# the last word of a <p> is one with the next, and {{ 1 + 41 }} is indexed as 1, + and 41, where readers see 42.
# Seen with: vitepress 1.6.4. Source: the index that it writes, read as its search box does.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund vitepress@1.6.4
mkdir -p docs/.vitepress
cat > docs/.vitepress/config.mjs <<'JS'
export default { title: "Mill", sitemap: { hostname: "https://blog.example.org" }, themeConfig: { search: { provider: "local" } } };
JS
cat > docs/rye.md <<'MD'
---
title: Barley
---
Sown in autumn.

## Rye

Milled, then baked {{ 1 + 41 }} minutes.

```js
const oven = 220;
```

<p>Crust</p><p>Crumb</p>
MD
printf -- '---\ntitle: Oats\n---\nSown in spring.\n' > docs/oats.md
printf -- '---\nlayout: home\n---\nWelcome to the mill.\n' > docs/index.md
npx vitepress build docs > log 2>&1
cat > read.mjs <<'JS'
import { readdirSync, readFileSync } from "node:fs";
const chunks = "docs/.vitepress/dist/assets/chunks/";
const [name] = readdirSync(chunks).filter((file) => file.startsWith("@localSearchIndexroot"));
const index = JSON.parse((await import(`data:text/javascript,${encodeURIComponent(readFileSync(chunks + name, "utf8"))}`)).default);
console.log("parts:", ...Object.values(index.documentIds));
console.log("words:", ...index.index.map(([word]) => word).sort());
const sitemap = readFileSync("docs/.vitepress/dist/sitemap.xml", "utf8");
console.log("sitemap:", ...[...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map((match) => match[1]));
JS
node read.mjs | tee seen
diff seen - <<'SEEN'
parts: /rye.html#rye
words: + 1 220 41 = baked crustcrumb jsconst milled minutes oven rye then
sitemap: https://blog.example.org/ https://blog.example.org/oats.html https://blog.example.org/rye.html
SEEN
