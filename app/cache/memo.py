"""A decorator for what else is worth keeping: `cache.memoize(seconds=60)` before a function.

The ideas are django-cache-memoize's (invalidate with the same arguments, refresh at will, callables
on hit and miss, arguments rewritten to keys, run once per period without keeping the value); the
work is done by a dogpile region over our connection, so that Redis' faults are misses here too.
"""

import inspect
from collections.abc import Callable, Iterable
from datetime import date
from functools import update_wrapper
from hashlib import blake2b
from typing import Any, Generic, ParamSpec, TypeVar, cast

from dogpile.cache import CacheRegion, make_region, register_backend

from app.cache.memory import Memory

P = ParamSpec("P")
T = TypeVar("T")

register_backend("blogsearch.memory", "app.cache.memory", "MemoryBackend")  # type: ignore[no-untyped-call]


class Memoized(Generic[P, T]):
    """A function whose value is kept for a while; made by `AnswerCache.memoize`.

    Without Redis each call runs the function, and so does one that waited too long for another.
    """

    def __init__(
        self,
        function: Callable[P, T],
        memory: Memory,
        *,
        seconds: float,
        args_rewrite: Callable[..., Iterable[Any]] | None,
        on_hit: Callable[..., object] | None,
        on_miss: Callable[..., object] | None,
        store: bool,
    ) -> None:
        self._function = function
        self._signature = inspect.signature(function)
        self._rewrite = args_rewrite or self._arguments
        self._on_hit = on_hit
        self._on_miss = on_miss
        self._store = store
        self._seconds = seconds
        self._region: CacheRegion = make_region().configure(
            "blogsearch.memory", arguments={"memory": memory, "seconds": seconds}
        )
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The kept value, or the function's.

        With `store=False` None when the function has run within the period.
        """
        ran: list[T] = []

        def create() -> T | None:
            ran.append(self._function(*args, **kwargs))
            return ran[0] if self._store else None

        kept = self._region.get_or_create(self.key(*args, **kwargs), create, self._seconds)
        told = self._on_miss if ran else self._on_hit
        if told:
            told(*args, **kwargs)
        return ran[0] if ran else cast(T, kept)

    def refresh(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the function now and keep what it says."""
        value = self._function(*args, **kwargs)
        self._region.set(self.key(*args, **kwargs), value if self._store else None)
        if self._on_miss:
            self._on_miss(*args, **kwargs)
        return value

    def invalidate(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """The next call with these arguments runs the function."""
        self._region.delete(self.key(*args, **kwargs))

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """What these arguments are kept under.

        Raises:
            TypeError: an argument whose text says nothing about its value; give `args_rewrite`.
        """
        parts = repr([_checked(part) for part in self._rewrite(*args, **kwargs)])
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return f"{name}:{blake2b(parts.encode(), digest_size=16).hexdigest()}"

    def _arguments(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        """`f(1)`, `f(a=1)` and a default of 1 are the same call."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return [*bound.args, *sorted(bound.kwargs.items())]


def _checked(part: Any) -> Any:
    """Only what looks the same in every process: most objects show their address in memory."""
    if part is None or isinstance(part, str | bytes | int | float | date):
        return part
    if isinstance(part, tuple | list):
        return [_checked(inner) for inner in part]
    raise TypeError(
        f"a {type(part).__name__} is no key to keep a value under: give args_rewrite, which makes "
        "plain values of the arguments"
    )
