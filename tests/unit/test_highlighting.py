"""Which words of a text are marked besides those that Elasticsearch marks."""

import pytest

from analyzers.languages import LANGUAGES
from app.search.render import MARK, UNMARK, Marker, marked_texts

FRENCH = LANGUAGES["french"]


def marked(marker: Marker, text: str, field: str = "text") -> str:
    """The text with marks in brackets, which may be in it already."""
    stored = text.replace("[", MARK).replace("]", UNMARK)
    shown = marked_texts({"highlight": {field: [stored]}}, marker)[field.partition(".")[0]]
    return shown.replace(MARK, "[").replace(UNMARK, "]")


@pytest.mark.parametrize(
    ("begun", "text", "expected"),
    [
        ("donn", "Les Données, et données. Abandonner", "Les [Données], et [données]. Abandonner"),
        ("donnée", "donner des données", "donner des [données]"),
        ("obj", "Qu'est-ce qu'un d'objet, l’objectif", "Qu'est-ce qu'un d'[objet], l’[objectif]"),
        ("team", "getTeams steam team_teams", "get[Teams] steam [team]_[teams]"),
        ("amp", "a &amp; b, amplifier&amp;ample", "a & b, [amplifier]&[ample]"),
        ("rust", "[rust] and Rusty", "[rust] and [Rusty]"),
        ("груш", "Грушевый сок", "[Грушевый] сок"),
        ("con", "cliConn, Conn and cône", "cli[Conn], [Conn] and [cône]"),
        ("oeuv", "Œuvre, œuvres, ouvre", "[Œuvre], [œuvres], ouvre"),
        ("été", "ete, l'été; etude", "[ete], l'[été]; etude"),
    ],
)
def test_words_that_begin_like_a_term(begun: str, text: str, expected: str) -> None:
    assert marked(Marker((), (FRENCH.fold(begun),), language=FRENCH), text) == expected


def test_one_or_two_letters_are_marked_in_titles_only() -> None:
    marker = Marker(("ru",), ())
    assert marked(marker, "Rust trust", "title") == "[Rust] trust"
    assert marked(marker, "Rust trust") == "Rust trust"


def test_stop_words_are_marked_where_the_query_has_no_others() -> None:
    marker = Marker(stop_words=frozenset(("to", "be")))
    assert marked(marker, "To bee, or not to be") == "[To] bee, or not [to] [be]"


def test_a_word_is_marked_in_camel_case_where_nothing_else_is() -> None:
    marker = Marker(words=frozenset(("useeffect",)))
    assert marked(marker, "Call useEffect() or useEffects") == "Call [useEffect]() or useEffects"
    assert marked(marker, "The [useeffect] of useEffect") == "The [useeffect] of useEffect"


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("a [=&g]t; b", "a [=>] b"),
        ("x [&am]p;&amp; y", "x [&]& y"),
        ("x [&amp;&]amp; y", "x [&&] y"),
        ("x &am[p;&amp;] y", "x [&&] y"),
        ("a &l[t]; b", "a [<] b"),
        ("[a] &amp; [b]", "[a] & [b]"),
        ("&amp;lt; [b]", "&lt; [b]"),
    ],
)
def test_a_mark_that_cuts_an_entity_is_widened_to_it(stored: str, expected: str) -> None:
    assert marked(Marker(), stored, "code.forms") == expected
