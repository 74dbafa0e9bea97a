#!/usr/bin/env bash
# One would guess: pymorphy3, which knows Russian by a dictionary and puts the likeliest reading first, has one normal form for the cases of
# a noun as common as "article" or "data".
# What happens: each form is ranked by itself. статья (article) is статья, and статей, as in "10 статей" (10 articles), стать, "to become",
# with стал and стали (became), so that an index of normal forms does not find one by the other. данные (data) is дать, "to give", while
# данных, its genitive, is данные; тем (of topics) is a conjunction, стеку (to the stack) стечь, "to flow off", and цветами (in colours)
# another noun than цветов. 15 of 100 nouns of posts on programming have such a form. Snowball's stemmer gives the forms of each of these
# nouns one stem.
# Seen with: pymorphy3 2.0.6, pymorphy3-dicts-ru 2.4.417150.4580142, snowballstemmer 3.1.1. Source: all cases of 100 nouns.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet pymorphy3==2.0.6 pymorphy3-dicts-ru==2.4.417150.4580142 snowballstemmer==3.1.1
cat > try.py <<'PY'
import pymorphy3, snowballstemmer

parse = pymorphy3.MorphAnalyzer().parse
stem = snowballstemmer.stemmer("russian").stemWord
for forms in ("статья статьи статей стали", "данные данных данным дали", "тема темы тем", "стек стека стеку", "цвет цвета цветов цветами", "код кода кодов"):
    words = forms.split()
    print(forms, "->", *(parse(word)[0].normal_form for word in words), "| Snowball", *map(stem, words))
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
статья статьи статей стали -> статья статья стать стать | Snowball стат стат стат стал
данные данных данным дали -> дать данные данные дать | Snowball дан дан дан дал
тема темы тем -> тема тема тем | Snowball тем тем тем
стек стека стеку -> стек стек стечь | Snowball стек стек стек
цвет цвета цветов цветами -> цвет цвет цвет цвета | Snowball цвет цвет цвет цвет
код кода кодов -> код код код | Snowball код код код
SEEN
