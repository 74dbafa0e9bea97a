#!/usr/bin/env bash
# One would guess: natural knows the letters of a language that it has a stemmer for, or of none.
# What happens: WordTokenizer, which TfIdf takes for texts of any language, has the letters of English and of Russian but ё: Café is Caf,
# so that a post on "the caf" is as near to cafés as one on them, and Ёлка is лка. tokenizeAndStem of the Dutch stemmer ends words at each
# accent (één is nothing, geïnteresseerd nteresseerd), and that of the Italian one gives another stem of università than the stemmer itself.
# Those for seven other languages keep such words. Importing it prints lines of advertisement (of dotenv) to standard output.
# Seen with: natural 8.1.1. Source: a line of text in nine languages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund natural@8.1.1
cat > try.cjs <<'JS'
const natural = require("natural");
const texts = {
  It: "Università", Nl: "Coördinatie één geïnteresseerd", Fr: "Élèves français naïfs", De: "Häuser Straßen Bäume",
  Es: "Año canción corazón", Pt: "Coração ação", Sv: "Åker älgar", Ru: "Ёлка ёж", Uk: "Їжак ґанок",
};
for (const [language, text] of Object.entries(texts)) {
  const stemmer = natural[`PorterStemmer${language}`];
  console.log(`${language}: ${stemmer.tokenizeAndStem(text)}; word by word ${text.toLowerCase().split(" ").map((word) => stemmer.stem(word))}`);
}
console.log("WordTokenizer:", new natural.WordTokenizer().tokenize("Café Ёлка Привет").join());
const frequencies = new natural.TfIdf();
for (const text of ["Un café", "The caf is open", "Rye"]) frequencies.addDocument(text);
console.log("TfIdf, café:", frequencies.tfidfs("café").map((measure) => measure.toFixed(2)).join());
JS
node try.cjs | grep --invert-match "injected env" | tee seen
diff seen - <<'SEEN'
It: universit; word by word univers
Nl: co,rdinatie,nteresseerd; word by word coordinatie,een,geinteresseerd
Fr: élev,franc,naïf; word by word élev,franc,naïf
De: haus,strass,baum; word by word haus,strass,baum
Es: año,cancion,corazon; word by word año,cancion,corazon
Pt: coraçã,açã; word by word coraçã,açã
Sv: åker,älg; word by word åker,älg
Ru: елк,еж; word by word елк,еж
Uk: їжак,ґанок; word by word їжак,ґанок
WordTokenizer: Caf,лка,Привет
TfIdf, café: 1.00,1.00,0.00
SEEN
