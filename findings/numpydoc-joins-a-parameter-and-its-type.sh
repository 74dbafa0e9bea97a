#!/usr/bin/env bash
# One would guess: a search in the pages of a Sphinx site finds the type of a parameter, as a page made by numpydoc shows "grain : ndarray".
# What happens: the colon is drawn by the style sheet. In the HTML the name and its type are two inline elements without anything between
# them (docutils writes so for each definition list with a classifier), so that whatever reads the text of the page has one word:
# Pagefind shows "grainndarray", finds it for grain, as it begins so, and nothing for ndarray; Beautiful Soup has grainndarray, too.
# In lists of parameters, as of NumPy, SciPy and pandas, no type is found. Sphinx' own index is made of the source, and finds it.
# Seen with: numpydoc 1.11.0, Sphinx 9.0.4, docutils 0.22.4, pagefind 1.6.0, beautifulsoup4 4.15.0. Source: the page of one function.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet numpydoc==1.11.0 Sphinx==9.0.4 docutils==0.22.4 beautifulsoup4==4.15.0
npm init --yes > /dev/null && npm install --silent --no-audit --no-fund pagefind@1.6.0
cat > conf.py <<'PY'
import sys
sys.path.insert(0, ".")
extensions = ["sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["venv", "node_modules"]
PY
cat > mill.py <<'PY'
def grind(grain, speed=3):
    """Grind it.

    Parameters
    ----------
    grain : ndarray
        What to grind.
    speed : quantity
        How often it turns.
    """
PY
printf 'Mill\n====\n\n.. autofunction:: mill.grind\n' > index.rst
venv/bin/sphinx-build -q -b html . site
npx pagefind --site site --quiet
cp site/pagefind/pagefind.js pagefind.mjs
cat > try.mjs <<'JS'
import { readFile } from "node:fs/promises";
globalThis.fetch = async (path) => new Response(await readFile("site" + path.split("?")[0]));
globalThis.document = { currentScript: null, querySelector: () => ({ getAttribute: () => "en" }) };
const pagefind = await import("./pagefind.mjs");
for (const query of ["grain", "ndarray", "quantity", "turns"]) {
  const { results } = await pagefind.search(query);
  const pages = await Promise.all(results.map((result) => result.data()));
  console.log(`Pagefind, ${query}:`, pages.filter((page) => page.url == "/").map((page) => page.excerpt.match(/Parameters: (.*) What/)?.[1].replace(/<\/?mark>/g, "")));
}
JS
cat > try.py <<'PY'
import bs4

print("Beautiful Soup:", [term.get_text() for term in bs4.BeautifulSoup(open("site/index.html"), "html.parser").select("dt") if term.select(".classifier")])
PY
{ node try.mjs && venv/bin/python try.py && echo "Sphinx' index has ndarray: $(grep -c ndarray site/searchindex.js)"; } | tee seen
diff seen - <<'SEEN'
Pagefind, grain: [ 'grainndarray' ]
Pagefind, ndarray: []
Pagefind, quantity: []
Pagefind, turns: [ 'grainndarray' ]
Beautiful Soup: ['grainndarray', 'speedquantity']
Sphinx' index has ndarray: 1
SEEN
