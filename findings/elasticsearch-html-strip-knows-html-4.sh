#!/usr/bin/env bash
# Guess: the character filter html_strip takes tags out, and puts a line feed where a block begins or ends, so that words stay words.
# Seen (Elasticsearch 9.4.3): its inline elements are those of HTML 4 without <ins> and <del>. All others part a word: <wbr>, <mark>,
# <time>, <data>, <bdi>, <ruby>, and whatever is named by a site itself. "Data<wbr>base" is found by neither word, and "<mark>run</mark>ning" by
# run. An <img>, on the other hand, joins what stands beside it. Text with "a < b and c > d", which a browser shows as it is, loses what is
# between the signs.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

client = Elasticsearch(os.environ["ELASTICSEARCH_URL"])
TEXTS = ["Data<wbr>base", "icon<img>text", "wrong if a < b and c > d"]
TAGS = ["b", "small", "kbd", "sub", "label", "mark", "time", "ins", "del", "data", "bdi", "ruby", "x-y"]
for text in (*TEXTS, *(f"<{tag}>run</{tag}>ning" for tag in TAGS)):
    found = client.indices.analyze(tokenizer="standard", char_filter=["html_strip"], text=text)
    print(f"{text}:", *(token["token"] for token in found["tokens"]))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
Data<wbr>base: Data base
icon<img>text: icontext
wrong if a < b and c > d: wrong if a d
<b>run</b>ning: running
<small>run</small>ning: running
<kbd>run</kbd>ning: running
<sub>run</sub>ning: running
<label>run</label>ning: running
<mark>run</mark>ning: run ning
<time>run</time>ning: run ning
<ins>run</ins>ning: run ning
<del>run</del>ning: run ning
<data>run</data>ning: run ning
<bdi>run</bdi>ning: run ning
<ruby>run</ruby>ning: run ning
<x-y>run</x-y>ning: run ning
SEEN
