#!/usr/bin/env bash
# One would guess: underthesea's word_tokenize, which puts the syllables of Vietnamese words together, cuts a phrase in the same way whether it
# stands alone, as one types it, or in a sentence, and does not mind capitals.
# What happens: it labels each syllable by its neighbours and by how it is written. mã nguồn mở (open source) typed alone is three words, in the
# title "Mã nguồn mở là gì" two, "Mã nguồn" and mở, so that the title is not found by the very phrase. Node.js is three tokens, node.js one: who
# puts text into small letters behind it indexes node and js, and looks for node.js. Names of two syllables come apart
# in small letters: Hồ Chí Minh is one, hồ chí minh two.
# Seen with: underthesea 9.5.0. Source: 46 phrases, alone and in titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet underthesea==9.5.0
cat > try.py <<'PY'
from underthesea import word_tokenize

for text in ["mã nguồn mở", "Mã nguồn mở là gì", "Node.js", "node.js", "Vue.js và React", "vue.js và react", "Hồ Chí Minh", "hồ chí minh", "Tìm kiếm", "tìm kiếm"]:
    print(f"{text}: {' | '.join(word_tokenize(text))}")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
mã nguồn mở: mã | nguồn | mở
Mã nguồn mở là gì: Mã nguồn | mở | là | gì
Node.js: Node | . | js
node.js: node.js
Vue.js và React: Vue | . | js | và | React
vue.js và react: vue.js | và | react
Hồ Chí Minh: Hồ Chí Minh
hồ chí minh: hồ | chí minh
Tìm kiếm: Tìm kiếm
tìm kiếm: tìm kiếm
SEEN
