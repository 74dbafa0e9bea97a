"""Sends what a plan says to Elasticsearch and keeps a record of it for the explanation."""

from dataclasses import dataclass, field
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.dsl import Search

from app.settings import Settings

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that was sent: its kind, Elasticsearch's own time in milliseconds, its body."""

    kind: str
    took_ms: int
    body: Json

    def explain(self) -> Json:
        return {"kind": self.kind, "took_ms": self.took_ms, "body": self.body}


@dataclass(slots=True)
class Conversation:
    """The requests of one search, one after the other.

    Elasticsearch's exceptions pass through; `app.elastic.translated` makes them ours.
    """

    client: Elasticsearch
    index: str
    asked: list[Asked] = field(default_factory=list)

    @classmethod
    def with_settings(cls, client: Elasticsearch, index: str, settings: Settings) -> "Conversation":
        return cls(client.options(request_timeout=settings.elasticsearch_timeout), index)

    def ask(self, kind: str, plan: Search, *, scores: bool = False) -> Json:
        """Send one search; the response as Elasticsearch gave it.

        With `scores`, hits tell what each named clause added.
        """
        body = plan.to_dict()
        named = scores or None
        response: Json = self.client.search(
            index=self.index, body=body, include_named_queries_score=named
        ).body
        self.asked.append(Asked(kind, response["took"], body))
        return response

    def explain(self) -> list[Json]:
        return [asked.explain() for asked in self.asked]

    def rules_digest(self) -> str:
        """Which synonym rules are in the index, "" when it does not say; no search is sent."""
        mappings = self.client.indices.get_mapping(index=self.index).body
        for index in mappings.values():
            meta = index["mappings"].get("_meta", {}).get("blogsearch", {})
            return str(meta.get("rules", ""))
        return ""
