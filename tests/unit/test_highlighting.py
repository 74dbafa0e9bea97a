"""Which words of a text are marked besides those that Elasticsearch marks."""

import json
import time
from pathlib import Path

import pytest

from analyzers.languages import ENGLISH, LANGUAGES
from analyzers.rules.compile import Phrases
from app.search.plan import plan_typed
from app.search.render import MARK, UNMARK, Marker, marked_texts
from app.search.request import SearchRequest
from app.search.session import EngineHit, StoredPost

CASES = json.loads((Path(__file__).parents[1] / "data/unit/highlighting.json").read_text("utf-8"))
"""By test: its cases."""

FRENCH = LANGUAGES["french"]


def marked(marker: Marker, text: str, field: str = "text") -> str:
    """The text with marks in brackets, which may be in it already."""
    stored = text.replace("[", MARK).replace("]", UNMARK)
    source: StoredPost = {"oid": "a"}
    hit: EngineHit = {"_id": "a", "_score": 1.0, "_source": source, "highlight": {field: [stored]}}
    shown = marked_texts(hit, marker)[field.partition(".")[0]]
    return shown.replace(MARK, "[").replace(UNMARK, "]")


@pytest.mark.parametrize(("begun", "text", "expected"), CASES["words_that_begin_like_a_term"])
def test_words_that_begin_like_a_term(begun: str, text: str, expected: str) -> None:
    assert marked(Marker((), (FRENCH.fold(begun),), language=FRENCH), text) == expected


def test_one_or_two_letters_are_marked_in_titles_only() -> None:
    marker = Marker(("ru",), ())
    assert marked(marker, "Rust trust", "title") == "[Rust] trust"
    assert marked(marker, "Rust trust") == "Rust trust"


def test_a_word_is_marked_in_camel_case_where_nothing_else_is() -> None:
    marker = Marker(words=frozenset(("useeffect",)))
    assert marked(marker, "Call useEffect() or useEffects") == "Call [useEffect]() or useEffects"
    assert marked(marker, "The [useeffect] of useEffect") == "The [useeffect] of useEffect"


@pytest.mark.parametrize(
    ("stored", "expected"), CASES["a_mark_that_cuts_an_entity_is_widened_to_it"]
)
def test_a_mark_that_cuts_an_entity_is_widened_to_it(stored: str, expected: str) -> None:
    assert marked(Marker(), stored, "code.forms") == expected


def test_a_phrase_over_several_lines_is_marked_in_each() -> None:
    """Headings are lines of their own, and code is moved to where it is announced."""
    marker = Marker(queries=(("match_phrase", "salt pans close"),))
    text = "The [salt\n\n pans\nclose] at [night]"
    assert marked(marker, text) == "The [salt]\n\n [pans]\n[close] at [night]"
    started = time.thread_time()
    assert marked(marker, f"[salt{' ' * 50_000}pans\nclose]").endswith("[close]")
    assert time.thread_time() - started < 1


def test_words_of_a_quoted_phrase_are_not_marked_alone() -> None:
    plan = plan_typed(SearchRequest(q='sqlite "virtual table"'), ENGLISH, Phrases(), recency=True)
    assert marked(Marker.of(plan), "A [virtual table] in useSqlite, f_table_name, useTable") == (
        "A [virtual table] in use[Sqlite], f_table_name, useTable"
    )


@pytest.mark.parametrize(
    ("quoted", "queried"),
    [("to run", ()), ("run", ("run",)), ("the wind and rain", ("the wind and rain",))],
)
def test_stop_words_of_a_quoted_phrase_are_marked_with_it(
    quoted: str, queried: tuple[str, ...]
) -> None:
    """The fields have no stop words, so their only other word would be marked anywhere."""
    plan = plan_typed(SearchRequest(q=f'"{quoted}"'), ENGLISH, Phrases(), recency=True)
    marker = Marker.of(plan)
    assert marker.queries == tuple(("match_phrase", text) for text in queried)
    fields = marker.highlighting("title", "text", "code.forms")["fields"]
    whole = [name for name, options in fields.items() if "no_match_size" in options]
    if quoted == "run":
        assert whole == ["text"]
    else:  # Elasticsearch does not find these words
        assert whole == ["title", "text", "code.forms"]
        assert marked(marker, f"Running {quoted}s, {quoted}.") == f"Running {quoted}s, [{quoted}]."


def test_a_query_of_stop_words_is_marked_as_a_phrase() -> None:
    plan = plan_typed(SearchRequest(q="to be"), ENGLISH, Phrases(), recency=True)
    assert marked(Marker.of(plan), "To be, or not to\nbe to others") == (
        "[To be], or not [to]\n[be] to others"
    )


def test_a_hit_without_marks_has_those_of_the_words_as_typed() -> None:
    """A rule has Node.js as one name, so only the unstemmed fields have its js."""
    plan = plan_typed(SearchRequest(q="the js"), ENGLISH, Phrases(), recency=True)
    source: StoredPost = {"oid": "a", "title": "The Node.js &amp; more"}
    hit: EngineHit = {"_id": "a", "_score": 1.0, "_source": source, "highlight": {"text": ["No."]}}
    assert marked_texts(hit, Marker.of(plan)) == {
        "title": f"The Node.{MARK}js{UNMARK} & more",
        "text": "No.",
    }
