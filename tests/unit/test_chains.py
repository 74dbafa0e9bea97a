"""The analysis chains: complete in every language, and names for symbols."""

import json
from itertools import product
from pathlib import Path

import pytest

from analyzers.chains import SYNONYMS, analysis
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import NO_RULES, Rules
from analyzers.signs import readable

BUILT_IN = {
    "lowercase", "asciifolding", "german_normalization", "arabic_normalization",
    "serbian_normalization", "persian_normalization", "bengali_normalization", "persian_stem",
    "cjk_bigram", "remove_duplicates",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda tested: tested.name)
def test_every_filter_is_defined(language: Language) -> None:
    body = analysis(NO_RULES, language)
    for analyzer in body["analyzer"].values():
        assert set(analyzer["filter"]) <= BUILT_IN | set(body["filter"])
        assert set(analyzer["char_filter"]) <= BUILT_IN | set(body["char_filter"])


@pytest.mark.parametrize(("number", "is_inflected"), [(100, True), (1_200, False)])
def test_other_inflections_of_phrases_do_not_make_an_index_too_large(
    tmp_path: Path, number: int, is_inflected: bool
) -> None:
    words = list(
        map("".join, product("bdfg", "aeiou", "lmnr", "aeiou", "bdfgkpt", "aeiou", "lmnr"))
    )
    phrases = (words[place : place + 10] for place in range(number))
    lines = [f"{' '.join(phrase)}, q{phrase[0]}" for phrase in phrases]
    file = tmp_path / "own.synonyms"
    file.write_text("\n".join(lines))
    body = analysis(Rules([file]), ENGLISH)
    assert (len(body["filter"][SYNONYMS]["synonyms"]) > 1) == is_inflected
    assert len(json.dumps(body)) < 3_000_000


def test_symbols_are_readable_again() -> None:
    assert readable("cplusplus") == "c++"
    assert readable("dotnet") == ".net"
    assert readable("op0061061061") is None
    assert readable("python") == "python"
