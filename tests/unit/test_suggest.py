"""Suggestions: the parameters, and what is made of the titles that were found."""

import pytest
from werkzeug.datastructures import MultiDict

from analyzers.languages import ENGLISH
from app.errors import BadRequest
from app.search.query_parser import parse_query
from app.search.request import SUGGEST_PARAMETERS, SuggestRequest
from app.search.suggest import TitledPost, suggestions


def post(title: str, score: float = 1.0) -> TitledPost:
    return TitledPost(title, "/post", score)


def suggested(q: str, *posts: TitledPost, size: int = 10) -> list[str]:
    query = parse_query(q, ENGLISH)
    return [
        suggestion["text"]
        for suggestion in suggestions(SuggestRequest(q, size), query, posts, ENGLISH)
    ]


def test_every_complaint_at_once() -> None:
    with pytest.raises(BadRequest) as caught:
        SuggestRequest.parse(MultiDict([("size", "11"), ("page", "1"), ("lang", "!")]))
    wrong = {detail["parameter"] for detail in caught.value.details}
    assert wrong == {"q", "size", "page", "lang"}
    assert all(parameter.name in caught.value.message for parameter in SUGGEST_PARAMETERS)


def test_capitals_share_a_cached_answer_and_sizes_do_not() -> None:
    key = SuggestRequest("python").key()
    assert SuggestRequest("Python").key() == key
    assert SuggestRequest("python", size=5).key() != key
    assert SuggestRequest("python", lang="de").key() != key


def test_searches_come_before_titles() -> None:
    titles = [post("Python's types"), post("Types of Python")]
    assert suggested("pyt", *titles) == ["python", "Python's types", "Types of Python"]
    assert suggested("pyt", *titles, size=2) == ["python", "Python's types"]


def test_what_was_typed_is_not_suggested() -> None:
    assert suggested("Types", post("Types of Python")) == ["Types of Python"]


def test_every_word_is_completed_or_corrected() -> None:
    assert suggested("typse pyt", post("Types of Python", 1.01))[0] == "types of python"


@pytest.mark.parametrize(
    "title", ['The "types" of it', "A “types” of it", "Use --types", 'Use "-types"', "Use “-types”"]
)
def test_syntax_in_a_title_is_text(title: str) -> None:
    assert suggested("typ", post(title)) == ["types", title]


def test_a_stop_word_is_not_completed_before_other_words() -> None:
    texts = suggested("for pyt", post("Formatting for Python", 1.95))
    assert texts == ["for python", "Formatting for Python"]


@pytest.mark.parametrize(
    ("typed", "title", "completed"),
    [
        ("how to m", "How to mend a tyre with mud", "how to mend"),
        ("how to m", "How to read more", None),
        ("tyre pum", "A tyre and a pump", "tyre and a pump"),
        ("tyre pum", "A tyre with mended pump", None),
        ("can i use a", "Canary builds: how I use apps", None),
        ("can i use a", "Can I use apps offline?", "can i use apps"),
        ("how do i hot reload", "The ideal hot reloading, and how to do it", None),
        ("hot reload", "The ideal hot reloading, and how to do it", "hot reloading"),
        ("pupm", "A tyre and a pump", "pump"),
        ("tyre xump", "A tyre and a pump", "tyre and a pump"),
        ("tyre xuxp", "A tyre and a pump", None),
        ("elan", "Un élan", "élan"),
    ],
)
def test_only_what_a_title_says_is_offered(typed: str, title: str, completed: str | None) -> None:
    texts = suggested(typed, post(title, 0.01 if "x" in typed or "pupm" in typed else 3.0))
    assert texts == ([completed, title] if completed else [title])


def test_misspellings_are_left_out_if_a_title_has_the_words_as_typed() -> None:
    texts = suggested("rust", post("Rust"), post("Just so", 0.01))
    assert texts == ["Rust"]


def test_a_phrase_or_an_exclusion_is_not_completed() -> None:
    assert suggested('"types of" pyt', post("Types of Python")) == ["Types of Python"]
    assert suggested("pyt -java", post("Types of Python")) == ["Types of Python"]
