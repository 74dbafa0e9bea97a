#!/usr/bin/env bash
# Guess: a `range` of dates to "2026-03" ends with March, and one to "2026" with December, as Elasticsearch rounds up for `lte` and `gt`.
# Seen (Elasticsearch 9.4.3): it rounds up the time of day only; a missing day is the first, a missing month January, for each of the four.
# `lte: 2026-03` ends on 1 March and leaves out the month, `gt: 2026-03` begins on 2 March, `lte: 2026` has one day of that year,
# and a `term` query for 2026-03 finds what is of the first of March. With date math, `2026-03||/M`, the month is a month.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-months-{os.getpid()}"
client.indices.create(index=index, settings={"number_of_replicas": 0}, mappings={"properties": {"day": {"type": "date"}}})
for day in ("2025-12-31", "2026-01-01", "2026-03-01", "2026-03-15", "2026-04-01"):
    client.index(index=index, document={"day": day}, refresh=True)
queries = [{"range": {"day": {how: month}}} for month in ("2026-03", "2026", "2026-03||/M") for how in ("lte", "gt")]
for query in (*queries, {"term": {"day": "2026-03"}}):
    hits = client.search(index=index, query=query, sort="day")["hits"]["hits"]
    print(next(iter(query.values()))["day"], *(hit["_source"]["day"] for hit in hits))
client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
{'lte': '2026-03'} 2025-12-31 2026-01-01 2026-03-01
{'gt': '2026-03'} 2026-03-15 2026-04-01
{'lte': '2026'} 2025-12-31 2026-01-01
{'gt': '2026'} 2026-03-01 2026-03-15 2026-04-01
{'lte': '2026-03||/M'} 2025-12-31 2026-01-01 2026-03-01 2026-03-15
{'gt': '2026-03||/M'} 2026-04-01
2026-03 2026-03-01
SEEN
