#!/usr/bin/env bash
# One would guess: jieba's cut_for_search, made for search engines (and the core of its analyzer for Whoosh), adds to a long word the words
# that it is made of.
# What happens: it adds each pair and triple of characters that its dictionary has, also across the border of two words: 搜索引擎 (search
# engine) gets 索引 (index), so that posts on search engines are found for "index", 智能手机 (smartphone) 能手 (an expert), 中国人民银行 (a bank) 国人
# (compatriot), and 计算机 (computer) 算机, which is no word. A letter beyond a to z is a word by itself: café is caf and é, Привет six words, so
# that a name finds whatever has its letters. C++, C# and v2.0 are kept whole.
# Seen with: jieba 0.42.1. Source: 40 terms and titles of posts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet setuptools==80.9.0 wheel==0.45.1
venv/bin/pip --disable-pip-version-check install --quiet --no-build-isolation jieba==0.42.1
cat > try.py <<'PY'
import logging
import jieba

jieba.setLogLevel(logging.ERROR)
for text in ("搜索引擎", "智能手机", "中国人民银行", "计算机", "数据库", "café", "Привет", "C++和C#", "v2.0"):
    print(f"{text}: {' '.join(jieba.lcut(text))}; for search: {' '.join(jieba.lcut_for_search(text))}")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
搜索引擎: 搜索引擎; for search: 搜索 索引 引擎 搜索引擎
智能手机: 智能手机; for search: 智能 能手 手机 智能手机
中国人民银行: 中国人民银行; for search: 中国 国人 人民 银行 中国人民银行
计算机: 计算机; for search: 计算 算机 计算机
数据库: 数据库; for search: 数据 据库 数据库
café: caf é; for search: caf é
Привет: П р и в е т; for search: П р и в е т
C++和C#: C++ 和 C#; for search: C++ 和 C#
v2.0: v2.0; for search: v2.0
SEEN
