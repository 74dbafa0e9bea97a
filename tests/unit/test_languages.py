"""Languages: tokens, stems, inflections and similar letters, without a server.

`tests/data/language-words.json` has the words, and what is expected of them.
"""

import json
from pathlib import Path

import pytest

from analyzers.languages import LANGUAGES
from app.errors import BadSettings
from app.settings import parse_settings

DATA = Path(__file__).resolve().parents[1] / "data"
STEMS = DATA.parents[1] / "analyzers/stems"
CASES = json.loads((DATA / "language-words.json").read_text())


@pytest.mark.parametrize(("name", "word", "written", "token"), CASES["words_become_tokens"])
def test_words_become_tokens(name: str, word: str, written: str, token: str) -> None:
    assert LANGUAGES[name].written(word) == written
    assert LANGUAGES[name].token(word) == token


@pytest.mark.parametrize(("name", "word", "other", "akin"), CASES["inflections_are_akin"])
def test_inflections_are_akin(name: str, word: str, other: str, akin: bool) -> None:
    language = LANGUAGES[name]
    word, other = language.written(word), language.written(other)
    assert language.akin(word, other) is language.akin(other, word) is akin


@pytest.mark.parametrize(("name", "word", "other", "equal"), CASES["stems_are_equal"])
def test_stems_are_equal(name: str, word: str, other: str, equal: bool) -> None:
    language = LANGUAGES[name]
    assert (language.stem(word) == language.stem(other)) is equal


@pytest.mark.parametrize("name", sorted(path.stem for path in STEMS.glob("*.txt")))
def test_words_that_are_given_a_stem_share_it(name: str) -> None:
    text = (STEMS / f"{name}.txt").read_text("utf-8")
    words = text.partition("[words]\n")[2].partition("[after]")[0]
    for line in filter(str.strip, words.splitlines()):
        if line[0] != "#":  # otherwise a pattern makes one of them a word of another line
            assert len({*map(LANGUAGES[name].stem, line.split(" => ")[0].split(", "))}) == 1, line


@pytest.mark.parametrize(("name", "one", "other", "alike"), CASES["similar_letters"])
def test_similar_letters(name: str, one: str, other: str, alike: bool) -> None:
    language = LANGUAGES[name]
    assert language.letters_alike(one, other) is language.letters_alike(other, one) is alike


@pytest.mark.parametrize(
    ("name", "word", "is_stop_word"),
    [
        ("english", "The", True),
        ("english", "who", False),
        ("german", "Für", True),
        ("german", "fuer", True),
        ("russian", "ещё", True),
        ("hungarian", "Bár", True),
        ("hungarian", "bar", False),  # without its accent it would be the one above
    ],
)
def test_stop_words_are_known_as_typed(name: str, word: str, is_stop_word: bool) -> None:
    language = LANGUAGES[name]
    assert (language.written(word) in language.stop_words) is is_stop_word


@pytest.mark.parametrize(
    ("name", "q", "asks"),
    [
        ("english", "how to renew a licence", True),
        ("german", "wie erneuert man das", True),
        ("german", "der Docker Container", False),
        ("spanish", "por qué falla", True),
        ("french", "le conteneur docker", False),
        ("turkish", "docker nasıl kurulur", True),
        ("thai", "docker", False),
    ],
)
def test_questions_are_known_by_their_words(name: str, q: str, asks: bool) -> None:
    language = LANGUAGES[name]
    assert language.asks(list(map(language.written, q.split()))) is asks


def test_only_known_languages_can_be_set() -> None:
    assert parse_settings({"language": "german"}).language == "german"
    with pytest.raises(BadSettings, match="swedish"):
        parse_settings({"language": "klingon"})
