#!/usr/bin/env bash
# Guess: a `completion` field, which suggests titles while one types, compares the beginning of the title with what was typed.
# Seen (Elasticsearch 9.4.3): its default analyzer is `simple`, which knows letters only. `python 2` suggests "Python 3.12" as
# well, `2024` does not suggest "2024 in review", nor `1984` "1984", which is stored without a complaint, and `in rev` suggests
# "2024 in review". The analyzer `standard` keeps numbers, but `c++` suggests "C# 12" still; one of `whitespace` and
# `lowercase` tells these apart, too.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import BadRequestError, Elasticsearch

TITLES = ["Python 3.12", "Python 2 ends", "2024 in review", "C++ modules", "C# 12", "1984"]
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-completion-{os.getpid()}"
print(client.info()["version"]["number"])
spaces = {"tokenizer": "whitespace", "filter": ["lowercase"]}
for analyzer in ("simple", "standard", "spaces"):
    field = {"type": "completion"} if analyzer == "simple" else {"type": "completion", "analyzer": analyzer}
    settings = {"number_of_replicas": 0, "analysis": {"analyzer": {"spaces": spaces}}}
    client.indices.create(index=index, settings=settings, mappings={"properties": {"title": field}})
    for title in TITLES:
        try:
            client.index(index=index, document={"title": title}, refresh=True)
        except BadRequestError as error:
            print(f"{title}: {error.body['error']['type']}")
    for typed in ("python 2", "2024", "1984", "in rev", "c++"):
        found = client.search(index=index, suggest={"s": {"prefix": typed, "completion": {"field": "title"}}})
        print(f"{analyzer}, {typed}:", sorted(option["text"] for option in found["suggest"]["s"][0]["options"]))
    client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
simple, python 2: ['Python 2 ends', 'Python 3.12']
simple, 2024: []
simple, 1984: []
simple, in rev: ['2024 in review']
simple, c++: ['C# 12', 'C++ modules']
standard, python 2: ['Python 2 ends']
standard, 2024: ['2024 in review']
standard, 1984: ['1984']
standard, in rev: []
standard, c++: ['C# 12', 'C++ modules']
spaces, python 2: ['Python 2 ends']
spaces, 2024: ['2024 in review']
spaces, 1984: ['1984']
spaces, in rev: []
spaces, c++: ['C++ modules']
SEEN
