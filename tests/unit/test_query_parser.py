"""What was typed, taken apart."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from analyzers.languages import ENGLISH, LANGUAGES, Language
from app.search import query_parser
from app.search.query_parser import ParsedQuery, QueryTerm

CASES = json.loads((Path(__file__).parents[1] / "data/unit/query_parser.json").read_text("utf-8"))
"""By test: its cases."""


def parse_query(q: str) -> ParsedQuery:
    return query_parser.parse_query(q, ENGLISH)


def apart(term: QueryTerm) -> tuple[QueryTerm, ...]:
    return query_parser.apart(term, ENGLISH)


def joined(first: QueryTerm, second: QueryTerm) -> QueryTerm:
    return query_parser.join_terms(first, second, ENGLISH)


def tokens(q: str) -> list[str]:
    return [word.token for word in parse_query(q).terms]


@pytest.mark.parametrize(("q", "expected"), CASES["words"])
def test_words(q: str, expected: list[str]) -> None:
    assert tokens(q) == expected


def test_short_flags_are_words_and_other_exclusions_are_not() -> None:
    query = parse_query("rm -rf —dry-run -pear -category:Linux -9 -c:v")
    terms = [("rm",), ("-", "rf"), ("--", "dry", "run"), ("-", "9"), ("-", "c", "v")]
    assert [term.pieces for term in query.terms] == terms
    assert [term.is_short_flag for term in query.terms] == [False, True, False, True, True]
    assert (query.excluded, query.other_categories) == (("pear",), ("Linux",))
    (css,) = parse_query("-webkit-user-select").terms
    assert css.pieces == ("webkit", "user", "select")
    # The index has a flag only behind a space.
    behind_brackets = parse_query("cat (-v) [-122.5, 37.4] [-n|-q]")
    texts = [term.text for term in behind_brackets.terms]
    assert texts == ["cat", "v", "122.5", "37.4", "n", "q"]


def test_operators_are_no_words() -> None:
    query = parse_query('category:"two words" Date IN:Title "a phrase" -without category:Linux')
    assert (query.in_title, query.categories) == (True, ("two words", "Linux"))
    assert [term.token for term in query.terms] == ["date"]
    assert (query.quoted, query.excluded) == (("a phrase",), ("without",))
    assert (query.terms[0].start, query.quoted_at) == (21, (35,))
    for q in ("check in:titles", "x.in:title", "category:", 'category:""'):
        query = parse_query(q)
        assert not query.in_title
        assert not query.categories
    assert not parse_query("category:linux").empty


def test_quotation_marks_in_a_long_query_are_those_of_a_sentence() -> None:
    few = parse_query('systems that format text "as you type it" -"old news"')
    assert few.quoted == ("as you type it",)
    many = parse_query(
        'articles on formatting documents, systems of any kind, examples: "as you type" -"old news"'
    )
    assert not many.quoted
    assert many.excluded == ("old news",)
    assert "type" in [word.token for word in many.terms]


@pytest.mark.parametrize(
    "q", ["“date format”", "„date format“", "« date format »", "”date format”"]
)
def test_quotation_marks_of_any_language_quote(q: str) -> None:
    query = parse_query(f"{q} x -{q}")
    assert (query.quoted, query.excluded) == (("date format",), ("date format",))


@pytest.mark.parametrize(
    ("q", "pieces"),
    [
        ("--no-cache", [("--", "no", "cache")]),
        ("create-react-app", [("create", "react", "app")]),
        ('"date format', [("date",), ("format",)]),
        ("foo->bar C++11 日本語", [("foo", "->", "bar"), ("c++", "11"), ("日本",), ("本語",)]),
    ],
)
def test_what_excludes_and_quotes_nothing(q: str, pieces: list[tuple[str, ...]]) -> None:
    query = parse_query(q)
    assert [term.pieces for term in query.terms] == pieces
    assert not query.excluded + query.quoted


@pytest.mark.parametrize(
    ("q", "may_be"),
    [
        *((q, False) for q in ("python3", "c++", "node.js", "ab", "the", "1984", "===", "x" * 65)),
        *((q, True) for q in ("pythn", "Café", "don't", "x" * 64)),
    ],
)
def test_what_may_be_mended(q: str, may_be: bool) -> None:
    assert parse_query(q).terms[0].correctable is may_be


def test_stop_words_are_required_only_where_there_is_nothing_else() -> None:
    assert [word.token for word in parse_query("the who").examined] == ["who"]
    assert [word.token for word in parse_query("it is").examined] == ["it", "is"]
    assert parse_query('it "date format"').examined == ()


def test_words_pieces_and_joins_know_where_they_stood() -> None:
    q = "a (node.js) “x y” don’t ¡rust🎉! कार्गो"
    places = [(word.text, q[word.start : word.end]) for word in parse_query(q).terms]
    assert places == [
        *((word, word) for word in ("a", "node.js")),
        ("don't", "don’t"),
        *((word, word) for word in ("rust", "कार्गो")),
    ]
    q = "see node.js"
    see, compound = parse_query(q).terms
    assert [q[piece.start : piece.end] for piece in apart(compound)] == ["node", "js"]
    (flag,) = parse_query("--dry-run").terms
    assert [piece.text for piece in apart(flag)] == ["dry", "run"]
    both = joined(see, compound)
    assert q[both.start : both.end] == q


def test_characters_are_not_joined_to_words() -> None:
    terms = parse_query("データ ab 6").terms
    assert [first.joins(second) for first, second in pairwise(terms)] == [False, False, True]


def test_a_word_with_a_number_is_split_from_it() -> None:
    assert [piece.text for piece in apart(parse_query("python3").terms[0])] == ["python", "3"]
    assert [piece.text for piece in apart(parse_query("gpt4o").terms[0])] == ["gpt", "4o"]
    assert [piece.text for piece in apart(parse_query("7zip").terms[0])] == ["7", "zip"]
    assert apart(parse_query("3d").terms[0]) == ()
    assert [piece.text for piece in apart(parse_query("foo->bar").terms[0])] == ["foo", "->", "bar"]


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda tested: tested.name)
def test_stop_words_are_recognized_in_every_language(language: Language) -> None:
    # `piu-pau` is two tokens, `heldeke(ne)` too.
    words = [word for word in language.stop_words if not {"-", "("} & set(word)]
    terms = [query_parser.parse_query(word, language).terms for word in words]
    assert all(term.stop for parsed in terms for term in parsed)


def test_marks_are_parts_of_their_letters() -> None:
    hindi = query_parser.parse_query("किताबें लड़के", LANGUAGES["hindi"]).terms
    assert [term.pieces for term in hindi] == [("किताबें",), ("लडके",)]
    assert all(term.correctable for term in hindi)
    catalan = query_parser.parse_query("col·legis", LANGUAGES["catalan"]).terms
    assert [term.pieces for term in catalan] == [("col·legis",)]
