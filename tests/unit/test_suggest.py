"""Suggestions: the parameters, and what is made of the titles that were found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from analyzers.languages import ENGLISH, LANGUAGES
from app.errors import BadRequest
from app.search.query_parser import parse_query
from app.search.request import SUGGEST_PARAMETERS, SuggestRequest
from app.search.suggest import TitledPost, prefix_distance, suggestions


def post(title: str, score: float = 1.0, texts: tuple[str, ...] = ()) -> TitledPost:
    return TitledPost(title, title, "/post", score, "blog-000001", texts)


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


def test_a_word_is_completed_to_the_one_that_the_texts_have_most_often() -> None:
    texts = ("Idioms & Idiomatic code, idiomatic code.", "We’re here")
    style = post("Style", 0.95, texts)
    assert suggested("idi", style) == ["idiomatic", "Style"]
    assert suggested("we'r", style) == ["we're", "Style"]
    assert suggested("amp", style) == ["Style"]


def test_a_word_of_a_text_may_begin_with_an_accent() -> None:
    style = post("Style", 0.95, ("An Élan, not (élan's) relevant; _elands_ 'elapsed'",))
    assert suggested("ela", style) == ["élan", "Style"]


def test_a_word_of_a_text_may_follow_an_elided_article() -> None:
    french = LANGUAGES["french"]
    posts = [post("Style", 0.95, ("Rien de l’amitié ici, ni d'amis.",))]
    query = parse_query("amit", french)
    assert suggestions(SuggestRequest("amit"), query, posts, french)[0]["text"] == "amitié"


def test_a_part_of_a_word_with_an_apostrophe_is_not_suggested() -> None:
    style = post("Style", 0.95, ("O'Reilly, O'Reilly and a reindeer.",))
    assert suggested("rei", style) == ["reindeer", "Style"]


def test_what_was_typed_is_not_suggested() -> None:
    assert suggested("Types", post("Types of Python")) == ["Types of Python"]


def test_every_word_is_completed_or_corrected() -> None:
    assert suggested("typse pyt", post("Types of Python", 1.01))[0] == "types python"


@pytest.mark.parametrize(
    "title", ['The "types" of it', "A “types” of it", "Use --types", 'Use "-types"', "Use “-types”"]
)
def test_syntax_in_a_title_is_text(title: str) -> None:
    assert suggested("typ", post(title)) == ["types", title]


def test_a_stop_word_is_not_completed_before_other_words() -> None:
    texts = suggested("for pyt", post("Formatting for Python", 1.95))
    assert texts == ["for python", "Formatting for Python"]


@pytest.mark.parametrize(
    ("typed", "title", "text", "completed"),
    [
        ("how to m", "How to mend a tyre with mud", "", "how to mend"),
        ("how to m", "How to read more", "", None),
        ("how to m", "Cycling", "Most tyres are old. Here is how to mend them.", "how to mend"),
        ("how to m", "Cycling", "Most tyres are old.", None),
        ("tyre pum", "A tyre and its pump", "", "tyre pump"),
        ("tyre pum", "Pumps, and a tyre", "", None),
        ("tyre pum", "The tyre", "Pumpkins. Pumpkins. A tyre needs a pump.", "tyre pump"),
        ("tyre pum", "The tyre", "Pumpkins. Pumpkins. A pump.", "tyre pumpkins"),
    ],
)
def test_a_word_is_completed_to_one_that_follows(
    typed: str, title: str, text: str, completed: str | None
) -> None:
    texts = suggested(typed, post(title, 3.0, (text,) if text else ()))
    assert texts == ([completed, title] if completed else [title])


def test_misspellings_are_left_out_if_a_title_has_the_words_as_typed() -> None:
    texts = suggested("rust", post("Rust"), post("Just so", 0.01))
    assert texts == ["Rust"]


def test_a_phrase_or_an_exclusion_is_not_completed() -> None:
    assert suggested('"types of" pyt', post("Types of Python")) == ["Types of Python"]
    assert suggested("pyt -java", post("Types of Python")) == ["Types of Python"]


@pytest.mark.parametrize(
    ("typed", "word", "errors"),
    [
        ("pyt", "python", 0),
        ("pyhto", "python", 1),
        ("oyth", "python", 1),
        ("pthon", "python", 1),
        ("pyxthon", "python", 1),
        ("java", "python", 4),
    ],
)
def test_errors_are_counted_up_to_the_end_of_what_was_typed(
    typed: str, word: str, errors: int
) -> None:
    assert prefix_distance(typed, word) == errors


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_a_beginning_has_no_errors_and_no_text_has_more_than_letters(typed: str, rest: str) -> None:
    assert prefix_distance(typed, typed + rest) == 0
    assert prefix_distance(typed, rest) <= len(typed)
