"""Searches that are not cached, against bare requests to Elasticsearch."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import chain, cycle, repeat
from multiprocessing import get_context
from urllib.parse import quote

from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search.known import Known
from app.search.request import SearchRequest, SuggestRequest
from app.search.suggest import suggest
from bench.load_generator import send, send_beside, times_of
from bench.results import Goal, Section, Table, milliseconds, p95, percentile
from bench.run import Run
from bench.service import (
    BARE_APP,
    elasticsearch_url,
    getting,
    searching,
    serving,
    settings_for,
)
from bench.turns import alternate, timed
from bench.workload import (
    CORRECT,
    MISTYPED,
    OWN_WORDS,
    TYPED,
    bare_body,
    bare_titles,
    typed_of,
)
from devstack.servers import redis_server

_WARM_UP = 60  # searches that are not counted
_MOST = 360  # queries over indices of each size, which are in random order
_CLIENTS = 8

_MEDIANS = {CORRECT: 1.4, MISTYPED: 1.9, OWN_WORDS: 1.4, TYPED: 1.3}
_TAILS = {CORRECT: 4.0, MISTYPED: 6.0}

Turn = tuple[str, str, str]
"""Kind of query, way (`in process`, `HTTP`) and request (`search`, `bare`, and over HTTP `bare
view`)."""


def measure_uncached(run: Run) -> Section:
    """One search against one bare request, in process and over HTTP.

    Each query is sent once, to the service over HTTP or to `app.search.search` in this process,
    never to both, because Elasticsearch keeps some results. Every other one goes over HTTP, and so
    does each that is being typed. Right before or after it the same client sends the bare request
    with the right spelling, and so does a bare Flask view if the query goes over HTTP.
    """
    posts = int(run.client.count(index=run.alias, q="kind:post")["count"])
    with (
        serving(run.alias) as served,
        serving(run.alias, app=BARE_APP, ready="/bare") as bare_served,
        connect(settings_for(run.alias), timeout=60) as client,
        searching(run.alias) as search,
        getting(served.url) as get,
        getting(bare_served.url) as get_bare,
    ):
        queries = [*run.queries, *typed_of(run.queries)]
        client.indices.clear_cache(index=run.alias)

        def rounds() -> Iterator[dict[Turn, Callable[[], float]]]:
            for nth, query in enumerate([*run.warm_up, *queries]):
                over_http = nth % 2 == 1 or query.kind == TYPED
                way = "HTTP" if over_http else "in process"
                turns: dict[str, Callable[[], object]] = {
                    "bare": partial(client.search, index=run.alias, body=bare_body(query.meant)),
                }
                if over_http:
                    typing = "&typing=on" if query.kind == TYPED else ""
                    turns["search"] = partial(get, f"/search?q={quote(query.q)}{typing}")
                    turns["bare view"] = partial(get_bare, f"/search?q={quote(query.meant)}")
                else:
                    turns["search"] = partial(search, SearchRequest(query.q))
                yield {(query.kind, way, name): timed(turn) for name, turn in turns.items()}

        times = alternate(rounds(), len(run.warm_up))
    rows: list[list[str]] = []
    goals: list[Goal] = []
    for kind, way, request in sorted(times):
        values, ours = times[kind, way, request], times[kind, way, "search"]
        row = [f"{kind}, {way}: {request}", str(len(values)), *milliseconds(values)]
        if request == "search":
            rows.append([*row, "", ""])
            continue
        median, tail = statistics.median(ours) / statistics.median(values), p95(ours) / p95(values)
        rows.append([*row, f"{median:.2f}", f"{tail:.2f}"])
        against = "a bare request" if request == "bare" else "the same in a bare Flask view"
        for figure, value, reaches in (("median", median, _MEDIANS), ("p95", tail, _TAILS)):
            if kind in reaches:
                name = f"not cached, {kind.partition(',')[0]}, {way}, {figure}"
                goals.append(Goal(name, against, value, reaches[kind], " times"))
    return Section(
        f"A search that is not cached ({posts:,} posts)",
        f"After {len(run.warm_up)} other queries, each query is sent once, in process or over HTTP "
        "(gunicorn, one worker, no Redis; Python's `http.client` sends the requests), and right "
        "before or after it as a bare "
        "`combined_fields` request with ten hits and highlights, by the client of Elasticsearch in "
        "this process. A bare view is a Flask view that sends that request and its hits, under "
        "the same gunicorn: what HTTP costs, whatever is searched. Words of earlier queries are "
        "known, as they are to a service in use; a mistyped word comes once.",
        goals,
        [Table(["queries", "n", "median ms", "p95", "search: times, median", "p95"], rows)],
        figures={" / ".join(key): values for key, values in times.items()},
    )


def measure_sizes(run: Run) -> Section:
    """The 95th percentile of searches in process over indices of different sizes."""
    aliases = {posts: run.combined(posts) for posts in run.sizes.posts}
    queries = run.queries[:_MOST]
    warm_up = queries[:_WARM_UP]
    with ExitStack() as stack:
        client = stack.enter_context(connect(settings_for(""), timeout=60))
        searches = {
            posts: stack.enter_context(searching(alias)) for posts, alias in aliases.items()
        }

        def rounds() -> Iterator[dict[tuple[int, str], Callable[[], float]]]:
            for query in [*warm_up, *queries]:
                body = bare_body(query.meant)
                turns: dict[tuple[int, str], Callable[[], float]] = {}
                for posts, alias in aliases.items():
                    search = searches[posts]
                    turns[posts, "search"] = timed(partial(search, SearchRequest(query.q)))
                    turns[posts, "bare"] = timed(partial(client.search, index=alias, body=body))
                yield turns

        times = alternate(rounds(), len(warm_up))
    tails = {posts: p95(times[posts, "search"]) for posts in aliases}
    first, *_, last = aliases
    rows = [
        [
            f"{posts:,}",
            *milliseconds(times[posts, "bare"]),
            *milliseconds(times[posts, "search"]),
        ]
        for posts in aliases
    ]
    return Section(
        "Searches by number of posts",
        "The same queries, not cached and in process, over indices of posts made of paragraphs of "
        "the corpus, with comments. The indices take turns.",
        [
            Goal(
                f"p95 over {last:,} posts",
                f"p95 over {first:,} posts",
                tails[last] / tails[first],
                2.5,
                " times",
                note=" / ".join(f"{tail:.1f}" for tail in tails.values()) + " ms",
            )
        ],
        [Table(["posts", "bare: median ms", "p95", "search: median ms", "p95"], rows)],
        figures={str(posts): times[posts, "search"] for posts in aliases},
    )


def measure_clients(run: Run) -> Section:
    """Searches per second of eight clients, against bare requests per second of eight clients."""
    seconds, rounds = 2 * run.sizes.seconds, run.sizes.rounds // 2
    bodies = [bare_body(query.meant) for query in run.queries]
    paths = [f"/search?q={quote(query.q)}" for query in run.queries]
    with serving(run.alias, workers=2) as served:
        turns: dict[str, Callable[[], list[float]]] = {
            "search": lambda: times_of(send(served.url, paths, seconds, _CLIENTS)),
            "bare request": partial(_send_bare, run.alias, bodies, seconds),
        }
        times = alternate(repeat(turns, rounds + 1))
    rates = {
        name: statistics.median(len(of_round) / seconds for of_round in of_rounds)
        for name, of_rounds in times.items()
    }
    rate, bare_rate = rates["search"], rates["bare request"]
    rows = [
        [name, f"{rates[name]:.0f}", *milliseconds(list(chain(*of_rounds)))]
        for name, of_rounds in times.items()
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
        figures=times,
    )


def _send_bare(alias: str, bodies: Sequence[dict[str, object]], seconds: float) -> list[float]:
    """The milliseconds of searches of as many clients of Elasticsearch, in two processes."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        url = elasticsearch_url()
        halves = [pool.submit(_search, url, alias, bodies[nth::2], seconds) for nth in range(2)]
        return [spent for half in halves for spent in half.result()]


def _search(
    url: str, alias: str, bodies: Sequence[dict[str, object]], seconds: float
) -> list[float]:
    times: list[float] = []
    ends = time.monotonic() + seconds

    def work(first: int) -> None:
        for body in cycle([*bodies[first:], *bodies[:first]]):
            if time.monotonic() >= ends:
                return
            times.append(timed(partial(client.search, index=alias, body=body))())

    threads = _CLIENTS // 2
    with Elasticsearch(url, request_timeout=30) as client, ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(0, len(bodies), -(-len(bodies) // threads))):
            pass
    return times


def measure_mix(run: Run) -> Section:
    """Cached searches of 90 clients, alone and while ten others send searches that are new."""
    seconds = 2 * run.sizes.seconds
    cached = [f"/search?q={quote(query.meant)}" for query in run.queries[:50]]
    new = [f"/search?q={quote(query.q)}+{number}" for number, query in enumerate(run.queries)]
    with redis_server() as store, serving(run.alias, workers=2, redis_url=store.url) as served:
        send(served.url, cached, seconds, _CLIENTS)  # fills the cache
        alone = times_of(send(served.url, cached, seconds, 90))
        answers, new_answers = send_beside(served.url, cached, seconds, 90, new, 10)
        beside = times_of(answers)
        # Where there is too little CPU for all of them, new searches are refused.
        count = len(times_of([answer for answer in new_answers if answer.status != 503]))
        refused = len(new_answers) - count
    tails = {"alone": percentile(alone, 0.99), "beside new ones": percentile(beside, 0.99)}
    rows = [
        [
            name,
            f"{len(times) / seconds:,.0f}",
            f"{statistics.median(times):.1f}",
            f"{tails[name]:.1f}",
        ]
        for name, times in (("alone", alone), ("beside new ones", beside))
    ]
    return Section(
        "A hundred clients at once",
        f"Cached searches of 90 clients for {seconds:g} seconds, alone, and while ten others send "
        f"searches that are not cached ({count:,} are answered, {refused:,} refused with 503); "
        "gunicorn with 2 workers.",
        [
            Goal(
                "cached searches beside new ones, p99",
                "cached searches alone",
                tails["beside new ones"] / tails["alone"],
                5.0,
                " times",
                note=f"{tails['beside new ones']:.0f} and {tails['alone']:.0f} ms",
            )
        ],
        [Table(["cached searches", "a second", "median ms", "p99 ms"], rows)],
        figures={"alone": alone, "beside": beside},
    )


def measure_typeahead(run: Run) -> Section:
    """`/suggest` for the beginnings of words, against a request of ten titles.

    A worker keeps the words of the titles that it has suggested, and Redis keeps the answers. So
    the first round, in which most are new, is reported beside the others.
    """
    alias, rounds = run.alias, run.sizes.rounds // 2
    typed = list(dict.fromkeys(query.meant[:length] for query in run.queries for length in (3, 5)))
    settings, known = settings_for(alias), Known()
    with (
        redis_server() as store,
        serving(alias, redis_url=store.url) as caching_served,
        serving(alias) as served,
        serving(alias, app=BARE_APP, ready="/bare") as bare_served,
        getting(caching_served.url) as get_cached,
        getting(served.url) as get,
        getting(bare_served.url) as get_bare,
        connect(settings) as client,
    ):

        def turns(text: str) -> dict[str, Callable[[], float]]:
            path, titles = f"/suggest?q={quote(text)}", bare_titles(text)
            request = SuggestRequest(text)
            return {
                "bare request": timed(partial(client.search, index=alias, body=titles)),
                "bare view, HTTP": timed(partial(get_bare, path)),
                "cached, HTTP": timed(partial(get_cached, path)),
                "computed, HTTP": timed(partial(get, path)),
                "computed, in process": timed(
                    partial(suggest, client, alias, request, settings, known)
                ),
            }

        first = alternate(map(turns, typed), warm_up=0)
        times = alternate(map(turns, typed * rounds), warm_up=0)
    medians = {name: statistics.median(values) for name, values in times.items()}
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
        figures={"first round": first, "other rounds": times},
    )
