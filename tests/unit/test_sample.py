"""The judged queries of the sample name its posts."""

import json
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[2] / "sample"


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text("utf-8").splitlines()]


POSTS = _lines("posts.jsonl")
QUERIES = _lines("queries.jsonl")
OIDS = {post["oid"] for post in POSTS}


def test_queries_name_posts_that_are_there() -> None:
    assert len({(query["q"], query["kind"]) for query in QUERIES}) == len(QUERIES)
    for query in QUERIES:
        assert query.keys() - {"words"} == {"q", "intent", "kind", "grades", "related"}, query["q"]
        assert query["grades"].keys() | set(query["related"]) <= OIDS, query["q"]
        assert query["grades"].keys().isdisjoint(query["related"]), query["q"]
        assert set(query["grades"].values()) <= {1, 2}, query["q"]
        assert bool(query["grades"]) == (query["kind"] != "nonsense"), query["q"]
