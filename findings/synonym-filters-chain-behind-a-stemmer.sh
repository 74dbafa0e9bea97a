#!/usr/bin/env bash
# Guess: a synonym filter behind a stemmer needs stems in its rules, and a second synonym filter in a chain would apply the first
# one to its rules.
# Seen (Elasticsearch 9.4.3): the rules of a filter go through the filters before it, the stemmer included, but not through other
# synonym filters: plain rules behind the stemmer find a phrase in any inflection, and two filters with the same rule do no harm.
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
rules = {"type": "synonym", "synonyms": ["virtual machine => vm"]}
filters = ["lowercase", rules, {"type": "snowball", "language": "English"}, rules]
found = client.indices.analyze(tokenizer="standard", filter=filters, text="virtual machine, virtual machines")
print(client.info()["version"]["number"], [token["token"] for token in found["tokens"]])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3 ['vm', 'vm']
SEEN
