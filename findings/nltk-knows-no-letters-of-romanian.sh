#!/usr/bin/env bash
# One would guess: NLTK's SnowballStemmer knows the letters of the languages that it has.
# What happens: its Hungarian has õ and û, as ISO 8859-1 put them, instead of ő and ű, so that nő (woman) does not find nők or nőnek; its
# Romanian has ş and ţ with a cedilla, as old keyboards did, instead of ș and ț with a comma below, as is written now: activitate (activity)
# does not find activități, vorbesc (I speak) not vorbește (speaks), and informații not the same word with a cedilla.
# Seen with: nltk 3.10.4, snowballstemmer 3.1.1. Source: the 20,000 most frequent words of each; 232 Hungarian and 731 Romanian ones have
# another stem.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet nltk==3.10.4 snowballstemmer==3.1.1
cat > try.py <<'PY'
import snowballstemmer
from nltk.stem.snowball import SnowballStemmer

WORDS = {"hungarian": "nő nők nőnek tű tűk", "romanian": "vorbesc vorbește activitate activități informații informaţii"}
for language, words in WORDS.items():
    print("words:   ", words)
    print("NLTK:    ", *map(SnowballStemmer(language).stem, words.split()))
    print("Snowball:", *snowballstemmer.stemmer(language).stemWords(words.split()))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
words:    nő nők nőnek tű tűk
NLTK:     nő nők nőnek tű tűk
Snowball: nő nő nő tű tű
words:    vorbesc vorbește activitate activități informații informaţii
NLTK:     vorb vorbeșt activ activităț informaț inform
Snowball: vorb vorb activ activ inform inform
SEEN
