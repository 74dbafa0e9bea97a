"""The query string → a SearchRequest, or every complaint about it at once."""

import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from app.errors import BadRequest

MAX_QUERY = 200
MAX_PAGE = 50
MAX_SIZE = 50
DEFAULT_SIZE = 10
MAX_CATEGORIES = 20
MAX_CATEGORY = 200

_JOINERS = "\u200c\u200d"
"""Invisible, and yet spelling in some scripts."""

Sort = Literal["relevance", "newest"]
Complaint = dict[str, Any]

_SINGLE = ("q", "page", "size", "debug-search", "typos", "sort", "since", "until")
KNOWN = (*_SINGLE, "category")
"""Every parameter of `GET /search`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search as it was asked for; parsed once, so that nothing else sees a raw parameter.

    `q` is trimmed, its white space single. `since` and `until` are days, both of them included.
    With `debug` the answer is explained, with `debug_requests` also what was sent.
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

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SearchRequest":
        """Read the parameters of a search.

        Raises:
            BadRequest: `details` has every complaint: the parameter, what was got, what is wrong.
        """
        reader = _Reader(args)
        request = cls(
            q=reader.read("q", _query, ""),
            page=reader.read("page", _between(1, MAX_PAGE), 1),
            size=reader.read("size", _between(1, MAX_SIZE), DEFAULT_SIZE),
            debug="debug-search" in args,
            debug_requests=args.get("debug-search") == "requests",
            typos=reader.read("typos", _one_of("on", "off"), "on") == "on",
            sort=cast(Sort, reader.read("sort", _one_of("relevance", "newest"), "relevance")),
            categories=reader.categories(),
            since=reader.read("since", _day, None),
            until=reader.read("until", _day, None),
        )
        reader.check(request)
        return request

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
        ]
        return [(name, value) for name, value in chosen if value]


class _Reader:
    """Reads one parameter after the other and keeps the complaints."""

    def __init__(self, args: "MultiDict[str, str]") -> None:
        self.args = args
        self.complaints: list[Complaint] = []
        for name in args:
            if name not in KNOWN:
                self.complain(name, args[name], "is no parameter of a search")
        for name in _SINGLE:
            if len(args.getlist(name)) > 1:
                self.complain(name, args.getlist(name), "must be given only once")

    def complain(self, parameter: str, got: object, message: str) -> None:
        self.complaints.append({"parameter": parameter, "got": got, "message": message})

    def read(self, name: str, convert: Callable[[str], T], default: T) -> T:
        if name not in self.args:
            if name == "q":
                self.complain(name, None, "is missing: what to search for")
            return default
        try:
            return convert(self.args[name])
        except ValueError as error:
            self.complain(name, self.args[name], str(error))
            return default

    def categories(self) -> tuple[str, ...]:
        wanted = self.args.getlist("category")
        if any(not 1 <= len(category) <= MAX_CATEGORY for category in wanted):
            self.complain("category", wanted, f"must have 1 to {MAX_CATEGORY} characters")
        if len(wanted) > MAX_CATEGORIES:
            self.complain("category", wanted, f"may be given at most {MAX_CATEGORIES} times")
        return tuple(sorted(set(wanted)))

    def check(self, request: SearchRequest) -> None:
        if request.since and request.until and request.since > request.until:
            got = f"{request.since}..{request.until}"
            self.complain("since", got, "must not be later than until")
        if self.complaints:
            listed = "; ".join(f"{one['parameter']} {one['message']}" for one in self.complaints)
            known = ", ".join(KNOWN)
            raise BadRequest(f"{listed}. Known parameters: {known}.", self.complaints)


def _query(raw: str) -> str:
    # NFC, because a decomposed é would be two characters to the suggester's edit distance.
    composed = unicodedata.normalize("NFC", raw)
    spaced = "".join(map(_typed, composed))
    query = " ".join(spaced.split())
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


def _one_of(*values: str) -> Callable[[str], str]:
    return lambda raw: _member(raw, values)


def _member(raw: str, values: Collection[str]) -> str:
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
