#!/bin/bash
# Guess: the searches of one _msearch see one state of an index, or at least run in their order, so
#   that a later one never sees an older state than one before it.
# What happens: each search takes its own snapshot when a thread of the node gets to it. While the
#   index is refreshed, the second of two searches sees an older state in some of the responses, and
#   a newer one in some others, although both name one preference and the index has one shard.
# Seen on: Elasticsearch 9.4.3 (12 older and 40 newer of 10,105), Python client elasticsearch 9.4.1.
# Source: TransportMultiSearchAction starts up to max_concurrent_searches at a time.
# Needs ELASTICSEARCH_URL. Exits with 1 if within 90 s no response has the older state second.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q install elasticsearch==9.4.1
venv/bin/python - <<'PYTHON'
import collections, os, sys, threading, time
from elasticsearch import Elasticsearch

url, index = os.environ["ELASTICSEARCH_URL"], f"finding-msearch-{os.getpid()}"
client = Elasticsearch(url)
print("Elasticsearch", client.info()["version"]["number"])
client.indices.create(index=index, settings={"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1})
client.index(index=index, id="x", document={"n": 0}, refresh=True)
stop, seen = threading.Event(), collections.Counter()


def write():
    own = Elasticsearch(url)
    number = 0
    while not stop.is_set():
        number += 1
        own.index(index=index, id="x", document={"n": number}, refresh=True)


def read():
    own = Elasticsearch(url)
    header = {"index": index, "preference": "one-copy"}
    first = {"query": {"match_all": {}}, "size": 1, "_source": ["n"]}
    second = {"size": 0, "aggs": {"n": {"max": {"field": "n"}}}}
    while not stop.is_set():
        answers = own.msearch(searches=[header, first, header, second])["responses"]
        before = answers[0]["hits"]["hits"][0]["_source"]["n"]
        after = answers[1]["aggregations"]["n"]["value"]
        seen["same" if before == after else "second is older" if before > after else "second is newer"] += 1


threads = [threading.Thread(target=write), *(threading.Thread(target=read) for _ in range(3))]
for thread in threads:
    thread.start()
ends = time.monotonic() + 90
while time.monotonic() < ends and seen["second is older"] < 3:
    time.sleep(0.5)
stop.set()
for thread in threads:
    thread.join()
client.indices.delete(index=index)
print(dict(seen))
sys.exit(0 if seen["second is older"] and seen["second is newer"] else 1)
PYTHON
