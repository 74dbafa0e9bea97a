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
_HEARTBEAT = "/__lbheartbeat__"


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
        turns = {
            "cached search": (service.url, [path]),
            "heartbeat": (service.url, [_HEARTBEAT]),
            "bare view": (bare.url, ["/bare"]),
        }
        rates = alternate(turns, seconds, rounds)
        with serving(alias, workers=_WORKERS) as without:
            asked = [f"/search?q={quote(query.meant)}" for query in queries]
            # Longer turns, because an answer takes a part of a second on a busy machine.
            rates["computed search"] = [
                highest_rate(without.url, asked, 3 * seconds) for _ in range(2)
            ][1:]
    medians = {name: statistics.median(found) for name, found in rates.items()}
    cached = medians["cached search"]
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
    rows = [
        [name, f"{medians[name]:,.0f}", f"{min(found):,.0f} to {max(found):,.0f}"]
        for name, found in rates.items()
    ]
    return Section(
        "A cached search",
        f"gunicorn with {_WORKERS} workers and our configuration; 16 connections of "
        f"{'wrk' if has_wrk() else 'a Python process'} for {seconds:g} seconds, {rounds} "
        f"rounds in random order, the first of them dropped. The answer has {len(body.content):,} "
        "bytes.",
        goals,
        [Table(["", "requests a second, median", "range"], rows)],
        medians,
        "per second",
        rates,
    )


def alternate(
    turns: Mapping[str, tuple[str, Sequence[str]]], seconds: float, rounds: int
) -> dict[str, list[float]]:
    """The rates of each turn (URL and paths), in another order each round."""
    rates: dict[str, list[float]] = {name: [] for name in turns}
    names = list(turns)
    for nth in range(rounds + 1):
        random.shuffle(names)
        for name in names:
            url, paths = turns[name]
            found = highest_rate(url, paths, seconds)
            if nth:  # the first round warms up
                rates[name].append(found)
    return rates
