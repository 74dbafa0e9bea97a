#!/usr/bin/env bash
# Guess: a stemmer leaves at least a letter of a word, so that different words stay different.
# Seen (snowballstemmer 3.1.1, and Elasticsearch 9.4.3's filter `snowball` for Greek alike): ίδιο (same), ιστού (of the web) and
# ιού (of the virus) become the empty text, so that a search for one finds and highlights the others.
# Source: run; with ELASTICSEARCH_URL the filter is asked, too.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet snowballstemmer==3.1.1 elasticsearch==9.4.1
cat > try.py <<'PY'
import os
import snowballstemmer
from elasticsearch import Elasticsearch

WORDS = ["ίδιο", "ιστού", "ιού", "βιβλίο"]
print("snowballstemmer", snowballstemmer.stemmer("greek").stemWords(WORDS))
if url := os.environ.get("ELASTICSEARCH_URL"):
    filters = [{"type": "lowercase", "language": "greek"}, {"type": "snowball", "language": "Greek"}]
    found = Elasticsearch(url).indices.analyze(tokenizer="standard", filter=filters, text=" ".join(WORDS))
    assert [token["token"] for token in found["tokens"]] == ["", "", "", "βιβλι"], found
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
snowballstemmer ['', '', '', 'βιβλι']
SEEN
