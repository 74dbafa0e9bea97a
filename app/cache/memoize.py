"""Implements the decorator that keeps the values of functions: `@cache.memoize(seconds=60)`.

The design follows django-cache-memoize; docs/caching.md has an example of each option.
"""

import inspect
import struct
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from datetime import date
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Required, TypedDict, TypeVar, cast

import orjson
import redis

from app.cache.redis_client import Keys, RedisClient, Signer, short_hash

_UNTIL = struct.Struct(">d")  # seconds since 1970, before the JSON

P = ParamSpec("P")
T = TypeVar("T")


class NotSerializable(ValueError):
    """A value that JSON would change."""


class SingleFlight(Generic[T]):
    """Runs one computation per key at a time in a process; other threads wait for its result."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[T]] = {}

    def run(self, key: Hashable, compute: Callable[[], T]) -> tuple[T, bool]:
        """Return the result of `compute`, and whether it ran here or in another thread.

        Raises:
            Exception: the error of the computation, in all threads that wait for it.
        """
        own: Future[T] = Future()
        running = self._running.setdefault(key, own)
        if running is not own:
            return running.result(), False
        try:
            result = compute()
        except BaseException as error:
            del self._running[key]  # before the others continue: later callers must not get this
            own.set_exception(error)
            raise
        del self._running[key]
        own.set_result(result)
        return result, True


class MemoizeOptions(TypedDict, total=False):
    """The options of `AnswerCache.memoize`."""

    seconds: Required[float]
    args_rewrite: Callable[..., Iterable[Any]]
    on_hit: Callable[..., object]
    on_miss: Callable[..., object]
    store: bool


class Memoized(Generic[P, T]):
    """A function whose values are kept for a while; made by `AnswerCache.memoize`.

    For the same arguments, one thread of a process runs it at a time. Without Redis each call does.
    """

    def __init__(
        self,
        function: Callable[P, T],
        client: RedisClient,
        keys: Keys,
        signer: Signer,
        options: MemoizeOptions,
    ) -> None:
        self._function = function
        self._client = client
        self._keys = keys
        self._signer = signer
        self._options = options
        self._store = options.get("store", True)
        self._rewrite = options.get("args_rewrite", self._bound_arguments)
        self._flights: SingleFlight[T] = SingleFlight()
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the kept value, or else run the function.

        With `store=False` return None if the function has run within the period.

        Raises:
            NotSerializable: JSON would change the value.
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
        name, data = self.key(*args, **kwargs), dumps(value if self._store else None)
        seconds = self._options["seconds"]
        kept = self._signer.sign(_UNTIL.pack(time.time() + seconds) + data, name.encode())
        self._client.ask(None, redis.Redis.set, name, kept, px=int(seconds * 1000))
        if on_miss := self._options.get("on_miss"):
            on_miss(*args, **kwargs)
        return value

    def invalidate(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Delete the kept value, so that the next call with these arguments runs the function."""
        self._client.ask(None, redis.Redis.delete, self.key(*args, **kwargs))

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Return the key of the value for these arguments.

        Raises:
            TypeError: an argument has no representation that is the same in every process.
        """
        parts = repr([_key_part(part) for part in self._rewrite(*args, **kwargs)])
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return self._keys.memoized(f"{name}:{short_hash(parts)}")

    def _bound_arguments(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        """Return the arguments in one form: `f(1)`, `f(a=1)` and a default of 1 are the same."""
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        return [*bound.args, *sorted(bound.kwargs.items())]

    def _get(self, key: str) -> list[T] | None:
        """Return the kept value in a list, None if there is none."""
        kept: Any = self._client.ask(None, redis.Redis.get, key)
        data = self._signer.verify(kept, key.encode()) if kept else None
        try:
            if data is None or _UNTIL.unpack_from(data)[0] < time.time():
                return None
            return [orjson.loads(data[_UNTIL.size :])]
        except (struct.error, orjson.JSONDecodeError):  # without a secret, anybody can sign values
            return None


def dumps(value: Any) -> bytes:
    """Return a value as JSON that `orjson.loads` decodes to an equal value.

    Raises:
        NotSerializable: JSON would change the value, such as a tuple, a date or NaN.
    """
    try:
        data = orjson.dumps(value)
    except TypeError as error:
        raise NotSerializable(str(error)) from error
    if orjson.loads(data) != value:
        raise NotSerializable("JSON would change the value")
    return data


def _key_part(part: Any) -> Any:
    """Return a value whose `repr` is the same in every process; most objects show their address."""
    if part is None or isinstance(part, str | bytes | int | float | date):
        return part
    if isinstance(part, tuple | list):
        return [_key_part(inner) for inner in part]
    raise TypeError(
        f"a {type(part).__name__} cannot be part of a key: pass args_rewrite to make plain values "
        "of the arguments"
    )
