"""The result cache: finished answers in Redis, under the generation of the index."""

import importlib.metadata

from app.cache.answer import Cached, Computed, State
from app.cache.answers import AnswerCache
from app.cache.connections import open_redis
from app.cache.expiry import Expiry
from app.cache.keys import Keys
from app.cache.link import Link
from app.cache.serializers import serializer_named
from app.errors import BadSettings
from app.settings import Settings

__all__ = ["AnswerCache", "Cached", "Computed", "State", "open_cache"]


def open_cache(settings: Settings) -> AnswerCache:
    """The cache that the settings describe; nothing is connected yet.

    Raises:
        BadSettings: an address or a serializer that there is none of.
    """
    try:
        client = open_redis(settings.redis_url)
    except ValueError as error:
        raise BadSettings(f"REDIS_URL: {error} (got {settings.redis_url!r})") from error
    # Another version may answer in another shape, another strategy with other hits.
    variant = f"{importlib.metadata.version('blogsearch')} {settings.strategy}"
    return AnswerCache(
        Link(client, settings.cache_timeout),
        Keys(settings.index, variant),
        serializer_named(settings.cache_serializer),
        Expiry(settings.cache_ttl, settings.cache_ttl_empty, settings.cache_stale_ttl),
        patience=settings.cache_wait,
        counted_searches=settings.cache_searches,
    )
