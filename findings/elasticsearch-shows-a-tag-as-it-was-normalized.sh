#!/usr/bin/env bash
# Guess: a `normalizer` of a keyword (lowercase, asciifolding) is for finding: the highlighted tag is still the tag of the post with marks around
# it, and `include` of a terms aggregation takes a tag as a query does.
# Seen (Elasticsearch 9.4.3): the highlighters unified and plain give the normalized text, <em>ete 2026</em> for "Été 2026", so that a page that
# puts highlights in place of fields shows other tags and titles as soon as they match. `include` is compared with the normalized values as it
# is typed: "Été 2026" and "Rust" count nothing, without an error, and so does a regular expression with a capital, though a `regexp` query with one
# finds the post. Each kind of query normalizes what is asked.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os

from elasticsearch import Elasticsearch

client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-normalizer-{os.getpid()}"
print(client.info()["version"]["number"])
analysis = {"normalizer": {"plainly": {"type": "custom", "filter": ["lowercase", "asciifolding"]}}}
client.indices.create(
    index=index, settings={"number_of_replicas": 0, "analysis": analysis},
    mappings={"properties": {"tag": {"type": "keyword", "normalizer": "plainly"}}},
)
for tag in ("Été 2026", "Rust"):
    client.index(index=index, document={"tag": tag}, refresh=True)
for kind, asked in (("term", "ÉTÉ 2026"), ("prefix", "Ét"), ("regexp", "É.*"), ("wildcard", "*É 2026"), ("match", "Été 2026")):
    shown = []
    for highlighter in ("unified", "plain"):
        marks = {"fields": {"tag": {"type": highlighter}}}
        [hit] = client.search(index=index, query={kind: {"tag": asked}}, highlight=marks)["hits"]["hits"]
        shown.append(hit.get("highlight", {}).get("tag", ["nothing"])[0])
    print(f"{kind} {asked}: {hit['_source']['tag']}, highlighted {', '.join(shown)}")
for include in (["Été 2026", "Rust"], ["ete 2026", "rust"], "R.*", "r.*"):
    tags = client.search(index=index, size=0, aggs={"tags": {"terms": {"field": "tag", "include": include}}})["aggregations"]["tags"]["buckets"]
    print(f"include {include}: {[bucket['key'] for bucket in tags]}")
client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
term ÉTÉ 2026: Été 2026, highlighted <em>ete 2026</em>, <em>ete 2026</em>
prefix Ét: Été 2026, highlighted <em>ete 2026</em>, <em>ete 2026</em>
regexp É.*: Été 2026, highlighted <em>ete 2026</em>, <em>ete 2026</em>
wildcard *É 2026: Été 2026, highlighted <em>ete 2026</em>, <em>ete 2026</em>
match Été 2026: Été 2026, highlighted <em>ete 2026</em>, <em>ete 2026</em>
include ['Été 2026', 'Rust']: []
include ['ete 2026', 'rust']: ['ete 2026', 'rust']
include R.*: []
include r.*: ['rust']
SEEN
