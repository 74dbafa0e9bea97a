#!/usr/bin/env bash
# One would guess: the search of Zensical, which the makers of Material for MkDocs wrote anew, finds each word of a sentence.
# What happens: a dash does not end a word, with or without spaces of its own kind: in "Rye—barley grows", as American typography sets it, rye is found
# and barley is not, as words are found by their beginning. So it is with the second word of "amaranth*quinoa" and the host of an e-mail address.
# In a site whose language is English nothing behind the first mark in a Japanese sentence is found, as 。 and 、 end no word
# either: 日本語、検索。エンジン is found by 日本語 only. A hyphen, a slash, a colon and quotation marks do end words. `separator` can be set.
# Seen with: zensical 0.0.73. Source: 13 sentences, asked as its worker is asked by the page.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet zensical==0.0.73
mkdir docs
cat > zensical.toml <<'TOML'
[project]
site_name = "Mill"
TOML
{ echo "# Dash" && echo && echo "Rye—barley grows."; } > docs/index.md
{ echo "# Star" && echo && echo "amaranth*quinoa and spelt/emmer and millet-based"; } > docs/star.md
{ echo "# Marks" && echo && echo "日本語、検索。エンジン"; } > docs/marks.md
venv/bin/zensical build > /dev/null 2>&1
cat > try.cjs <<'JS'
const { readFileSync, readdirSync } = require("node:fs");
const { runInNewContext } = require("node:vm");
const folder = "site/assets/javascripts/workers/";
const data = JSON.parse(readFileSync("site/search.json", "utf8"));
const filter = () => ({ input: { type: "operator", data: { operator: "and", operands: [] } } });
(async () => {
  const self = {};
  const ask = (message) => new Promise((answer) => ((self.postMessage = answer), self.onmessage({ data: message })));
  runInNewContext(readFileSync(folder + readdirSync(folder).find((name) => /^search.*\.js$/.test(name)), "utf8"), { self, Intl });
  await ask({ type: 0, data });
  for (const input of ["rye", "barley", "amaranth", "quinoa", "emmer", "based", "日本語", "検索", "エンジン"]) {
    const answer = await ask({ type: 2, data: { input, filter: filter() } });
    console.log(`${input}: ${answer.data.items.map(({ id }) => data.items[id].title).join(", ") || "nothing"}`);
  }
})();
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
rye: Dash
barley: nothing
amaranth: Star
quinoa: nothing
emmer: Star
based: Star
日本語: Marks
検索: nothing
エンジン: nothing
SEEN
