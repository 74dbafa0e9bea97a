"""A search through the cache, and the most frequent ones again after a swap."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl

from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from app.cache.answer import Cached, Computed
from app.cache.answers import AnswerCache
from app.elastic import translated
from app.errors import ServiceError, Unavailable
from app.search import Answer, search
from app.search.request import SearchRequest
from app.settings import Settings


def searched(
    cache: AnswerCache,
    elastic: Elasticsearch,
    settings: Settings,
    request: SearchRequest,
    *,
    anew: bool = False,
    each: Callable[[Answer], object] = lambda answer: None,
) -> Cached:
    """The answer to a search, computed only when the cache has none, or `anew`.

    `each` is told the whole answer when one is computed, with how it came about.

    Raises:
        Unavailable: Elasticsearch cannot answer and no older answer was kept.
    """

    def compute() -> Computed:
        with translated():
            answer = search(elastic, settings.index, request, settings)
        each(answer)
        return Computed(body=answer.body, index=answer.index, found=bool(answer.body["count"]))

    return cache.get_or_compute(request.key(), compute, anew=anew)


AFTER_A_SWAP = 20.0
"""Seconds that warming may take after a swap: whoever swapped waits for it."""


@dataclass(frozen=True, slots=True)
class Warmed:
    """How many searches were asked again, and how many of them could not be."""

    asked: int
    failed: int


def warm(
    cache: AnswerCache,
    elastic: Elasticsearch,
    settings: Settings,
    *,
    at_most: int = 100,
    seconds: float = math.inf,
) -> Warmed:
    """Ask the most frequent searches, so that visitors find their answers kept.

    Those whose answer is kept already cost one look each. Ends after `seconds`, and at the first
    search that Elasticsearch cannot answer.
    """
    asked = failed = 0
    ends = time.monotonic() + seconds
    for query, _ in cache.popular(at_most):
        if time.monotonic() >= ends:
            break
        try:
            searched(cache, elastic, settings, SearchRequest.parse(MultiDict(parse_qsl(query))))
        except Unavailable:
            return Warmed(asked, failed + 1)
        except ServiceError:
            failed += 1  # counted by a version that knew other parameters, or refused
        else:
            asked += 1
    return Warmed(asked, failed)
