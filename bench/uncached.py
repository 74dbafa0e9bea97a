"""Searches that are not cached, against bare requests to Elasticsearch."""

import http.client
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import cycle, product
from multiprocessing import get_context
from urllib.parse import quote, urlsplit

import requests
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search import search
from app.search.known import Known
from app.search.request import SearchRequest, SuggestRequest
from app.search.suggest import suggest
from bench.load_generator import send, times_of
from bench.results import Goal, Section, Table, milliseconds, p95
from bench.service import BARE_APP, elasticsearch_url, serving, settings_for
from bench.workload import (
    CORRECT,
    MISTYPED,
    OWN_WORDS,
    TYPED,
    Query,
    bare_body,
    bare_titles,
    typed_of,
)
from devstack.servers import redis_server

_WARM_UP = 60  # searches that are not counted
_CLIENTS = 8

Times = dict[tuple[str, str, str], list[float]]
"""Milliseconds by kind of query, way (`in process`, `HTTP`) and request (`search`, `bare`, and over
HTTP `bare view`)."""


def _times(
    alias: str, url: str, bare_url: str, queries: Sequence[Query], warm_up: Sequence[Query]
) -> Times:
    """The times of all queries; every other one, and each that is being typed, goes over HTTP.

    Each query is sent once, to the service over HTTP or to `app.search.search` in this process,
    never to both, because Elasticsearch keeps some results. Right before or after it, in random
    order, the same client sends the bare request with the right spelling, and so does a bare Flask
    view if the query goes over HTTP. Before all of them, other queries are sent in the same ways.
    """
    chosen = random.Random(14)
    settings = settings_for(alias)
    known = Known()  # kept between searches, as a service does
    times: Times = defaultdict(list)
    with (
        connect(settings, timeout=60) as client,
        closing(_connection_to(url)) as service,
        closing(_connection_to(bare_url)) as bare_service,
    ):
        client.indices.clear_cache(index=alias)
        for nth, query in enumerate([*warm_up, *queries]):
            turns: dict[str, Callable[[], object]] = {
                "bare": partial(client.search, index=alias, body=bare_body(query.meant)),
            }
            if nth % 2 or query.kind == TYPED:
                way = "HTTP"
                typing = "&typing=on" if query.kind == TYPED else ""
                turns["search"] = partial(_get, service, f"/search?q={quote(query.q)}{typing}")
                turns["bare view"] = partial(_get, bare_service, f"/search?q={quote(query.meant)}")
            else:
                way = "in process"
                request = SearchRequest(query.q)
                turns["search"] = partial(search, client, alias, request, settings, known)
            for name in chosen.sample(list(turns), len(turns)):
                started = time.perf_counter()
                turns[name]()
                if nth >= len(warm_up):
                    times[query.kind, way, name].append((time.perf_counter() - started) * 1000)
    return times


def _connection_to(url: str) -> http.client.HTTPConnection:
    """A connection that is kept open: the client that costs least."""
    parts = urlsplit(url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)


def _get(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise AssertionError(f"{path}: {response.status}")


_MEDIANS = {CORRECT: 1.4, MISTYPED: 1.9, OWN_WORDS: 1.4, TYPED: 1.3}
_TAILS = {CORRECT: 4.0, MISTYPED: 6.0}


def measure_uncached(
    alias: str, posts: int, queries: Sequence[Query], warm_up: Sequence[Query]
) -> Section:
    """One search against one bare request, in process and over HTTP."""
    with serving(alias) as served, serving(alias, app=BARE_APP, ready="/bare") as bare_served:
        # Another revision may not have the parameter, and refuses it.
        has_typing = requests.get(f"{served.url}/search?q=a&typing=on", timeout=30).ok
        queries = [*queries, *(typed_of(queries) if has_typing else [])]
        times = _times(alias, served.url, bare_served.url, queries, warm_up)
    rows: list[list[str]] = []
    goals: list[Goal] = []
    for kind, way, request in sorted(times):
        values = times[kind, way, request]
        ours = times[kind, way, "search"]
        if request == "search":
            rows.append([f"{kind}, {way}: search", str(len(values)), *milliseconds(values), "", ""])
            continue
        median, tail = statistics.median(ours) / statistics.median(values), p95(ours) / p95(values)
        rows.append(
            [
                *(f"{kind}, {way}: {request}", str(len(values)), *milliseconds(values)),
                *(f"{median:.2f}", f"{tail:.2f}"),
            ]
        )
        against = "a bare request" if request == "bare" else "the same in a bare Flask view"
        for figure, value, reaches in (("median", median, _MEDIANS), ("p95", tail, _TAILS)):
            if kind in reaches:
                name = f"not cached, {kind.partition(',')[0]}, {way}, {figure}"
                goals.append(Goal(name, against, value, reaches[kind], " times"))
    return Section(
        f"A search that is not cached ({posts:,} posts)",
        f"After {len(warm_up)} other queries, each query is sent once, in process or over HTTP "
        "(gunicorn, one worker, no Redis; Python's `http.client` sends the requests), and right "
        "before or after it as a bare "
        "`combined_fields` request with ten hits and highlights, by the client of Elasticsearch in "
        "this process. A bare view is a Flask view that sends that request and its hits, under "
        "the same gunicorn: what HTTP costs, whatever is searched.",
        goals,
        [Table(["queries", "n", "median ms", "p95", "search: times, median", "p95"], rows)],
        figures={" / ".join(key): values for key, values in times.items()},
    )


def measure_sizes(aliases: Mapping[int, str], queries: Sequence[Query]) -> Section:
    """The 95th percentile of searches in process over indices of different sizes; the indices take
    turns, and each gets other queries of the same kinds."""
    times: dict[int, list[float]] = defaultdict(list)
    bare: dict[int, list[float]] = defaultdict(list)
    turns = cycle(aliases.items())
    known = {alias: Known() for alias in aliases.values()}
    with connect(settings_for(""), timeout=60) as client:
        for nth, query in enumerate([*queries[:_WARM_UP], *queries]):
            for _ in aliases:
                posts, alias = next(turns)
                settings = settings_for(alias)
                started = time.perf_counter()
                search(client, alias, SearchRequest(q=query.q), settings, known[alias])
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
        figures={str(posts): values for posts, values in times.items()},
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
                    spent = times_of(send(served.url, paths, seconds, _CLIENTS))
                else:
                    spent = _send_bare(elasticsearch_url(), alias, bodies, seconds)
                if nth:  # the first round warms up
                    (searches if ours else bare).append(len(spent) / seconds)
                    (times if ours else bare_times).extend(spent)
    rate, bare_rate = statistics.median(searches), statistics.median(bare)
    rows = [
        ["search", f"{rate:.0f}", *milliseconds(times)],
        ["bare request", f"{bare_rate:.0f}", *milliseconds(bare_times)],
    ]
    return Section(
        "Eight clients at a time, not cached",
        f"Eight clients in two processes for {seconds:g} seconds, {rounds} rounds that alternate; "
        "gunicorn with 2 workers and no Redis.",
        [
            Goal(
                "not cached, 8 clients, rate",
                "bare requests of 8 clients",
                rate / bare_rate,
                0.6,
                at_least=True,
                note=f"{rate:.0f} of {bare_rate:.0f} a second",
            )
        ],
        [Table(["", "per second", "median ms", "p95 ms"], rows)],
        figures={"searches": searches, "bare": bare},
    )


def measure_mix(alias: str, queries: Sequence[Query], seconds: float) -> Section:
    """Cached searches of 90 clients, alone and while ten others send searches that are new."""
    cached = [f"/search?q={quote(query.meant)}" for query in queries[:50]]
    new = [f"/search?q={quote(query.q)}+{number}" for number, query in enumerate(queries)]
    with redis_server() as store, serving(alias, workers=2, redis_url=store.url) as served:
        send(served.url, cached, seconds, _CLIENTS)  # fills the cache
        alone = times_of(send(served.url, cached, seconds, 90))
        with ThreadPoolExecutor(1) as pool:
            new_searches = pool.submit(send, served.url, new, seconds + 2, 10)
            time.sleep(1)
            beside = times_of(send(served.url, cached, seconds, 90))
            count = len(times_of(new_searches.result()))
    beside_tail, alone_tail = (
        sorted(times)[int(0.99 * (len(times) - 1))] for times in (beside, alone)
    )
    rows = [
        [name, f"{len(times) / seconds:,.0f}", f"{statistics.median(times):.1f}", f"{tail:.1f}"]
        for name, times, tail in (
            ("alone", alone, alone_tail),
            ("beside new ones", beside, beside_tail),
        )
    ]
    return Section(
        "A hundred clients at once",
        f"Cached searches of 90 clients for {seconds:g} seconds, alone, and while ten others send "
        f"searches that are not cached ({count:,} in all); gunicorn with 2 workers.",
        [
            Goal(
                "cached searches beside new ones, p99",
                "cached searches alone",
                beside_tail / alone_tail,
                5.0,
                " times",
                note=f"{beside_tail:.0f} and {alone_tail:.0f} ms",
            )
        ],
        [Table(["cached searches", "a second", "median ms", "p99 ms"], rows)],
        figures={"alone": alone, "beside": beside},
    )


def _send_bare(
    url: str, alias: str, bodies: Sequence[dict[str, object]], seconds: float
) -> list[float]:
    """The milliseconds of searches of as many clients of Elasticsearch, in two processes."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        halves = [pool.submit(_search, url, alias, bodies[nth::2], seconds) for nth in range(2)]
        return [spent for half in halves for spent in half.result()]


def _search(
    url: str, alias: str, bodies: Sequence[dict[str, object]], seconds: float
) -> list[float]:
    times: list[float] = []
    ends = time.monotonic() + seconds

    def work(first: int) -> None:
        for body in cycle([*bodies[first:], *bodies[:first]]):
            started = time.monotonic()
            if started >= ends:
                return
            client.search(index=alias, body=body)
            times.append((time.monotonic() - started) * 1000)

    threads = _CLIENTS // 2
    with Elasticsearch(url, request_timeout=30) as client, ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(0, len(bodies), -(-len(bodies) // threads))):
            pass
    return times


def measure_typeahead(alias: str, queries: Sequence[Query], rounds: int) -> Section:
    """`/suggest` for the beginnings of words, against a request of ten titles.

    A worker keeps the words of the titles that it has suggested, and Redis keeps the answers. So
    the first round, in which most are new, is dropped and reported beside the others.
    """
    first: dict[str, list[float]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    typed = list(dict.fromkeys(query.meant[:length] for query in queries for length in (3, 5)))
    chosen = random.Random(14)
    settings = settings_for(alias)
    with (
        redis_server() as store,
        serving(alias, redis_url=store.url) as caching_served,
        serving(alias) as served,
        serving(alias, app=BARE_APP, ready="/bare") as bare_served,
        closing(_connection_to(caching_served.url)) as caching_service,
        closing(_connection_to(served.url)) as service,
        closing(_connection_to(bare_served.url)) as bare_service,
        connect(settings) as client,
    ):
        for nth, text in product(range(rounds + 1), typed):
            path = f"/suggest?q={quote(text)}"
            turns: dict[str, Callable[[], object]] = {
                "bare request": partial(client.search, index=alias, body=bare_titles(text)),
                "bare view, HTTP": partial(_get, bare_service, path),
                "cached, HTTP": partial(_get, caching_service, path),
                "computed, HTTP": partial(_get, service, path),
                "computed, in process": partial(
                    suggest, client, alias, SuggestRequest(text), settings
                ),
            }
            for name in chosen.sample(list(turns), len(turns)):
                started = time.perf_counter()
                turns[name]()
                (times if nth else first)[name].append((time.perf_counter() - started) * 1000)
    medians = {name: statistics.median(values) for name, values in sorted(times.items())}
    return Section(
        "Typeahead",
        "`/suggest` for the first 3 and 5 letters of queries, from the cache, computed over HTTP "
        "without Redis, and computed in process, against a `match_phrase_prefix` request for ten "
        "titles, by the client of Elasticsearch in this process and in a bare Flask view, which "
        "shows what HTTP costs. "
        f"{rounds + 1} rounds in random order; the first, in which no answer is cached and most "
        "titles are new to the process, is in columns of its own.",
        [
            Goal(
                f"typeahead, {name}, median", against, medians[name] / medians[other], 1.3, " times"
            )
            for name, other, against in (
                ("cached, HTTP", "bare request", "a bare request of 10 titles"),
                ("computed, in process", "bare request", "a bare request of 10 titles"),
                ("computed, HTTP", "bare view, HTTP", "the same in a bare Flask view"),
            )
        ],
        [
            Table(
                ["", "median ms", "p95 ms", "times", "first round: median ms", "p95 ms"],
                [
                    [
                        name,
                        *milliseconds(times[name]),
                        f"{medians[name] / medians['bare request']:.2f}",
                        *milliseconds(first[name]),
                    ]
                    for name in medians
                ],
            )
        ],
        figures={"first round": dict(first), "other rounds": dict(times)},
    )
