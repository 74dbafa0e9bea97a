#!/usr/bin/env bash
# One would guess: Asciidoctor writes "Wait...what" with an ellipsis and "rye--bread" with a dash, and a search library that ends words at
# punctuation finds all four words.
# What happens: it puts a zero-width space (U+200B) behind both, so that browsers may break the line there. That is neither a space
# (\s, Z) nor punctuation to JavaScript: in MiniSearch the second word begins with the invisible sign and is not found, with or without
# `prefix`. The same sentence without it is found. Around a dash with spaces it puts thin spaces (U+2009). Orama and FlexSearch end words
# at it, and so do regular expressions with \w.
# Seen with: @asciidoctor/core 4.1.0, minisearch 7.2.0, @orama/orama 3.1.18, flexsearch 0.8.212, cheerio 1.2.0. Source: one sentence.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @asciidoctor/core@4.1.0 minisearch@7.2.0 @orama/orama@3.1.18 flexsearch@0.8.212 cheerio@1.2.0
cat > try.mjs <<'JS'
import { convert } from "@asciidoctor/core";
import { create, insert, search } from "@orama/orama";
import { load } from "cheerio";
import FlexSearch from "flexsearch";
import MiniSearch from "minisearch";

const text = load(String(await convert("Wait...what, rye--bread. Oats -- a grain."))).text().trim();
console.log(JSON.stringify(text).replace(/[\u200b\u2009]/g, (sign) => `\\u${sign.codePointAt(0).toString(16)}`));
for (const post of [text, text.replaceAll("\u200b", "")]) {
  const minisearch = new MiniSearch({ fields: ["text"], searchOptions: { prefix: true } });
  minisearch.add({ id: 1, text: post });
  const orama = create({ schema: { text: "string" } });
  insert(orama, { text: post });
  const flexsearch = new FlexSearch.Index();
  flexsearch.add(1, post);
  for (const word of ["wait", "what", "rye", "bread", "grain"])
    console.log(`${word}: MiniSearch ${minisearch.search(word).length}, Orama ${(await search(orama, { term: word })).count}, FlexSearch ${flexsearch.search(word).length}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
"Wait…\u200bwhat, rye—\u200bbread. Oats\u2009—\u2009a grain."
wait: MiniSearch 1, Orama 1, FlexSearch 1
what: MiniSearch 0, Orama 1, FlexSearch 1
rye: MiniSearch 1, Orama 1, FlexSearch 1
bread: MiniSearch 0, Orama 1, FlexSearch 1
grain: MiniSearch 1, Orama 1, FlexSearch 1
wait: MiniSearch 1, Orama 1, FlexSearch 1
what: MiniSearch 1, Orama 1, FlexSearch 1
rye: MiniSearch 1, Orama 1, FlexSearch 1
bread: MiniSearch 1, Orama 1, FlexSearch 1
grain: MiniSearch 1, Orama 1, FlexSearch 1
SEEN
