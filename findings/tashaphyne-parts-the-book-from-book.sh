#!/usr/bin/env bash
# One would guess: a light stemmer for Arabic gives a noun one stem with and without its article (ال), as this is what light stemming is for.
# What happens: Tashaphyne takes what may be a particle off the beginning of each word, also off a noun without an article that happens to begin with
# such a letter: كتاب (book) is تاب (he repented), as ك can be "like", while الكتاب (the book) is كتاب. بحث (search) is حث (urge) and البحث بحث,
# بيانات (data) is يان, لبنان (Lebanon) بنا, لينكس (Linux) نكس and بايثون (Python) ايثون. The noun with the article does not find the
# one without it, and each finds other words. get_root() takes one of several roots, and another one in the next run: an index of
# roots lacks what a query in a new process asks for.
# Seen with: Tashaphyne 0.3.6. Source: 23 words of blogs on programming.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet tashaphyne==0.3.6 pyarabic==0.6.15
cat > try.py <<'PY'
import sys

from tashaphyne.stemming import ArabicLightStemmer

stemmer = ArabicLightStemmer()
for word in sys.argv[1:]:
    print(f"{word}: stem {stemmer.light_stem(word)}, root {stemmer.get_root()}")
PY
for seed in 1 2; do # of the order of sets, which Python draws for each run
  PYTHONHASHSEED=$seed venv/bin/python try.py كتاب الكتاب كتب بحث البحث بيانات البيانات لبنان لينكس بايثون
done | tee seen
diff seen - <<'SEEN'
كتاب: stem تاب, root كوب
الكتاب: stem كتاب, root كوب
كتب: stem تب, root كتب
بحث: stem حث, root حثث
البحث: stem بحث, root بحث
بيانات: stem يان, root بنت
البيانات: stem بيان, root لبن
لبنان: stem بنا, root لبن
لينكس: stem نكس, root نكس
بايثون: stem ايثون, root بثو
كتاب: stem تاب, root توب
الكتاب: stem كتاب, root كوب
كتب: stem تب, root كتب
بحث: stem حث, root حثث
البحث: stem بحث, root بحث
بيانات: stem يان, root بنت
البيانات: stem بيان, root لبن
لبنان: stem بنا, root بنن
لينكس: stem نكس, root نكس
بايثون: stem ايثون, root بوث
SEEN
