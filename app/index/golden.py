"""Checks golden searches: each must find its post among the first three hits of every new index.

    date format => https://blog.example.org/posts/date-format/

Every build tries them on the new generation before it goes live. If that breaks a search which the
live generation still answers, the alias is not swapped.
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
_OFFERED = 5  # times that the same hit, and no other, was opened for a search

_FORMULA = re.compile(r"(^|[;,|\t])(?='*[\s\"]*[=+\-@\t＝＋－＠])")
"""Where a spreadsheet would see a formula, also if it splits cells at semicolons."""
_GUARDED = re.compile(rf"{_FORMULA.pattern}'")

Goldens = Mapping[str, str]
"""The address that must be among the first hits, by search."""


def as_cell(text: str) -> str:
    """Return text that visitors have typed as a CSV cell in which no spreadsheet sees a formula."""
    return _FORMULA.sub(r"\1'", text)


def of_cell(cell: str) -> str:
    """Return the text of a cell from `as_cell`."""
    return _GUARDED.sub(r"\1", cell)


def open_golden(client: Elasticsearch, alias: str) -> StoredTexts:
    """Return the golden searches of an alias."""
    return StoredTexts(client, alias, "golden")


def add_searches(goldens: Goldens, more: Goldens) -> Goldens:
    """Add golden searches, and replace those with the same query.

    Raises:
        BlogsearchError: there are too many.
    """
    every = {**goldens, **more}
    if len(every) > MAX_SEARCHES:
        raise BlogsearchError(
            f"At most {MAX_SEARCHES} golden searches are allowed. Remove some with `blogsearch "
            "golden load`."
        )
    return every


def find_broken(
    client: Elasticsearch, index: str, settings: Settings, goldens: Goldens
) -> dict[str, str]:
    """Return the golden searches whose posts an index does not find."""
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
    """Let a build go live only if it breaks no golden search; with `force`, in any case."""
    return wanted if force else replace(wanted, check=partial(check, client, settings))


def check(client: Elasticsearch, settings: Settings, index: str) -> None:
    """Raise NotBuilt if an index breaks a golden search that the live one answers."""
    goldens = find_broken(client, index, settings, open_golden(client, settings.index).texts())
    live = live_generation(client, settings.index) if goldens else None
    if live is None:
        return
    try:
        already = find_broken(client, live.name, settings, goldens)
    except BlogsearchError:  # built by another version, so it answers nothing now
        return
    if newly := [f"{q} → {url}" for q, url in goldens.items() if q not in already]:
        raise NotBuilt(
            f"Golden searches would no longer find their posts among the first {FIRST}: "
            f"{'; '.join(newly)}",
            "Check them with `blogsearch golden list`, or use --force.",
        )


def find_candidates(searched: Iterable[Searched], goldens: Goldens) -> list[Searched]:
    """Return the searches for which visitors always opened the same post, except golden ones."""
    there = {q.casefold() for q in goldens}
    return [
        row
        for row in searched
        if row.opened >= _OFFERED and len(row.posts) == 1 and row.query not in there
    ]
