#!/usr/bin/env bash
# Guess: a character filter `mapping` that writes a sign as a word ("& => and") has that sign marked when the word was searched for, and
# spaces around the word (\u0020and\u0020) change nothing but that "Salt&pepper" is three words.
# Seen (Elasticsearch 9.4.3): with a space behind the word, its end is the beginning of the sign: the mark is empty and stands before it,
# "Salt<em></em>&pepper". A post that is found by that word alone has an excerpt in which nothing is marked. A space before the word does
# no harm, and is enough, with "Salt&pepper", to part `and` from salt, but not from pepper. The highlighters unified and plain are alike.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os

from elasticsearch import Elasticsearch

client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-mapping-{os.getpid()}"
print(client.info()["version"]["number"])
CASES = (
    ("& => and", "Salt & pepper", "and"), (r"& => \u0020and", "Salt & pepper", "and"), (r"& => and\u0020", "Salt & pepper", "and"),
    (r"& => \u0020and\u0020", "Salt & pepper", "and"), (r"& => \u0020and\u0020", "Salt&pepper", "and"),
    (r"& => \u0020and", "Salt&pepper", "and"), (r"€ => \u0020euro\u0020", "Rye for 5€ today", "euro"),
    (r"€ => \u0020euro", "Rye for 5€ today", "euro"),
)
for rule, text, query in CASES:
    signs = {"type": "mapping", "mappings": [rule]}
    analysis = {"char_filter": {"signs": signs}, "analyzer": {"default": {"tokenizer": "standard", "char_filter": ["signs"]}}}
    client.indices.create(index=index, settings={"number_of_replicas": 0, "analysis": analysis})
    client.index(index=index, document={"text": text}, refresh=True)
    marked = []
    for kind in ("unified", "plain"):
        marks = {"fields": {"text": {"type": kind}}}
        hits = client.search(index=index, query={"match": {"text": query}}, highlight=marks)["hits"]["hits"]
        marked.append(hits[0]["highlight"]["text"][0] if hits else "not found")
    print(f"{rule}: {' | '.join(dict.fromkeys(marked))}")
    client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
& => and: Salt <em>&</em> pepper
& => \u0020and: Salt <em>&</em> pepper
& => and\u0020: Salt <em></em>& pepper
& => \u0020and\u0020: Salt <em></em>& pepper
& => \u0020and\u0020: Salt<em></em>&pepper
& => \u0020and: not found
€ => \u0020euro\u0020: Rye for 5<em></em>€ today
€ => \u0020euro: Rye for 5<em>€</em> today
SEEN
