"""The search itself: a SearchRequest in, an Answer out."""

from dataclasses import dataclass
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers.languages import LANGUAGES
from app.search import blended, fallback
from app.search.answer import SearchAnswer
from app.search.known import Known, read_index_rules
from app.search.request import SearchRequest
from app.search.session import SearchSession
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON answer without `debug`, and how it came about."""

    body: SearchAnswer
    debug: dict[str, Any]


def search(
    client: Elasticsearch,
    index: str,
    request: SearchRequest,
    settings: Settings,
    known: Known | None = None,
) -> Answer:
    """Answer a search with the strategy of the settings.

    `known` is what the process knows of the index; only `blended` uses it.
    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    session = SearchSession(client, index, settings.elasticsearch_timeout)
    try:
        if settings.strategy == "fallback":
            return Answer(*fallback.answer(session, request, LANGUAGES[settings.language]))
        return Answer(*blended.answer(session, request, settings, known or Known()))
    except BadRequestError:
        read_index_rules(session)  # an index with other fields is the likeliest reason
        raise
