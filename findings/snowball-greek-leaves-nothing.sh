#!/bin/bash
# Guess: a stemmer leaves at least a letter of a word, so that different words stay different.
# What happens: Snowball's Greek stemmer makes empty tokens of ίδιο (same), ιστού (of the web) and ιού (of the
#   virus): a search for one finds and highlights the others.
# Seen on: Elasticsearch 9.4.3.
# Needs ELASTICSEARCH_URL. Exits with 1 if that changes.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch}"
python3 - <<'PYTHON'
import json, os, sys, urllib.request

url = os.environ["ELASTICSEARCH_URL"].rstrip("/")
filters = [{"type": "lowercase", "language": "greek"}, {"type": "snowball", "language": "Greek"}]
body = {"tokenizer": "standard", "filter": filters, "text": "ίδιο ιστού ιού βιβλίο"}
request = urllib.request.Request(url + "/_analyze", json.dumps(body).encode(), {"content-type": "application/json"})
tokens = [token["token"] for token in json.load(urllib.request.urlopen(request, timeout=60))["tokens"]]
print("Elasticsearch", json.load(urllib.request.urlopen(url, timeout=60))["version"]["number"], tokens)
sys.exit(0 if tokens[:3] == ["", "", ""] and tokens[3] else 1)
PYTHON
