"""The loop in which measurements alternate, and queries that are made of posts."""

from collections.abc import Callable
from functools import partial
from itertools import repeat

from analyzers.languages import LANGUAGES
from bench.queries import inflected_titles, translated_titles
from bench.turns import alternate
from indexer.records import Origin, RawPost


def test_each_turn_is_taken_once_a_round_and_the_warm_up_is_dropped() -> None:
    taken: list[str] = []

    def turn(name: str) -> int:
        taken.append(name)
        return len(taken)

    turns: dict[str, Callable[[], int]] = {name: partial(turn, name) for name in "abc"}
    results = alternate(repeat(turns, 10), warm_up=2)
    assert list(results) == ["a", "b", "c"]
    assert sorted(number for numbers in results.values() for number in numbers) == [*range(7, 31)]
    rounds = [taken[start : start + 3] for start in range(0, 30, 3)]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)
    assert len({tuple(names) for names in rounds}) > 1


def test_a_word_of_a_title_is_asked_for_in_another_inflection() -> None:
    posts = [
        {"oid": "a", "title": "My Heroku Values", "text": "<p>One value.</p>"},
        {"oid": "b", "title": "The heroku value", "text": ""},
        {"oid": "c", "title": "Values", "text": ""},
    ]
    queries = list(inflected_titles(posts, LANGUAGES["english"]))
    grades = {"a": 1, "b": 1}
    assert {"q": "heroku value", "kind": "inflection", "grades": grades} in queries


def test_a_title_is_asked_for_in_the_other_languages_of_its_page() -> None:
    titles = {"en/hexo": "Hexo", "de/hexo": "Hexo", "en/home": "Start", "de/home": "Anfang"}
    posts = [
        RawPost(Origin("site"), oid, title, "", language=oid[:2]) for oid, title in titles.items()
    ]
    queries = [tuple(query.values()) for query in translated_titles(posts)]
    assert ("Hexo", "same title", "de", {"de/hexo": 1}) in queries
    assert ("Anfang", "other title", "en", {"de/home": 1}) in queries
    assert len(queries) == 4
