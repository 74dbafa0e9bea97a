#!/bin/bash
# Guess: search_type=dfs_query_then_fetch is handled the same however many shards an index has: either
#   the shard request cache keeps its aggregations (size 0) or it does not.
# What happens: on one shard the search is rewritten to query_then_fetch and is cached, on two it is
#   never cached; there a preference for one of the shards brings the cache back.
# Seen on: Elasticsearch 9.4.3, Python client elasticsearch 9.4.1.
# Needs ELASTICSEARCH_URL. Exits with 1 if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install elasticsearch==9.4.1
venv/bin/python - <<'PYTHON'
import os, sys
from elasticsearch import Elasticsearch

client = Elasticsearch(os.environ["ELASTICSEARCH_URL"])
print("Elasticsearch", client.info()["version"]["number"])


def hits(index, **options):
    """How often the cache was hit by three equal searches, after one that filled it."""
    def count():
        stats = client.indices.stats(index=index, metric="request_cache")
        return stats["_all"]["total"]["request_cache"]["hit_count"]
    body = {"size": 0, "query": {"match": {"text": "word"}}, "aggs": {"n": {"stats": {"field": "_seq_no"}}}}
    client.search(index=index, **body, **options)
    before = count()
    for _ in range(3):
        client.search(index=index, **body, **options)
    return count() - before


seen = {}
for shards in (1, 2):
    index = f"finding-dfs-{shards}-{os.getpid()}"
    client.indices.create(index=index, settings={"number_of_shards": shards, "number_of_replicas": 0})
    for number in range(20):
        client.index(index=index, id=str(number), document={"text": "word"})
    client.indices.refresh(index=index)
    dfs = {"search_type": "dfs_query_then_fetch"}
    seen[shards, "dfs"] = hits(index, **dfs, preference="any")
    seen[shards, "dfs on one of them"] = hits(index, **dfs, preference="_shards:0|any")
    client.indices.delete(index=index)
print(seen)
expected = {(1, "dfs"): 3, (1, "dfs on one of them"): 3, (2, "dfs"): 0, (2, "dfs on one of them"): 3}
sys.exit(0 if seen == expected else 1)
PYTHON
