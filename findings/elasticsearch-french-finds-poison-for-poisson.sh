#!/usr/bin/env bash
# Guess: Elasticsearch's analyzer `french` makes the forms of one word equal, and at worst those that differ by an accent.
# Seen (Elasticsearch 9.4.3): its stemmer, light_french, makes one letter of each double one and takes accents off, so that unlike
# words are one: poisson (fish) finds poison, dessert finds désert, coussin (cushion) a cousin, ville (town) vile, pêche (peach) sin, and
# homme (man) an English home. The filter `snowball` for French keeps all of these apart, and finds cheval by chevaux as well.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = "poisson poison dessert désert coussin cousin ville vile balle bale homme home pêche péché google gogle chevaux cheval".split()
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-french-{os.getpid()}"
print(client.info()["version"]["number"])
snowball = {"tokenizer": "standard", "filter": ["lowercase", "french"]}
analysis = {"analyzer": {"snowball": snowball}, "filter": {"french": {"type": "snowball", "language": "French"}}}
for analyzer in ("french", "snowball"):
    properties = {"text": {"type": "text", "analyzer": analyzer}}
    settings = {"number_of_replicas": 0, "analysis": analysis}
    client.indices.create(index=index, settings=settings, mappings={"properties": properties})
    for word in PAIRS[1::2]:
        client.index(index=index, id=word, document={"text": f"Un texte avec {word}"}, refresh=True)
    for word in PAIRS[::2]:
        hits = client.search(index=index, query={"match": {"text": word}})["hits"]["hits"]
        print(f"{analyzer}, {word}:", [hit["_id"] for hit in hits])
    client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
french, poisson: ['poison']
french, dessert: ['désert']
french, coussin: ['cousin']
french, ville: ['vile']
french, balle: ['bale']
french, homme: ['home']
french, pêche: ['péché']
french, google: ['gogle']
french, chevaux: ['cheval']
snowball, poisson: []
snowball, dessert: []
snowball, coussin: []
snowball, ville: []
snowball, balle: []
snowball, homme: []
snowball, pêche: []
snowball, google: []
snowball, chevaux: ['cheval']
SEEN
