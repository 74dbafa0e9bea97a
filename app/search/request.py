"""Reads a query string into a SearchRequest, or reports everything that is wrong with it."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode

from app.errors import BadRequest
from indexer.posts.addresses import MAX_URL, address_of, only_counts

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

MAX_QUERY = 200
MAX_PAGE = 50
MAX_SIZE = 50
DEFAULT_SIZE = 10
MAX_WORDS_BY_SIZE, MAX_WORDS, CHARACTERS_OF_WORD = 400, 20, 10
"""Limits for pages larger than the default: the number of words times hits, and the number of
words; the cost of a search grows with both. A number of characters counts as a word, because a
chain such as `site.name.word` has several words, and Chinese text one for each character."""
MAX_CATEGORIES = MAX_YEARS = 20
MAX_CATEGORY = 200
MAX_SUGGESTIONS = 10

_JOINERS = "\u200c\u200d"
"""Invisible characters that some scripts need for correct spelling."""

Sort = Literal["relevance", "newest"]
_MOST_COMPLAINTS = 20
_LONGEST_SHOWN = 100  # characters of a value in a complaint

Complaint = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A valid search request; no other code reads the raw parameters of a search.

    White space in `q` is normalised. `since` and `until` are inclusive; a post matches any of
    `categories` and any of `years`. `lang` is a lower-case language code. `under` is an address
    without its scheme, or a path: only posts there or below. Posts in `prefer`, an indexed language
    chosen by the visitor's browser, rank higher. Without `comments`, comments are not searched.
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
    years: tuple[int, ...] = ()
    lang: str = ""
    under: str = ""
    prefer: str = ""
    facets: bool = False
    typing: bool = False
    comments: bool = True

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SearchRequest":
        """Read the parameters of a search.

        Raises:
            BadRequest: `details` lists the parameter, value and problem of each complaint.
        """
        values, complaints = _read(args, PARAMETERS, "a search")
        since, until = values.get("since"), values.get("until")
        if since and until and since > until:
            message = "must not be later than until"
            complaints.append(_complaint("since", f"{since}..{until}", message))
        size, q = values.get("size", DEFAULT_SIZE), values.get("q", "")
        words = max(len(q.split()), len(q) // CHARACTERS_OF_WORD, 1)
        most = MAX_WORDS_BY_SIZE // words if words <= MAX_WORDS else DEFAULT_SIZE
        if size > most:
            message = f"must be at most {most} for a query of this length"
            complaints.append(_complaint("size", size, message))
        _raise_if_any(complaints, PARAMETERS)
        return cls(**values)

    def key(self) -> str:
        """Return a text that is equal for all requests with the same answer."""
        debug = "requests" if self.debug_requests else "on" if self.debug else ""
        also = [("prefer", self.prefer), ("debug-search", debug)]
        also.append(("comments", "" if self.comments else "off"))
        chosen = [*self.parameters(), *((name, value) for name, value in also if value)]
        return urlencode([*chosen, ("page", self.page), ("size", self.size)])

    @classmethod
    def from_key(cls, key: str) -> "SearchRequest":
        """Return the request that has this key.

        Raises:
            BadRequest: the key was made by a version with other parameters.
        """
        # Imported here: a command that searches does not need it.
        from werkzeug.datastructures import MultiDict

        args = MultiDict(parse_qsl(key))
        prefer, comments = args.pop("prefer", ""), args.pop("comments", "")
        return replace(cls.parse(args), prefer=prefer, comments=comments != "off")

    def parameters(self, *, typos: bool | None = None) -> list[tuple[str, str]]:
        """Return the parameters of this search that differ from their defaults."""
        tolerant = self.typos if typos is None else typos
        chosen = [
            ("q", self.q),
            ("typos", "" if tolerant else "off"),
            ("sort", "" if self.sort == "relevance" else self.sort),
            *(("category", category) for category in self.categories),
            ("since", self.since.isoformat() if self.since else ""),
            ("until", self.until.isoformat() if self.until else ""),
            *(("year", str(year)) for year in self.years),
            ("lang", self.lang),
            ("under", self.under),
            ("facets", "on" if self.facets else ""),
            ("typing", "on" if self.typing else ""),
        ]
        return [(name, value) for name, value in chosen if value]


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """A request for suggestions for the text typed so far."""

    q: str
    size: int = MAX_SUGGESTIONS
    lang: str = ""
    under: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SuggestRequest":
        """Read the parameters.

        Raises:
            BadRequest: as `SearchRequest.parse` does.
        """
        return cls(**parse_parameters(args, SUGGEST_PARAMETERS, "suggestions"))

    def key(self) -> str:
        """Return a text that is equal for all requests with the same suggestions."""
        rest = [("size", self.size), ("lang", self.lang), ("under", self.under)]
        return urlencode([("suggest", self.q.lower()), *rest])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query string; /openapi.json contains its text and its JSON Schema.

    `read` converts the value (or the list of all values of a `repeatable` parameter) to fields of a
    request; it raises ValueError if the value is invalid.
    """

    name: str
    read: Callable[[Any], dict[str, Any]]
    text: str
    schema: Mapping[str, Any]
    required: bool = False
    repeatable: bool = False


def parse_parameters(
    args: "MultiDict[str, str]", parameters: Sequence[Parameter], of: str
) -> dict[str, Any]:
    """Return the values of the given parameters; `of` names the request in messages.

    Raises:
        BadRequest: as `SearchRequest.parse` does.
    """
    values, complaints = _read(args, parameters, of)
    _raise_if_any(complaints, parameters)
    return values


def _read(
    args: "MultiDict[str, str]", parameters: Sequence[Parameter], of: str
) -> tuple[dict[str, Any], list[Complaint]]:
    """Return the values of the valid parameters, and complaints about all others."""
    known = [parameter.name for parameter in parameters]
    complaints = [
        _complaint(name, args[name], f"is not a parameter of {of}")
        for name in args
        if name not in known and not only_counts(name)
    ]
    values: dict[str, Any] = {}
    for parameter in parameters:
        name, every = parameter.name, args.getlist(parameter.name)
        if not every:
            if parameter.required:
                complaints.append(_complaint(name, None, "is missing"))
            continue
        if len(every) > 1 and not parameter.repeatable:
            complaints.append(_complaint(name, every, "must be given only once"))
        given = every if parameter.repeatable else every[0]
        try:
            values |= parameter.read(given)
        except ValueError as error:
            complaints.append(_complaint(name, given, str(error)))
    return values, complaints


def _raise_if_any(complaints: list[Complaint], parameters: Sequence[Parameter]) -> None:
    if complaints:
        complaints = complaints[:_MOST_COMPLAINTS]
        listed = "; ".join(
            f"{complaint['parameter']} {complaint['message']}" for complaint in complaints
        )
        known = ", ".join(parameter.name for parameter in parameters) or "none"
        raise BadRequest(f"{listed}. Known parameters: {known}.", details=complaints)


def _complaint(parameter: str, got: object, message: str) -> Complaint:
    shown = got[:_LONGEST_SHOWN] if isinstance(got, str) else got
    if isinstance(got, list):
        shown = [value[:_LONGEST_SHOWN] for value in got[:_MOST_COMPLAINTS]]
    return {"parameter": parameter[:_LONGEST_SHOWN], "got": shown, "message": message}


# -- values ----------------------------------------------------------------------------------------


def whole_number(name: str, least: int, most: int, default: int, text: str) -> Parameter:
    """Return a parameter for a whole number."""
    schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}

    def read(raw: str) -> dict[str, Any]:
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 6 and least <= int(raw) <= most):
            raise ValueError(f"must be a whole number from {least} to {most}")
        return {name: int(raw)}

    return Parameter(name, read, text, schema)


def printable(
    name: str, most: int, text: str, clean: Callable[[str], str] = str.strip
) -> Parameter:
    """Return a parameter for a text of at most `most` characters, normalised by `clean`."""

    def read(raw: str) -> dict[str, Any]:
        value = raw.strip()
        if not (0 < len(value) <= most and value.isprintable()):
            raise ValueError(f"must have 1 to {most} printable characters")
        return {name: clean(value)}

    return Parameter(name, read, text, _string(most))


def _string(most: int) -> Mapping[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most}


def _choice(name: str, values: Mapping[str, Any], text: str) -> Parameter:
    """Return a parameter with these allowed values; the first is the default."""
    schema = {"type": "string", "enum": list(values), "default": next(iter(values))}

    def read(raw: str) -> dict[str, Any]:
        if raw not in values:
            raise ValueError(f"must be one of: {', '.join(values)}")
        return {name: values[raw]}

    return Parameter(name, read, text, schema)


def _query(raw: str) -> dict[str, Any]:
    # NFC, because a decomposed é counts as two characters in the suggester's edit distance.
    composed = unicodedata.normalize("NFC", raw)
    if not composed.isprintable():
        composed = "".join(map(_as_typed, composed))
    query = " ".join(composed.split())
    if not 1 <= len(query) <= MAX_QUERY:
        raise ValueError(f"must have 1 to {MAX_QUERY} characters, without white space at its ends")
    return {"q": query}


def _as_typed(character: str) -> str:
    """Return a character as a person would have typed it; copied text has invisible ones."""
    category = unicodedata.category(character)
    if category == "Cf" and character not in _JOINERS:
        return ""
    return " " if category in {"Cc", "Cs", "Co"} else character


def _categories(given: Sequence[str]) -> dict[str, Any]:
    if len(given) > MAX_CATEGORIES:
        raise ValueError(f"may be given at most {MAX_CATEGORIES} times")
    if any(not 1 <= len(category) <= MAX_CATEGORY for category in given):
        raise ValueError(f"must have 1 to {MAX_CATEGORY} characters")
    return {"categories": tuple(sorted(set(given)))}


def _years(given: Sequence[str]) -> dict[str, Any]:
    if len(given) > MAX_YEARS:
        raise ValueError(f"may be given at most {MAX_YEARS} times")
    if not all(re.fullmatch(r"[1-9]\d{3}", year, re.ASCII) for year in given):
        raise ValueError("must be a year such as 2026")
    return {"years": tuple(sorted({int(year) for year in given}))}


def _day(raw: str) -> date:
    try:
        if len(raw) != len("2026-01-31"):
            raise ValueError
        return date.fromisoformat(raw)
    except ValueError:
        raise ValueError("must be a day such as 2026-01-31") from None


def _language(raw: str) -> dict[str, Any]:
    if not re.fullmatch(_CODE, raw):
        raise ValueError("must be a language code such as de or pt-BR")
    return {"lang": raw.lower()}


# -- the parameters --------------------------------------------------------------------------------

_CODE = "[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"
_DAY = {"type": "string", "format": "date"}
_YEAR = {"type": "integer", "minimum": 1000, "maximum": 9999}


def _several(items: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _query_parameter(text: str) -> Parameter:
    return Parameter("q", _query, text, _string(MAX_QUERY), required=True)


_LANG = Parameter(
    "lang",
    _language,
    "Only posts in this language, such as de or pt-BR. pt also finds pt-BR.",
    {"type": "string", "pattern": f"^{_CODE}$"},
)
UNDER = printable(
    "under",
    MAX_URL,
    "Only posts at or below this path or URL, such as /docs/2.0/.",
    clean=lambda text: address_of(text.partition("#")[0]).rstrip("/"),
)

PARAMETERS = (
    _query_parameter(
        'The query. "Quoted text" is searched as a phrase, -word excludes a word. White space at '
        "its ends is ignored."
    ),
    whole_number("page", 1, MAX_PAGE, 1, "The number of the page of hits."),
    whole_number(
        "size",
        1,
        MAX_SIZE,
        DEFAULT_SIZE,
        f"Hits per page. Above {DEFAULT_SIZE}, hits times words of the query are at most "
        f"{MAX_WORDS_BY_SIZE}; {CHARACTERS_OF_WORD} characters count as at least one word.",
    ),
    _choice(
        "sort",
        {"relevance": "relevance", "newest": "newest"},
        "The order of the hits: by relevance or by date.",
    ),
    Parameter(
        "category",
        _categories,
        "Only posts in this category, or in any of several.",
        _several(_string(MAX_CATEGORY), MAX_CATEGORIES),
        repeatable=True,
    ),
    Parameter(
        "since",
        lambda raw: {"since": _day(raw)},
        "Only posts from this day on, such as 2026-01-31.",
        _DAY,
    ),
    Parameter(
        "until", lambda raw: {"until": _day(raw)}, "Only posts up to and including this day.", _DAY
    ),
    Parameter(
        "year",
        _years,
        "Only posts of this year, or of any of several.",
        _several(_YEAR, MAX_YEARS),
        repeatable=True,
    ),
    _LANG,
    UNDER,
    _choice(
        "typos",
        {"on": True, "off": False},
        "Whether words are corrected. off searches for exactly what was typed.",
    ),
    _choice(
        "facets",
        {"off": False, "on": True},
        "Whether to count the posts found, by category and by year.",
    ),
    _choice(
        "typing",
        {"off": False, "on": True},
        "Whether the query is still being typed: its last word may be incomplete.",
    ),
    Parameter(
        "debug-search",
        lambda raw: {"debug": True, "debug_requests": raw == "requests"},
        "Explain the answer. With the value requests, also what was sent to Elasticsearch.",
        {"type": "string"},
    ),
)

SUGGEST_PARAMETERS = (
    _query_parameter("The text typed so far."),
    whole_number("size", 1, MAX_SUGGESTIONS, MAX_SUGGESTIONS, "The maximum number of suggestions."),
    _LANG,
    UNDER,
)
"""The parameters of `GET /suggest`."""
