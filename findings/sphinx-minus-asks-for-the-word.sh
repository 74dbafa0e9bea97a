#!/usr/bin/env bash
# One would guess: `rye -oats` in the search of a Sphinx site leaves out pages with oats: its searchtools.js has a list of excluded
# words for it, which says so in a comment.
# What happens: the query is split at all that is neither letter nor digit before it looks for the minus, so that this list stays
# empty, and oats is a word that each result must have: what one wants to be rid of is all that is found.
# Seen with: Sphinx 9.0.4. Source: searchtools.js and searchindex.js of a site, run as its page does.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet sphinx==9.0.4 snowballstemmer==3.1.1
mkdir pages
echo 'project = "Mill"' > pages/conf.py
printf 'Mill\n====\n\n.. toctree::\n\n   bread\n   porridge\n' > pages/index.rst
printf 'Bread\n=====\n\nMade of rye.\n' > pages/bread.rst
printf 'Porridge\n========\n\nMade of rye and oats.\n' > pages/porridge.rst
venv/bin/python -m sphinx -q pages site
cat > try.cjs <<'JS'
const { readFileSync } = require("node:fs");
const files = ["base-stemmer.js", "english-stemmer.js", "language_data.js", "searchtools.js"].map((name) => `_static/${name}`);
const page = `const window = globalThis, document = { getElementById: () => null }, SPHINX_HIGHLIGHT_ENABLED = false;
  const _ = (text) => text, _ready = () => {};`;
const asked = `for (const query of ["rye", "rye -oats", "rye oats"]) {
  const parsed = Search._parseQuery(query);
  console.log(query, "excludes", [...parsed[2]], "finds", Search._performSearch(...parsed).map((hit) => hit[0]));
}`;
const code = [...files, "searchindex.js"].map((name) => readFileSync(`site/${name}`, "utf8"));
require("node:vm").runInNewContext([page, ...code, asked].join(";\n"), { console });
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
rye excludes [] finds [ 'porridge', 'bread' ]
rye -oats excludes [] finds [ 'porridge' ]
rye oats excludes [] finds [ 'porridge' ]
SEEN
