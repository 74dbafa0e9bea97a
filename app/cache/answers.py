"""The cache as the rest of the service knows it."""

import redis

from app.cache.answer import Cached, Compute
from app.cache.asking import Asking, Means
from app.cache.background import Background
from app.cache.errors import CacheAway
from app.cache.expiry import Expiry
from app.cache.flight import Flights, Turn
from app.cache.keys import Keys
from app.cache.link import Link
from app.cache.rest import Rest
from app.cache.serializers import Serializer
from app.cache.shelf import Shelf, named_generation

_PATIENT = 2.0  # seconds a command, unlike a search, may spend on Redis


class AnswerCache:
    """Finished answers in Redis. Made without a connection; threads and forked workers share it.

    No method fails because of Redis: without it answers are computed (state OFF) and the rest
    says None, False or nothing.
    """

    def __init__(
        self, link: Link, keys: Keys, serializer: Serializer, expiry: Expiry, patience: float
    ) -> None:
        self.link = link
        self.keys = keys
        self._patience = patience
        self._flights = Flights()
        self._shelf = Shelf(link, keys, serializer.name)
        self._means = Means(self._shelf, serializer, expiry, Background(), Rest())

    def get_or_compute(self, key: str, compute: Compute, *, anew: bool = False) -> Cached:
        """The answer to the request that `key` stands for.

        `compute` may be called in another thread, after the search that brought it is over: it must
        not reach for the current request. With `anew` it is called whatever is kept.

        Raises:
            Unavailable: `compute` did, and no older answer is kept. Whatever else it raises.
        """
        digest = self.keys.digest(key)
        budget = self.link.budget()
        flight = self._flights.get(self.keys.lock(digest))
        turn = Turn(flight, self.link, budget, self._patience)
        asking = Asking(digest, compute, self._means, turn, budget)
        return asking.anew() if anew else asking.answer()

    def new_generation(self, index: str, rules: str) -> bool:
        """After a swap or a write that can be searched: no answer from before is fresh any more.

        `index` is the concrete index that answers now, `rules` the digest of its synonym rules.
        False when Redis did not take it: older answers may then be seen until they expire.
        """
        generation = named_generation(index, rules)
        return self._shelf.begin_generation(generation, self.link.budget(_PATIENT))

    def ping(self) -> str | None:
        """Redis' version, None when it cannot be asked."""
        try:
            found = self.link.call(lambda client: client.info("server"), self.link.budget())
        except (CacheAway, redis.ResponseError):
            return None
        return str(found.get("redis_version", "unknown"))
