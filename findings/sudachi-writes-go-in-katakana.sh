#!/usr/bin/env bash
# One would guess: normalized_form() of SudachiPy, for which its plugin for Elasticsearch has a filter, gives the spellings of a Japanese word
# one form, and does not touch what is written in Latin letters, or writes all of it in small letters.
# What happens: it does what its dictionary has for the word. Go and web become Japanese (ゴー, ウェブ), as does Amazon (アマゾン), while Google stays,
# and グーグル becomes Google. app is APP, and is not equal to アプリ. PC and pc, AI and ai are one form, but a word that the dictionary lacks keeps
# its capitals: Docker and docker are two forms, as are Python and python, and Apple and apple. 十二 (twelve) becomes 12, and so does the 一 of 一つ
# (one thing): 1. An index of these forms finds docker only as it was typed; who puts text into small letters before Sudachi gets one form for
# each.
# Seen with: SudachiPy 0.7.0, sudachidict-core 20261015. Source: words of titles about programming, each by itself.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet sudachipy==0.7.0 sudachidict_core==20261015
cat > try.py <<'PY'
from sudachipy import Dictionary

tokenize = Dictionary().tokenizer().tokenize
for line in ("Go go", "Web web", "app アプリ", "PC pc", "AI ai", "Docker docker", "Python python", "Apple apple", "Amazon アマゾン",
             "Google グーグル", "サーバ サーバー", "十二 12", "一つ"):
    print(*(f"{word}: {' '.join(part.normalized_form() for part in tokenize(word))}" for word in line.split()), sep=", ")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
Go: ゴー, go: ゴー
Web: ウェブ, web: ウェブ
app: APP, アプリ: アプリ
PC: PC, pc: PC
AI: AI, ai: AI
Docker: Docker, docker: Docker
Python: Python, python: Python
Apple: Apple, apple: Apple
Amazon: アマゾン, アマゾン: アマゾン
Google: Google, グーグル: Google
サーバ: サーバー, サーバー: サーバー
十二: 12, 12: 12
一つ: 1 つ
SEEN
