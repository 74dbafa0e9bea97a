"""A temporary index whose only purpose is to analyse texts under a set of rules.

That it can be created proves that Elasticsearch accepts the rules. The live index is not touched.
"""

import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal

from elasticsearch import BadRequestError, Elasticsearch

from analyzers import chains
from analyzers.languages import ENGLISH, Language
from analyzers.rules.compile import RuleSet

PREFIX = "blogsearch-scratch-"
_BATCH = 1000  # texts per request
_STALE = 3600.0  # seconds; a scratch index lives for minutes at most
_SCRATCH = "scratch"

Tokens = tuple[str, ...]
Stage = Literal["before_synonyms", "after_synonyms", "without_synonyms"]
"""Where the tokens of the text chain are taken: what its synonym filter gets or makes, or the stems
that the chain makes without that filter."""


class RulesRejected(Exception):
    """Elasticsearch did not create an index with the rules.

    `line` is the number, from 1, of the compiled line that it names.
    """

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class ScratchIndex:
    """Analyses texts, each on its own. The tokens are in order of position, then alphabetical."""

    def __init__(self, client: Elasticsearch, name: str) -> None:
        self._client = client
        self.name = name

    def tokens(self, stage: Stage, texts: Iterable[str]) -> dict[str, Tokens]:
        """The tokens of each text."""
        tokens: dict[str, Tokens] = {}
        iterator = iter(texts)
        while batch := list(islice(iterator, _BATCH)):
            response = self._client.indices.analyze(
                index=self.name, analyzer=f"{_SCRATCH}_{stage}", text=batch
            )
            tokens |= zip(batch, _split_by_text(batch, response["tokens"]), strict=True)
        return tokens


@contextmanager
def scratch_index(
    client: Elasticsearch, rules: RuleSet, language: Language = ENGLISH
) -> Iterator[ScratchIndex]:
    """A scratch index with these rules; it is deleted afterwards.

    Raises:
        RulesRejected: no index can be created with the rules.
        elasticsearch.ApiError, elasticsearch.TransportError: from the client.
    """
    delete_stale_indices(client, f"{PREFIX}*")
    name = f"{PREFIX}{uuid.uuid4().hex[:12]}"
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "hidden": True,
        "analyze": {"max_token_count": 100_000},
        "analysis": _analysis(rules, language),
    }
    body = mark_as_scratch({"settings": settings})
    try:
        try:
            # Many rules take long, and the analyze API needs a started shard.
            client.indices.create(index=name, **body, timeout="120s", master_timeout="120s")
        except BadRequestError as error:
            reason, line = _rejection(error)
            if not line:  # not about the rules: the cluster may have as many shards as it may have
                raise
            raise RulesRejected(reason, line) from None
        yield ScratchIndex(client, name)
    finally:
        client.options(ignore_status=404).indices.delete(index=name)


def delete_stale_indices(
    client: Elasticsearch, pattern: str, older_than: float = _STALE
) -> list[str]:
    """Delete the scratch indices that killed processes left; returns their names.

    Only what `mark_as_scratch` has marked is deleted: another service may have indices with such
    names.

    Args:
        older_than: seconds since the index was created.
    """
    indices = client.indices.get(
        index=pattern,
        expand_wildcards="all",
        ignore_unavailable=True,
        features=["settings", "mappings"],
        filter_path=["*.settings.index.creation_date", "*.mappings._meta"],
    )
    deleted = []
    for name, body in indices.items():
        created = int(body["settings"]["index"]["creation_date"]) / 1000
        meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
        if meta.get("state") == _SCRATCH and created < time.time() - older_than:
            client.options(ignore_status=404).indices.delete(index=name)
            deleted.append(name)
    return deleted


def mark_as_scratch(body: dict[str, Any]) -> dict[str, Any]:
    """The body of an index that `delete_stale_indices` may delete."""
    mappings = body.get("mappings", {})
    meta = {**mappings.get("_meta", {}).get("blogsearch", {}), "state": _SCRATCH}
    return {**body, "mappings": {**mappings, "_meta": {"blogsearch": meta}}}


def _analysis(rules: RuleSet, language: Language) -> dict[str, Any]:
    """The index's analysis, and parts of the text chain."""
    analysis = chains.analysis(rules, language)
    text = dict(analysis["analyzer"][chains.TEXT])
    filters = text["filter"]
    at = filters.index(chains.SYNONYMS)
    stages: dict[Stage, list[str]] = {
        "before_synonyms": filters[:at],
        "after_synonyms": filters[: at + 1],
        "without_synonyms": filters[:at] + filters[at + 1 :],
    }
    # Rules must have tokens in posts too, which are HTML.
    text["char_filter"] = analysis["analyzer"][chains.index_time(chains.TEXT)]["char_filter"]
    scratch = {f"{_SCRATCH}_{stage}": {**text, "filter": part} for stage, part in stages.items()}
    return {**analysis, "analyzer": {**analysis["analyzer"], **scratch}}


def _split_by_text(texts: Sequence[str], tokens: Sequence[Mapping[str, Any]]) -> Iterator[Tokens]:
    """Elasticsearch returns one list for all texts, with a gap of one offset between two texts."""
    begin = 0
    rest = 0
    for text in texts:
        end = begin + len(text.encode("utf-16-le")) // 2
        own: list[tuple[int, str]] = []
        while rest < len(tokens) and tokens[rest]["start_offset"] <= end:
            own.append((tokens[rest]["position"], tokens[rest]["token"]))
            rest += 1
        yield tuple(token for _, token in sorted(own))
        begin = end + 1


def _rejection(error: BadRequestError) -> tuple[str, int]:
    """The innermost reason, and the line that one of the reasons names; 0 if none does."""
    cause = error.body.get("error", {}) if isinstance(error.body, dict) else {}
    reasons = []
    while cause:
        reasons.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by", {})
    line = next((match[1] for reason in reasons if (match := re.search(r"line (\d+)", reason))), 0)
    return (reasons[-1] if reasons else str(error)), int(line)
