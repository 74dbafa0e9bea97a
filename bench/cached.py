"""Cached searches: requests per second against a heartbeat, a bare Flask view, and computing."""

import random
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from urllib.parse import quote

import redis
import requests

from bench.load_generator import has_wrk, highest_rate
from bench.results import Goal, Section, Table
from bench.service import BARE_APP, serving
from bench.workload import Query
from devstack.servers import redis_server

_WORKERS = 2
_PUBLIC = {
    "BLOGSEARCH_RATE_LIMIT": "10000000/minute",
    "BLOGSEARCH_CORS_ORIGINS": "https://blog.example.org,https://www.example.org",
    "BLOGSEARCH_CACHE_SERIALIZER": "bytes+zlib",
}
"""What SECURITY.md tells a public site to set; no request reaches the limit."""
_BROWSER = {"Origin": "https://blog.example.org", "Accept-Encoding": "gzip, deflate"}
_HEARTBEAT = "/__lbheartbeat__"

Turn = tuple[str, Sequence[str], Mapping[str, str]]
"""The URL of a server, the paths to ask it for, and the headers of the requests."""


def measure_cached(alias: str, queries: Sequence[Query], seconds: float, rounds: int) -> Section:
    """One cached search; the heartbeat; the same bytes from a bare view; and searches that are
    computed, by as many clients."""
    path = f"/search?q={quote(queries[0].meant)}"
    with redis_server() as store, ExitStack() as stack:
        service = stack.enter_context(serving(alias, workers=_WORKERS, redis_url=store.url))
        requests.get(service.url + path, timeout=30)
        body = requests.get(service.url + path, timeout=30)
        if body.headers["X-Cache"] != "HIT":
            raise AssertionError(f"not cached: {body.headers['X-Cache']}")
        with redis.Redis.from_url(store.url) as client:
            client.set("bare", body.content)
        bare = stack.enter_context(
            serving(
                alias,
                workers=_WORKERS,
                redis_url=store.url,
                app=BARE_APP,
                ready="/bare",
            )
        )
        public = stack.enter_context(
            serving(alias, workers=_WORKERS, redis_url=store.url, variables=_PUBLIC)
        )
        for _ in range(2):
            answer = requests.get(public.url + path, headers=_BROWSER, timeout=30)
        values = {name: answer.headers.get(name) for name in ("X-Cache", "Content-Encoding")}
        if values != {"X-Cache": "HIT", "Content-Encoding": "gzip"}:
            raise AssertionError(f"not cached and compressed: {values}")
        turns: dict[str, Turn] = {
            "cached search": (service.url, [path], {}),
            "cached search, public": (public.url, [path], _BROWSER),
            "heartbeat": (service.url, [_HEARTBEAT], {}),
            "bare view": (bare.url, ["/bare"], {}),
        }
        rates = alternate(turns, seconds, rounds)
        with serving(alias, workers=_WORKERS) as without:
            asked = [f"/search?q={quote(query.meant)}" for query in queries]
            # Longer turns, because an answer takes a part of a second on a busy machine.
            rates["computed search"] = [
                highest_rate(without.url, asked, 3 * seconds) for _ in range(2)
            ][1:]
    medians = {name: statistics.median(values) for name, values in rates.items()}
    cached, public_rate = medians["cached search"], medians["cached search, public"]
    goals = [
        Goal(
            "a cached search, rate",
            against,
            cached / max(medians[name], 0.1),
            reach,
            at_least=True,
            note=f"{cached:,.0f} of {medians[name]:,.0f} a second",
        )
        for name, against, reach in (
            ("heartbeat", "`/__lbheartbeat__`", 0.70),
            ("bare view", "a bare Flask view with bytes from Redis", 0.88),
            ("computed search", "the same computed", 15.0),
        )
    ]
    goals.append(
        Goal(
            "the same with a rate limit, CORS list and compression",
            "`/__lbheartbeat__`",
            public_rate / medians["heartbeat"],
            0.6,
            at_least=True,
            note=f"{public_rate:,.0f} of {medians['heartbeat']:,.0f} a second",
        )
    )
    rows = [
        [name, f"{medians[name]:,.0f}", f"{min(values):,.0f} to {max(values):,.0f}"]
        for name, values in rates.items()
    ]
    return Section(
        "A cached search",
        f"gunicorn with {_WORKERS} workers and our configuration; 16 connections of "
        f"{'wrk' if has_wrk() else 'a Python process'} for {seconds:g} seconds, {rounds} "
        f"rounds in random order, the first of them dropped. The answer has {len(body.content):,} "
        "bytes.",
        goals,
        [Table(["", "requests a second, median", "range"], rows)],
        figures=rates,
    )


def alternate(turns: Mapping[str, Turn], seconds: float, rounds: int) -> dict[str, list[float]]:
    """The rates of each turn, in another order each round."""
    rates: dict[str, list[float]] = {name: [] for name in turns}
    names = list(turns)
    for nth in range(rounds + 1):
        random.shuffle(names)
        for name in names:
            url, paths, headers = turns[name]
            rate = highest_rate(url, paths, seconds, headers)
            if nth:  # the first round warms up
                rates[name].append(rate)
    return rates
