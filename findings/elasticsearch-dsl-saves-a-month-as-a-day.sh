#!/usr/bin/env bash
# Guess: a Document of elasticsearch.dsl reads a date that the index holds, and saved again, with another field changed, it is the same date.
# Seen (elasticsearch 9.4.1 for Python): its `Date` goes through dateutil, which takes what is missing from today. "2026-03", the first of March to
# Elasticsearch, is the 30th of March on a 30th, and is written back as that day, in a post of which something else was changed. What
# Elasticsearch would refuse is made a date before it is sent: "04/03/2026" is the third of April. "10" is ten milliseconds after 1970
# to the one, and the tenth of this month to the other.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1 python-dateutil==2.9.0.post0
cat > try.py <<'PY'
import os
from datetime import date

from elasticsearch import BadRequestError, Elasticsearch
from elasticsearch.dsl import Date, Document, Keyword, connections

client = Elasticsearch(os.environ["ELASTICSEARCH_URL"])
connections.add_connection("default", client)


class Post(Document):
    day = Date()
    name = Keyword()

    class Index:
        name = f"finding-dsl-{os.getpid()}"
        settings = {"number_of_replicas": 0}


def held(name):
    [hit] = client.search(index=Post.Index.name, query={"ids": {"values": [name]}}, docvalue_fields=["day"])["hits"]["hits"]
    return hit["fields"]["day"][0][:16]


Post.init()
for day in ("2026-03-04", "2026-03-04T09:30:00Z", "2026-03", 1772616600000):
    client.index(index=Post.Index.name, id="post", document={"day": day}, refresh=True)
    before = held("post")
    post = Post.get("post")
    post.name = "changed"
    post.save(refresh=True)
    after = held("post")
    if day == "2026-03" and after == f"2026-03-{date.today().day:02}T00:00":
        after = "the day of today in March"
    print(f"{day}: {before}, saved {after}")
for day in ("04/03/2026", "10"):
    try:
        client.index(index=Post.Index.name, id=day, document={"day": day}, refresh=True)
        without = held(day)
    except BadRequestError as error:
        without = str(error.status_code)
    Post(meta={"id": day}, day=day).save(refresh=True)
    with_dsl = held(day).replace(f"{date.today():%Y-%m}", "this month")
    print(f"{day}: {without}, by dsl {with_dsl}")
client.indices.delete(index=Post.Index.name)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
2026-03-04: 2026-03-04T00:00, saved 2026-03-04T00:00
2026-03-04T09:30:00Z: 2026-03-04T09:30, saved 2026-03-04T09:30
2026-03: 2026-03-01T00:00, saved the day of today in March
1772616600000: 2026-03-04T09:30, saved 2026-03-04T09:30
04/03/2026: 400, by dsl 2026-04-03T00:00
10: 1970-01-01T00:00, by dsl this month-10T00:00
SEEN
