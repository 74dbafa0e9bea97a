"""Synonyms on a real index: several words, both directions, phrases, highlights.

Each search is sent as `match` with all words and as `match_phrase`; both terms of a rule must find
the same posts.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from analyzers.chains import FORMS, TEXT, WORDS, analysis, index_time
from analyzers.languages import ENGLISH
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
hot dog, frankfurter sausage
natural language, nl
natural language processing, nlp
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
    "dog": "A hot dog with mustard",
    "sausage": "A frankfurter sausage with mustard",
    "nl": "Commands in NL",
    "nlp": "Natural language processing with care",
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    path = tmp_path_factory.mktemp("rules") / "x.synonyms"
    path.write_text(RULES)
    return read_rules([path])


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch, rules: RuleSet) -> Iterator[str]:
    name = f"test-x{uuid.uuid4().hex[:12]}"
    text = {
        "type": "text",
        "analyzer": index_time(TEXT),
        "search_analyzer": TEXT,
        "index_options": "offsets",
        "fields": {
            "forms": {"type": "text", "analyzer": index_time(FORMS), "search_analyzer": FORMS},
            "words": {"type": "text", "analyzer": index_time(WORDS), "search_analyzer": WORDS},
        },
    }
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "analysis": analysis(rules, ENGLISH),
    }
    elastic.indices.create(index=name, settings=settings, mappings={"properties": {"text": text}})
    actions = ({"_index": name, "_id": oid, "text": text} for oid, text in POSTS.items())
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
    ("hot dog", "frankfurter sausage", {"dog", "sausage"}),
    ("sota in search", "state of the art in search", {"art", "sota"}),
    ("hot dog with mustard", "frankfurter sausage with mustard", {"dog", "sausage"}),
    ("server in node.js or none", "server in nodejs or none", {"node", "nodejs"}),
    ("ten js tricks", "ten javascript tricks", {"js", "javascript"}),
    ("forms in react", "forms in reactjs", {"react", "reactjs"}),
    ("color scheme for terminals", "palette for terminals", {"scheme", "palette"}),
    # The longest phrase counts, and one inside of it is found, too.
    ("nlp with care", "natural language processing with care", {"nlp"}),
    ("nl", "natural language", {"nl", "nlp"}),
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
    ("query", "marked"),
    [
        (
            "ml",
            {
                "learning": "We use <machine learning> for everything",
                "ml": "An <ML> model in ten lines",
            },
        ),
        (
            "machine learning",
            {
                "learning": "We use <machine learning> for everything",
                "ml": "An <ML> model in ten lines",
            },
        ),
        # A word of a phrase is no synonym of it, and is found and marked by itself.
        ("learning", {"learning": "We use machine <learning> for everything"}),
        (
            "machine",
            {
                "learning": "We use <machine> learning for everything",
                "machine": "A <machine> that washes",
            },
        ),
        (
            "sota",
            {"art": "The <state of the art> in search", "sota": "<SOTA> in search, explained"},
        ),
        ("art", {"art": "The state of the <art> in search"}),
        ("node", {"node": "A server in <Node.js> or none"}),
        (
            "nodejs",
            {"node": "A server in <Node.js> or none", "nodejs": "A server in <NodeJS> or none"},
        ),
        ("colour", {"scheme": "A <color> scheme for terminals"}),
        (
            "palette",
            {"scheme": "A <color scheme> for terminals", "palette": "A <palette> for terminals"},
        ),
        ("language", {"nlp": "Natural <language> processing with care"}),
        ("go", {"golang": "Errors in <Golang> and elsewhere"}),
        ("going", {"going": "<Going> on with errors"}),
    ],
)
def test_highlights_mark_what_was_searched_for(
    elastic: Elasticsearch, index: str, query: str, marked: dict[str, str]
) -> None:
    match = {"match": {"text": {"query": query, "operator": "and"}}}
    assert _search(elastic, index, match) == marked


def test_explains_the_tokens_that_the_analysis_makes(
    elastic: Elasticsearch, index: str, rules: RuleSet
) -> None:
    text = "Machine learning in JS, don’t go"
    before = elastic.indices.analyze(index=index, analyzer=WORDS, text=text)["tokens"]
    after = elastic.indices.analyze(index=index, analyzer=FORMS, text=text)["tokens"]
    words = [token["token"] for token in before]
    made = {token for applied in rules.explain(words) for token in applied.tokens}
    synonyms = {token["token"] for token in after if token["type"] == "SYNONYM"}
    assert synonyms == {"ml", "javascript", "golang"}
    assert made - set(words) == synonyms


def test_elasticsearch_takes_every_term_that_is_not_refused(
    elastic: Elasticsearch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rules") / "x.synonyms"
    path.write_text(
        "日本 => 東京\nnihon, 日本語\nデータベース, db\nc++, cpp\n.net => net\n<b> => strong\n"
        "1\\,000 => 1000\n=== => strict\nemoji 😀, smiley\nl'été, summer\nasp.net, aspnet\n"
        "the who, thewho\nx\\, y, xy\no'reilly's, oreilly\nthe c++ builder, our c# thing\n"
        "c#11 things, k things\nx_y, y_x\na/b, ab test\n3d, three dimensions\nα β, alpha\n"
    )
    name = f"test-x{uuid.uuid4().hex[:12]}"
    elastic.indices.create(index=name, **index_body(read_rules([path]), shards=1, replicas=0))
    elastic.indices.delete(index=name)
