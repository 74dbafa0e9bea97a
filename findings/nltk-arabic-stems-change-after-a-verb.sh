#!/usr/bin/env bash
# One would guess: a stemmer gives a word one stem, whatever it was asked before.
# What happens: NLTK's ArabicStemmer keeps a note from word to word. Once a word had the ending of a verb (as عليه, "on it", the 38th
# most frequent word), some plurals and names are stemmed by other rules from then on: قالوا (they said) is قال, then قالو, and
# مترو (metro) مترو, then متر (metre). An index made with one object lacks what a query asks with a new one: "they said" is not found
# by "they said", and a metre finds the metro.
# Seen with: nltk 3.10.4, snowballstemmer 3.1.1, which does not. Source: the 20,000 most frequent words, of which 104 change.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet nltk==3.10.4 snowballstemmer==3.1.1
cat > try.py <<'PY'
import snowballstemmer
from nltk.stem.snowball import SnowballStemmer

words = ["قالوا", "وصلوا", "كانوا", "مترو", "يورو", "متر", "كتاب"]
makers = {"NLTK": lambda: SnowballStemmer("arabic").stem, "Snowball": lambda: snowballstemmer.stemmer("arabic").stemWord}
for name, make in makers.items():
    stem = make()
    print(f"{name}, new:", *map(stem, words))
    stem("كتب")
    print(f"{name}, after another word:", *map(stem, words))
    stem("عليه")
    print(f"{name}, after عليه:", *map(stem, words))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
NLTK, new: قال وصل كان مترو يورو متر كتاب
NLTK, after another word: قال وصل كان مترو يورو متر كتاب
NLTK, after عليه: قالو صلو كانو متر يور متر كتاب
Snowball, new: قال وصل كان مترو يورو متر كتاب
Snowball, after another word: قال وصل كان مترو يورو متر كتاب
Snowball, after عليه: قال وصل كان مترو يورو متر كتاب
SEEN
