"""A decorator for other values worth keeping: `@cache.memoize(seconds=60)`.

The ideas are those of django-cache-memoize: invalidate with the same arguments, refresh at will,
callables on hit and miss, arguments rewritten to keys, run once per period without keeping the
value. docs/caching.md has an example of each.
"""

import inspect
from collections.abc import Callable, Iterable
from datetime import date
from functools import update_wrapper
from hashlib import blake2b
from typing import Any, Generic, ParamSpec, Required, TypedDict, TypeVar, cast

import orjson
import redis

from app.cache.keys import Keys, seal, unseal
from app.cache.redis_client import RedisClient
from app.cache.serializers import dumps
from app.cache.single_flight import SingleFlight

P = ParamSpec("P")
T = TypeVar("T")


class MemoizeOptions(TypedDict, total=False):
    """How long a value is kept, and the options of `AnswerCache.memoize`."""

    seconds: Required[float]
    args_rewrite: Callable[..., Iterable[Any]]
    on_hit: Callable[..., object]
    on_miss: Callable[..., object]
    store: bool


class Memoized(Generic[P, T]):
    """A function whose value is kept for a while; made by `AnswerCache.memoize`.

    Of several threads of a process one runs it. Without Redis each call runs the function.
    """

    def __init__(
        self, function: Callable[P, T], client: RedisClient, keys: Keys, options: MemoizeOptions
    ) -> None:
        self._function = function
        self._client = client
        self._keys = keys
        self._options = options
        self._store = options.get("store", True)
        self._rewrite = options.get("args_rewrite", self._bound_arguments)
        self._flights: SingleFlight[T] = SingleFlight()
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The kept value, or the function's.

        With `store=False` None when the function has run within the period.

        Raises:
            NotSerializable: the value would not come back as it is.
        """
        key = self.key(*args, **kwargs)
        kept = self._get(key)  # in a list: None is a value
        if kept is None:
            value, here = self._flights.run(key, lambda: self.refresh(*args, **kwargs))
            if here:
                return value
            kept = [value if self._store else cast(T, None)]
        if on_hit := self._options.get("on_hit"):
            on_hit(*args, **kwargs)
        return kept[0]

    def refresh(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the function now and keep its value."""
        value = self._function(*args, **kwargs)
        self._set(self.key(*args, **kwargs), value if self._store else None)
        if on_miss := self._options.get("on_miss"):
            on_miss(*args, **kwargs)
        return value

    def invalidate(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """The next call with these arguments runs the function."""
        name = self._keys.memoized(self.key(*args, **kwargs))
        self._client.ask(self._client.timeout, None, redis.Redis.delete, name)

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """What the value of these arguments is kept under.

        Raises:
            TypeError: an argument has no text that is the same in every process.
        """
        parts = repr([_key_part(part) for part in self._rewrite(*args, **kwargs)])
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return f"{name}:{blake2b(parts.encode(), digest_size=16).hexdigest()}"

    def _bound_arguments(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        """`f(1)`, `f(a=1)` and a default of 1 are the same call."""
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        return [*bound.args, *sorted(bound.kwargs.items())]

    def _get(self, key: str) -> list[T] | None:
        """The kept value in a list, None when there is none."""
        name, digest = self._keys.memoized(key), self._keys.digest(key)
        data: Any = self._client.ask(self._client.timeout, None, redis.Redis.get, name)
        value = unseal(self._keys.secret, digest, data) if isinstance(data, bytes) else None
        return None if value is None else [orjson.loads(value)]

    def _set(self, key: str, value: Any) -> None:
        data = seal(self._keys.secret, self._keys.digest(key), dumps(value))
        name, milliseconds = self._keys.memoized(key), int(self._options["seconds"] * 1000)
        timeout = self._client.timeout
        self._client.ask(timeout, None, redis.Redis.set, name, data, px=milliseconds)


def _key_part(part: Any) -> Any:
    """Only what looks the same in every process: most objects show their address in memory."""
    if part is None or isinstance(part, str | bytes | int | float | date):
        return part
    if isinstance(part, tuple | list):
        return [_key_part(inner) for inner in part]
    raise TypeError(
        f"a {type(part).__name__} cannot be part of a key: pass args_rewrite, which makes plain "
        "values of the arguments"
    )
