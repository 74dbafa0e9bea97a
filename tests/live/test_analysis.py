"""The tokens that the English chains make of words as people write them."""

import html
import uuid
from collections.abc import Callable, Iterator

import pytest
from elasticsearch import Elasticsearch

from analyzers.chains import FORMS, SPELLING, TEXT, WORDS, index_time
from analyzers.rules.compile import RuleSet, read_rules
from analyzers.symbols import OPERATORS
from indexer.schema import index_body

Tokens = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    path = tmp_path_factory.mktemp("rules") / "own.synonyms"
    lines = ["go => golang", "react, reactjs", "dont => don't", "state of the art, sota"]
    path.write_text("\n".join(lines) + "\n")
    return read_rules([path])


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch, rules: RuleSet) -> Iterator[str]:
    name = f"test-analysis-x{uuid.uuid4().hex[:8]}"
    elastic.indices.create(index=name, **index_body(rules, shards=1, replicas=0))
    yield name
    elastic.indices.delete(index=name)


@pytest.fixture
def tokens(elastic: Elasticsearch, index: str) -> Tokens:
    def analyze(analyzer: str, text: str) -> list[str]:
        response = elastic.indices.analyze(index=index, analyzer=analyzer, text=text)
        return [token["token"] for token in response["tokens"]]

    return analyze


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Going, gone: the GOER", ["go", "gone", "goer"]),
        ("Go's maps", ["golang", "map"]),
        ("golang", ["golang"]),
        ("don’t", ["don't"]),
        ("Dont", ["don't"]),
        ("a state of the art thing", ["sota", "thing"]),
        ("C++, C# and F#", ["cplusplus", "csharp", "fsharp"]),
        ("C++11 and C#8", ["cplusplus", "11", "csharp", "8"]),
        ("page.html#f or abc# a_c#", ["page", "html", "f", "abc", "csharp"]),
        ("C#.NET, .network", ["csharp", "dotnet", "network"]),
        (".NET or asp.net", ["dotnet", "asp", "net"]),
        ("Node.js pyproject.toml", ["node", "js", "pyproject", "toml"]),
        ("python2.4, version 1.53.0, 1,500", ["python2.4", "version", "1.53.0", "1,500"]),
        ("snake_case", ["snake", "case"]),
        ("createReactApp", ["creat", "react", "reactj", "app"]),
        ("GitHub iPhone macOS", ["github", "iphon", "maco"]),
        ("Crème brûlée", ["creme", "brule"]),
        ("x ======= y", ["x", "y"]),
        ("the", []),
    ],
)
def test_text(tokens: Tokens, text: str, expected: list[str]) -> None:
    assert tokens(TEXT, text) == expected


@pytest.mark.parametrize("analyzer", [TEXT, FORMS, WORDS, SPELLING])
def test_a_post_is_escaped_and_a_query_is_not(tokens: Tokens, analyzer: str) -> None:
    assert tokens(index_time(analyzer), "&lt;b&gt; &amp; x&amp;lt;y") == ["b", "x", "lt", "y"]
    assert tokens(analyzer, "<b> & &lt;") == ["b", "lt"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_of_a_post_are_escaped(tokens: Tokens, operator: str) -> None:
    escaped = html.escape(operator, quote=False)
    assert tokens(index_time(WORDS), f"a{escaped}b") == tokens(WORDS, f"a {operator} b")


def test_an_escaped_line_is_no_operator(tokens: Tokens) -> None:
    assert tokens(index_time(WORDS), f"a {'&amp;' * 5} b") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＢＣ１２ ３．１４", ["abc12", "3.14"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ"]),
        ("CO₂ 20 m² km³ words² H₂O", ["co2", "20", "m2", "km3", "words", "h2o"]),
        ("٣.١٤ a:b 1:2 a.5", ["٣.١٤", "a", "b", "1", "2", "a", "5"]),
    ],
)
def test_width_and_points(tokens: Tokens, text: str, expected: list[str]) -> None:
    assert tokens(WORDS, text) == expected


def test_a_version_is_indexed_with_its_parts(tokens: Tokens) -> None:
    indexed = tokens(index_time(WORDS), "3.4.1 and python3.12 v18 2024")
    assert {"3.4.1", "3.4", "3", "python3.12", "python", "3.12", "v18", "18", "2024"} <= set(
        indexed
    )


@pytest.mark.parametrize(
    ("analyzer", "text", "expected"),
    [
        (WORDS, "The Who’s going", ["the", "who", "going"]),
        (WORDS, "createReactApp", ["createreactapp"]),
        (WORDS, "go reactjs", ["go", "reactjs"]),
        (FORMS, "go going", ["golang", "going"]),
        (FORMS, "state of the art", ["sota"]),
    ],
)
def test_unstemmed_chains(tokens: Tokens, analyzer: str, text: str, expected: list[str]) -> None:
    assert tokens(analyzer, text) == expected


@pytest.mark.parametrize("operator", ["===", "!==", "==", "!=", "=>", "->", ":=", "&&", "||", "??"])
def test_operators_are_words(tokens: Tokens, operator: str) -> None:
    words = tokens(WORDS, f"a {operator} b")
    assert words[0::2] == ["a", "b"]
    assert words == tokens(WORDS, f"a{operator}b")
    assert tokens(TEXT, operator) == words[1:2]


def test_each_operator_is_a_word_of_its_own(tokens: Tokens) -> None:
    assert tokens(WORDS, "===") != tokens(WORDS, "==")


def test_offsets_of_symbols_are_those_of_the_text(elastic: Elasticsearch, index: str) -> None:
    text = "Use C++11 or .NET, C#8 or snake_case in createReactApp"
    tokens = elastic.indices.analyze(index=index, analyzer=TEXT, text=text)["tokens"]
    marked = dict.fromkeys(text[token["start_offset"] : token["end_offset"]] for token in tokens)
    assert list(marked) == [
        "Use", "C++", "11", ".NET", "C#", "8", "snake", "case", "create", "React", "App"
    ]  # fmt: skip
