#!/usr/bin/env bash
# One would guess: with `stemming` Orama finds all that it finds without, and other forms of the word besides.
# What happens: its English stemmer takes a letter too much from many words in -tion (prediction: predic), and leaves those in -sion
# (decision: decision). Without stemming `predict` finds "prediction", which begins with it; with it nothing. `use` becomes us, and
# finds "they told us". @orama/stemmers has the same English stemmer. Snowball: predict for both, and use.
# Seen with: @orama/orama 3.1.18, @orama/stemmers 3.1.18, snowball-stemmers 0.6.0. Source: 1,605 English words by five stemmers,
# of which Orama stems 130 unlike snowball-stemmers.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @orama/orama@3.1.18 @orama/stemmers@3.1.18 snowball-stemmers@0.6.0
cat > try.mjs <<'JS'
import { create, insert, search } from "@orama/orama";
import { stemmer, language } from "@orama/stemmers/english";
import snowball from "snowball-stemmers";
const terms = ["predict", "select", "use"];
const kinds = { plain: {}, stemming: { stemming: true }, "@orama/stemmers": { stemming: true, stemmer, language } };
const seen = {};
for (const [name, tokenizer] of Object.entries(kinds)) {
  const index = create({ schema: { text: "string" }, components: { tokenizer } });
  for (const text of ["A prediction of rain", "The selection of flour", "They told us"]) insert(index, { text });
  seen[name] = terms.map((term) => search(index, { term }).hits.map((hit) => hit.document.text).join());
}
const english = snowball.newStemmer("english");
seen.Snowball = ["predict", "prediction", "select", "selection", "use", "us"].map((word) => english.stem(word));
console.log(terms, seen);
const wrong = ["", "", "They told us"];
const expected = {
  plain: ["A prediction of rain", "The selection of flour", ""],
  stemming: wrong,
  "@orama/stemmers": wrong,
  Snowball: ["predict", "predict", "select", "select", "use", "us"],
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) process.exit(1);
JS
node try.mjs
