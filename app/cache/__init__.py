"""The answer cache: finished answers in Redis, under the generation of the index."""

from app.cache.answer_cache import AnswerCache, Computed, Lifetimes
from app.cache.redis_client import connect
from app.cache.serializers import SERIALIZERS
from app.cache.store import CachedAnswer, Keys, Lookup, State
from app.errors import BadSettings
from app.settings import Settings

__all__ = ["AnswerCache", "CachedAnswer", "Computed", "Lifetimes", "Lookup", "State", "open_cache"]


def open_cache(
    settings: Settings, lifetimes: Lifetimes | None = None, lock_wait: float = 3.0
) -> AnswerCache:
    """The cache that the settings describe; no connection is opened yet.

    Args:
        lifetimes: instead of those with the `cache_ttl` of the settings.
        lock_wait: seconds that a search waits for another that computes the same answer.

    Raises:
        BadSettings: `REDIS_URL` or the serializer is invalid.
    """
    serializer = SERIALIZERS[settings.cache_serializer]
    variant = f"{serializer.name} {settings.strategy} {settings.recency} {settings.semantic}"
    keys = Keys(settings.index, variant, settings.signing_key)
    try:
        client = connect(settings.redis_url, settings.cache_timeout, settings.ca_file)
    except ValueError:
        # Any part of it may be the password.
        raise BadSettings(
            "REDIS_URL is not valid. Write it like redis://127.0.0.1:6379/0, "
            "unix:///run/redis.sock or redis+sentinel://host:port,host:port/service, and "
            "percent-encode the password."
        ) from None
    return AnswerCache(
        client,
        keys,
        serializer,
        lifetimes or Lifetimes(settings.cache_ttl, min(settings.cache_ttl, 60.0)),
        lock_wait=lock_wait,
    )
