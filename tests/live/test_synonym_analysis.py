"""Synonyms on a real index: several words, both directions, phrases, highlights.

Most posts and searches are those with which the chain was chosen. Each search is sent as `match`
with all words and as `match_phrase`; both terms of a rule must find the same posts.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from analyzers.rules.compile import RuleSet, read_rules
from indexer.schema import index_body

RULES = """\
machine learning, ml
js => javascript
reactjs, react
state of the art, sota
nodejs, node.js
dont => don't
c++, cpp
go => golang
colour => color
colour scheme, palette
"""
POSTS = {
    "ml": "An ML model in ten lines",
    "learning": "We use machine learning for everything",
    "js": "Ten JS tricks that work",
    "javascript": "Ten JavaScript tricks that work",
    "react": "Forms in React are easy",
    "reactjs": "Forms in ReactJS are easy",
    "art": "The state of the art in search",
    "sota": "SOTA in search, explained",
    "node": "A server in Node.js or none",
    "nodejs": "A server in NodeJS or none",
    "dont": "Why you dont need it",
    "don't": "Why you don’t need it",
    "cpp": "Modern cpp in practice",
    "c++": "Modern C++ in practice",
    "golang": "Errors in Golang and elsewhere",
    "going": "Going on with errors",
    "scheme": "A color scheme for terminals",
    "palette": "A palette for terminals",
    "machine": "A machine that washes",
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    path = tmp_path_factory.mktemp("rules") / "x.synonyms"
    path.write_text(RULES)
    return read_rules([path])


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch, rules: RuleSet) -> Iterator[str]:
    name = f"test-x{uuid.uuid4().hex[:12]}"
    elastic.indices.create(index=name, **index_body(rules, shards=1, replicas=0))
    actions = (
        {"_index": name, "_id": oid, "kind": "post", "oid": oid, "title": oid, "text": text}
        for oid, text in POSTS.items()
    )
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


BOTH_TERMS = [
    ("ml", "machine learning", {"ml", "learning"}),
    ("js", "javascript", {"js", "javascript"}),
    ("react", "reactjs", {"react", "reactjs"}),
    ("sota", "state of the art", {"art", "sota"}),
    ("nodejs", "node.js", {"node", "nodejs"}),
    ("dont", "don't", {"dont", "don't"}),
    ("don’t", "don't", {"dont", "don't"}),
    ("c++", "cpp", {"c++", "cpp"}),
    ("palette", "colour scheme", {"scheme", "palette"}),
    ("sota in search", "state of the art in search", {"art", "sota"}),
    ("server in node.js or none", "server in nodejs or none", {"node", "nodejs"}),
    ("ten js tricks", "ten javascript tricks", {"js", "javascript"}),
    ("forms in react", "forms in reactjs", {"react", "reactjs"}),
    ("color scheme for terminals", "palette for terminals", {"scheme", "palette"}),
]


@pytest.mark.parametrize(("term", "other", "oids"), BOTH_TERMS)
def test_both_terms_find_the_same_posts(
    elastic: Elasticsearch, index: str, term: str, other: str, oids: set[str]
) -> None:
    for side in (term, other):
        for field in ("text", "text.forms"):
            match = {"match": {field: {"query": side, "operator": "and"}}}
            assert _search(elastic, index, match).keys() == oids
        assert _search(elastic, index, {"match_phrase": {"text": side}}).keys() == oids


@pytest.mark.parametrize(
    ("query", "oid", "marked"),
    [
        ("ml", "learning", "We use <machine learning> for everything"),
        ("machine learning", "ml", "An <ML> model in ten lines"),
        ("javascript", "js", "Ten <JS> tricks that work"),
        ("js", "javascript", "Ten <JavaScript> tricks that work"),
        ("sota", "art", "The <state of the art> in search"),
        ("nodejs", "node", "A server in <Node.js> or none"),
        ("node.js", "nodejs", "A server in <NodeJS> or none"),
        ("palette", "scheme", "A <color scheme> for terminals"),
    ],
)
def test_highlights_mark_the_words_of_the_post(
    elastic: Elasticsearch, index: str, query: str, oid: str, marked: str
) -> None:
    match = {"match": {"text": {"query": query, "operator": "and"}}}
    assert _search(elastic, index, match)[oid] == marked


def test_a_contraction_separates_a_word_from_its_stem(elastic: Elasticsearch, index: str) -> None:
    assert _search(elastic, index, {"match": {"text": "go"}}).keys() == {"golang"}
    assert _search(elastic, index, {"match": {"text": "going"}}).keys() == {"going"}


def test_words_of_a_phrase_are_found_as_they_were_written(
    elastic: Elasticsearch, index: str
) -> None:
    response = elastic.search(index=index, query={"match": {"text.words": "machine"}})
    assert {hit["_id"] for hit in response["hits"]["hits"]} == {"learning", "machine"}


def test_explains_the_tokens_that_the_analysis_makes(
    elastic: Elasticsearch, index: str, rules: RuleSet
) -> None:
    text = "Machine learning in JS, don’t go"
    before = elastic.indices.analyze(index=index, analyzer="blog_words", text=text)["tokens"]
    after = elastic.indices.analyze(index=index, analyzer="blog_forms", text=text)["tokens"]
    words = [token["token"] for token in before]
    made = {token for applied in rules.explain(words) for token in applied.tokens}
    synonyms = {token["token"] for token in after if token["type"] == "SYNONYM"}
    assert synonyms == {"ml", "javascript", "golang"}
    assert made - set(words) == synonyms
    places = {applied.tokens[0]: applied.rules[0].place for applied in rules.explain(words)}
    assert places["javascript"] == "x.synonyms:2"
