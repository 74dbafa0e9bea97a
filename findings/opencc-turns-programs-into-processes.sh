#!/usr/bin/env bash
# One would guess: OpenCC, with the words of Taiwan and the mainland (tw2sp, s2twp), leaves a text alone that is in the form asked for already, so that a
# blog with posts in both can be put into one form, and queries too.
# What happens: it replaces words whatever form the text is in. 程序 (program) in a simplified post becomes 进程 (process), and 文件 (file) 文档
# (document), as Taiwan's words for process and document look like these. In a traditional post s2twp makes 檔案 (file) of 文件 (document). Done twice,
# 进程 (process) is 程式 (program). There and back, 接口 (interface) is 界面 (screen). In such an index programs and processes, files and documents
# are one. t2s and s2t, which change characters only, leave these alone.
# Seen with: opencc 1.4.2 (PyPI). Source: 120 words of programmers, each under four conversions.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet opencc==1.4.2
cat > try.py <<'PY'
from opencc import OpenCC

to_mainland, to_taiwan, to_simplified = OpenCC("tw2sp").convert, OpenCC("s2twp").convert, OpenCC("t2s").convert
for word in "程序 文件 文档 进程 接口 数据".split():
    print(f"simplified {word}: tw2sp {to_mainland(word)}, t2s {to_simplified(word)}, s2twp {to_taiwan(word)}, "
          f"twice {to_taiwan(to_taiwan(word))}, and back {to_mainland(to_taiwan(word))}")
for word in "文件 程序 類型 資料".split():
    print(f"traditional {word}: s2twp {to_taiwan(word)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
simplified 程序: tw2sp 进程, t2s 程序, s2twp 程式, twice 程式, and back 程序
simplified 文件: tw2sp 文档, t2s 文件, s2twp 檔案, twice 檔案, and back 文件
simplified 文档: tw2sp 文档, t2s 文档, s2twp 文件, twice 檔案, and back 文档
simplified 进程: tw2sp 进程, t2s 进程, s2twp 程序, twice 程式, and back 进程
simplified 接口: tw2sp 接口, t2s 接口, s2twp 介面, twice 介面, and back 界面
simplified 数据: tw2sp 数据, t2s 数据, s2twp 資料, twice 資料, and back 数据
traditional 文件: s2twp 檔案
traditional 程序: s2twp 程式
traditional 類型: s2twp 型別
traditional 資料: s2twp 資料
SEEN
