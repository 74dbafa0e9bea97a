#!/usr/bin/env bash
# Guess: in a `query_string` query a slash begins a regular expression where a word would begin, as its documentation shows (/joh?n(ath[oa]n)/);
# inside a word it parts two words or is ignored.
# Seen (Elasticsearch 9.4.3): it begins one in the middle of a word, too. TCP/IP, CI/CD, and/or and 24/7 are errors (400, "Failed to parse
# query"), as the second slash is missing, also with `lenient`. With two slashes there is no error: tcp/[0-9]/ip asks for tcp, ip and any word
# of one digit, and finds "3 oats". What ends with an exclamation mark ("rye!") is an error as well. simple_query_string takes all of them for
# words.
# Source: its documentation lists / and ! as reserved; run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import BadRequestError, Elasticsearch

TITLES = ["TCP/IP", "CI/CD", "24/7", "Rye", "3 oats"]
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-slash-{os.getpid()}"
print(client.info()["version"]["number"])
client.indices.create(index=index, settings={"number_of_replicas": 0}, mappings={"properties": {"title": {"type": "text"}}})
for title in TITLES:
    client.index(index=index, id=title, document={"title": title}, refresh=True)
for asked in ("TCP/IP", "CI/CD", "24/7", "rye!", "tcp/[0-9]/ip"):
    for kind in ("query_string", "simple_query_string"):
        try:
            hits = client.search(index=index, query={kind: {"query": asked, "fields": ["title"], "lenient": True}}, sort=["_doc"])["hits"]["hits"]
            print(f"{asked}, {kind}:", [hit["_id"] for hit in hits])
        except BadRequestError as error:
            print(f"{asked}, {kind}:", error.status_code, error.body["error"]["root_cause"][0]["reason"])
client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
TCP/IP, query_string: 400 Failed to parse query [TCP/IP]
TCP/IP, simple_query_string: ['TCP/IP']
CI/CD, query_string: 400 Failed to parse query [CI/CD]
CI/CD, simple_query_string: ['CI/CD']
24/7, query_string: 400 Failed to parse query [24/7]
24/7, simple_query_string: ['24/7']
rye!, query_string: 400 Failed to parse query [rye!]
rye!, simple_query_string: ['Rye']
tcp/[0-9]/ip, query_string: ['TCP/IP', '24/7', '3 oats']
tcp/[0-9]/ip, simple_query_string: ['TCP/IP']
SEEN
