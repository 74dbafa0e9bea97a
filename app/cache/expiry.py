"""How long an answer counts as fresh, and when a hot one is made anew before that."""

import math
import random
from dataclasses import dataclass

_JITTER = 0.1  # of the time, either way: answers of one minute do not all expire in one minute
_EARLY = 0.02  # of the time: how long before expiry, on average, one search a moment refreshes


@dataclass(frozen=True, slots=True)
class Expiry:
    """Seconds: `ttl` for answers, `ttl_empty` for those that found nothing, `stale` how much longer
    either is kept for when Elasticsearch is gone."""

    ttl: float
    ttl_empty: float
    stale: float

    def fresh_for(self, found: bool) -> float:
        """Seconds that a new answer counts as fresh."""
        seconds = self.ttl if found else self.ttl_empty
        return seconds * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 -- no secret

    def due(self, age: float, ttl: float, took: float) -> bool:
        """Whether this search should have a fresh answer made anew beside it.

        Probabilistic early expiration (Vattani, Chierichetti, Lowenstein: Optimal Probabilistic
        Cache Stampede Prevention, VLDB 2015): the lead before expiry is drawn from an exponential
        distribution, so that of many searches one is early and of few searches none is. They scale
        it by the time a computation takes; ours take milliseconds, and an answer asked for once a
        second would mostly expire before anyone was early, so 2 % of the time is the least.
        """
        lead = -math.log(1.0 - random.random()) * max(took, ttl * _EARLY)  # noqa: S311
        return age + lead >= ttl
