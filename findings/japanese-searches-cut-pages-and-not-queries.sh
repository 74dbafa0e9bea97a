#!/usr/bin/env bash
# One would guess: the Japanese search of Sphinx and of lunr (lunr-languages, in MkDocs and Docusaurus) cuts what one types into words as it
# cut the pages, so that a word that stands in a page is found.
# What happens: pages are cut by TinySegmenter, queries at spaces only. 全文検索 (full-text search) is 全文 and 検索 in the index, and 全文検索 is
# looked up as one word: nothing is found for it, nor for 開発環境 (development environment), though both stand in the page; a space between the
# parts helps. How a word is cut depends on what follows: in lunr 機械学習 (machine learning) finds the page 機械学習入門, where it is one word, but
# not the page that is called 機械学習, where it is two. Years are cut into digits in lunr, and dropped by Sphinx: 2024 finds nothing in either.
# Seen with: Sphinx 9.0.4, lunr 2.3.9 with lunr-languages 1.22.0. Source: two pages; searchtools.js and searchindex.js of a site, run as its
# page does.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet sphinx==9.0.4 snowballstemmer==3.1.1
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund lunr@2.3.9 lunr-languages@1.22.0
mkdir pages
printf 'project = "Mill"\nlanguage = "ja"\n' > pages/conf.py
printf 'Mill\n====\n\n.. toctree::\n\n   intro\n   learning\n' > pages/index.rst
printf '機械学習入門\n============\n\n開発環境の構築と全文検索エンジン。\n' > pages/intro.rst
printf '機械学習\n========\n\n2024年のまとめ。\n' > pages/learning.rst
venv/bin/python -m sphinx -q pages site
cat > try.cjs <<'JS'
const { readFileSync } = require("node:fs");
const lunr = require("lunr");
for (const part of ["lunr.stemmer.support", "tinyseg", "lunr.ja"]) require(`lunr-languages/${part}`)(lunr);
const pages = { intro: "機械学習入門 開発環境の構築と全文検索エンジン。", learning: "機械学習 2024年のまとめ。" };
const index = lunr(function () {
  this.use(lunr.ja);
  this.ref("id");
  this.field("text");
  for (const [id, text] of Object.entries(pages)) this.add({ id, text });
});
const files = ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"];
const page = `const window = globalThis, document = { getElementById: () => null }, SPHINX_HIGHLIGHT_ENABLED = false;
  const _ = (text) => text, _ready = () => {};`;
const code = [page, ...files.map((name) => readFileSync(`site/${name}`, "utf8")), "Search"].join(";\n");
const sphinx = require("node:vm").runInNewContext(code, { console });
for (const query of ["全文検索", "全文 検索", "検索", "開発環境", "機械学習", "2024", "まとめ"]) {
  const found = sphinx._performSearch(...sphinx._parseQuery(query)).map((hit) => hit[0]).sort();
  console.log(`${query}: Sphinx [${found.join(" ")}], lunr [${index.search(query).map((hit) => hit.ref).sort().join(" ")}]`);
}
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
全文検索: Sphinx [], lunr []
全文 検索: Sphinx [intro], lunr [intro]
検索: Sphinx [intro], lunr [intro]
開発環境: Sphinx [], lunr []
機械学習: Sphinx [index intro learning], lunr [intro]
2024: Sphinx [], lunr []
まとめ: Sphinx [learning], lunr [learning]
SEEN
