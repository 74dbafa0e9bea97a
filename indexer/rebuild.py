"""A new generation from the live one's own documents: for new synonym rules, or a new mapping."""

from elasticsearch import Elasticsearch

from analyzers.rules import RuleSet
from indexer import lifecycle
from indexer.build import Build, Shape, building, count
from indexer.catch_up import documents_of
from indexer.errors import VerificationFailed
from indexer.items import to_index
from indexer.lock import Lock
from indexer.progress import Built, Counts, Progress, Report, in_silence


def rebuild(
    client: Elasticsearch,
    alias: str,
    rules: RuleSet,
    *,
    shards: int,
    replicas: int,
    report: Report = in_silence,
) -> Built:
    """Build the next generation with `rules` from the live one's documents, and make it live.

    Searches go on throughout; what is written meanwhile is carried over. The caller then tells the
    cache: `new_generation(built.index, built.rules)`.

    Raises:
        Locked: another process is building.
        NoGeneration: there is no live index to build from.
        VerificationFailed: a document is missing or was refused; nothing was swapped.
    """
    with Lock(client, alias, "rebuild") as lock:
        return rebuild_locked(client, lock, alias, Shape(rules, shards, replicas), report)


def rebuild_locked(
    client: Elasticsearch, lock: Lock, alias: str, shape: Shape, report: Report
) -> Built:
    """`rebuild` for who holds the lock already."""
    live = lifecycle.require_live(client, alias).name
    with building(client, lock, alias, shape, report) as build:
        return build.finish(_copy(client, build, live, report))


def _copy(client: Elasticsearch, build: Build, live: str, report: Report) -> Counts:
    """Everything in the live generation, with the versions it has."""
    total = count(client, live).total
    copied = {"post": 0, "comment": 0}
    items = (to_index(document) for document in documents_of(client, live))
    for outcomes in build.fill(items):
        for outcome in outcomes:
            if outcome.refusal:
                raise VerificationFailed(
                    f"{outcome.item.id} cannot be copied to {build.name}: "
                    f"{outcome.refusal.reason}; nothing was swapped.",
                    outcome.refusal.remedy,
                )
            copied[outcome.item.kind] += 1
        done = copied["post"] + copied["comment"]
        report(Progress("copying", done, min(1.0, done / total) if total else None))
    return Counts(copied["post"], copied["comment"])
