#!/usr/bin/env bash
# One would guess: the words of Sphinx' index and those that a visitor types go through one stemmer.
# What happens: the index is stemmed by the snowballstemmer that pip finds (3.1.1), queries by a copy of Snowball 3.0.1 in JavaScript,
# and the two differ for ten of 22,043 English words: internal, interval, international and their forms. To the copy they are
# `intern` and `interv`. As an exact word hides parts of words, a search for `international` or `internal` finds the page on interned
# strings, and not those that have the word; `interval` is found as a part of a word, with two points instead of five.
# Seen with: Sphinx 9.0.4, snowballstemmer 3.1.1; with snowballstemmer 3.0.1 both pages are found. Source: searchtools.js and
# searchindex.js of a site, run as its page does.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet sphinx==9.0.4
mkdir pages
echo 'project = "Mill"' > pages/conf.py
printf 'Mill\n====\n\n.. toctree::\n\n   rye\n   memory\n' > pages/index.rst
printf 'Rye\n===\n\nThe international trade, at an interval.\n' > pages/rye.rst
printf 'Memory\n======\n\nInterned strings.\n' > pages/memory.rst
cat > try.cjs <<'JS'
const { readFileSync } = require("node:fs");
const files = ["base-stemmer.js", "english-stemmer.js", "language_data.js", "searchtools.js"].map((name) => `_static/${name}`);
const page = `const window = globalThis, document = { getElementById: () => null }, SPHINX_HIGHLIGHT_ENABLED = false;
  const _ = (text) => text, _ready = () => {};`;
const asked = `for (const word of ["international", "interval", "interned", "trade"])
  console.log(word, Search._performSearch(...Search._parseQuery(word)).map((hit) => hit[0] + " " + hit[4]));`;
const code = [...files, "searchindex.js"].map((name) => readFileSync(`${process.argv[2]}/${name}`, "utf8"));
require("node:vm").runInNewContext([page, ...code, asked].join(";\n"), { console });
JS
for version in 3.1.1 3.0.1; do
  venv/bin/pip --disable-pip-version-check install --quiet snowballstemmer==$version
  venv/bin/python -m sphinx -q -E pages site-$version
  echo "snowballstemmer $version"
  node try.cjs site-$version
done | tee seen
diff seen - <<'SEEN'
snowballstemmer 3.1.1
international [ 'memory 5' ]
interval [ 'rye 2' ]
interned [ 'memory 5' ]
trade [ 'rye 5' ]
snowballstemmer 3.0.1
international [ 'rye 5', 'memory 5' ]
interval [ 'rye 5' ]
interned [ 'rye 5', 'memory 5' ]
trade [ 'rye 5' ]
SEEN
