"""Languages: tokens, stems, inflections and similar letters, without a server."""

import pytest

from analyzers.languages import ENGLISH, LANGUAGES, Language
from app.errors import BadSettings
from app.settings import parse_settings

GERMAN, RUSSIAN, FRENCH = LANGUAGES["german"], LANGUAGES["russian"], LANGUAGES["french"]


@pytest.mark.parametrize(
    ("language", "word", "written", "token"),
    [
        (ENGLISH, "Café's", "cafe", "cafe"),
        (ENGLISH, "don't", "don't", "don't"),
        (ENGLISH, "H₂SO₄", "h2so4", "h2so4"),
        (ENGLISH, "km²", "km2", "km2"),
        (GERMAN, "Häuser", "häuser", "hauser"),
        (GERMAN, "HAEUSER", "haeuser", "hauser"),
        (GERMAN, "Straße", "straße", "strasse"),
        (GERMAN, "neue", "neue", "neue"),
        (GERMAN, "fuer", "fuer", "fur"),
        (RUSSIAN, "Ещё", "еще", "еще"),
        (FRENCH, "L'École", "école", "ecole"),
        (FRENCH, "aujourd'hui", "aujourd'hui", "aujourd'hui"),
        (LANGUAGES["turkish"], "Işık'ta", "ışık", "isik"),
        (LANGUAGES["turkish"], "İSTANBUL", "istanbul", "istanbul"),
        (LANGUAGES["greek"], "Άνθρωπος", "άνθρωπος", "ανθρωποσ"),
        (LANGUAGES["serbian"], "Ђак", "ђак", "djak"),
        (LANGUAGES["danish"], "Smørrebrød", "smørrebrød", "smorrebrod"),
    ],
)
def test_words_become_tokens(language: Language, word: str, written: str, token: str) -> None:
    assert language.written(word) == written
    assert language.token(word) == token


@pytest.mark.parametrize(
    ("language", "word", "other", "akin"),
    [
        (ENGLISH, "format", "formatting", True),
        (ENGLISH, "utils", "utills", False),
        (ENGLISH, "them", "theme", False),
        (GERMAN, "Haus", "Häuser", True),
        (GERMAN, "haus", "häuser", True),
        (GERMAN, "haus", "hause", True),
        (GERMAN, "suchen", "suche", True),
        (GERMAN, "programm", "programme", True),
        (GERMAN, "bett", "beet", False),
        (GERMAN, "hund", "hunt", False),
        (RUSSIAN, "кошка", "кошками", True),
        (RUSSIAN, "ёлка", "елки", True),
        (RUSSIAN, "кошка", "кочка", False),
        (FRENCH, "école", "écoles", True),
        (FRENCH, "école", "étole", False),
    ],
)
def test_inflections_are_akin(language: Language, word: str, other: str, akin: bool) -> None:
    word, other = language.written(word), language.written(other)
    assert language.akin(word, other) is akin
    assert language.akin(other, word) is akin


@pytest.mark.parametrize(
    ("language", "letter", "other", "alike", "adjacent"),
    [
        (ENGLISH, "a", "e", True, False),
        (ENGLISH, "c", "k", True, False),
        (ENGLISH, "t", "y", False, True),
        (ENGLISH, "t", "z", False, False),
        (GERMAN, "a", "ä", True, False),
        (GERMAN, "ä", "e", True, False),
        (GERMAN, "d", "t", True, False),
        (GERMAN, "t", "z", False, True),
        (FRENCH, "a", "z", False, True),
        (FRENCH, "e", "é", True, False),
        (RUSSIAN, "о", "а", True, False),
        (RUSSIAN, "к", "е", False, True),
        (RUSSIAN, "к", "щ", False, False),
        (LANGUAGES["hindi"], "क", "ख", False, False),
    ],
)
def test_similar_letters(
    language: Language, letter: str, other: str, alike: bool, adjacent: bool
) -> None:
    assert language.letters_alike(letter, other) is alike
    assert language.letters_alike(other, letter) is alike
    assert language.keys_adjacent(letter, other) is adjacent
    assert language.keys_adjacent(other, letter) is adjacent


def test_stop_words_are_known_as_typed() -> None:
    assert len(ENGLISH.stop_words) == 33
    assert ENGLISH.written("The") in ENGLISH.stop_words
    assert ENGLISH.written("who") not in ENGLISH.stop_words
    assert GERMAN.written("Für") in GERMAN.stop_words
    assert GERMAN.written("fuer") in GERMAN.stop_words
    assert RUSSIAN.written("ещё") in RUSSIAN.stop_words
    # Without its accent it would be the Hungarian "bár".
    assert LANGUAGES["hungarian"].written("Bár") in LANGUAGES["hungarian"].stop_words
    assert LANGUAGES["hungarian"].written("bar") not in LANGUAGES["hungarian"].stop_words
    for language in LANGUAGES.values():
        assert len(language.stop_words) >= 30, language.name


def test_only_known_languages_can_be_set() -> None:
    assert parse_settings({"language": "german"}).language == "german"
    with pytest.raises(BadSettings, match="swedish"):
        parse_settings({"language": "klingon"})
