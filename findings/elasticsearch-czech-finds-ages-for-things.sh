#!/usr/bin/env bash
# Guess: Elasticsearch's analyzer `czech` makes the forms of a noun equal, and leaves a single letter, such as the language C, alone.
# Seen (Elasticsearch 9.4.3): its stemmer undoes changes of consonants and drops an e before the last consonant, in each word. věc (thing) is věk
# (age), díl (part) dílo (work), letos (this year) let (years, flights) and ex is x. C is k, as is č. web is wb, which is
# what a search for WB finds, les (forest) ls, and sebe (oneself) sb. The analyzer `standard` keeps these apart.
# Source: the 5,000 most frequent words, run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = {"czech": "věci věk díl dílo letos let C č web WB les ls ex X"}
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-czech-{os.getpid()}"
print(client.info()["version"]["number"])
for language, pairs in PAIRS.items():
    words = pairs.split()
    fields = {"stems": {"type": "text", "analyzer": language}, "words": {"type": "text", "analyzer": "standard"}}
    client.indices.create(index=index, settings={"number_of_replicas": 0}, mappings={"properties": fields})
    for asked, other in zip(words[::2], words[1::2]):
        client.index(index=index, id="1", document=dict.fromkeys(fields, other), refresh=True)
        found = {field: client.count(index=index, query={"match": {field: asked}})["count"] for field in fields}
        print(f"{asked} finds {other}: {language} {found['stems']}, standard {found['words']}")
    client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
věci finds věk: czech 1, standard 0
díl finds dílo: czech 1, standard 0
letos finds let: czech 1, standard 0
C finds č: czech 1, standard 0
web finds WB: czech 1, standard 0
les finds ls: czech 1, standard 0
ex finds X: czech 1, standard 0
SEEN
