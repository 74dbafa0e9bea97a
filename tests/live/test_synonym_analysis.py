"""Synonyms on a real index: several words, both directions, phrases, highlights.

`tests/data/synonyms/phrases.json` has rules, posts and what is expected. Each search is sent
as `match` with all words and as `match_phrase`; both terms of a rule must find the same posts.
"""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from analyzers.chains import FORMS, TEXT, analysis, index_time
from analyzers.languages import ENGLISH
from analyzers.rules.compile import Rules
from indexer.schema import index_body

DATA = Path(__file__).resolve().parents[1] / "data" / "synonyms"
CASES = json.loads((DATA / "phrases.json").read_text())


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    path = tmp_path_factory.mktemp("rules") / "x.synonyms"
    path.write_text("\n".join(CASES["rules"]))
    return Rules([path])


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch, rules: Rules) -> Iterator[str]:
    name = f"test-x{uuid.uuid4().hex[:12]}"
    text = {
        "type": "text",
        "analyzer": index_time(TEXT),
        "search_analyzer": TEXT,
        "index_options": "offsets",
        "fields": {
            "forms": {"type": "text", "analyzer": index_time(FORMS), "search_analyzer": FORMS},
        },
    }
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "analysis": analysis(rules, ENGLISH),
    }
    elastic.indices.create(index=name, settings=settings, mappings={"properties": {"text": text}})
    actions = ({"_index": name, "_id": oid, "text": text} for oid, text in CASES["posts"].items())
    bulk(elastic, actions, refresh=True)
    yield name
    elastic.indices.delete(index=name)


def _search(elastic: Elasticsearch, index: str, query: dict[str, Any]) -> dict[str, str]:
    """The highlighted text of each hit, by id."""
    highlight = {"fields": {"text": {"number_of_fragments": 0}}, "pre_tags": "<", "post_tags": ">"}
    answer = elastic.search(index=index, query=query, highlight=highlight, size=50)
    return {
        hit["_id"]: hit.get("highlight", {}).get("text", [""])[0] for hit in answer["hits"]["hits"]
    }


@pytest.mark.parametrize(("term", "other", "oids"), CASES["same"])
def test_both_terms_find_the_same_posts(
    elastic: Elasticsearch, index: str, term: str, other: str, oids: list[str]
) -> None:
    for side in (term, other):
        match = {"match": {"text": {"query": side, "operator": "and"}}}
        assert _search(elastic, index, match).keys() == set(oids)
        match = {"match": {"text.forms": {"query": side, "operator": "and"}}}
        # What is written is found there, too: the js of Node.js.
        assert _search(elastic, index, match).keys() == {*oids, *(["node"] if side == "js" else [])}
        assert _search(elastic, index, {"match_phrase": {"text": side}}).keys() == set(oids)


@pytest.mark.parametrize(("query", "marked"), CASES["marks"].items())
def test_highlights_mark_what_was_searched_for(
    elastic: Elasticsearch, index: str, query: str, marked: dict[str, str]
) -> None:
    match = {"match": {"text": {"query": query, "operator": "and"}}}
    assert _search(elastic, index, match) == marked


def test_elasticsearch_takes_every_term_that_is_not_refused(
    elastic: Elasticsearch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rules") / "x.synonyms"
    path.write_text("\n".join(CASES["taken"]))
    name = f"test-x{uuid.uuid4().hex[:12]}"
    elastic.indices.create(index=name, **index_body(Rules([path]), shards=1))
    elastic.indices.delete(index=name)
