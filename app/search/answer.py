"""The types of the JSON answers; `/openapi.json` describes each field."""

from typing import Any, Literal, NotRequired, TypedDict

SHAPE = 5
"""The version of the types below, part of the keys of cached answers. Increase it when the types
change, so that an upgrade does not serve cached answers of the old shape."""

Tier = Literal["phrase", "all words", "some words"]


class Highlight(TypedDict):
    """The matching parts of a post as HTML: escaped text with `<mark>` elements.

    `title` is whole; `text` has fragments outside of sections, or without a match its beginning.
    """

    title: str
    text: list[str]


class Section(TypedDict):
    """A part of a post that begins with a heading; `above` lists its parent headings."""

    heading: str
    highlight: str
    above: NotRequired[list[str]]
    url: str | None
    snippet: str


class CommentHit(TypedDict):
    """A comment that matches."""

    oid: str
    author: str | None
    pub_date: str | None
    url: str | None
    highlight: list[str]


class Translation(TypedDict):
    """A post in another language."""

    language: str
    title: str
    url: str


class Hit(TypedDict):
    """A post that was found; `missing` lists the words of the query that it lacks."""

    oid: str
    title: str
    url: str | None
    pub_date: str | None
    categories: list[str]
    language: NotRequired[str]
    image: NotRequired[str]
    score: float | None
    highlight: Highlight
    sections: NotRequired[list[Section]]
    comments: NotRequired[list[CommentHit]]
    excerpt_url: NotRequired[str]
    pinned: NotRequired[bool]
    missing: NotRequired[list[str]]
    translations: NotRequired[list[Translation]]


Correction = TypedDict("Correction", {"from": str, "to": str})
"""The query as typed, and as corrected."""


class Facet(TypedDict):
    """A category or a year, and the number of posts that a search with this filter finds."""

    value: str
    count: int


class Facets(TypedDict):
    """The number of posts for each category and year, if that filter replaced the present one: the
    most frequent categories and the most recent years first."""

    categories: list[Facet]
    years: list[Facet]


class Matches(TypedDict):
    """The number of posts that have all words of the query."""

    all_words: int


class SearchAnswer(TypedDict):
    """The answer to a search. `tier`: what the best posts contain, null if no post has any word.
    `answer`: the section of the first post that has most words of a question. `instead`: the URL
    that searches for the query as typed. `dropped`: words that no post has. `excluded`: texts that
    no hit may contain. The `fallback` strategy sets none of these."""

    q: str
    count: int
    page: int
    size: int
    strategy: Literal["blended", "match_phrase", "match"]
    tier: NotRequired[Tier | None]
    matches: NotRequired[Matches]
    hits: list[Hit]
    answer: NotRequired[Section]
    corrected: NotRequired[Correction]
    instead: NotRequired[str]
    dropped: NotRequired[list[str]]
    excluded: NotRequired[list[str]]
    facets: NotRequired[Facets]
    debug: NotRequired[dict[str, Any]]


class Suggestion(TypedDict):
    """A search, or the title of a post, suggested while a visitor types."""

    text: str
    kind: Literal["search", "post"]
    url: NotRequired[str]


class SuggestAnswer(TypedDict):
    """Suggestions, the best first; each one finds a post."""

    suggestions: list[Suggestion]


class SimilarPost(TypedDict):
    """A post that is similar to another one, or that was found by the words of an address."""

    oid: str
    title: str
    url: NotRequired[str]
    pub_date: NotRequired[str]
    categories: NotRequired[list[str]]
    language: NotRequired[str]


class SimilarAnswer(TypedDict):
    """Posts similar to a given one, the most similar first; if that is not `known`, posts that
    contain the words of its address."""

    known: bool
    posts: list[SimilarPost]


class NewestPost(TypedDict):
    """A post on the start page."""

    title: str
    url: NotRequired[str | None]
    pub_date: NotRequired[str | None]
    language: NotRequired[str]


class BrowseAnswer(TypedDict):
    """The content of the start page."""

    newest: list[NewestPost]
    facets: Facets
