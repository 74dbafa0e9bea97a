#!/usr/bin/env bash
# One would guess: a list of English stop words has the words that say nothing by themselves (the, of, and).
# What happens: that of stopwords-iso has 1,298 words, html, computer, system, index, research, microsoft and netscape among them, and
# the domains of countries, and so go, ml, ai and io. With such a filter "Go modules" is found by its second word only, and nothing is
# left of "Microsoft ends HTML help". Its German has Jahr, Zeit, Mensch and Uhr (year, time, man, clock), its Malay the country's
# name. The Python package stopwordsiso has the same words.
# Seen with: stopwords-iso 1.1.0 (npm), stopwordsiso 0.7.1 (PyPI). Source: words of titles of posts, looked up in the lists.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund stopwords-iso@1.1.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet stopwordsiso==0.7.1
cat > try.cjs <<'JS'
const lists = require("stopwords-iso");
require("node:fs").writeFileSync("en.json", JSON.stringify(lists.en));
const words = {
  en: "html http website computer system index research test microsoft netscape go ml ai io rust bread",
  de: "jahr zeit mensch uhr mann beispiel haus brot", es: "trabajo tiempo verdad pan", it: "mondo stato anno pane",
  ms: "malaysia syarikat pasaran roti",
};
for (const [language, given] of Object.entries(words)) {
  const has = (word) => lists[language].includes(word);
  console.log(language, lists[language].length, "stops", given.split(" ").filter(has).join(" "));
}
for (const title of ["Go modules", "Microsoft ends HTML help", "Computer system research"])
  console.log(title, "=>", title.split(" ").filter((word) => !lists.en.includes(word.toLowerCase())));
JS
cat > same.py <<'PY'
import json
import stopwordsiso

print("stopwordsiso has the same:", stopwordsiso.stopwords("en") == set(json.load(open("en.json"))))
PY
{ node try.cjs; venv/bin/python same.py; } | tee seen
diff seen - <<'SEEN'
en 1298 stops html http website computer system index research test microsoft netscape go ml ai io
de 620 stops jahr zeit mensch uhr mann beispiel
es 732 stops trabajo tiempo verdad
it 632 stops mondo stato anno
ms 475 stops malaysia syarikat pasaran
Go modules => [ 'modules' ]
Microsoft ends HTML help => []
Computer system research => []
stopwordsiso has the same: True
SEEN
