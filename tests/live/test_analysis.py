"""The tokens that the English chains make of words as people write them."""

import html
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from analyzers.chains import FORMS, SPELLING, TEXT, WORDS, index_time
from analyzers.rules.compile import Rules
from analyzers.signs import OPERATORS
from indexer.schema import index_body

CASES = json.loads((Path(__file__).resolve().parents[1] / "data" / "analysis.json").read_text())

Tokens = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    path = tmp_path_factory.mktemp("rules") / "own.synonyms"
    lines = ["go => golang", "react, reactjs", "dont => don't", "state of the art, sota"]
    path.write_text("\n".join(lines) + "\n")
    return Rules([path])


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch, rules: Rules) -> Iterator[str]:
    name = f"test-analysis-x{uuid.uuid4().hex[:8]}"
    elastic.indices.create(index=name, **index_body(rules, shards=1))
    yield name
    elastic.indices.delete(index=name)


@pytest.fixture
def tokens(elastic: Elasticsearch, index: str) -> Tokens:
    def analyze(analyzer: str, text: str) -> list[str]:
        response = elastic.indices.analyze(index=index, analyzer=analyzer, text=text)
        return [token["token"] for token in response["tokens"]]

    return analyze


@pytest.mark.parametrize(("analyzer", "text", "expected"), CASES)
def test_tokens(tokens: Tokens, analyzer: str, text: str, expected: list[str]) -> None:
    """`tests/data/analysis.json` has analyzers, texts and tokens."""
    assert tokens(analyzer, text) == expected


@pytest.mark.parametrize("analyzer", [TEXT, FORMS, SPELLING])
def test_a_post_is_escaped_and_a_query_is_not(tokens: Tokens, analyzer: str) -> None:
    assert tokens(index_time(analyzer), "&lt;b&gt; &amp; x&amp;lt;y") == ["b", "x", "lt", "y"]
    assert tokens(analyzer, "<b> & &lt;") == ["b", "lt"]


def test_a_version_is_indexed_with_its_parts(tokens: Tokens) -> None:
    indexed = tokens(index_time(FORMS), "3.4.1 and python3.12 v18 2024")
    assert {"3.4.1", "3.4", "3", "python3.12", "python", "3.12", "v18", "18", "2024"} <= set(
        indexed
    )


def test_each_operator_is_a_word_of_its_own(tokens: Tokens) -> None:
    words = tokens(WORDS, " ".join(f"a {operator} b" for operator in OPERATORS))
    assert words[0::3] + words[2::3] == ["a"] * len(OPERATORS) + ["b"] * len(OPERATORS)
    assert len(set(words[1::3])) == len(OPERATORS)
    assert tokens(WORDS, " ".join(f"a{operator}b" for operator in OPERATORS)) == words
    assert tokens(TEXT, " ".join(OPERATORS)) == words[1::3]
    escaped = (f"a{html.escape(operator, quote=False)}b" for operator in OPERATORS)
    assert tokens(index_time(FORMS), " ".join(escaped)) == words


def test_offsets_of_symbols_are_those_of_the_text(elastic: Elasticsearch, index: str) -> None:
    text = "Use C++11 or .NET, C#8 or snake_case in createReactApp"
    tokens = elastic.indices.analyze(index=index, analyzer=TEXT, text=text)["tokens"]
    marked = dict.fromkeys(text[token["start_offset"] : token["end_offset"]] for token in tokens)
    assert list(marked) == [
        "Use", "C++", "11", ".NET", "C#", "8", "snake", "case", "create", "React", "App"
    ]  # fmt: skip
