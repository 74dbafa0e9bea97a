"""The search itself: a SearchRequest in, an Answer out."""

from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from app.search import blended, fallback
from app.search.request import SearchRequest
from app.search.session import SearchSession
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found.

    `body` is the JSON answer without `debug`; `debug` is how it came about; `index` is the index
    behind the alias that answered, "" if no hit tells it.
    """

    body: dict[str, Any]
    debug: dict[str, Any]
    index: str


def search(client: Elasticsearch, index: str, request: SearchRequest, settings: Settings) -> Answer:
    """Answer a search with the strategy of the settings.

    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.
    """
    session = SearchSession(client, index)
    if settings.strategy == "fallback":
        return Answer(*fallback.answer(session, request))
    return Answer(*blended.answer(session, request, settings))
