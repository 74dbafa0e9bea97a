"""What a request needs at hand: the settings, the engine and the cache of this application."""

from dataclasses import dataclass
from typing import cast

from elasticsearch import Elasticsearch
from flask import current_app

from app.cache import AnswerCache
from app.settings import Settings

EXTENSION = "blogsearch"


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that `create_app` wired together; lives as long as the application."""

    settings: Settings
    elastic: Elasticsearch
    cache: AnswerCache


def current_service() -> Service:
    """The parts of the application that answers this request."""
    return cast(Service, current_app.extensions[EXTENSION])
