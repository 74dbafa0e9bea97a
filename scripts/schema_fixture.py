"""Writes the documents of an index as a fixture, from which tests upgrade to later schemas.

    python -m scripts.schema_fixture ALIAS > tests/data/schema-9.json

Once for every SCHEMA, by the version that has it: index `tests/data/upgrade.jsonl`, send the posts
and comments of `tests/data/over-http.jsonl` (each with its path), then run this.
"""

import json
import sys

from elasticsearch import Elasticsearch

from app.elastic import connect
from app.settings import load_settings

_OF_THE_INDEX = ("creation_date", "provided_name", "uuid", "version", "routing", "blocks")


def exported(client: Elasticsearch, alias: str) -> dict[str, object]:
    """Settings, mappings and documents (at most 1,000) of the live generation."""
    client.indices.refresh(index=alias)
    ((_, index),) = client.indices.get(index=alias).items()
    settings = {
        name: value
        for name, value in index["settings"]["index"].items()
        if name not in _OF_THE_INDEX
    }
    response = client.search(index=alias, size=1_000, version=True, sort=["_doc"])
    documents = [
        {name: hit[name] for name in ("_id", "_routing", "_version", "_source")}
        for hit in sorted(response["hits"]["hits"], key=lambda hit: hit["_id"])
    ]
    return {"settings": settings, "mappings": index["mappings"], "documents": documents}


def main() -> None:
    """Print the fixture of the alias that is named on the command line."""
    with connect(load_settings()) as client:
        fixture = exported(client, sys.argv[1])
    json.dump(fixture, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
