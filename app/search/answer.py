"""The JSON of the answers, as types.

mypy checks the code that makes answers against the types, and `/openapi.json` describes them; the
strings below the fields are the descriptions there.
"""

from typing import Any, Literal, NotRequired, TypedDict

SHAPE = 1
"""The version of the types below, part of the keys of cached answers: increase it with a change of
them, so that answers of another shape are not served after an upgrade."""

# -- types -----------------------------------------------------------------------------------------

Tier = Literal["phrase", "all words", "most words", "some words"]


class Highlight(TypedDict):
    """The matching parts of a post, as HTML: escaped text with `<mark>` elements."""

    title: str
    """The whole title."""
    text: list[str]
    """Fragments of the text and code that are in none of `sections`; without a match, the beginning
    of the text."""


class Section(TypedDict):
    """A part of a post that begins with a heading."""

    heading: str
    """Plain text."""
    highlight: str
    """The heading as HTML: escaped text with `<mark>` elements."""
    above: NotRequired[list[str]]
    """The headings above it, the outermost first, as plain text."""
    url: str | None
    """The URL of the post, with the id of the heading if the source states one, else with a text
    fragment."""
    snippet: str
    """A matching fragment of the section, else its beginning, as HTML: escaped text with `<mark>`
    elements."""


class CommentHit(TypedDict):
    """A comment that matches."""

    oid: str
    author: str | None
    pub_date: str | None
    """ISO 8601, with the offset from UTC that it was given with."""
    url: str | None
    """The URL of the post, with a fragment that names the comment."""
    highlight: list[str]
    """Matching fragments as HTML: escaped text with `<mark>` elements."""


class Hit(TypedDict):
    """A post that was found."""

    oid: str
    """The identifier that the blog gave the post."""
    title: str
    """Plain text."""
    url: str | None
    pub_date: str | None
    """ISO 8601, with the offset from UTC that it was given with."""
    categories: list[str]
    language: NotRequired[str]
    """A language tag such as `de` or `pt-br`; absent if the post names none."""
    image: NotRequired[str]
    """The URL of a picture that stands for the post; absent if the post names none."""
    score: float | None
    """Higher is better; comparable within one answer only."""
    highlight: Highlight
    sections: NotRequired[list[Section]]
    """The sections that match, three at most, the best first."""
    comments: NotRequired[list[CommentHit]]
    """The comments of this post that match."""
    pinned: NotRequired[bool]
    """True if a rule of the blog puts this post first for the search."""
    missing: NotRequired[list[str]]
    """Words of the query that this post lacks."""


Correction = TypedDict("Correction", {"from": str, "to": str})
"""The query as typed, and as it was understood."""


class Facet(TypedDict):
    """A category or a year."""

    value: str
    count: int
    """How many posts a search with this filter finds that have most of the words, or any of them if
    no post has most."""


class Facets(TypedDict):
    """How many posts are found by category and by year, if that filter is chosen in place of the
    present one."""

    categories: list[Facet]
    """The most frequent first, 30 at most."""
    years: list[Facet]
    """The most recent first."""


class Matches(TypedDict):
    """How many posts have how much of the query; each number includes the one before it."""

    all_words: int
    """Posts that have every word."""
    most_words: int
    """Posts that have more than half of the words."""
    some_words: int
    """Posts that have a word."""


class SearchAnswer(TypedDict):
    """The answer to a search."""

    q: str
    """The query as it was searched: normalized, with single spaces."""
    count: int
    """How many posts are listed, the best first; the hits are one page of them."""
    page: int
    size: int
    strategy: Literal["blended", "match_phrase", "match"]
    """`blended`; or the query that the strategy `fallback` sent last."""
    tier: NotRequired[Tier | None]
    """What the best posts contain; null if no post has the words. Absent with `fallback`."""
    matches: NotRequired[Matches]
    """How many of them have all words, most or some. Absent with `fallback`."""
    hits: list[Hit]
    corrected: NotRequired[Correction]
    """Present if another spelling than the typed one found the posts."""
    instead: NotRequired[str]
    """With `corrected`: the URL of the search for exactly what was typed."""
    dropped: NotRequired[list[str]]
    """Words of the query that no post has."""
    alternatives: NotRequired[list[str]]
    """If nothing was found: other searches that find something."""
    facets: NotRequired[Facets]
    """With `facets=on`; absent with `fallback`."""
    debug: NotRequired[dict[str, Any]]
    """With `debug-search`: how the answer came about. It may change with every version."""


class Suggestion(TypedDict):
    """A search or a post that is suggested while a visitor types."""

    text: str
    """The search, or the title of the post, as plain text."""
    kind: Literal["search", "post"]
    url: NotRequired[str]
    """The URL of the post."""


class SuggestAnswer(TypedDict):
    """Suggestions, the best first; each leads to a post."""

    suggestions: list[Suggestion]


class NewestPost(TypedDict):
    """A post on the start page."""

    title: str
    url: NotRequired[str | None]
    pub_date: NotRequired[str | None]
    language: NotRequired[str]


class BrowseAnswer(TypedDict):
    """What the page shows without a search."""

    newest: list[NewestPost]
    facets: Facets
