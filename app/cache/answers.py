"""The cache as the rest of the service knows it."""

from collections.abc import Callable, Iterable
from typing import Any

import redis

from app.cache import stats
from app.cache.answer import Cached, Compute
from app.cache.asking import answer, answer_anew
from app.cache.background import Background
from app.cache.errors import CacheAway
from app.cache.expiry import Expiry
from app.cache.flight import Flights
from app.cache.keys import Keys
from app.cache.link import Link
from app.cache.looking import Means
from app.cache.memo import Memoized, P, T
from app.cache.memory import Memory
from app.cache.rest import Rest
from app.cache.searches import Searches
from app.cache.serializers import Serializer
from app.cache.shelf import Shelf, named_generation

_SIZES_KEPT = 10.0  # seconds
_PATIENT = 2.0  # seconds a command, unlike a search, may spend on Redis


class AnswerCache:
    """Finished answers in Redis. Made without a connection; threads and forked workers share it.

    No method fails because of Redis: without it answers are computed (state OFF) and the rest
    says None, False or nothing.
    """

    def __init__(
        self,
        link: Link,
        keys: Keys,
        serializer: Serializer,
        expiry: Expiry,
        *,
        patience: float,
        counted_searches: int,
    ) -> None:
        self.link = link
        self.keys = keys
        self.serializer = serializer
        self._shelf = Shelf(link, keys, serializer.name)
        self._means = Means(
            link=link,
            keys=keys,
            shelf=self._shelf,
            serializer=serializer,
            expiry=expiry,
            flights=Flights(),
            background=Background(),
            engine=Rest(),
            patience=patience,
        )
        self._searches = Searches(link, keys, counted_searches)
        self._sizes = self.memoize(seconds=_SIZES_KEPT, args_rewrite=lambda *_: ())(stats.sizes)

    @property
    def keeps(self) -> bool:
        """There is a Redis to keep answers in, whether or not it can be asked now."""
        return self.link.configured

    def get_or_compute(self, key: str, compute: Compute, *, anew: bool = False) -> Cached:
        """The answer to the request that `key` stands for.

        `compute` may be called in another thread, after the search that brought it is over: it must
        not reach for the current request. With `anew` it is called whatever is kept.

        Raises:
            Unavailable: `compute` did, and no older answer is kept. Whatever else it raises.
        """
        ask = answer_anew if anew else answer
        cached = ask(self.keys.digest(key), compute, self._means)
        self._searches.answered(cached.state)
        return cached

    def new_generation(self, index: str, rules: str) -> bool:
        """After a swap or a write that can be searched: no answer from before is fresh any more.

        `index` is the concrete index that answers now, `rules` the digest of its synonym rules.
        False when Redis did not take it: older answers may then be seen until they expire.
        """
        generation = named_generation(index, rules)
        return self._shelf.begin_generation(generation, self.link.budget(_PATIENT))

    def record(self, query: str) -> None:
        """Count a search, given as its query string (`SearchRequest.key()`); costs no trip."""
        self._searches.searched(query)

    def popular(self, n: int) -> list[tuple[str, float]]:
        """The `n` most frequent searches and how often; a search counts half with each day."""
        return self._searches.popular(n)

    def memoize(
        self,
        *,
        seconds: float,
        args_rewrite: Callable[..., Iterable[Any]] | None = None,
        on_hit: Callable[..., object] | None = None,
        on_miss: Callable[..., object] | None = None,
        store: bool = True,
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]:
        """A decorator that keeps a function's value for `seconds`, for all processes.

        `args_rewrite` makes plain values of the arguments, for the key; `on_hit` and `on_miss` are
        called with the arguments. With `store=False` the value is not kept: the function runs once
        per period, and calls in between return None.
        """
        means = self._means
        memory = Memory(self.link, self.keys, self.serializer, means.flights, means.patience)

        def decorate(function: Callable[P, T]) -> Memoized[P, T]:
            return Memoized(
                function,
                memory,
                seconds=seconds,
                args_rewrite=args_rewrite,
                on_hit=on_hit,
                on_miss=on_miss,
                store=store,
            )

        return decorate

    def stats(self, *, popular: int = 10) -> stats.Stats:
        """How the cache is doing; sizes may be some seconds old, they take a walk over all keys."""
        found = self._sizes(self.link, self.keys)
        return stats.Stats(
            generation=stats.generation(self.link, self.keys),
            searches=self._searches.states(),
            sizes=found,
            memory=stats.memory(self.link),
            popular=self._searches.popular(popular),
        )

    def clear(self) -> int | None:
        """Drop all kept answers; how many there were, None when Redis cannot be asked."""
        gone = stats.clear(self.link, self.keys)
        self._sizes.invalidate(self.link, self.keys)
        return gone

    def ping(self) -> str | None:
        """Redis' version, None when it cannot be asked."""
        try:
            found = self.link.call(lambda client: client.info("server"), self.link.budget())
        except (CacheAway, redis.ResponseError):
            return None
        return str(found.get("redis_version", "unknown"))
