"""What goes wrong inside the cache; none of it ever reaches a visitor."""


class CacheAway(Exception):
    """Redis cannot be asked now: unreachable, too slow, or it answered what is no answer."""


class NotCarried(ValueError):
    """A value that a serializer would have changed or lost; `path` says where it stands."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Unreadable(ValueError):
    """Bytes in Redis that are not one of our values, or not one that we would write today."""
