"""Keeps finished answers in Redis, under the generation of the index."""

from app.cache.answer_cache import AnswerCache, CachedAnswer, Computed, Lifetimes, Lookup, State
from app.cache.memoize import Memoized, SingleFlight
from app.cache.redis_client import Keys, connect
from app.settings import Settings

__all__ = [
    "AnswerCache",
    "CachedAnswer",
    "Computed",
    "Lifetimes",
    "Lookup",
    "Memoized",
    "SingleFlight",
    "State",
    "open_cache",
]


def open_cache(settings: Settings, lifetimes: Lifetimes | None = None) -> AnswerCache:
    """Return the cache for the settings; opens no connection yet.

    Args:
        lifetimes: used instead of those from the setting `cache_ttl`.

    Raises:
        BadSettings: `REDIS_URL` is invalid.
    """
    differing = (settings.strategy, settings.recency, settings.semantic, settings.text_fragments)
    keys = Keys(settings.index, " ".join(map(str, differing)))
    client = connect(settings.redis_url, settings.cache_timeout, settings.ca_file)
    ttl = settings.cache_ttl
    secret = settings.write_tokens or settings.insights_token
    return AnswerCache(client, keys, lifetimes or Lifetimes(ttl, min(ttl, 60.0)), secret)
