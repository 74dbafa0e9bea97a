"""Cached searches: requests per second against a heartbeat, a bare Flask view, and computing."""

import statistics
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import repeat
from urllib.parse import quote

import redis

from bench.load_generator import CONNECTIONS, highest_rate
from bench.results import Goal, Section, Table
from bench.run import Run
from bench.service import BARE_APP, fill_cache, serving
from bench.turns import alternate
from devstack.servers import redis_server

HEARTBEAT = "/__lbheartbeat__"

_WORKERS = 2
_PUBLIC = {
    "BLOGSEARCH_RATE_LIMIT": "10000000/minute",
    "BLOGSEARCH_CORS_ORIGINS": "https://blog.example.org,https://www.example.org",
    "BLOGSEARCH_CACHE_SERIALIZER": "bytes+zlib",
}
"""What SECURITY.md tells a public site to set; no request reaches the limit."""
_BROWSER = {"Origin": "https://blog.example.org", "Accept-Encoding": "gzip, deflate"}


_CACHED, _COMPUTED, _BARE_VIEW = "cached search", "computed search", "bare view"
_CACHED_PUBLIC = "cached search, public"
_RATE = "a cached search, rate"
_RATE_PUBLIC = "the same with a rate limit, CORS list and compression"
_GOALS = (
    (_CACHED, _RATE, "heartbeat", f"`{HEARTBEAT}`", 0.70),
    (_CACHED, _RATE, _BARE_VIEW, "a bare Flask view with bytes from Redis", 0.88),
    (_CACHED, _RATE, _COMPUTED, "the same computed", 15.0),
    (_CACHED_PUBLIC, _RATE_PUBLIC, "heartbeat", f"`{HEARTBEAT}`", 0.6),
)
"""What is measured and its name in the report, what it is measured against, and the goal."""


def measure_cached(run: Run) -> Section:
    """One cached search; the heartbeat; the same bytes from a bare view; and searches that are
    computed, by as many clients."""
    seconds, rounds = run.sizes.seconds, run.sizes.rounds
    path = f"/search?q={quote(run.queries[0].meant)}"
    with redis_server() as store, ExitStack() as stack:
        serve = partial(serving, run.alias, workers=_WORKERS, redis_url=store.url)
        service = stack.enter_context(serve())
        body = fill_cache(service.url, path).content
        with redis.Redis.from_url(store.url) as client:
            client.set("bare", body)
        bare = stack.enter_context(serve(app=BARE_APP, ready="/bare"))
        public = stack.enter_context(serve(variables=_PUBLIC))
        coding = fill_cache(public.url, path, _BROWSER).headers.get("Content-Encoding")
        if coding != "gzip":
            raise AssertionError(f"not compressed: {coding}")
        turns: dict[str, Callable[[], float]] = {
            _CACHED: partial(highest_rate, service.url, [path], seconds),
            _CACHED_PUBLIC: partial(highest_rate, public.url, [path], seconds, _BROWSER),
            "heartbeat": partial(highest_rate, service.url, [HEARTBEAT], seconds),
            _BARE_VIEW: partial(highest_rate, bare.url, ["/bare"], seconds),
        }
        rates = alternate(repeat(turns, rounds + 1))
        with serving(run.alias, workers=_WORKERS) as without:
            asked = [f"/search?q={quote(query.meant)}" for query in run.queries]
            # Longer turns, because an answer takes a part of a second on a busy machine.
            computed = partial(highest_rate, without.url, asked, 3 * seconds)
            rates |= alternate(repeat({_COMPUTED: computed}, 2))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    goals = [
        Goal(
            what,
            against,
            medians[name] / max(medians[other], 0.1),
            reach,
            at_least=True,
            note=f"{medians[name]:,.0f} of {medians[other]:,.0f} a second",
        )
        for name, what, other, against, reach in _GOALS
    ]
    rows = [
        [name, f"{medians[name]:,.0f}", f"{min(values):,.0f} to {max(values):,.0f}"]
        for name, values in rates.items()
    ]
    return Section(
        "A cached search",
        f"gunicorn with {_WORKERS} workers and our configuration; {CONNECTIONS} connections of a "
        f"Python process for {seconds:g} seconds, {rounds} rounds in random order after one that "
        f"is dropped. The answer has {len(body):,} bytes.",
        goals,
        [Table(["", "requests a second, median", "range"], rows)],
        figures=rates,
    )
