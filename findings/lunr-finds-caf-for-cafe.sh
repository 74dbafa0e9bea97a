#!/usr/bin/env bash
# One would guess: lunr and elasticlunr, made for English, find a word with an accent by the same word with the accent, whatever stems they
# make of it.
# What happens: before words are stemmed, what is no ASCII letter or digit is taken off both ends. café is "caf" in the index, and über "ber".
# lunr (for instance in MkDocs) does not do the same with what is typed: café, naïveté, Malmö and über find nothing, while caf and ber find
# them, and niño, with the letter inside, is found. elasticlunr (in mdBook) does so with both, so that über finds "ber" too, but
# a word that has no ASCII letter (привет, 検索) is not in the index at all, in either. lunr-languages has other trimmers.
# Seen with: lunr 2.3.9, elasticlunr 0.9.5. Source: their trimmer; ten titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund lunr@2.3.9 elasticlunr@0.9.5
cat > try.mjs <<'JS'
import lunr from "lunr";
import elasticlunr from "elasticlunr";
const titles = ["Our café opens", "Über uns", "A ber code", "Naïveté", "El niño", "Malmö", "Привет мир", "日本語 検索"];
const first = lunr(function () {
  this.field("title"), this.ref("id");
  titles.forEach((title, id) => this.add({ id, title }));
});
const second = elasticlunr(function () {
  this.addField("title"), this.setRef("id");
});
titles.forEach((title, id) => second.addDoc({ id, title }));
for (const word of ["café", "caf", "über", "ber", "naïveté", "niño", "malmö", "привет", "検索"]) {
  const found = (index) => index.search(word, {}).map(({ ref }) => titles[ref]).sort().join(", ") || "nothing";
  console.log(`${word}: lunr ${found(first)}; elasticlunr ${found(second)}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
café: lunr nothing; elasticlunr Our café opens
caf: lunr Our café opens; elasticlunr Our café opens
über: lunr nothing; elasticlunr A ber code, Über uns
ber: lunr A ber code, Über uns; elasticlunr A ber code, Über uns
naïveté: lunr nothing; elasticlunr Naïveté
niño: lunr El niño; elasticlunr El niño
malmö: lunr nothing; elasticlunr Malmö
привет: lunr nothing; elasticlunr nothing
検索: lunr nothing; elasticlunr nothing
SEEN
