"""The messages of the search page and the widget in several languages.

`de.json` has the German ones: a text for each key of `en.json`, with the same placeholders in
braces. `results` has a text for each plural form of the language, named as in CLDR; `other` is used
for a missing form.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_decimal
from markupsafe import Markup, escape
from werkzeug.datastructures import LanguageAccept

Text = str | Mapping[str, str]

DEFAULT = "en"

_FOLDER = Path(__file__).resolve().parent
_LANGUAGES = frozenset(path.stem for path in _FOLDER.glob("*.json"))


_OF_THE_PAGE = re.compile(
    "tip|corrections|invalid|too_long|start|filters|remove|unfiltered|order|relevance|date|pages?|previous|"
    "next|no_page|blog"
)
"""The messages for the search page only, left out of the widget to keep it small."""


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages, dates and numbers of one language, such as `de`."""

    language: str
    texts: Mapping[str, Text]

    @property
    def direction(self) -> str:
        """`ltr` or `rtl`."""
        return self._locale.text_direction

    @cached_property
    def _locale(self) -> Locale:
        return Locale.parse(self.language)

    def text(self, key: str, **values: Any) -> Markup:
        """Return a message as HTML; values are escaped unless they are markup.

        `count` also chooses the plural form.
        """
        text = self.texts[key]
        if isinstance(text, Mapping):
            text = text.get(self._locale.plural_form(values["count"]), text["other"])
        if "count" in values:
            values["count"] = self.number(values["count"])
        return escape(text).format(**values) if values else escape(text)

    @lru_cache(maxsize=1000)  # noqa: B019 - the messages of a language are kept for good
    def number(self, value: int) -> str:
        return format_decimal(value, locale=self._locale)

    def day(self, stamp: str | None) -> Markup:
        """Format the day of an ISO 8601 time as `<time>`, such as Apr 18, 2020; "" without one."""
        if not stamp:
            return Markup()
        text = format_date(datetime.fromisoformat(stamp), "medium", locale=self._locale)
        return Markup('<time datetime="{}">{}</time>').format(stamp[:10], text)

    def for_widget(self) -> dict[str, Any]:
        """Return the messages for the widget, with `lang` and `dir`."""
        texts = {
            name: text for name, text in self.texts.items() if not _OF_THE_PAGE.fullmatch(name)
        }
        return {"lang": self.language, "dir": self.direction, **texts}


def messages_for(accepted: LanguageAccept, default: str) -> Messages:
    """Return the messages in the client's first language that has some, or in the default one."""
    tags = [tag.lower() for tag in (*accepted.values(), default)]
    wanted = [known for tag in tags for known in (tag, tag.partition("-")[0])]
    return _load(next((tag for tag in map(_alias, wanted) if tag in _LANGUAGES), DEFAULT))


def _alias(language: str) -> str:
    return "nb" if language in {"no", "nn"} else language  # their readers understand Bokmål


@cache
def _load(language: str) -> Messages:
    return Messages(language, json.loads((_FOLDER / f"{language}.json").read_text("utf-8")))
