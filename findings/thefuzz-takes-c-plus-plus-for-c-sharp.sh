#!/usr/bin/env bash
# One would guess: thefuzz scores two different names below 100, and its `dedupe` drops what is nearly the same, such as "Rye bread!" beside
# "Rye bread".
# What happens: all but `ratio` first take out what is no letter or digit: C++, C# and C are one word, and R&D is "R D". extractOne finds C# for
# C++, which stands behind it in the list, with 100 points, and dedupe leaves one of three tags, in an order that changes from run to run. A
# vowel sign of Hindi is no letter to it: दिन (day) and दान (gift) are both द न, and nearest to each other with 100 points. rapidfuzz, to
# which it refers, does so only where processor=default_process is given; without it case counts.
# Seen with: thefuzz 0.22.1, rapidfuzz 3.14.6. Source: names of languages, and Hindi words with the same consonants.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet thefuzz==0.22.1 rapidfuzz==3.14.6
cat > try.py <<'PY'
import rapidfuzz
from thefuzz import fuzz, process

print("extractOne:", process.extractOne("C++", ["C#", "C++"]), process.extractOne("दिन", ["दान", "दिन"]))
print("dedupe:", sorted(process.dedupe(["Rye bread", "Rye bread!", "C++", "C#", "C"])))
for first, second in (("C++", "C#"), ("दिन", "दान"), ("R&D", "R D"), ("Rye", "rye")):
    print(
        f"{first}, {second}: ratio {fuzz.ratio(first, second)}, token_sort_ratio {fuzz.token_sort_ratio(first, second)}, "
        f"WRatio {fuzz.WRatio(first, second)}, of rapidfuzz {rapidfuzz.fuzz.WRatio(first, second):.0f}"
    )
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
extractOne: ('C#', 100) ('दान', 100)
dedupe: ['C++', 'Rye bread!']
C++, C#: ratio 40, token_sort_ratio 100, WRatio 100, of rapidfuzz 60
दिन, दान: ratio 67, token_sort_ratio 100, WRatio 100, of rapidfuzz 67
R&D, R D: ratio 67, token_sort_ratio 100, WRatio 100, of rapidfuzz 67
Rye, rye: ratio 67, token_sort_ratio 100, WRatio 100, of rapidfuzz 67
SEEN
