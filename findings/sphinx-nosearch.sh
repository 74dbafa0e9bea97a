#!/bin/bash
# One would guess that a page with `:nosearch:` is not listed in searchindex.js, the index of Sphinx' own search.
# Sphinx 9.0.4 lists it among the documents all the same, with an empty title, and no word refers to it. Who takes that
# list for the pages that their author wants searched indexes just what was to be left out.
# Source: the field list `:nosearch:` in https://www.sphinx-doc.org/en/master/usage/restructuredtext/field-lists.html
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip -q install sphinx==9.0.4
mkdir src && cd src
printf 'project = "Mill"\nhtml_theme = "basic"\n' > conf.py
printf 'Mill\n====\n\nFlour is ground here.\n\n.. toctree::\n\n   hidden\n' > index.rst
printf ':nosearch:\n\nHidden\n======\n\nThe keys hang behind the badger.\n' > hidden.rst
../venv/bin/sphinx-build -q -b html . out
../venv/bin/sphinx-build --version
../venv/bin/python - <<'PYTHON'
import json

text = open("out/searchindex.js").read().strip()
index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
number = index["docnames"].index("hidden")  # fails if it is not listed
at = [found if isinstance(found, list) else [found] for found in index["terms"].values()]
words = sum(number in numbers for numbers in at)
print("documents:", index["docnames"], "titles:", index["titles"])
print("words that lead to hidden.rst:", words, "; badger is in the index:", "badger" in index["terms"])
assert words == 0
PYTHON
