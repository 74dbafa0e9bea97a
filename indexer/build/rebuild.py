"""Builds a new generation from the live one's documents: for new synonym rules or a new mapping."""

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import SCHEMA
from indexer.build.builder import Built, IndexSettings, build
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.errors import VerificationFailed
from indexer.generations import building_alias, require_live
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.progress import OnProgress, Progress
from indexer.records import Counts
from indexer.scan import count_documents, scan, stored_documents
from indexer.write.comments import update_comments


def rebuild(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    on_progress: OnProgress,
) -> Built:
    """Build the next generation from the live one's documents, and make it live.

    Searches go on throughout; writes made meanwhile are replayed. The caller holds the lock, and
    afterwards begins a new generation of the cache with `built.index` and `built.rules`.

    Raises:
        NoGeneration: there is no live index to build from.
        VerificationFailed: a document is missing or was refused; nothing was swapped.
    """
    live = require_live(client, alias)

    def fill(name: str) -> Counts:
        copied = _copy(client, live.name, name, settings.model, on_progress)
        if live.schema != SCHEMA:
            _add_comments_to_posts(client, name)
        return copied

    return build(client, lock, alias, settings, fill, on_progress)


def _copy(
    client: Elasticsearch, live: str, name: str, model: Model | None, on_progress: OnProgress
) -> Counts:
    """Copy every document of the live generation, with its version."""
    total = count_documents(client, live).total
    copied = {"post": 0, "comment": 0}
    operations = map(index_operation, with_passages(stored_documents(client, live), model))
    for outcomes in send_bulk(client, building_alias(name), operations):
        for outcome in outcomes:
            if outcome.refusal:
                raise VerificationFailed(
                    f"{outcome.operation.id} cannot be copied to {name}: "
                    f"{outcome.refusal.reason}; nothing was swapped.",
                    outcome.refusal.remedy,
                )
            copied[outcome.operation.kind] += 1
        done = copied["post"] + copied["comment"]
        on_progress(Progress("copying", done, min(1.0, done / total) if total else None))
    return Counts(copied["post"], copied["comment"])


def _add_comments_to_posts(client: Elasticsearch, index: str) -> None:
    """Posts of an older schema have no field `comments`."""
    client.indices.refresh(index=index)
    comments = scan(client, index, query={"exists": {"field": "post_oid"}}, source=False)
    oids = {hit["_routing"] for hit in comments}
    update_comments(client, building_alias(index), oids, BulkLimits().retry_for)
