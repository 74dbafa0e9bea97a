"""Builds a new generation from the live one's documents.

For other synonym rules, another language, or the schema of another version of this service."""

from elasticsearch import Elasticsearch

from indexer import SCHEMA
from indexer.build.builder import Built, IndexSettings, build, copy_documents
from indexer.build.upgrade import adaptation
from indexer.bulk import BulkLimits
from indexer.generations import Generation, building_alias, list_generations, require_live
from indexer.lock import Lock
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
        Damaged: it cannot be read.
        OtherSchema: it was built by a newer version.
        VerificationFailed: a document is missing or was refused; nothing was swapped.
    """
    live = require_live(client, alias)

    def fill(name: str, _: Generation | None) -> Counts:
        total = count_documents(client, live.name).total

        def report(copied: int) -> None:
            on_progress(Progress("copying", copied, min(1.0, copied / total) if total else None))

        adapt = adaptation(client, live.schema, name, SCHEMA)
        documents = map(adapt, stored_documents(client, live.name))
        copied = copy_documents(client, building_alias(name), documents, settings.model, report)
        if live.schema != SCHEMA:
            _add_comments_to_posts(client, name)
        return copied

    return build(client, lock, alias, settings, fill, on_progress)


def is_current(generation: Generation, settings: IndexSettings) -> bool:
    """Whether a generation has these rules, language and vectors, and the present schema."""
    wanted = (settings.rules.digest, settings.language.name, SCHEMA, settings.model is not None)
    had = (generation.rules, generation.language, generation.schema, generation.semantic)
    return had == wanted


def rolled_back_from(
    client: Elasticsearch, alias: str, live: Generation, settings: IndexSettings
) -> str:
    """The generation after the live one that is current; empty if there is none.

    Somebody rolled back from it. To rebuild would undo that.
    """
    if live.schema != SCHEMA:
        return ""  # this version cannot write to the live one
    for generation in list_generations(client, alias):
        if generation.number > live.number and is_current(generation, settings):
            return generation.name
    return ""


def _add_comments_to_posts(client: Elasticsearch, index: str) -> None:
    """Posts of an older schema have no field `comments`."""
    client.indices.refresh(index=index)
    comments = scan(client, index, query={"exists": {"field": "post_oid"}}, source=False)
    oids = {hit["_routing"] for hit in comments}
    update_comments(client, building_alias(index), oids, BulkLimits())
