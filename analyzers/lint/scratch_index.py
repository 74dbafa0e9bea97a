"""An index that exists only to analyse: what Elasticsearch really makes of rules.

Creating it is the proof that an index with these rules can be created at all. Nothing live is
touched.
"""

import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers import chains
from analyzers.rules import RuleSet

PREFIX = "blogsearch-trial-"
_BATCH = 1000  # texts in one request
_ORPHANED = 3600  # seconds; a trial lasts less, so what is older was left by a killed process
_BEFORE, _STEMS = "trial_before", "trial_stems"


class Refused(Exception):
    """Elasticsearch would not create an index with these rules.

    `line` is the number, from 1, of the compiled line that it names, 0 when it names none.
    """

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Trial:
    """Analyses texts, each on its own, under one set of rules."""

    def __init__(self, client: Elasticsearch, index: str) -> None:
        self._client = client
        self.index = index

    def before(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The tokens as they reach the synonym filter."""
        return self._tokens(_BEFORE, texts)

    def stems(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The tokens of the stemmed chain as if there were no rules."""
        return self._tokens(_STEMS, texts)

    def forms(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The tokens after the synonym filter, not stemmed, sorted where they share a position."""
        return self._tokens(chains.FORMS, texts)

    def final(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The tokens of the stemmed chain at its end."""
        return self._tokens(chains.TEXT, texts)

    def _tokens(self, analyzer: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            answer = self._client.indices.analyze(index=self.index, analyzer=analyzer, text=batch)
            found.extend(_by_text(batch, answer["tokens"]))
        return found


def _by_text(
    texts: Sequence[str], tokens: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, ...]]:
    """Elasticsearch answers with one list for all texts; offsets go on over them, one apart."""
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


@contextmanager
def trial(client: Elasticsearch, rules: RuleSet) -> Iterator[Trial]:
    """A trial under these rules; its index is gone afterwards.

    Raises:
        Refused: when no index can be created with the rules.
        elasticsearch.ApiError, elasticsearch.TransportError: as the client does.
    """
    remove_orphans(client, f"{PREFIX}*")
    index = f"{PREFIX}{uuid.uuid4().hex[:12]}"
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "hidden": True,
        "analyze": {"max_token_count": 100_000},
        "analysis": _analysis(rules),
    }
    try:
        try:
            # Many rules take long; a shard that is not there yet cannot analyse.
            client.indices.create(
                index=index, settings=settings, timeout="120s", master_timeout="120s"
            )
        except BadRequestError as refusal:
            raise Refused(*_reason(refusal)) from None
        yield Trial(client, index)
    finally:
        client.options(ignore_status=404).indices.delete(index=index)


def _analysis(rules: RuleSet) -> dict[str, Any]:
    analysis = chains.analysis(rules)
    text = analysis["analyzer"][chains.TEXT]
    filters = text["filter"]
    at = next(
        number
        for number, name in enumerate(filters)
        if analysis["filter"].get(name, {}).get("type") == "synonym"
    )
    before = {**text, "filter": filters[:at]}
    stems = {**text, "filter": filters[:at] + filters[at + 1 :]}
    analyzers = {**analysis["analyzer"], _BEFORE: before, _STEMS: stems}
    return {**analysis, "analyzer": analyzers}


def _reason(refusal: BadRequestError) -> tuple[str, int]:
    cause = refusal.body.get("error", {}) if isinstance(refusal.body, dict) else {}
    reasons = []
    while cause:
        reasons.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by", {})
    line = next((found[1] for reason in reasons if (found := re.search(r"line (\d+)", reason))), 0)
    return (reasons[-1] if reasons else str(refusal)), int(line)


def remove_orphans(client: Elasticsearch, pattern: str) -> None:
    """Deletes temporary indices that a killed process left: those over an hour old."""
    found = client.indices.get(
        index=pattern, expand_wildcards="all", ignore_unavailable=True, features="settings"
    )
    for index, held in found.items():
        created = int(held["settings"]["index"]["creation_date"]) / 1000
        if created < time.time() - _ORPHANED:
            client.options(ignore_status=404).indices.delete(index=index)
