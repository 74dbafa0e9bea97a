#!/usr/bin/env bash
# One would guess: pages of one language are one index to Pagefind, however exactly their `lang` names it: en, en-GB, or en_US, which
# a locale of Python looks like (and MkDocs writes).
# What happens: each spelling is a language. A search on a page with lang="en" finds no page with en-GB, and the other way round, so
# that a post from another template, or an import, is found from nowhere but itself. Only upper and lower case are the same. Words of
# en_US are not stemmed either: there `baking` does not find "baked". The option --force-language mends both.
# Seen with: pagefind 1.6.0. Source: four pages in four spellings, searched from three of them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null && npm install --silent --no-audit --no-fund pagefind@1.6.0
for language in en EN en-GB en_US; do
  mkdir -p site/$language
  echo "<!doctype html><html lang=$language><title>Rye</title><main><h1>Rye</h1><p>Baked.</p></main></html>" > site/$language/index.html
done
cat > try.mjs <<'JS'
import { readFile } from "node:fs/promises";
globalThis.fetch = async (path) => new Response(await readFile("site" + path.split("?")[0]));
for (const lang of ["en", "en-GB", "en_US"]) {
  globalThis.document = { currentScript: null, querySelector: () => ({ getAttribute: () => lang }) };
  const pagefind = await import(`./pagefind.mjs?${lang}`);
  for (const query of ["rye", "baking"]) {
    const { results } = await pagefind.search(query);
    const pages = await Promise.all(results.map(async (result) => (await result.data()).url));
    console.log(`from ${lang}, ${query}:`, pages.sort());
  }
}
JS
for options in "" "--force-language en"; do
  npx pagefind --site site --quiet $options
  cp site/pagefind/pagefind.js pagefind.mjs
  echo "pagefind${options:+ $options}"
  node try.mjs
done | tee seen
diff seen - <<'SEEN'
pagefind
from en, rye: [ '/EN/', '/en/' ]
from en, baking: [ '/EN/', '/en/' ]
from en-GB, rye: [ '/en-GB/' ]
from en-GB, baking: [ '/en-GB/' ]
from en_US, rye: [ '/en_US/' ]
from en_US, baking: []
pagefind --force-language en
from en, rye: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
from en, baking: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
from en-GB, rye: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
from en-GB, baking: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
from en_US, rye: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
from en_US, baking: [ '/EN/', '/en-GB/', '/en/', '/en_US/' ]
SEEN
