"""Golden searches: what must be found among the first three, whatever an index is built with.

    date format => https://blog.example.org/posts/date-format/

Every build tries them on the new generation before it goes live; one that breaks a search which the
live generation still answers is not swapped.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from elasticsearch import Elasticsearch

from app.engines.meaning import open_model
from app.engines.stored_texts import StoredTexts
from app.errors import BlogsearchError
from app.insights.counts import Searched
from app.search.blended import search
from app.search.request import SearchRequest
from app.search.view import open_session
from app.settings import Settings
from indexer.errors import NotBuilt
from indexer.posts.addresses import address_of
from indexer.runs.build import IndexSettings
from indexer.store.generations import live as live_generation

FIRST = 3
MAX_SEARCHES = 200
"""A build waits for each of them."""
_OFFERED = 5  # times that a hit was opened for a search, always the same one

_FORMULA = re.compile(r"(^|[;,|\t])(?='*[\s\"]*[=+\-@\t＝＋－＠])")
"""Where a program for tables would begin to calculate, also one that splits at semicolons."""
_GUARDED = re.compile(rf"{_FORMULA.pattern}'")

Goldens = Mapping[str, str]
"""The address that is among the first hits, by search."""


def as_cell(text: str) -> str:
    """What visitors have typed as a cell of CSV, in which no spreadsheet sees a formula."""
    return _FORMULA.sub(r"\1'", text)


def of_cell(cell: str) -> str:
    """The text of a cell that `as_cell` has made."""
    return _GUARDED.sub(r"\1", cell)


def open_golden(client: Elasticsearch, alias: str) -> StoredTexts:
    """The golden searches of an alias."""
    return StoredTexts(client, alias, "golden")


def add_searches(goldens: Goldens, more: Goldens) -> Goldens:
    """With more, in place of those for the same searches.

    Raises:
        BlogsearchError: there are too many.
    """
    every = {**goldens, **more}
    if len(every) > MAX_SEARCHES:
        raise BlogsearchError(
            f"There are {MAX_SEARCHES} golden searches. Load fewer: `blogsearch golden load`."
        )
    return every


def find_broken(
    client: Elasticsearch, index: str, settings: Settings, goldens: Goldens
) -> dict[str, str]:
    """The golden searches that an index does not answer with their posts."""
    session = open_session(client, index, alias=settings.index)
    model = open_model(settings)

    def holds(q: str, url: str) -> bool:
        request = SearchRequest(q, size=FIRST)
        hits = search(session, request, settings, model).body["hits"]
        return address_of(url) in (address_of(hit["url"] or "") for hit in hits)

    return {q: url for q, url in goldens.items() if not holds(q, url)}


def require_golden(
    wanted: IndexSettings, client: Elasticsearch, settings: Settings, *, force: bool
) -> IndexSettings:
    """Settings of a build that goes live only if it breaks no golden search, or with `force`."""
    return wanted if force else replace(wanted, check=partial(check, client, settings))


def check(client: Elasticsearch, settings: Settings, index: str) -> None:
    """Raise NotBuilt for a generation that breaks a golden search which the live one answers."""
    goldens = find_broken(client, index, settings, open_golden(client, settings.index).texts())
    live = live_generation(client, settings.index) if goldens else None
    if live is None:
        return
    try:
        already = find_broken(client, live.name, settings, goldens)
    except BlogsearchError:  # built by another version, which answers nothing now
        return
    if newly := [f"{q} → {url}" for q, url in goldens.items() if q not in already]:
        raise NotBuilt(
            f"Golden searches would not find their posts among the first {FIRST} any more: "
            f"{'; '.join(newly)}",
            "Look at them with `blogsearch golden list`, or swap nevertheless: --force.",
        )


def find_candidates(searched: Iterable[Searched], goldens: Goldens) -> list[Searched]:
    """Searches for which people always opened the same post, and that are not golden yet."""
    there = {q.casefold() for q in goldens}
    return [
        row
        for row in searched
        if row.opened >= _OFFERED and len(row.posts) == 1 and row.query not in there
    ]
