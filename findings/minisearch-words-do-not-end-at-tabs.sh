#!/usr/bin/env bash
# One would guess: a search library ends a word at white space, and at signs that no word has, such as a backtick or a bar.
# What happens: MiniSearch ends words at line ends, Unicode's separators (Z) and its punctuation (P). A tab is a control character
# there, and ` | = < > $ + ~ ^ are symbols: all are parts of words. `return` does not find a line of code that a tab indents, `npm` not
# "`npm install`" of a text in Markdown, and `oats` neither a line of tab-separated values nor a cell |oats|. Orama
# and FlexSearch find them all, Lunr those with a tab or a backtick. A `tokenize` that splits at [^\p{L}\p{M}\p{N}]+ mends it.
# Seen with: minisearch 7.2.0, lunr 2.3.9, @orama/orama 3.1.18, flexsearch 0.8.212. Source: eight texts, each searched for a word of it.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund minisearch@7.2.0 lunr@2.3.9 @orama/orama@3.1.18 flexsearch@0.8.212
cat > try.mjs <<'JS'
import MiniSearch from "minisearch";
import lunr from "lunr";
import { create, insert, search } from "@orama/orama";
import { Index } from "flexsearch";
const texts = {
  return: "func mill() {\n\treturn\n}", barley: "rye\tbarley", npm: "Run `npm install` now", oats: "|rye|oats|",
  key: "Set key=value there", HOME: "cd $HOME", String: "A Vec<String>", granite: "granite, polished",
};
for (const [query, text] of Object.entries(texts)) {
  const mini = new MiniSearch({ fields: ["text"] });
  const mended = new MiniSearch({ fields: ["text"], tokenize: (given) => given.split(/[^\p{L}\p{M}\p{N}]+/u) });
  for (const index of [mini, mended]) index.add({ id: 1, text });
  const flex = new Index();
  flex.add(1, text);
  const orama = create({ schema: { text: "string" } });
  insert(orama, { text });
  const other = lunr(function () { this.ref("id"); this.field("text"); this.add({ id: 1, text }); });
  const found = {
    minisearch: mini.search(query), mended: mended.search(query), lunr: other.search(query),
    orama: (await search(orama, { term: query, threshold: 0 })).hits, flexsearch: flex.search(query),
  };
  console.log(JSON.stringify(text), query, Object.entries(found).map(([name, hits]) => `${name} ${hits.length}`).join(", "));
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
"func mill() {\n\treturn\n}" return minisearch 0, mended 1, lunr 1, orama 1, flexsearch 1
"rye\tbarley" barley minisearch 0, mended 1, lunr 1, orama 1, flexsearch 1
"Run `npm install` now" npm minisearch 0, mended 1, lunr 1, orama 1, flexsearch 1
"|rye|oats|" oats minisearch 0, mended 1, lunr 0, orama 1, flexsearch 1
"Set key=value there" key minisearch 0, mended 1, lunr 0, orama 1, flexsearch 1
"cd $HOME" HOME minisearch 0, mended 1, lunr 1, orama 1, flexsearch 1
"A Vec<String>" String minisearch 0, mended 1, lunr 0, orama 1, flexsearch 1
"granite, polished" granite minisearch 1, mended 1, lunr 1, orama 1, flexsearch 1
SEEN
