#!/usr/bin/env bash
# Guess: the analyzers of Elasticsearch for languages other than English make the forms of a word equal, and leave a word alone that has no
# ending; that for Persian, as for ten years, has no stemmer at all.
# Seen (Elasticsearch 9.4.3): in five of them daily words are one. `persian` has a stemmer now (Lucene 10.4.0; the one of 9.12.3 had none), which
# takes -ان, -ی and -ت off whatever ends so: رمان (novel) is رم (Rome), مکان (place) مک (Mac). `hungarian` takes one vowel before an ending to be
# a word: team, tea and te (you) are one, as are bank and baba (baby), hiba (error) and hit (faith); its light_hungarian keeps them apart but team
# and tea. `czech` undoes changes of consonants and drops an e before the last one, in each word: věc (thing) is věk (age), C is č, web is WB.
# `hindi` and `bengali` take vowel signs off the end: पता (address) is पति (husband), डेटा (data) डेट (date); পাতা (page) is পানি (water), and
# হাত (hand) হাতি (elephant). The analyzer `standard` keeps all of these apart, and the forms of a word, too.
# Source: the 5,000 most frequent words of each language, run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = {
    "persian": "رمان رم مکان مک جوان جو پایان پا آسان اس",
    "hungarian": "team tea team te bank baba adat ad hiba hit éva év",
    "czech": "věci věk díl dílo letos let C č web WB les ls ex X",
    "hindi": "पता पति डेटा डेट पिता पीना हरा हर गली गला",
    "bengali": "পাতা পানি পাতা পা হাত হাতি আলো আলী",
}
client = Elasticsearch(os.environ["ELASTICSEARCH_URL"])
print(client.info()["version"]["number"])
for language, pairs in PAIRS.items():
    words, index = pairs.split(), f"finding-{language}-{os.getpid()}"
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
رمان finds رم: persian 1, standard 0
مکان finds مک: persian 1, standard 0
جوان finds جو: persian 1, standard 0
پایان finds پا: persian 1, standard 0
آسان finds اس: persian 1, standard 0
team finds tea: hungarian 1, standard 0
team finds te: hungarian 1, standard 0
bank finds baba: hungarian 1, standard 0
adat finds ad: hungarian 1, standard 0
hiba finds hit: hungarian 1, standard 0
éva finds év: hungarian 1, standard 0
věci finds věk: czech 1, standard 0
díl finds dílo: czech 1, standard 0
letos finds let: czech 1, standard 0
C finds č: czech 1, standard 0
web finds WB: czech 1, standard 0
les finds ls: czech 1, standard 0
ex finds X: czech 1, standard 0
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
