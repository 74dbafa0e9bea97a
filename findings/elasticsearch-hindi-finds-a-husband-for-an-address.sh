#!/usr/bin/env bash
# Guess: Elasticsearch's analyzers `hindi` and `bengali` make the forms of one word equal, and leave words apart that differ in a vowel sign, as
# vowel signs are letters of these scripts.
# Seen (Elasticsearch 9.4.3): the stemmers take vowel signs off the end, also of words that have no ending. पता (address) is पति (husband), डेटा
# (data) is डेट (date), पिता (father) is पीना (to drink), हरा (green) is हर (every), and गली (street) गला (throat); each finds the other. In Bengali a
# page or leaf (পাতা) is water (পানি) and a foot (পা), a hand (হাত) an elephant (হাতি), and light (আলো) the name Ali (আলী). The analyzer
# `standard` keeps them apart, and the forms of a word too.
# Source: the 5,000 most frequent words of each language, run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = {"hindi": "पता पति डेटा डेट पिता पीना हरा हर गली गला", "bengali": "পাতা পানি পাতা পা হাত হাতি আলো আলী"}
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-hindi-{os.getpid()}"
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
पता finds पति: hindi 1, standard 0
डेटा finds डेट: hindi 1, standard 0
पिता finds पीना: hindi 1, standard 0
हरा finds हर: hindi 1, standard 0
गली finds गला: hindi 1, standard 0
পাতা finds পানি: bengali 1, standard 0
পাতা finds পা: bengali 1, standard 0
হাত finds হাতি: bengali 1, standard 0
আলো finds আলী: bengali 1, standard 0
SEEN
