"""The analysis chains: complete in every language, and names for symbols."""

import pytest

from analyzers.chains import analysis
from analyzers.languages import LANGUAGES, Language
from analyzers.rules.compile import NO_RULES
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


def test_symbols_are_readable_again() -> None:
    assert readable("cplusplus") == "c++"
    assert readable("dotnet") == ".net"
    assert readable("op0061061061") is None
    assert readable("python") == "python"
