"""The answer cache: finished answers in Redis, under the generation of the index."""

from app.cache.answer_cache import AnswerCache, CachedAnswer, Computed, Lifetimes, Lookup, State
from app.cache.keys import Keys
from app.cache.redis_client import connect
from app.errors import BadSettings
from app.settings import Settings

__all__ = ["AnswerCache", "CachedAnswer", "Computed", "Lifetimes", "Lookup", "State", "open_cache"]


def open_cache(settings: Settings, lifetimes: Lifetimes | None = None) -> AnswerCache:
    """The cache that the settings describe; no connection is opened yet.

    Args:
        lifetimes: instead of those with the `cache_ttl` of the settings.

    Raises:
        BadSettings: `REDIS_URL` is invalid.
    """
    variant = f"{settings.strategy} {settings.recency} {settings.semantic}"
    keys = Keys(settings.index, variant, settings.write_tokens.encode())
    try:
        client = connect(settings.redis_url, settings.cache_timeout, settings.ca_file)
    except ValueError:
        # Any part of it may be the password.
        raise BadSettings(
            "REDIS_URL is not valid. Write it like redis://127.0.0.1:6379/0 or "
            "unix:///run/redis.sock, and percent-encode the password."
        ) from None
    ttl = settings.cache_ttl
    return AnswerCache(client, keys, lifetimes or Lifetimes(ttl, min(ttl, 60.0)))
