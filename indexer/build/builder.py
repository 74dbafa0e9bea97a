"""Builds a generation beside the live one: create, fill, verify, replay, swap.

`reindex` fills it from a source; `rebuild` from the documents of the live one, for other synonym
rules, another language, or the schema of a new version of this service. `rollback` replays onto the
generation that was live before, which has been filled already.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import ENGLISH, Language
from analyzers.meaning import Model
from analyzers.rules.compile import Rules
from indexer import SCHEMA, generations
from indexer.build.replay import Replay
from indexer.bulk import index_operation, send_all, send_bulk
from indexer.errors import (
    Damaged,
    IndexingError,
    NoGeneration,
    OtherSchema,
    TooFewDocuments,
    TooManyRejects,
    VerificationFailed,
    other_schema,
)
from indexer.generations import Generation, building_alias
from indexer.ingest import Ingest, IngestOptions, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.records import Counts, Document, OnProgress, SourceItem, batches
from indexer.retry import Retry
from indexer.scan import (
    OVER_HTTP,
    SAMPLES,
    checkpoint,
    count_documents,
    ids,
    stored_documents,
)
from indexer.state import next_number, read_swap, store_swap
from indexer.write.links import update_link_texts
from indexer.write.live import read_posts
from indexer.write.merge import from_source

_REJECTS = 3  # posts of a small source that may be rejected without `force`
_REJECTED_SHARE = 0.1  # and of a large one
_UNBLOCKED_WITHIN = 30.0  # seconds
_EXAMPLES = 5  # oids in a message
_BATCH = 200  # documents

Fill = Callable[[str, Generation | None], Counts]
"""Writes documents to the new generation of this name, through its building alias; how many.
The second is the live one, if it can be read."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The settings of a new generation. `model` gives the vectors of passages; None: no vectors."""

    rules: Rules
    shards: int
    replicas: int
    language: Language = ENGLISH
    model: Model | None = None

    @property
    def model_name(self) -> str:
        """The name of the model; "" without one."""
        return self.model.name if self.model else ""


@dataclass(frozen=True, slots=True)
class Built:
    """A generation that went live.

    `replayed` is the number of writes that arrived during the build, `lost` says what could not be
    taken over, and why, `pruned` are the old generations that were deleted.
    """

    index: str
    counts: Counts
    previous: str | None
    replayed: int
    seconds: float
    lost: str
    pruned: tuple[str, ...]


def is_current(generation: Generation, settings: IndexSettings) -> bool:
    """Whether a generation has these rules, language and vectors, and the present schema."""
    wanted = (settings.rules.digest, settings.language.name, SCHEMA, settings.model_name)
    had = (generation.rules, generation.language, generation.schema, generation.model)
    return had == wanted


def rolled_back_from(
    existing: Sequence[Generation], live: Generation, settings: IndexSettings
) -> str:
    """The generation after the live one that is current; empty if there is none.

    Somebody rolled back from it. To rebuild would undo that.
    """
    if live.schema != SCHEMA:
        return ""  # this version cannot write to the live one
    later = (item for item in existing if item.number > live.number)
    return next((item.name for item in later if is_current(item, settings)), "")


# -- what fills it -----------------------------------------------------------------------------


def reindex(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
    lock: Lock | None = None,
) -> Built:
    """Build the next generation from a source, and make it live.

    Args:
        lock: the lock of the alias, if the caller holds it already.

    Raises:
        IndexingError: nothing was swapped. It is locked; the source cannot be read, has far fewer
            posts than the live generation, or too many were rejected; accepted documents are
            missing; or the live generation cannot be read, and there is no `options.force`.
    """
    options = options or IngestOptions()

    def fill(name: str, live: Generation | None) -> Counts:
        ingest = Ingest(on_reject, options)
        documents = ingest.documents(raws)
        if live:
            documents = _merged(client, live.name, documents)
        posts = with_passages(documents, settings.model, client, live.name if live else None)
        accepted = Counts()
        operations = map(index_operation, posts)
        for outcomes in send_bulk(client, building_alias(name), operations, options.limits):
            for outcome in outcomes:
                operation = outcome.operation
                if outcome.refusal:
                    ingest.refuse(operation.origin, operation.oid, outcome.refusal)
                else:
                    accepted += Counts(1, operation.comments)
        if not options.force:
            check_rejects(ingest.rejected, ingest.entries - accepted.posts, ingest.entries)
        if not accepted.posts:
            raise IndexingError(
                "The source has no posts; nothing was swapped.",
                "Check that it is the right file or folder.",
            )
        if live:
            accepted += _keep_over_http(client, live.name, name, settings, ingest)
        if live and not options.force:
            _check_not_far_fewer(client, live.name, accepted)
        return accepted

    with nullcontext(lock) if lock else Lock(client, alias, options.purpose) as held:
        progress, force = options.on_progress, options.force
        return build(client, held, alias, settings, fill, progress, force=force, from_source=True)


def rebuild(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    on_progress: OnProgress,
) -> Built:
    """Build the next generation from the live one's documents, and make it live.

    Searches go on throughout; writes made meanwhile are replayed. The caller holds the lock.

    Raises:
        IndexingError: nothing was swapped. There is no live index, or it cannot be read, or has a
            schema that is neither the present one nor the one before; or a document was refused.
    """
    source = generations.require_live(client, alias).name

    def fill(name: str, _: Generation | None) -> Counts:
        copied = Counts()
        posts = with_passages(stored_documents(client, source), settings.model, client)
        for outcomes in send_all(client, building_alias(name), map(index_operation, posts)):
            for outcome in outcomes:
                copied += Counts(1, outcome.operation.comments)
            on_progress("copying", copied.posts)
        return copied

    return build(client, lock, alias, settings, fill, on_progress)


def check_rejects(rejected: int, wholly: int, entries: int) -> None:
    """Check that a source was understood.

    Args:
        rejected: its posts of which something was rejected; a tenth may be, and three.
        wholly: those of which nothing is left; more than half is too many in any case.

    Raises:
        TooManyRejects: it was not.
    """
    if rejected > max(_REJECTS, _REJECTED_SHARE * entries) or 2 * wholly > entries:
        raise TooManyRejects(
            f"{rejected:,} of {entries:,} posts were rejected, wholly or in part; nothing was "
            "swapped.",
            "Correct them, or go on without them: --force.",
        )


def _merged(client: Elasticsearch, live: str, documents: Iterable[Document]) -> Iterator[Document]:
    """Posts of a source with what only the live generation has: comments that came over HTTP, and
    the texts of links, most of which stay the same."""
    for batch in batches(documents, _BATCH):
        oids = [document.oid for document in batch]
        posts = read_posts(client, live, oids, ["comments", "link_texts"])
        for document, post in zip(batch, posts, strict=True):
            yield replace(document, source=from_source(document)(post.source) or {})


def _keep_over_http(
    client: Elasticsearch, live: str, name: str, settings: IndexSettings, ingest: Ingest
) -> Counts:
    """Write the posts that came over HTTP and are not in the source; how many.

    Raises:
        TooFewDocuments: there are comments on further posts that the source does not have.
    """
    lacking: list[str] = []

    def posts() -> Iterator[Document]:
        query = {"bool": {"must": OVER_HTTP, "must_not": SAMPLES}}
        for document in stored_documents(client, live, query):
            if document.oid in ingest.read:
                continue
            if document.source.get("over_http"):
                yield document
            else:
                lacking.append(document.oid)

    kept = Counts()
    with_vectors = with_passages(posts(), settings.model, client)
    for outcomes in send_all(client, building_alias(name), map(index_operation, with_vectors)):
        for outcome in outcomes:
            kept += Counts(1, outcome.operation.comments)
    if lacking and not ingest.options.force:
        examples = ", ".join(lacking[:_EXAMPLES]) + (", …" if len(lacking) > _EXAMPLES else "")
        raise TooFewDocuments(
            f"Comments came over HTTP on {len(lacking):,} posts that the source does not have "
            f"({examples}); nothing was swapped.",
            "Check the source, or use --force to leave them out.",
        )
    return kept


def _check_not_far_fewer(client: Elasticsearch, live: str, accepted: Counts) -> None:
    # Any source replaces the samples.
    indexed = count_documents(client, live, {"bool": {"must_not": SAMPLES}})
    for name, now, before in (
        ("posts", accepted.posts, indexed.posts),
        ("comments", accepted.comments, indexed.comments),
    ):
        if too_many_removed(before - now, before):
            raise TooFewDocuments(
                f"The source has {now:,} {name}, the live index {before:,}; nothing was swapped.",
                "Check the source, or use --force to replace them.",
            )


# -- the build ---------------------------------------------------------------------------------


def build(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    fill: Fill,
    on_progress: OnProgress,
    *,
    force: bool = False,
    from_source: bool = False,
) -> Built:
    """Build the next generation and make it live; after any failure the live one is as it was.

    Args:
        force: also if the live generation cannot be read; what only it has is lost.
        from_source: as for `Replay`.

    Raises:
        VerificationFailed: the index does not contain what was accepted; nothing was swapped.
        OtherSchema: the live generation was built by a newer version, or one that is too old.
        Damaged: the live generation cannot be read.
    """
    # Imported here: it loads elasticsearch.dsl, which a service that only searches never needs.
    from indexer.schema import index_body

    existing = generations.recover(client, alias)
    live, lost = generations.live_of(existing), ""
    try:
        if live:
            generations.check_readable(client, live)
            if live.schema not in (SCHEMA, SCHEMA - 1):
                raise other_schema(live.schema)
    except (Damaged, OtherSchema) as error:
        if not force:
            raise
        live, lost = None, f"{error.message} What only this index had is lost."
    highest = max((generation.number for generation in existing), default=0)
    name = generations.generation_name(alias, next_number(client, alias, highest))
    replay = None
    if live:
        # Writes to the live generation are replayed from here on: before there is a new one.
        replay = Replay(client, live.name, name, model=settings.model, from_source=from_source)

    def create_and_fill() -> None:
        body = index_body(
            settings.rules,
            shards=settings.shards,
            replicas=settings.replicas,
            language=settings.language,
            model=settings.model_name,
        )
        generations.create(client, name, body)
        accepted = fill(name, live)
        update_link_texts(client, name, building_alias(name))
        on_progress("verifying", accepted.posts)
        client.indices.refresh(index=name)
        counts = count_documents(client, name)
        if counts != accepted:
            raise VerificationFailed(
                f"{name} contains {counts}, but {accepted} were accepted; nothing was swapped.",
                "Look at the log of Elasticsearch, then run the command again.",
            )
        per_shard = counts.total // settings.shards
        generations.prepare_for_search(client, name, settings.replicas, per_shard)
        on_progress("replaying", counts.posts)

    return _go_live(client, lock, alias, name, existing, create_and_fill, replay, lost)


def rollback(client: Elasticsearch, alias: str) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    If the live generation is gone or cannot be read, they are lost as long as it cannot.

    Raises:
        NoGeneration: there is no previous generation.
        Damaged: nor can the previous one be read.
        VerificationFailed: a write since the swap does not fit the older mapping.
        Locked: another process is building.
    """
    with Lock(client, alias, "rollback") as lock:
        existing = generations.recover(client, alias)
        live = generations.live_of(existing)
        previous = next((item for item in existing if item.state == "previous"), None)
        if previous is None:
            raise NoGeneration(
                f"There is no previous generation of {alias!r} to roll back to.",
                "`blogsearch indices` lists the existing ones.",
            )
        generations.check_readable(client, previous)
        damage = generations.damage(client, live) if live else "There is no live generation"
        lost = f"{damage}: what was written since it went live is lost." if damage else ""
        replay = None
        if live and not damage:
            swapped = read_swap(client, alias, live.name)
            replay = Replay(client, live.name, previous.name, swapped)

        def reopen() -> None:
            generations.reopen(client, previous.name)
            # Not earlier: a process that took the lock before this has not seen the alias.
            lock.check()

        return _go_live(client, lock, alias, previous.name, existing, reopen, replay, lost)


def _go_live(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    new: str,
    existing: Sequence[Generation],
    prepare: Callable[[], None],
    replay: Replay | None,
    lost: str,
) -> Built:
    """Prepare a generation, replay onto it and swap; undo all of it if anything fails."""
    started = time.monotonic()
    try:
        prepare()
        if replay:
            replay.until_few_are_left()
        client.indices.refresh(index=new)
        store_swap(client, alias, new, ids(client, new))
        lock.check()
        further = replay.rest() if replay else ()
        client.indices.refresh(index=new)
        # Before the swap: a failure after it would look as if nothing had been swapped.
        counts = count_documents(client, new)
        store_swap(client, alias, new, further, checkpoint(client, new))
        lock.check()
        generations.swap(client, alias, new, existing)
    except BaseException as error:
        _undo(client, lock, alias, error, _UNBLOCKED_WITHIN if replay and replay.blocked else 0.0)
        raise
    live, pruned = generations.live_of(existing), []
    with suppress(ApiError, TransportError):  # the next build deletes them
        pruned = generations.prune(client, alias, "kept")
    return Built(
        new,
        counts,
        previous=live.name if live else None,
        replayed=replay.replayed if replay else 0,
        seconds=time.monotonic() - started,
        lost=lost,
        pruned=tuple(pruned),
    )


def _undo(
    client: Elasticsearch, lock: Lock, alias: str, error: BaseException, seconds: float
) -> None:
    """Undo what a build or rollback has changed; a process that took over the lock does it itself.

    It is tried for so many seconds while Elasticsearch is unavailable: otherwise the next write has
    to find out that nobody builds.
    """

    def recover() -> None:
        lock.check()
        generations.recover(client, alias)

    try:
        Retry(seconds, first_pause=0.5, longest_pause=0.5).call(recover)
    except Exception as second:  # noqa: BLE001  (the first error is the one to report)
        error.add_note(f"The next write or build has to undo what was changed: {second}")
