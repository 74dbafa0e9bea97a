#!/usr/bin/env bash
# One would guess: PorterStemmerRu of the package natural is Snowball's Russian stemmer, as the name says, and finds the cases of a noun.
# What happens: it leaves -ост of many nouns and the ending -уют of verbs, and makes one н of each нн. безопасность (safety) is not found
# by безопасности, its genitive, nor возможность (possibility) by возможности, nor использует (uses) by используют (use). Its Portuguese
# leaves -ução: revolução is not found by revoluções.
# Seen with: natural 8.1.1, snowballstemmer 3.1.1 for Python. Source: the 20,000 most frequent words of each language, of which 185
# Russian ones and 13 Portuguese ones have another stem.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund natural@8.1.1
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet snowballstemmer==3.1.1
cat > pairs.json <<'JSON'
{"russian": ["безопасность безопасности", "возможность возможности", "деятельность деятельности", "использует используют",
"сторонник сторонники", "новость новости"],
"portuguese": ["revolução revoluções", "execução execuções", "informação informações"]}
JSON
cat > try.cjs <<'JS'
const { PorterStemmerPt, PorterStemmerRu } = require("natural");
for (const [language, pairs] of Object.entries(require("./pairs.json"))) {
  const stemmer = language === "russian" ? PorterStemmerRu : PorterStemmerPt;
  for (const pair of pairs) console.log("natural:", pair, "->", ...pair.split(" ").map((word) => stemmer.stem(word)));
}
JS
cat > try.py <<'PY'
import json

import snowballstemmer

for language, pairs in json.load(open("pairs.json")).items():
    stemmer = snowballstemmer.stemmer(language)
    for pair in pairs:
        print("Snowball:", pair, "->", *stemmer.stemWords(pair.split()))
PY
{ node try.cjs | grep natural; venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
natural: безопасность безопасности -> безопасн безопасност
natural: возможность возможности -> возможн возможност
natural: деятельность деятельности -> деятельн деятельност
natural: использует используют -> использ используют
natural: сторонник сторонники -> стороник стороник
natural: новость новости -> новост новост
natural: revolução revoluções -> revoluçã revoluçõ
natural: execução execuções -> execuçã execuçõ
natural: informação informações -> inform inform
Snowball: безопасность безопасности -> безопасн безопасн
Snowball: возможность возможности -> возможн возможн
Snowball: деятельность деятельности -> деятельн деятельн
Snowball: использует используют -> использ использ
Snowball: сторонник сторонники -> сторонник сторонник
Snowball: новость новости -> новост новост
Snowball: revolução revoluções -> revolu revolu
Snowball: execução execuções -> execu execu
Snowball: informação informações -> inform inform
SEEN
