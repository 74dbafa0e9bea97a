#!/usr/bin/env bash
# One would guess: the stemmer of hazm, the usual toolkit for Persian, gives a noun and its regular plural (-ها) one stem, and leaves words alone
# that have no ending.
# What happens: it takes one ending from each word, whatever is left: from the plural its -ها, from the singular its last letters if they look
# like an ending (-ان, -م, -ت, -ش, -ی). زبان (language) is زب and زبان‌ها زبان, فیلم (film) فیل, which is an elephant, and فیلم‌ها فیلم; neither finds
# the other. علم (science), علت (cause) and Ali are one, تیم (team) is a single letter, as are نان (bread) and زمان (time), and Iran is ایر.
# Seen with: hazm 0.10.0. Source: 45 words of titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet hazm==0.10.0
cat > try.py <<'PY'
from hazm import Stemmer

stem = Stemmer().stem
for words in ("کتاب کتاب‌ها", "زبان زبان‌ها", "فیلم فیلم‌ها", "سیستم سیستم‌ها", "داستان داستان‌ها", "علم علت علی", "تیم نان زمان ایران"):
    print(words, "->", *map(stem, words.split()))
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
کتاب کتاب‌ها -> کتاب کتاب
زبان زبان‌ها -> زب زبان
فیلم فیلم‌ها -> فیل فیلم
سیستم سیستم‌ها -> سیس سیستم
داستان داستان‌ها -> داس داستان
علم علت علی -> عل عل عل
تیم نان زمان ایران -> ت ن ز ایر
SEEN
