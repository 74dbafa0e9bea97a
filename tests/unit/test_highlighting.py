"""Which words of a text are marked because they begin like a term."""

from typing import Any

import pytest

from analyzers.languages import ENGLISH, LANGUAGES
from app.search.highlighting import mark_words
from app.search.query_parser import parse_query
from app.search.render import MARK, UNMARK
from app.search.spelling import Interpretation, TermVariant, as_typed

FRENCH = LANGUAGES["french"]


def _marked(begun: str, text: str, field: str = "text") -> str:
    terms = parse_query(begun, FRENCH).terms
    begins = [
        Interpretation(term, (TermVariant(term.text, kind="begun"),), "being typed")
        for term in terms
    ]
    hit: dict[str, Any] = {"highlight": {field: [text]}}
    mark_words([hit], begins, FRENCH)
    marked = str(hit["highlight"][field][0])
    return marked.replace(MARK, "[").replace(UNMARK, "]")


@pytest.mark.parametrize(
    ("begun", "text", "marked"),
    [
        ("donn", "Les Données, et données. Abandonner", "Les [Données], et [données]. Abandonner"),
        ("donnée", "donner des données", "donner des [données]"),
        ("obj", "Qu'est-ce qu'un d'objet, l’objectif", "Qu'est-ce qu'un d'[objet], l’[objectif]"),
        ("team", "getTeams steam team_teams", "get[Teams] steam [team]_[teams]"),
        ("amp", "a &amp; b, amplifier&amp;ample", "a &amp; b, [amplifier]&amp;[ample]"),
        ("rust", f"{MARK}rust{UNMARK} and Rusty", "[rust] and [Rusty]"),
        ("груш", "Грушевый сок", "[Грушевый] сок"),
        ("ru", "rust", "rust"),
        ("con", "cliConn, Conn and cône", "cli[Conn], [Conn] and [cône]"),
        ("oeuv", "Œuvre, œuvres, ouvre", "[Œuvre], [œuvres], ouvre"),
        ("été", "ete, l'été; etude", "[ete], l'[été]; etude"),
    ],
)
def test_words_that_begin_like_a_term(begun: str, text: str, marked: str) -> None:
    assert _marked(begun, text) == marked


def test_one_or_two_letters_are_marked_in_titles_only() -> None:
    assert _marked("ru", "Rust trust", "title") == "[Rust] trust"


def test_stop_words_are_marked_where_the_query_has_no_others() -> None:
    hit: dict[str, Any] = {"highlight": {"text": ["To be, or not today. TO BE"]}}
    for q, marked in (
        ("to bee", "To be, or not today. TO BE"),
        ("to be", "[To] [be], or not today. [TO] [BE]"),
    ):
        terms = [as_typed(term) for term in parse_query(q, ENGLISH).terms]
        mark_words([hit], terms, ENGLISH)
        assert hit["highlight"]["text"][0].replace(MARK, "[").replace(UNMARK, "]") == marked
