#!/usr/bin/env bash
# One would guess: a search library in the browser finds İstanbul when one types istanbul, as it puts both into small letters, all the more if it was
# told that the posts are Turkish.
# What happens: the small letter of İ (U+0130) is two signs to JavaScript, i and a dot above, in each language but Turkish (toLowerCase knows none).
# İstanbul is a word with nine signs in MiniSearch, lunr, elasticlunr and js-search, and two words, i and stanbul, in Orama, with language
# "turkish" too: all find it for İstanbul only, and for istanbul and Istanbul nothing. So it is with İzmir, İnternet and each word
# with it at the beginning of a sentence. Python's lower() does the same. FlexSearch and match-sorter drop the dot, and Elasticsearch's `lowercase`
# makes one letter of it.
# Seen with: minisearch 7.2.0, lunr 2.3.9, elasticlunr 0.9.5, js-search 2.0.1, @orama/orama 3.1.18, flexsearch 0.8.212, match-sorter 8.3.1.
# Source: one title, asked for in four spellings.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund minisearch@7.2.0 lunr@2.3.9 elasticlunr@0.9.5 js-search@2.0.1 @orama/orama@3.1.18 flexsearch@0.8.212 match-sorter@8.3.1
cat > try.mjs <<'JS'
import { create, insert, search } from "@orama/orama";
import elasticlunr from "elasticlunr";
import FlexSearch from "flexsearch";
import * as JsSearch from "js-search";
import lunr from "lunr";
import { matchSorter } from "match-sorter";
import MiniSearch from "minisearch";
const title = "İstanbul rehberi";
const minisearch = new MiniSearch({ fields: ["title"] });
minisearch.add({ id: 1, title });
const lunrIndex = lunr(function () {
  this.field("title");
  this.add({ id: 1, title });
});
const elastic = elasticlunr(function () {
  this.addField("title");
});
elastic.addDoc({ id: 1, title });
const jsSearch = new JsSearch.Search("id");
jsSearch.addIndex("title");
jsSearch.addDocuments([{ id: 1, title }]);
const orama = create({ schema: { title: "string" }, language: "turkish" });
insert(orama, { title });
const flexsearch = new FlexSearch.Index();
flexsearch.add(1, title);
console.log("Orama's tokens:", orama.tokenizer.tokenize(title));
for (const query of ["istanbul", "Istanbul", "İstanbul", "rehberi"])
  console.log(`${query}: MiniSearch ${minisearch.search(query).length}, lunr ${lunrIndex.search(query).length}, elasticlunr ${elastic.search(query).length},`,
    `js-search ${jsSearch.search(query).length}, Orama ${(await search(orama, { term: query })).count}, FlexSearch ${flexsearch.search(query).length},`,
    `match-sorter ${matchSorter([title], query).length}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Orama's tokens: [ 'i', 'stanbul', 'rehberi' ]
istanbul: MiniSearch 0, lunr 0, elasticlunr 0, js-search 0, Orama 0, FlexSearch 1, match-sorter 1
Istanbul: MiniSearch 0, lunr 0, elasticlunr 0, js-search 0, Orama 0, FlexSearch 1, match-sorter 1
İstanbul: MiniSearch 1, lunr 1, elasticlunr 1, js-search 1, Orama 1, FlexSearch 1, match-sorter 1
rehberi: MiniSearch 1, lunr 1, elasticlunr 1, js-search 1, Orama 1, FlexSearch 1, match-sorter 1
SEEN
