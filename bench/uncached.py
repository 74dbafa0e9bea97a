"""Searches that are not cached, against bare requests to Elasticsearch."""

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from urllib.parse import quote

import requests
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search import search
from app.search.request import SearchRequest
from bench.load_generator import get_all, search_all
from bench.results import Goal, Section, Table, milliseconds, p95
from bench.service import elasticsearch_url, get_search, serving, settings_for
from bench.workload import CORRECT, MISTYPED, Query, bare_body

_WARM_UP = 60  # searches that are not counted
_CLIENTS = 8

Times = dict[tuple[str, str, str], list[float]]
"""Milliseconds by kind of query, way (`in process`, `HTTP`) and request (`search`, `bare`)."""


def times_of(alias: str, url: str, queries: Sequence[Query]) -> Times:
    """The times of all queries; every other one goes over HTTP.

    Each query is sent once, to the service over HTTP or to `app.search.search` in this process,
    never to both, because Elasticsearch keeps some results. Right before or after it, in random
    order, the same client sends the bare request with the right spelling.
    """
    chosen = random.Random(14)
    settings = settings_for(alias)
    times: Times = defaultdict(list)
    with connect(settings, timeout=60) as client, requests.Session() as session:
        client.indices.clear_cache(index=alias)
        warm_up = queries[:_WARM_UP] if len(queries) > 3 * _WARM_UP else ()
        for nth, query in enumerate([*warm_up, *queries]):
            way = ("in process", "HTTP")[nth % 2]
            turns: dict[str, Callable[[], object]] = {
                "bare": partial(client.search, index=alias, body=bare_body(query.meant)),
                "search": partial(get_search, session, url, query.q)
                if way == "HTTP"
                else partial(search, client, alias, SearchRequest(q=query.q), settings),
            }
            for name in chosen.sample(list(turns), 2):
                started = time.perf_counter()
                turns[name]()
                if nth >= len(warm_up):
                    times[query.kind, way, name].append((time.perf_counter() - started) * 1000)
    return times


def measure_uncached(alias: str, posts: int, queries: Sequence[Query]) -> Section:
    """One search against one bare request, in process and over HTTP."""
    with serving(alias) as served:
        times = times_of(alias, served.url, queries)
    rows: list[list[str]] = []
    goals: list[Goal] = []
    bars: dict[str, float] = {}
    for kind, way in sorted({(kind, way) for kind, way, _ in times}):
        bare, ours = times[kind, way, "bare"], times[kind, way, "search"]
        median, tail = statistics.median(ours) / statistics.median(bare), p95(ours) / p95(bare)
        rows.append(
            [
                *(f"{kind}, {way}", str(len(ours)), *milliseconds(bare), *milliseconds(ours)),
                *(f"{median:.2f}", f"{tail:.2f}"),
            ]
        )
        bars[f"{kind}, {way}"] = statistics.median(ours)
        for figure, value, reach in (
            ("median", median, {CORRECT: 2.0, MISTYPED: 3.5}.get(kind)),
            ("p95", tail, {CORRECT: 4.0, MISTYPED: 6.0}.get(kind)),
        ):
            if reach:
                name = f"not cached, {kind.partition(',')[0]}, {way}, {figure}"
                goals.append(Goal(name, "a bare request", value, reach, " times"))
    bars["bare request"] = statistics.median(
        [one for key, found in times.items() if key[2] == "bare" for one in found]
    )
    header = ["queries", "n", "bare: median ms", "p95", "search: median ms", "p95"]
    return Section(
        f"A search that is not cached ({posts:,} posts)",
        "Each query is sent once, in process or over HTTP (gunicorn, one worker, no Redis), and "
        "right before or after it as a bare `combined_fields` request with ten hits and "
        "highlights, by the same client in the same process.",
        goals,
        [Table([*header, "times, median", "p95"], rows)],
        bars,
        figures={" / ".join(key): found for key, found in times.items()},
    )


def measure_sizes(aliases: Mapping[int, str], queries: Sequence[Query]) -> Section:
    """The 95th percentile of searches in process over indices of different sizes; the indices take
    turns, and each gets other queries of the same kinds."""
    times: dict[int, list[float]] = defaultdict(list)
    bare: dict[int, list[float]] = defaultdict(list)
    turns = cycle(aliases.items())
    with connect(settings_for(""), timeout=60) as client:
        for nth, query in enumerate([*queries[:_WARM_UP], *queries]):
            for _ in aliases:
                posts, alias = next(turns)
                settings = settings_for(alias)
                started = time.perf_counter()
                search(client, alias, SearchRequest(q=query.q), settings)
                between = time.perf_counter()
                client.search(index=alias, body=bare_body(query.meant))
                ended = time.perf_counter()
                if nth >= min(_WARM_UP, len(queries)):
                    times[posts].append((between - started) * 1000)
                    bare[posts].append((ended - between) * 1000)
            next(turns)  # another index begins
    first, *_, last = aliases
    value = p95(times[last]) / p95(times[first])
    rows = [
        [f"{posts:,}", *milliseconds(bare[posts]), *milliseconds(times[posts])] for posts in aliases
    ]
    return Section(
        "Searches by number of posts",
        "The same queries, not cached and in process, over indices of posts made of paragraphs of "
        "the corpus, with comments. The indices take turns.",
        [
            Goal(
                f"p95 over {last:,} posts",
                f"p95 over {first:,} posts",
                value,
                2.5,
                " times",
                note=" / ".join(f"{p95(times[posts]):.1f}" for posts in aliases) + " ms",
            )
        ],
        [Table(["posts", "bare: median ms", "p95", "search: median ms", "p95"], rows)],
        {f"{posts:,} posts, p95": p95(times[posts]) for posts in aliases},
        figures={str(posts): found for posts, found in times.items()},
    )


def measure_clients(alias: str, queries: Sequence[Query], seconds: float, rounds: int) -> Section:
    """Searches per second of eight clients, against bare requests per second of eight clients."""
    bodies = [bare_body(query.meant) for query in queries]
    paths = [f"/search?q={quote(query.q)}" for query in queries]
    searches: list[float] = []
    bare: list[float] = []
    times: list[float] = []
    bare_times: list[float] = []
    with serving(alias, workers=2) as served:
        for nth in range(rounds + 1):
            for ours in (True, False) if nth % 2 else (False, True):
                if ours:
                    found = get_all(served.url, paths, seconds, _CLIENTS)
                else:
                    found = search_all(elasticsearch_url(), alias, bodies, seconds, _CLIENTS)
                if nth:  # the first round warms up
                    (searches if ours else bare).append(len(found) / seconds)
                    (times if ours else bare_times).extend(found)
    one, other = statistics.median(searches), statistics.median(bare)
    rows = [
        ["search", f"{one:.0f}", *milliseconds(times)],
        ["bare request", f"{other:.0f}", *milliseconds(bare_times)],
    ]
    return Section(
        "Eight clients at a time, not cached",
        f"Eight clients in two processes for {seconds:g} seconds, {rounds} rounds that alternate; "
        "gunicorn with 2 workers and no Redis.",
        [
            Goal(
                "not cached, 8 clients, rate",
                "bare requests of 8 clients",
                one / other,
                0.4,
                at_least=True,
                note=f"{one:.0f} of {other:.0f} a second",
            )
        ],
        [Table(["", "per second", "median ms", "p95 ms"], rows)],
        {"search": one, "bare request": other},
        "per second",
        {"searches": searches, "bare": bare},
    )


def measure_typeahead(alias: str, queries: Sequence[Query]) -> Section | None:
    """`/suggest` for the beginnings of words, against a request of ten titles; None if this
    version has no `/suggest`."""
    ours: list[float] = []
    bare: list[float] = []
    typed = list(dict.fromkeys(query.meant[:length] for query in queries for length in (3, 5)))
    with (
        serving(alias) as served,
        requests.Session() as session,
        Elasticsearch(elasticsearch_url()) as client,
    ):
        url = f"{served.url}/suggest"
        if session.get(url, params={"q": typed[0]}, timeout=30).status_code > 299:
            return None
        for nth, text in enumerate(typed):
            for turn in (True, False) if nth % 2 else (False, True):
                started = time.perf_counter()
                if turn:
                    session.get(url, params={"q": text}, timeout=30)
                else:
                    client.search(index=alias, body=_titles(text))
                spent = (time.perf_counter() - started) * 1000
                if nth >= min(_WARM_UP, len(typed) // 4):
                    (ours if turn else bare).append(spent)
    value = statistics.median(ours) / statistics.median(bare)
    return Section(
        "Typeahead",
        "`/suggest` over HTTP (no Redis) for the first 3 and 5 letters of queries, against a "
        "`match_phrase_prefix` request for ten titles.",
        [Goal("typeahead, median", "a bare request of 10 titles", value, 1.3, " times")],
        [
            Table(
                ["", "median ms", "p95 ms"],
                [["/suggest", *milliseconds(ours)], ["bare request", *milliseconds(bare)]],
            )
        ],
        figures={"suggest": ours, "bare": bare},
    )


def _titles(text: str) -> dict[str, object]:
    return {
        "query": {"match_phrase_prefix": {"title.words": text}},
        "size": 10,
        "_source": ["title", "url"],
    }
