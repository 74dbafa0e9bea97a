"""The query string → a SearchRequest, or every complaint about it at once.

`PARAMETERS` is the table of parameters: requests are parsed with it, and `/openapi.json` describes
it. app/commands/search.py repeats the names as options.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode

from app.errors import BadRequest

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

MAX_QUERY = 200
MAX_PAGE = 50
MAX_SIZE = 50
DEFAULT_SIZE = 10
MAX_WORDS_BY_SIZE, MAX_WORDS, CHARACTERS_OF_WORD = 400, 20, 10
"""Words of a query times hits on a page, and words, beyond the default size: the cost of a search
grows with both. Eight words, as people write them into links, may have fifty hits. So many
characters count as a word: a chain such as `site.name.word` has several, a text in Chinese one for
each character."""
MAX_CATEGORIES = MAX_YEARS = 20
MAX_CATEGORY = 200
MAX_SUGGESTIONS = 10

_JOINERS = "\u200c\u200d"
"""Invisible, and yet spelling in some scripts."""

_LANGUAGE = r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"

Sort = Literal["relevance", "newest"]
_MOST_COMPLAINTS = 20
_LONGEST_SHOWN = 100  # characters of what was sent

Complaint = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A valid search request; no other code reads a raw parameter.

    `q` is trimmed, and its white space is single spaces. `since` and `until` are included.
    `categories` and `years` are sorted; a post is of any of them. `lang` is a lower-case language
    code. `prefer` is one of the indexed languages, in which posts come first; it is not a
    parameter, but follows from the visitor's browser. With `debug` the answer is explained, with
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
    years: tuple[int, ...] = ()
    lang: str = ""
    prefer: str = ""
    facets: bool = False
    typing: bool = False

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SearchRequest":
        """Read the parameters of a search.

        Raises:
            BadRequest: `details` has every complaint: the parameter, what was got, what is wrong.
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
        """The same for all requests that have the same answer."""
        debug = "requests" if self.debug_requests else "on" if self.debug else ""
        also = [("prefer", self.prefer), ("debug-search", debug)]
        chosen = [*self.parameters(), *((name, value) for name, value in also if value)]
        return urlencode([*chosen, ("page", self.page), ("size", self.size)])

    @classmethod
    def from_key(cls, key: str) -> "SearchRequest":
        """The request whose key this is.

        Raises:
            BadRequest: it is of a version that had other parameters.
        """
        # Imported here: a command that searches does not need it.
        from werkzeug.datastructures import MultiDict

        args = MultiDict(parse_qsl(key))
        prefer = args.pop("prefer", "")
        return replace(cls.parse(args), prefer=prefer)

    def parameters(self, *, typos: bool | None = None) -> list[tuple[str, str]]:
        """The parameters of this search, without those that have their default."""
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
            ("facets", "on" if self.facets else ""),
            ("typing", "on" if self.typing else ""),
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
        return cls(**parse_parameters(args, SUGGEST_PARAMETERS, "suggestions"))

    def key(self) -> str:
        """The same for every request that has the same suggestions."""
        chosen = [("suggest", self.q.lower()), ("size", self.size), ("lang", self.lang)]
        return urlencode(chosen)


def parse_parameters(
    args: "MultiDict[str, str]", parameters: "Sequence[Parameter]", of: str
) -> dict[str, Any]:
    """The values of the parameters that are given; `of` says for messages what takes them.

    Raises:
        BadRequest: as `SearchRequest.parse` does.
    """
    values, complaints = _read(args, parameters, of)
    _raise_if_any(complaints, parameters)
    return values


def _read(
    args: "MultiDict[str, str]", parameters: "Sequence[Parameter]", of: str
) -> tuple[dict[str, Any], list[Complaint]]:
    """The values of valid parameters, and the complaints about all others."""
    known = [parameter.name for parameter in parameters]
    complaints = [
        _complaint(name, args[name], f"is not a parameter of {of}")
        for name in args
        if name not in known
    ]
    values: dict[str, Any] = {}
    for parameter in parameters:
        name, every = parameter.name, args.getlist(parameter.name)
        if not every:
            if parameter.required:
                missing = "is missing; it is the text to search for"
                complaints.append(_complaint(name, None, missing))
            continue
        if len(every) > 1 and not parameter.repeatable:
            complaints.append(_complaint(name, every, "must be given only once"))
        given = every if parameter.repeatable else every[0]
        try:
            values |= parameter.read(given)
        except ValueError as error:
            complaints.append(_complaint(name, given, str(error)))
    return values, complaints


def _raise_if_any(complaints: list[Complaint], parameters: "Sequence[Parameter]") -> None:
    if complaints:
        complaints = complaints[:_MOST_COMPLAINTS]
        listed = "; ".join(
            f"{complaint['parameter']} {complaint['message']}" for complaint in complaints
        )
        known = ", ".join(parameter.name for parameter in parameters) or "none"
        raise BadRequest(f"{listed}. Known parameters: {known}.", details=complaints)


def _complaint(parameter: str, got: object, message: str) -> Complaint:
    shown = got[:_LONGEST_SHOWN] if isinstance(got, str) else got
    return {"parameter": parameter[:_LONGEST_SHOWN], "got": shown, "message": message}


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
    """A character as a person would have typed it; invisible ones come from copied text."""
    category = unicodedata.category(character)
    if category == "Cf" and character not in _JOINERS:
        return ""
    return " " if category in {"Cc", "Cs", "Co"} else character


def _categories(given: Sequence[str]) -> tuple[str, ...]:
    wrong = []
    if len(given) > MAX_CATEGORIES:
        wrong.append(f"may be given at most {MAX_CATEGORIES} times")
    if any(not 1 <= len(category) <= MAX_CATEGORY for category in given):
        wrong.append(f"must have 1 to {MAX_CATEGORY} characters")
    if wrong:
        raise ValueError(" and ".join(wrong))
    return tuple(sorted(set(given)))


def _years(given: Sequence[str]) -> tuple[int, ...]:
    if len(given) > MAX_YEARS:
        raise ValueError(f"may be given at most {MAX_YEARS} times")
    if not all(re.fullmatch(r"[1-9]\d{3}", year, re.ASCII) for year in given):
        raise ValueError("must be a year such as 2026")
    return tuple(sorted({int(year) for year in given}))


def _day(raw: str) -> date:
    try:
        if len(raw) != len("2026-01-31"):
            raise ValueError
        return date.fromisoformat(raw)
    except ValueError:
        raise ValueError("must be a day such as 2026-01-31") from None


def _language(raw: str) -> str:
    if not re.fullmatch(_LANGUAGE, raw):
        raise ValueError("must be a language code such as de or pt-BR")
    return raw.lower()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query string.

    `schema` is its JSON Schema. `read` makes fields of a SearchRequest of the value (of the list of
    all values if it is `repeatable`), and raises ValueError if it is invalid.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    read: Callable[[Any], dict[str, Any]]
    required: bool = False
    repeatable: bool = False


def whole_number(name: str, description: str, least: int, most: int, default: int) -> Parameter:
    """A parameter with a whole number."""

    def read(raw: str) -> dict[str, Any]:
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 6 and least <= int(raw) <= most):
            raise ValueError(f"must be a whole number from {least} to {most}")
        return {name: int(raw)}

    schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return Parameter(name, description, schema, read)


def choice(name: str, description: str, values: Mapping[str, Any]) -> Parameter:
    """A parameter with some values, the first of which is the default."""

    def read(raw: str) -> dict[str, Any]:
        if raw not in values:
            raise ValueError(f"must be one of: {', '.join(values)}")
        return {name: values[raw]}

    schema = {"type": "string", "enum": list(values), "default": next(iter(values))}
    return Parameter(name, description, schema, read)


_LANG = Parameter(
    "lang",
    "Only posts in this language: de, or pt-BR. pt finds pt-BR too.",
    {"type": "string", "pattern": f"^{_LANGUAGE}$"},
    lambda raw: {"lang": _language(raw)},
)

PARAMETERS = (
    Parameter(
        "q",
        'The query. "Quoted text" is searched as a phrase, -word excludes a word. White space at '
        "the ends does not count.",
        {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
        lambda raw: {"q": _query(raw)},
        required=True,
    ),
    whole_number("page", "The page of hits.", 1, MAX_PAGE, 1),
    whole_number(
        "size",
        "Hits on a page. Times the words of the query, 20 at most, more than 10 may be 400; ten "
        "characters are a word at least.",
        1,
        MAX_SIZE,
        DEFAULT_SIZE,
    ),
    choice(
        "sort",
        "The order of the hits: by relevance or by date.",
        {"relevance": "relevance", "newest": "newest"},
    ),
    Parameter(
        "category",
        "Only posts of this category; several: of any of them.",
        {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_CATEGORY},
            "maxItems": MAX_CATEGORIES,
        },
        lambda given: {"categories": _categories(given)},
        repeatable=True,
    ),
    Parameter(
        "since",
        "Only posts from this day on, such as 2026-01-31.",
        {"type": "string", "format": "date"},
        lambda raw: {"since": _day(raw)},
    ),
    Parameter(
        "until",
        "Only posts up to this day, included.",
        {"type": "string", "format": "date"},
        lambda raw: {"until": _day(raw)},
    ),
    Parameter(
        "year",
        "Only posts of this year; several: of any of them.",
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1000, "maximum": 9999},
            "maxItems": MAX_YEARS,
        },
        lambda given: {"years": _years(given)},
        repeatable=True,
    ),
    _LANG,
    choice(
        "typos",
        "Whether words are corrected: off searches exactly what was typed.",
        {"on": True, "off": False},
    ),
    choice(
        "facets",
        "Whether to count the posts that are found by category and by year.",
        {"off": False, "on": True},
    ),
    choice(
        "typing",
        "Whether the query is being typed: then its last word may be the beginning of one.",
        {"off": False, "on": True},
    ),
    Parameter(
        "debug-search",
        "Explain the answer. With the value requests, also what was sent to Elasticsearch.",
        {"type": "string"},
        lambda raw: {"debug": True, "debug_requests": raw == "requests"},
    ),
)

SUGGEST_PARAMETERS = (
    Parameter(
        "q",
        "What was typed so far.",
        {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
        lambda raw: {"q": _query(raw)},
        required=True,
    ),
    whole_number("size", "Suggestions at most.", 1, MAX_SUGGESTIONS, MAX_SUGGESTIONS),
    _LANG,
)
"""The parameters of `GET /suggest`."""
