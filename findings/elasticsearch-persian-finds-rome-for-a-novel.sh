#!/usr/bin/env bash
# Guess: Elasticsearch's analyzer `persian` is what it was for ten years: letters made equal and no stemmer, so that words match as they are
# written; or its stemmer takes the ending of the plural off plurals only.
# Seen (Elasticsearch 9.4.3): it has a stemmer (Lucene 10.4.0; the analyzer of 9.12.3 had none), which takes -ان, -ی and -ت off whatever ends so.
# رمان (novel) is رم (Rome), مکان (place) مک (Mac), جوان (young) جو (barley), پایان (end) پا (foot), and آسان (easy) اس (ace). زبان (language) is زب,
# تهران (Tehran) تهر and ایران (Iran) ایر, which do no harm, as nothing else is called so. `standard` keeps
# all of them apart.
# Source: the 5,000 most frequent words, run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

PAIRS = {"persian": "رمان رم مکان مک جوان جو پایان پا آسان اس"}
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-persian-{os.getpid()}"
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
رمان finds رم: persian 1, standard 0
مکان finds مک: persian 1, standard 0
جوان finds جو: persian 1, standard 0
پایان finds پا: persian 1, standard 0
آسان finds اس: persian 1, standard 0
SEEN
