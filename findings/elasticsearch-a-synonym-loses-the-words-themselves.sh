#!/usr/bin/env bash
# Guess: the rule "ml, machine learning" (synonym_graph, when searching) lets `machine learning` find posts that say ML besides those that
# it found before, and "ml => machine learning" lets `ml` find what `machine learning` finds as a phrase.
# Seen (Elasticsearch 9.4.3): with the first rule the words that were typed become a phrase, too (auto_generate_synonyms_phrase_query), also with
# the operator `or`: posts that have both words apart, or in two fields of combined_fields, are lost, and minimum_should_match 2 finds
# nothing, as both words are one clause. One mistyped letter (`machine lerning`, fuzzy) finds them again, as no rule fits, and so does
# simple_query_string, which asks word by word. With "=>" there is no phrase at all: `ml` finds every post that has `machine`.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os

from elasticsearch import Elasticsearch

client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-synonym-{os.getpid()}"
print(client.info()["version"]["number"])
POSTS = {
    "side by side": {"title": "machine learning", "text": "basics"}, "ml": {"title": "ml", "text": "basics"},
    "apart": {"title": "learning from a machine", "text": "basics"}, "two fields": {"title": "machine", "text": "learning"},
    "one word": {"title": "machine", "text": "basics"},
}
both = {"query": "machine learning", "fields": ["title", "text"]}
QUERIES = {
    "machine learning": {"match": {"title": "machine learning"}},
    "machine learning, two of two": {"match": {"title": {"query": "machine learning", "minimum_should_match": 2}}},
    "machine lerning, fuzzy": {"match": {"title": {"query": "machine lerning", "fuzziness": 1}}},
    "machine learning, both, combined_fields": {"combined_fields": {**both, "operator": "and"}},
    "machine learning, simple_query_string": {"simple_query_string": {"query": "machine learning", "fields": ["title"]}},
    "ml": {"match": {"title": "ml"}},
}
for rule in ("none", "ml, machine learning", "ml => machine learning"):
    rules = {"type": "synonym_graph", "synonyms": [rule]}
    analysis = {"analyzer": {"asked": {"tokenizer": "standard", "filter": ["lowercase", "rules"]}}, "filter": {"rules": rules}}
    field = {"type": "text", "search_analyzer": "asked"}
    client.indices.create(
        index=index, settings={"number_of_replicas": 0, "analysis": analysis}, mappings={"properties": {"title": field, "text": field}}
    )
    for name, post in POSTS.items():
        client.index(index=index, id=name, document=post, refresh=True)
    print(f"rule: {rule}")
    for name, query in QUERIES.items():
        found = {hit["_id"] for hit in client.search(index=index, query=query)["hits"]["hits"]}
        print(f"  {name}: {', '.join(post for post in POSTS if post in found) or 'nothing'}")
    client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
rule: none
  machine learning: side by side, apart, two fields, one word
  machine learning, two of two: side by side, apart
  machine lerning, fuzzy: side by side, apart, two fields, one word
  machine learning, both, combined_fields: side by side, apart, two fields
  machine learning, simple_query_string: side by side, apart, two fields, one word
  ml: ml
rule: ml, machine learning
  machine learning: side by side, ml
  machine learning, two of two: nothing
  machine lerning, fuzzy: side by side, apart, two fields, one word
  machine learning, both, combined_fields: side by side, ml
  machine learning, simple_query_string: side by side, apart, two fields, one word
  ml: side by side, ml
rule: ml => machine learning
  machine learning: side by side, apart, two fields, one word
  machine learning, two of two: side by side, apart
  machine lerning, fuzzy: side by side, apart, two fields, one word
  machine learning, both, combined_fields: side by side, apart, two fields
  machine learning, simple_query_string: side by side, apart, two fields, one word
  ml: side by side, apart, two fields, one word
SEEN
