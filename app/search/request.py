"""The query string → a SearchRequest, or every complaint about it at once."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from app.errors import BadRequest

MAX_QUERY = 200
MAX_PAGE = 50
MAX_SIZE = 50
DEFAULT_SIZE = 10
MAX_CATEGORIES = 20
MAX_CATEGORY = 200
MAX_SUGGESTIONS = 10

_JOINERS = "\u200c\u200d"
"""Invisible, and yet spelling in some scripts."""

Sort = Literal["relevance", "newest"]
Complaint = dict[str, Any]

_SINGLE = ("q", "page", "size", "debug-search", "typos", "sort", "since", "until", "lang")
KNOWN = (*_SINGLE, "category")
"""Every parameter of `GET /search`."""
KNOWN_OF_SUGGEST = ("q", "size", "lang")
"""Every parameter of `GET /suggest`."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search as it was asked for; parsed once, so that nothing else sees a raw parameter.

    `q` is trimmed, its white space single. `since` and `until` are days, both of them included.
    `lang` is a lower-case language code. With `debug` the answer is explained, with
    `debug_requests` also what was sent.
    """

    q: str
    page: int = 1
    size: int = DEFAULT_SIZE
    debug: bool = False
    debug_requests: bool = False
    typos: bool = True
    sort: Sort = "relevance"
    categories: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    lang: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SearchRequest":
        """Read the parameters of a search.

        Raises:
            BadRequest: `details` has every complaint: the parameter, what was got, what is wrong.
        """
        complaints = _complaints_about_names(args, KNOWN, "a search")
        values = _converted(args, _CONVERTERS, complaints)
        if "category" in args:
            values["categories"] = tuple(sorted(set(args.getlist("category"))))
            complaints += _complaints_about_categories(args.getlist("category"))
        if "debug-search" in args:
            values["debug"] = True
            values["debug_requests"] = args["debug-search"] == "requests"
        since, until = values.get("since"), values.get("until")
        if since and until and since > until:
            message = "must not be later than until"
            complaints.append(_complaint("since", f"{since}..{until}", message))
        _raise_if_any(complaints, KNOWN)
        return cls(**values)

    def key(self) -> str:
        """The same for every request that has the same answer; without `debug`."""
        return urlencode([*self.parameters(), ("page", self.page), ("size", self.size)])

    def parameters(self, *, typos: bool | None = None) -> list[tuple[str, str]]:
        """The parameters that ask for this search again, those at their default left out."""
        tolerant = self.typos if typos is None else typos
        chosen = [
            ("q", self.q),
            ("typos", "" if tolerant else "off"),
            ("sort", "" if self.sort == "relevance" else self.sort),
            *(("category", category) for category in self.categories),
            ("since", self.since.isoformat() if self.since else ""),
            ("until", self.until.isoformat() if self.until else ""),
            ("lang", self.lang),
        ]
        return [(name, value) for name, value in chosen if value]


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """One request for suggestions: what was typed so far, how many at most, and in which language.

    `q` and `lang` are as in `SearchRequest`.
    """

    q: str
    size: int = MAX_SUGGESTIONS
    lang: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SuggestRequest":
        """Read the parameters.

        Raises:
            BadRequest: as `SearchRequest.parse` does.
        """
        complaints = _complaints_about_names(args, KNOWN_OF_SUGGEST, "suggestions")
        values = _converted(args, _CONVERTERS_OF_SUGGEST, complaints)
        _raise_if_any(complaints, KNOWN_OF_SUGGEST)
        return cls(**values)

    def key(self) -> str:
        """The same for every request that has the same suggestions."""
        chosen = [("suggest", self.q.lower()), ("size", self.size), ("lang", self.lang)]
        return urlencode(chosen)


def _converted(
    args: "MultiDict[str, str]",
    converters: "dict[str, Callable[[str], Any]]",
    complaints: list[Complaint],
) -> dict[str, Any]:
    """The values of single parameters; what is wrong with others is added to `complaints`."""
    values: dict[str, Any] = {}
    for name, convert in converters.items():
        if name in args:
            try:
                values[name] = convert(args[name])
            except ValueError as error:
                complaints.append(_complaint(name, args[name], str(error)))
    return values


def _raise_if_any(complaints: list[Complaint], known: Sequence[str]) -> None:
    if complaints:
        listed = "; ".join(f"{one['parameter']} {one['message']}" for one in complaints)
        raise BadRequest(f"{listed}. Known parameters: {', '.join(known)}.", complaints)


def _complaint(parameter: str, got: object, message: str) -> Complaint:
    return {"parameter": parameter, "got": got, "message": message}


def _complaints_about_names(
    args: "MultiDict[str, str]", known: Sequence[str], of: str
) -> list[Complaint]:
    found = [
        _complaint(name, args[name], f"is not a parameter of {of}")
        for name in args
        if name not in known
    ]
    if "q" not in args:
        found.append(_complaint("q", None, "is missing: what to search for"))
    for name in _SINGLE:
        if name in args and name in known and len(args.getlist(name)) > 1:
            found.append(_complaint(name, args.getlist(name), "must be given only once"))
    return found


def _complaints_about_categories(categories: Sequence[str]) -> list[Complaint]:
    found = []
    if any(not 1 <= len(category) <= MAX_CATEGORY for category in categories):
        message = f"must have 1 to {MAX_CATEGORY} characters"
        found.append(_complaint("category", categories, message))
    if len(categories) > MAX_CATEGORIES:
        message = f"may be given at most {MAX_CATEGORIES} times"
        found.append(_complaint("category", categories, message))
    return found


def _query(raw: str) -> str:
    # NFC, because a decomposed é would be two characters to the suggester's edit distance.
    composed = unicodedata.normalize("NFC", raw)
    if not composed.isprintable():
        composed = "".join(map(_typed, composed))
    query = " ".join(composed.split())
    if not 1 <= len(query) <= MAX_QUERY:
        raise ValueError(f"must have 1 to {MAX_QUERY} characters, white space at the ends aside")
    return query


def _typed(character: str) -> str:
    """A character as a person would have typed it: what is not seen comes from what was copied."""
    category = unicodedata.category(character)
    if category == "Cf" and character not in _JOINERS:
        return ""
    return " " if category in {"Cc", "Cs", "Co"} else character


def _between(least: int, most: int) -> Callable[[str], int]:
    def convert(raw: str) -> int:
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 6 and least <= int(raw) <= most):
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(raw)

    return convert


def _one_of(raw: str, *values: str) -> str:
    if raw not in values:
        raise ValueError(f"must be one of: {', '.join(values)}")
    return raw


def _day(raw: str) -> date | None:
    try:
        if len(raw) != len("2026-01-31"):
            raise ValueError
        return date.fromisoformat(raw)
    except ValueError:
        raise ValueError("must be a day such as 2026-01-31") from None


def _language(raw: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", raw):
        raise ValueError("must be a language code such as de or pt-BR")
    return raw.lower()


_CONVERTERS: dict[str, Callable[[str], Any]] = {
    "q": _query,
    "page": _between(1, MAX_PAGE),
    "size": _between(1, MAX_SIZE),
    "typos": lambda raw: _one_of(raw, "on", "off") == "on",
    "sort": lambda raw: _one_of(raw, "relevance", "newest"),
    "since": _day,
    "until": _day,
    "lang": _language,
}
_CONVERTERS_OF_SUGGEST: dict[str, Callable[[str], Any]] = {
    "q": _query,
    "size": _between(1, MAX_SUGGESTIONS),
    "lang": _language,
}
