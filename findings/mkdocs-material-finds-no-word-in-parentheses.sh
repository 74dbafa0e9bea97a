#!/usr/bin/env bash
# One would guess: the search of Material for MkDocs finds a word of a page wherever it stands in a sentence, as the theme's own documentation is
# searched with it.
# What happens: it takes away lunr's trimmer, as that knows ASCII letters only, and ends words at white space and hyphens. A word keeps the signs around it,
# and is looked up by its beginning: what stands behind (, ", “, «, [ or @ is not found at all, nor is the second word of TCP/IP, rye—barley or
# snake_case, or Node.js by js. Signs behind a word do no harm. run finds running, as it begins so, and uber not Über. The `separator` in
# the theme's own mkdocs.yml, which its documentation shows, is another one, with brackets and quotation marks in it.
# Seen with: mkdocs-material 9.8.1, MkDocs 1.6.1. Source: one page, asked as its worker is asked by the page.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mkdocs-material==9.8.1 mkdocs==1.6.1
mkdir docs
printf 'site_name: Mill\ntheme: {name: material}\nplugins: [search]\n' > mkdocs.yml
{
  echo "# Words" && echo
  echo 'A (granite) stone, a “basalt” one, "slate", «marble» and [flint]; rye—barley, TCP/IP, snake_case, Node.js, running; chalk, marl.'
} > docs/index.md
venv/bin/mkdocs build --quiet > log 2>&1
cat > try.cjs <<'JS'
const { readFileSync, readdirSync } = require("node:fs");
const { createContext, runInContext } = require("node:vm");
const folder = "site/assets/javascripts/workers/";
const data = { ...JSON.parse(readFileSync("site/search/search_index.json", "utf8")), options: {} };
const worker = { console, addEventListener: (_, listener) => (worker.listener = listener) };
worker.self = worker;
runInContext(readFileSync(folder + readdirSync(folder).find((name) => /^search.*\.js$/.test(name)), "utf8"), createContext(worker));
const ask = (message) => new Promise((answer) => ((worker.postMessage = answer), worker.listener({ data: message })));
(async () => {
  await ask({ type: 0, data });
  for (const word of "granite basalt slate marble flint rye barley tcp ip snake case node js run chalk marl".split(" "))
    console.log(`${word}: ${(await ask({ type: 2, data: word })).data.items.length ? "found" : "nothing"}`);
})();
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
granite: nothing
basalt: nothing
slate: nothing
marble: nothing
flint: nothing
rye: found
barley: nothing
tcp: found
ip: nothing
snake: found
case: nothing
node: found
js: nothing
run: found
chalk: found
marl: found
SEEN
