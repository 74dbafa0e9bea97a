"""The messages of the page and the widget, in every language."""

import json
import re
from pathlib import Path

import pytest
from babel import Locale
from werkzeug.datastructures import LanguageAccept

from app import messages
from app.messages import messages_for

FOLDER = Path(messages.__file__).parent
TABLES = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
ENGLISH = TABLES["en"]


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize("language", sorted(TABLES))
def test_no_message_is_missing(language: str) -> None:
    table = TABLES[language]
    assert table.keys() == ENGLISH.keys()
    for key, text in table.items():
        if key != "results":
            assert text.strip()
            assert _placeholders(text) == _placeholders(ENGLISH[key]), key
    plural_form = Locale.parse(language).plural_form
    assert {plural_form(number) for number in range(200)} <= table["results"].keys()


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("de-AT,en;q=0.5", "de"),
        ("xx,fr;q=0.5,en;q=0.2", "fr"),
        ("nn-NO", "nb"),
        ("zh-TW", "zh"),
        ("xx", "sv"),
        ("", "sv"),
    ],
)
def test_the_first_language_that_has_messages_is_chosen(accepted: str, chosen: str) -> None:
    given = [part.partition(";q=") for part in accepted.split(",")]
    header = LanguageAccept([(tag, float(quality or 1)) for tag, _, quality in given])
    assert messages_for(header, "sv").language == chosen


def test_numbers_plurals_and_days() -> None:
    polish = messages_for(LanguageAccept([("pl", 1)]), "en")
    results = [polish.text("results", count=count) for count in (1, 3, 5)]
    assert results == ["1 wynik", "3 wyniki", "5 wyników"]
    assert polish.day("2020-04-18T23:00:00-05:00").endswith(">18 kwi 2020</time>")
    german = messages_for(LanguageAccept([("de", 1)]), "en")
    assert german.text("results", count=1234) == "1.234 Ergebnisse"


def test_values_in_messages_are_escaped() -> None:
    english = messages_for(LanguageAccept(), "en")
    assert english.text("nothing", q="<b>{x}") == "Nothing found for “&lt;b&gt;{x}”."
