#!/usr/bin/env bash
# One would guess: a spelling corrector for whole queries leaves what is no word (2024, C++, v2) as it is, as it does with single words.
# What happens: symspellpy's `lookup_compound`, made for queries, takes numbers for two mistyped words: "search in 2024" becomes
# "search in of of", and "c++ and c#" "a and a". An option, ignore_non_words=True, keeps numbers and abbreviations in capitals, but
# not the signs of C++. `lookup` of the single word leaves 2024 alone, but makes "can" of c++ and "help" of http.
# Seen with: symspellpy 6.10.1, with its own dictionary of 82,765 English words. Source: queries of a blog on programming.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet symspellpy==6.10.1
cat > try.py <<'PY'
from importlib.resources import files
from symspellpy import SymSpell, Verbosity

speller = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
speller.load_dictionary(str(files("symspellpy") / "frequency_dictionary_en_82_765.txt"), term_index=0, count_index=1)
for query in ("pythn serach", "search in 2024", "python 3.12", "c++ and c#", "HTTP in 2024", "mp3 player"):
    found = [speller.lookup_compound(query, 2, ignore_non_words=ignore)[0].term for ignore in (False, True)]
    print(f"{query}: {found[0]}; with ignore_non_words: {found[1]}")
for word in ("2024", "c++", "http"):
    print(f"{word} alone:", speller.lookup(word, Verbosity.TOP, 2, include_unknown=True)[0].term)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
pythn serach: python search; with ignore_non_words: python search
search in 2024: search in of of; with ignore_non_words: search in 2024
python 3.12: python a of; with ignore_non_words: python 3 12
c++ and c#: a and a; with ignore_non_words: a and a
HTTP in 2024: help in of of; with ignore_non_words: HTTP in 2024
mp3 player: mph player; with ignore_non_words: mph player
2024 alone: 2024
c++ alone: can
http alone: help
SEEN
