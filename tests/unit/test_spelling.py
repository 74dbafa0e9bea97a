"""What a word may have been meant to be: costs, readings, inflections."""

import json
from pathlib import Path

import pytest

from analyzers.languages import ENGLISH
from app.search.query_parser import parse_query
from app.search.spelling import (
    Interpretation,
    Option,
    TermStats,
    WordFacts,
    edit_cost,
    interpret,
)

CASES = json.loads((Path(__file__).parents[1] / "data/unit/spelling.json").read_text("utf-8"))
"""By test: its cases."""

KNOWN_WORD = TermStats(words=20, forms=20, stems=25)
RARE = TermStats(words=1, forms=1, stems=1)
NOWHERE = TermStats()


def read(typed: str, stats: TermStats, *options: str, last: bool = True) -> Interpretation:
    """What a word is taken for; `options` are those of the suggester, `text` or `text:posts`."""
    offered = []
    for option in options:
        text, _, posts = option.partition(":")
        offered.append(Option(text, int(posts or 10)))
    term = parse_query(typed, ENGLISH).terms[0]
    return interpret(term, WordFacts(stats, tuple(offered)), ENGLISH, last=last)


def texts(reading: Interpretation) -> list[str]:
    return [
        variant.text
        for variant in reading.variants
        if variant.kind == "spelling" or variant.is_split
    ]


@pytest.mark.parametrize(("typed", "meant", "expected"), CASES["cost_of_a_typo"])
def test_cost_of_a_typo(typed: str, meant: str, expected: float) -> None:
    assert edit_cost(typed, meant, ENGLISH) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("typed", "options", "expected"),
    [
        ("pythn", ["pithon:1", "python:50"], ["python"]),
        ("redict", ["redirect:17", "predict:1"], ["predict"]),  # less of an error, if rarer
        ("op", ["op0061"], []),  # nobody could read that
        ("abc", ["xbd"], []),  # two errors in three letters
        ("ios", ["105"], []),
        ("art", ["at:80"], []),  # a stop word only at the cheapest slip
        ("teh", ["the:80"], ["the"]),
    ],
)
def test_what_an_unknown_word_is_taken_for(
    typed: str, options: list[str], expected: list[str]
) -> None:
    reading = read(typed, NOWHERE, *options)
    assert texts(reading) == expected
    assert reading.likeliest.weight == 1


@pytest.mark.parametrize(
    ("typed", "stats", "option", "similar"),
    [
        ("react", KNOWN_WORD, "reach:500", []),
        ("acces", RARE, "access:80", ["access"]),
        ("acces", RARE, "access:2", ["access"]),
        ("acces", RARE, "access:1", []),
        ("acces", TermStats(3, 3, 3), "access:6", ["access"]),
        ("acces", TermStats(4, 4, 4), "access:80", []),
        ("acc", RARE, "acce:80", []),
        ("acces", TermStats(1, 1, 1, titles=1), "access:80", []),
        ("shard", TermStats(1, 1, 9), "shards:80", []),
    ],
)
def test_a_word_of_the_blog_stays_and_may_be_followed_by_others(
    typed: str, stats: TermStats, option: str, similar: list[str]
) -> None:
    reading = read(typed, stats, option)
    assert reading.as_typed
    assert [variant.text for variant in reading.similar] == similar


def test_an_inflection_known_by_its_stem_is_not_mended() -> None:
    reading = read("formats", TermStats(stems=7), "format:9", "formats2:1")
    assert reading.likeliest.kind == "typed"
    assert "format" in texts(reading)


@pytest.mark.parametrize(
    ("typed", "options", "last", "kind"),
    [
        ("cornw", ["corner:1", "cron:5"], True, "prefix"),
        ("pyt", ["put:50", "pat:20"], True, "prefix"),
        ("pyt", ["put:50", "pat:20"], False, "spelling"),
    ],
)
def test_a_word_may_not_be_typed_to_its_end(
    typed: str, options: list[str], last: bool, kind: str
) -> None:
    assert read(typed, TermStats(prefix=6), *options, last=last).likeliest.kind == kind


def test_two_words_written_as_one() -> None:
    split = texts(read("sourcecode", NOWHERE))
    assert "source code" in split
    assert all(len(part) >= 2 for text in split for part in text.split())
    # A space is left out as easily as a letter.
    assert "go mod" in texts(read("gomod", NOWHERE, "good:90"))
    assert texts(read("a" * 24, NOWHERE))
    assert not texts(read("a" * 25, NOWHERE))
    # Inflected texts have no stop words: `in side` would be any side.
    kinds = {variant.text: variant.kind for variant in read("inside", NOWHERE).variants}
    assert (kinds["in side"], kinds["ins ide"]) == ("split as typed", "split")


def test_an_inflection_of_a_word_that_posts_have_comes_before_other_words() -> None:
    _, *others = read("ebooks", TermStats(stems=1), "books:90", "ebook:1").variants
    assert [variant.text for variant in others] == ["ebook", "books"]
    assert others[0].weight > 2 * others[1].weight


@pytest.mark.parametrize(
    ("typed", "meant", "doubtful"),
    [
        ("grey", "grep", True),
        ("feld", "field", False),
        ("rusy", "rust", False),  # the keys are neighbours
        ("enviroment", "environment", False),
    ],
)
def test_a_short_word_with_another_letter_may_be_a_word(
    typed: str, meant: str, doubtful: bool
) -> None:
    assert read(typed, NOWHERE, meant).doubtful(alone=True) == doubtful
