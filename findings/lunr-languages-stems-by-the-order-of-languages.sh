#!/usr/bin/env bash
# One would guess: lunr.multiLanguage("en", "de") finds inflected words of both languages, in whichever order they are named.
# What happens: each word goes through all stemmers, the one behind the other. With English first, Haus becomes hau (no s) before the
# German stemmer sees it, and Häuser becomes haus: neither finds the other any more, as Swedish hus and husen. With English last they
# do. Its own example names English first, and so do MkDocs sites with `lang: [en, de]`. A language alone has its own letters only: with
# ru or ar the word Python is not in the index.
# Seen with: lunr 2.3.9, lunr-languages 1.22.0. Source: pairs of words of nine languages, alone and with English in both orders.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund lunr@2.3.9 lunr-languages@1.22.0
cat > try.cjs <<'JS'
const lunr = require("lunr");
for (const name of ["stemmer.support", "de", "sv", "ru", "multi"]) require(`lunr-languages/lunr.${name}`)(lunr);
const found = (plugin, texts, query) => {
  const index = lunr(function () {
    this.use(plugin);
    this.ref("id");
    this.field("text");
    texts.forEach((text, id) => this.add({ id, text }));
  });
  return index.search(query).map((hit) => texts[hit.ref]).sort();
};
for (const [code, ...words] of [["de", "Haus", "Häuser"], ["sv", "hus", "husen"]]) {
  for (const order of [["en", code], [code, "en"]]) console.log(order.join(), words[1], found(lunr.multiLanguage(...order), words, words[1]));
}
console.log("ru Python", found(lunr.ru, ["Python и книга"], "Python"), found(lunr.ru, ["Python и книга"], "книги"));
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
en,de Häuser [ 'Häuser' ]
de,en Häuser [ 'Haus', 'Häuser' ]
en,sv husen [ 'husen' ]
sv,en husen [ 'hus', 'husen' ]
ru Python [] [ 'Python и книга' ]
SEEN
