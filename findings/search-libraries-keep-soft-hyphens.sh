#!/usr/bin/env bash
# One would guess: a search library looks over soft hyphens (U+00AD, &shy;), which say where a word may be parted and are not shown,
# as the search of a browser does.
# What happens: none of five does. They stay in the word, or end it, so that a site whose pages are hyphenated when they are built, as
# by the package hyphen, has hardly a long word in its index. They have to be taken out before. Pagefind 1.6.0 does so by itself.
# Seen with: minisearch 7.2.0, lunr 2.3.9, @orama/orama 3.1.18, flexsearch 0.8.212, itemsjs 2.4.4, hyphen 1.14.1. Source: the same
# sentence with and without hyphenation.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund minisearch@7.2.0 lunr@2.3.9 @orama/orama@3.1.18 flexsearch@0.8.212 itemsjs@2.4.4 hyphen@1.14.1
cat > try.mjs <<'JS'
import { create, insert, search } from "@orama/orama";
import { Index } from "flexsearch";
import hyphen from "hyphen/en/index.js";
import itemsjs from "itemsjs";
import lunr from "lunr";
import MiniSearch from "minisearch";
const plain = "Reproducible benchmarks of rye, with statistical significance";
const hyphenated = hyphen.hyphenateHTMLSync(plain);
console.log(hyphenated.replaceAll("\u00ad", "&shy;"));
for (const [kind, text] of Object.entries({ plain, hyphenated, removed: hyphenated.replaceAll("\u00ad", "") })) {
  const mini = new MiniSearch({ fields: ["text"] });
  mini.add({ id: 1, text });
  const flex = new Index();
  flex.add(1, text);
  const orama = create({ schema: { text: "string" } });
  insert(orama, { text });
  const items = itemsjs([{ id: 1, text }], { searchableFields: ["text"] });
  const index = lunr(function () { this.ref("id"); this.field("text"); this.add({ id: 1, text }); });
  for (const query of ["rye", "benchmarks", "reproducible"]) {
    const found = {
      minisearch: mini.search(query), lunr: index.search(query), flexsearch: flex.search(query),
      orama: (await search(orama, { term: query, threshold: 0 })).hits, itemsjs: items.search({ query }).data.items,
    };
    console.log(`${kind}, ${query}:`, Object.entries(found).map(([name, hits]) => `${name} ${hits.length}`).join(", "));
  }
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Re&shy;pro&shy;ducible bench&shy;marks of rye, with sta&shy;tis&shy;ti&shy;cal sig&shy;nif&shy;i&shy;cance
plain, rye: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
plain, benchmarks: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
plain, reproducible: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
hyphenated, rye: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
hyphenated, benchmarks: minisearch 0, lunr 0, flexsearch 0, orama 0, itemsjs 0
hyphenated, reproducible: minisearch 0, lunr 0, flexsearch 0, orama 0, itemsjs 0
removed, rye: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
removed, benchmarks: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
removed, reproducible: minisearch 1, lunr 1, flexsearch 1, orama 1, itemsjs 1
SEEN
