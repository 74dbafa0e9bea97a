#!/usr/bin/env bash
# One would guess: a comment of MDX ({/* … */}), in which authors leave notes to each other, is in no page and in no search, and the search of a
# generator finds what a reader sees.
# What happens: the indexes of Rspress and Fumadocs are made of the source. Both have a comment that stands in a paragraph, Rspress any other, too, and both
# {40 + 2} where the page has 42. Rspress makes a page's description of the same text, so that the comment is in <meta name="description"> and in
# og:description. What stands inside of an element (<div>, <details>), the title of a :::tip, and the heading, if the front matter has another
# title, are not in its index; code is not in that of Fumadocs. In both, words around a <br/> are one.
# Seen with: @rspress/core 2.0.22, fumadocs-core 17.0.0. Source: two pages, the indexes and the HTML made of them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @rspress/core@2.0.22 fumadocs-core@17.0.0 remark-mdx@3.1.1
mkdir docs
echo 'export default { root: "docs", title: "Mill" };' > rspress.config.mjs
cat > docs/index.mdx <<'MDX'
---
title: Mill
---

# Granite

:::tip Sandstone
Inside.
:::

{/* Ask Ann whether we may say this */}

<div>Basalt is hard.</div>

<details><summary>Marble</summary>Slate too.</details>

Value {40 + 2} {/* really? */} of one<br/>line.

```js
marl();
```
MDX
npx rspress build > log 2>&1
cat > try.mjs <<'JS'
import { readFileSync, readdirSync } from "node:fs";
import { structure } from "fumadocs-core/mdx-plugins";
import remarkMdx from "remark-mdx";
const name = readdirSync("doc_build/static").find((name) => name.startsWith("search_index"));
const [{ title, content }] = JSON.parse(readFileSync(`doc_build/static/${name}`, "utf8"));
const [head, body] = readFileSync("doc_build/index.html", "utf8").split("<body>");
const text = body.replace(/<(script|style)\b.*?<\/\1>/gs, "").replace(/<(?!br)[^>]*>/g, "");
const source = readFileSync("docs/index.mdx", "utf8").replace(/^---.*?---/s, "");
const fumadocs = JSON.stringify(structure(source, [remarkMdx]));
for (const word of ["Granite", "Sandstone", "Inside", "Ask Ann", "Basalt", "Marble", "Slate", "really?", "40 + 2", "42", "oneline", "marl"])
  console.log(`${word}: page ${text.includes(word)}, Rspress ${`${title} ${content}`.includes(word)}, Fumadocs ${fumadocs.includes(word)}`);
console.log(head.match(/<meta name="description"[^>]*/)[0]);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Granite: page true, Rspress false, Fumadocs true
Sandstone: page true, Rspress false, Fumadocs true
Inside: page true, Rspress true, Fumadocs true
Ask Ann: page false, Rspress true, Fumadocs false
Basalt: page true, Rspress false, Fumadocs true
Marble: page true, Rspress false, Fumadocs true
Slate: page true, Rspress false, Fumadocs true
really?: page false, Rspress true, Fumadocs true
40 + 2: page false, Rspress true, Fumadocs true
42: page true, Rspress false, Fumadocs false
oneline: page false, Rspress true, Fumadocs true
marl: page true, Rspress true, Fumadocs false
<meta name="description" content="{/* Ask Ann whether we may say this */} Value {40 + 2} {/* really? */} of one<br/
SEEN
