#!/bin/bash
# Guess: Snowball's English stemmer gives the same stems in Elasticsearch and in Python.
# What happens: snowballstemmer parts words that Elasticsearch's filter `snowball` merges: evening and even,
#   organic and organ, university and universe.
# Seen on: Elasticsearch 9.4.3, snowballstemmer 3.1.1.
# Needs ELASTICSEARCH_URL. Exits with 1 if that changes.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install snowballstemmer==3.1.1
venv/bin/python - <<'PYTHON'
import json, os, sys, urllib.request
import snowballstemmer

words = ["evening", "even", "organic", "organ", "university", "universe"]
url = os.environ["ELASTICSEARCH_URL"].rstrip("/")
body = {"tokenizer": "standard", "filter": [{"type": "snowball", "language": "English"}], "text": " ".join(words)}
request = urllib.request.Request(url + "/_analyze", json.dumps(body).encode(), {"content-type": "application/json"})
there = [token["token"] for token in json.load(urllib.request.urlopen(request, timeout=60))["tokens"]]
here = snowballstemmer.stemmer("english").stemWords(words)
print("Elasticsearch", json.load(urllib.request.urlopen(url, timeout=60))["version"]["number"], there)
print("snowballstemmer", here)
pairs = range(0, len(words), 2)
ok = all(there[n] == there[n + 1] and here[n] != here[n + 1] for n in pairs)
sys.exit(0 if ok else 1)
PYTHON
