#!/usr/bin/env bash
# One would guess: the lemma that MeCab gives a Japanese word with UniDic (fugashi with unidic-lite) is the dictionary form of the word, as
# one would look it up, and there is one for each word.
# What happens: a word from another language has that language's spelling behind it: データ is データ-data, サーバ サーバー-server, パン (bread)
# パン-pao, so that a lemma as a key is equal to no word that a visitor or another analyzer has. Words in Latin letters and numbers have no
# lemma at all (None), also Python and Docker. する is 為る, こと 事, as dictionaries write them and nobody else does. Verbs that are written
# with different characters are one: 代える (substitute) is 変える (change), 速い (fast) is 早い (early).
# Seen with: fugashi 1.5.2, unidic-lite 1.0.8. Source: 30 words of titles about programming.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet setuptools==80.9.0 wheel==0.45.1
venv/bin/pip --disable-pip-version-check install --quiet --no-build-isolation fugashi==1.5.2 unidic-lite==1.0.8
cat > try.py <<'PY'
import fugashi

tagger = fugashi.Tagger()
for text in ("データ", "サーバ", "サーバー", "クラス", "ブログ", "パン", "検索する", "こと", "速い", "早い", "代える", "変える", "造る", "Python", "2024年"):
    print(f"{text}:", *(f"{word.surface} {word.feature.lemma}" for word in tagger(text)))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
データ: データ データ-data
サーバ: サーバ サーバー-server
サーバー: サーバー サーバー-server
クラス: クラス クラス-class
ブログ: ブログ ブログ-blog
パン: パン パン-pao
検索する: 検索 検索 する 為る
こと: こと 事
速い: 速い 早い
早い: 早い 早い
代える: 代える 変える
変える: 変える 変える
造る: 造る 作る
Python: Python None
2024年: 2024 None 年 年
SEEN
