"""Golden searches: what must be found among the first three, whatever an index is built with.

    date format → https://blog.example.org/posts/date-format/

They are stored in the state index. Every build tries them on the new generation before it goes
live; one that breaks a search which the live generation still answers is not swapped.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from analyzers.languages import LANGUAGES
from app.errors import BlogsearchError, Conflict
from app.insights.counts import Searched
from app.meaning import open_model
from app.search.blended import search
from app.search.pins import PinStore
from app.search.request import SearchRequest
from app.search.session import Known
from app.settings import Settings
from indexer.build.builder import IndexSettings
from indexer.errors import NotBuilt
from indexer.generations import live as live_generation
from indexer.normalise import address_of
from indexer.state import ensure_state, state_index

FIRST = 3
MAX_SEARCHES = 200
"""A build waits for each of them."""
_ID = "golden"  # of the document in the state index
_OFFERED = 5  # times that a hit was opened for a search, always the same one


@dataclass(frozen=True, slots=True)
class Golden:
    """A search, and the address that is among its first three hits."""

    q: str
    url: str

    def __str__(self) -> str:
        return f"{self.q} → {self.url}"


Goldens = Sequence[Golden]


def read(client: Elasticsearch, alias: str) -> list[Golden]:
    """The golden searches of an alias, in the order in which they were added."""
    return _read(client, alias)[0]


def change(
    client: Elasticsearch, alias: str, change: Callable[[Goldens], Iterable[Golden]]
) -> None:
    """Store what `change` makes of the golden searches.

    Raises:
        Conflict: another process changed them in between.
    """
    former, condition = _read(client, alias)
    searches = [{"q": golden.q, "url": golden.url} for golden in change(former)]
    try:
        client.index(
            index=ensure_state(client, alias),
            id=_ID,
            document={"what": "golden", "searches": searches},
            **condition,
        )
    except ConflictError:
        raise Conflict("Another process changed the golden searches. Try again.") from None


def added(goldens: Goldens, golden: Golden) -> list[Golden]:
    """With one more, in place of that for the same search.

    Raises:
        BlogsearchError: there are too many.
    """
    others = [other for other in goldens if other.q != golden.q]
    if len(others) >= MAX_SEARCHES:
        raise BlogsearchError(f"There are {MAX_SEARCHES} golden searches. Remove some.")
    return [*others, golden]


def _read(client: Elasticsearch, alias: str) -> tuple[list[Golden], dict[str, Any]]:
    try:
        stored = client.get(index=state_index(alias), id=_ID)
    except NotFoundError:
        return [], {"op_type": "create"}
    goldens = [Golden(one["q"], one["url"]) for one in stored["_source"]["searches"]]
    sequence, term = stored["_seq_no"], stored["_primary_term"]
    return goldens, {"if_seq_no": sequence, "if_primary_term": term}


def broken(
    client: Elasticsearch, index: str, settings: Settings, goldens: Iterable[Golden]
) -> list[Golden]:
    """Those that an index does not answer as they must be."""
    pins = PinStore(client, settings.index, LANGUAGES[settings.language])
    known = Known(pins, open_model(settings))

    def holds(golden: Golden) -> bool:
        request = SearchRequest(golden.q, size=FIRST)
        hits = search(client, index, request, settings, known).body["hits"]
        return address_of(golden.url) in (address_of(hit["url"] or "") for hit in hits)

    return [golden for golden in goldens if not holds(golden)]


def gated(
    wanted: IndexSettings, client: Elasticsearch, settings: Settings, *, force: bool
) -> IndexSettings:
    """Settings of a build that goes live only if it breaks no golden search, or with `force`."""

    def check(name: str) -> None:
        goldens = broken(client, name, settings, read(client, settings.index))
        live = live_generation(client, settings.index) if goldens else None
        if live is None:
            return
        try:
            goldens = [
                golden for golden in goldens if not broken(client, live.name, settings, [golden])
            ]
        except BlogsearchError:  # built by another version, which answers nothing now
            return
        if goldens:
            listed = "; ".join(map(str, goldens))
            raise NotBuilt(
                f"Golden searches would not find their posts among the first {FIRST} any more: "
                f"{listed}",
                "Look at them with `blogsearch golden`, or swap nevertheless: --force.",
            )

    return wanted if force else replace(wanted, check=check)


def offered(searched: Iterable[Searched], goldens: Goldens) -> list[Searched]:
    """Searches for which people always opened the same post, and that are not golden yet."""
    there = {golden.q.casefold() for golden in goldens}
    return [
        row
        for row in searched
        if row.opened >= _OFFERED and len(row.posts) == 1 and row.query not in there
    ]
