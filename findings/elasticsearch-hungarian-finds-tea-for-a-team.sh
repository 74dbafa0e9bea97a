#!/usr/bin/env bash
# Guess: Elasticsearch's analyzer `hungarian` takes endings off, and leaves a word alone that has none, as its stemmer (Snowball's) has a rule
# for the part of a word that an ending can follow.
# Seen (Elasticsearch 9.4.3): one vowel before it is enough, so that short words lose what looks like an ending: team and tea are both te, which is
# "you", bank and baba (baby) are ba, adat (data) is ad (gives), hiba (error) is hit (faith), cím (title, address) is cí. Éva, the name, is év
# (year). A search for errors finds faith, and one for a team every "you". The filter `stemmer` with the language light_hungarian keeps
# all of these apart but team and tea.
# Source: the 5,000 most frequent words, run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = {"hungarian": "team tea team te bank baba adat ad hiba hit éva év"}
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-hungarian-{os.getpid()}"
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
team finds tea: hungarian 1, standard 0
team finds te: hungarian 1, standard 0
bank finds baba: hungarian 1, standard 0
adat finds ad: hungarian 1, standard 0
hiba finds hit: hungarian 1, standard 0
éva finds év: hungarian 1, standard 0
SEEN
