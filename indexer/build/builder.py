"""Builds a generation beside the live one: create, fill, verify, replay, swap.

`reindex` fills it from a source; `rebuild` from the documents of the live one, for other synonym
rules, another language, or the schema of a new version of this service. `rollback` replays onto the
generation that was live before, which has been filled already.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import ENGLISH, Language
from analyzers.meaning import Model
from analyzers.rules.compile import Rules
from indexer import SCHEMA, generations
from indexer.build.replay import Replay
from indexer.bulk import index_operation, send_all
from indexer.errors import (
    IndexingError,
    NoGeneration,
    TooFewDocuments,
    VerificationFailed,
    other_schema,
)
from indexer.generations import Generation, building_alias
from indexer.ingest import Ingest, IngestOptions, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.records import Counts, Document, OnProgress, Progress, SourceItem, batches
from indexer.retry import Retry
from indexer.scan import (
    OVER_HTTP,
    SAMPLES,
    checkpoint,
    count_documents,
    ids,
    stored_documents,
)
from indexer.state import SwapRecord, next_number, read_swap
from indexer.write.links import update_link_texts
from indexer.write.live import read_posts
from indexer.write.merge import from_source

_UNBLOCKED_WITHIN = 30.0  # seconds
_EXAMPLES = 5  # oids in a message
_BATCH = 200  # documents

Fill = Callable[[str, Generation | None], tuple[Counts, Counts]]
"""Writes documents to the new generation of this name through its building alias.

It is given the live one, unless there is none that can be read. It returns how many were accepted,
and how many of them came over HTTP and are not in the source.
"""


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

    Args:
        index: its name.
        rules: the digest of its synonym rules, which is part of the cache's generation.
        previous: the generation that was live before.
        replayed: number of writes that arrived during the build and were replayed.
        stale_builds: names of generations left by killed builds, which were deleted.
        over_http: what a `reindex` kept that came over HTTP and is not in the source.
        lost: what could not be taken over, and why; empty if nothing was lost.
        pruned: names of old generations, which were deleted.
    """

    index: str
    rules: str
    counts: Counts
    previous: str | None = None
    replayed: int = 0
    seconds: float = 0.0
    stale_builds: tuple[str, ...] = ()
    over_http: Counts = field(default_factory=Counts)
    lost: str = ""
    pruned: tuple[str, ...] = ()


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
        Locked: another process is building.
        TooManyRejects: more was rejected than allowed; nothing was swapped.
        VerificationFailed: accepted documents are missing; nothing was swapped.
        SourceError: reading the source failed; nothing was swapped.
        TooFewDocuments: the source has far fewer than the live generation; nothing was swapped.
        Damaged: the live generation cannot be read; with `options.force` it is replaced.
    """
    options = options or IngestOptions()

    def fill(name: str, live: Generation | None) -> tuple[Counts, Counts]:
        ingest = Ingest(on_reject, options)
        documents = ingest.documents(raws)
        stored_in = live.name if live else None
        if live:
            documents = _merged(client, live.name, documents)
        ingest.send(client, building_alias(name), documents, settings.model, stored_in)
        wholly = ingest.entries - ingest.accepted.posts
        options.max_rejects.check(ingest.rejected, wholly, ingest.entries)
        if not ingest.accepted.posts:
            raise IndexingError(
                "The source has no posts; nothing was swapped.",
                "Check that it is the right file or folder.",
            )
        if live is None:
            return ingest.accepted, Counts()
        over_http = _keep_over_http(client, live.name, name, settings, ingest)
        accepted = ingest.accepted + over_http
        if not options.force:
            _check_not_far_fewer(accepted, _without_samples(client, live.name))
        return accepted, over_http

    with nullcontext(lock) if lock else Lock(client, alias, options.purpose) as held:
        return build(
            client,
            held,
            alias,
            settings,
            fill,
            options.on_progress,
            force=options.force,
            from_source=True,
        )


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
        NoGeneration: there is no live index to build from.
        Damaged: it cannot be read.
        OtherSchema: it is neither of the present schema nor of the one before.
        VerificationFailed: a document is missing or was refused; nothing was swapped.
    """

    def fill(name: str, live: Generation | None) -> tuple[Counts, Counts]:
        if live is None:
            raise NoGeneration(
                f"There is no index {alias!r} yet.", "Build one with `blogsearch reindex SOURCE`."
            )
        total = count_documents(client, live.name).posts
        copied = Counts()
        posts = with_passages(stored_documents(client, live.name), settings.model, client)
        for outcomes in send_all(client, building_alias(name), map(index_operation, posts)):
            for outcome in outcomes:
                copied += Counts(1, outcome.operation.comments)
            on_progress(Progress("copying", copied.posts, min(1.0, copied.posts / max(total, 1))))
        return copied, Counts()

    return build(client, lock, alias, settings, fill, on_progress)


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
    kept = Counts()
    lacking: list[str] = []
    for batch in batches(stored_documents(client, live, OVER_HTTP), _BATCH):
        missing = [document for document in batch if document.oid not in ingest.read]
        posts = [document for document in missing if document.source.get("over_http")]
        lacking += [document.oid for document in missing if document not in posts]
        with_vectors = with_passages(posts, settings.model, client)
        for _ in send_all(client, building_alias(name), map(index_operation, with_vectors)):
            pass
        for document in posts:
            kept += document.counts
    if lacking and not ingest.options.force:
        samples = set(ids(client, live, SAMPLES))  # which any source replaces
        lacking = [oid for oid in lacking if oid not in samples]
    if lacking and not ingest.options.force:
        examples = ", ".join(lacking[:_EXAMPLES]) + (", …" if len(lacking) > _EXAMPLES else "")
        raise TooFewDocuments(
            f"Comments came over HTTP on {len(lacking):,} posts that the source does not have "
            f"({examples}); nothing was swapped.",
            "Check the source, or use --force to leave them out.",
        )
    return kept


def _without_samples(client: Elasticsearch, index: str) -> Counts:
    """What there is besides the sample posts, which any source replaces."""
    return count_documents(client, index, {"bool": {"must_not": SAMPLES}})


def _check_not_far_fewer(accepted: Counts, indexed: Counts) -> None:
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

    The caller holds the lock.

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

    started = time.monotonic()
    existing, stale_builds = generations.recover(client, alias)
    live = generations.live_of(existing)
    damage = generations.damage(client, live) if live else ""
    if damage and not force:
        raise generations.damaged(damage)
    if live and live.schema not in (SCHEMA, SCHEMA - 1):
        if not force:
            raise other_schema(live.schema)
        damage = f"{live.name} was built by another version"
    highest = max((generation.number for generation in existing), default=0)
    name = generations.generation_name(alias, next_number(client, alias, highest))
    # Writes to the live generation are replayed from here on: before there is a new one.
    readable = None if damage else live
    replay = _from_now(client, readable.name, name, settings.model) if readable else None
    with undone_on_failure(client, lock, alias, replay):
        body = index_body(
            settings.rules,
            shards=settings.shards,
            replicas=settings.replicas,
            language=settings.language,
            model=settings.model_name,
        )
        generations.create(client, name, body)
        accepted, over_http = fill(name, readable)
        update_link_texts(client, name, building_alias(name))

        on_progress(Progress("verifying", accepted.posts))
        client.indices.refresh(index=name)
        counts = count_documents(client, name)
        if counts != accepted:
            raise VerificationFailed(
                f"{name} contains {counts}, but {accepted} were accepted; nothing was swapped.",
                "Look at the log of Elasticsearch, then run the command again.",
            )
        per_shard = counts.total // settings.shards
        generations.prepare_for_search(client, name, settings.replicas, per_shard)
        if replay:
            replay.from_source = from_source
        counts = _go_live(client, lock, alias, name, live, replay, on_progress)
    return Built(
        index=name,
        rules=settings.rules.digest,
        counts=counts,
        previous=live.name if live else None,
        replayed=replay.replayed if replay else 0,
        seconds=time.monotonic() - started,
        stale_builds=tuple(stale_builds),
        over_http=over_http,
        lost=f"{damage}: what came over HTTP, and is not in the source, is lost" if damage else "",
        pruned=_prune(client, alias),
    )


def rollback(client: Elasticsearch, alias: str, *, discard_writes: bool = False) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    If the live generation cannot be read, they are lost as long as it cannot.
    If somebody removed the alias, so that no generation is live, the last live one gets it again.

    Args:
        discard_writes: do not replay those writes.

    Raises:
        NoGeneration: there is no previous generation.
        Damaged: nor can the previous one be read.
        VerificationFailed: a write since the swap does not fit the older mapping.
        Locked: another process is building.
    """
    started = time.monotonic()
    with Lock(client, alias, "rollback") as lock:
        existing, stale_builds = generations.recover(client, alias)
        live = generations.live_of(existing)
        if live is None:
            # If there is none, `require_live` says what to do.
            restored = generations.restore_alias(client, alias)
            restored = restored or generations.require_live(client, alias)
            counts = count_documents(client, restored.name)
            return Built(restored.name, restored.rules or "", counts)
        previous = _previous(existing, alias)
        if reason := generations.damage(client, previous):
            raise generations.damaged(reason)
        damage = generations.damage(client, live)
        replay = None
        if not damage:
            replay = _from_now(client, live.name, previous.name, None)
            # Without a record it starts now: writes made during the rollback are never lost.
            swap = None if discard_writes else read_swap(client, alias, live.name)
            if swap:
                replay = Replay(client, live.name, previous.name, *swap)
        with undone_on_failure(client, lock, alias, replay):
            generations.reopen(client, previous.name)
            # Not earlier: a process that took the lock before this has not seen the alias.
            lock.check()
            counts = _go_live(client, lock, alias, previous.name, live, replay, lambda _: None)
        pruned = _prune(client, alias)
    lost = "what was written since it went live is lost unless it is repaired; it is kept"
    return Built(
        previous.name,
        previous.rules or "",
        counts,
        previous=live.name,
        replayed=replay.replayed if replay else 0,
        seconds=time.monotonic() - started,
        stale_builds=tuple(stale_builds),
        lost=f"{damage}: {lost}" if damage else "",
        pruned=pruned,
    )


def _previous(existing: Sequence[Generation], alias: str) -> Generation:
    """The previous generation, or else another one to which somebody added the alias."""
    others = [
        generation
        for generation in existing
        if generation.state == "previous" or (generation.state == "kept" and generation.aliased)
    ]
    if not others:
        raise NoGeneration(
            f"There is no previous generation of {alias!r} to roll back to.",
            "`blogsearch indices` lists the existing ones.",
        )
    return max(others, key=lambda generation: (generation.state == "previous", generation.number))


def _from_now(client: Elasticsearch, old: str, new: str, model: Model | None) -> Replay:
    """A replay of what happens from now on."""
    since = checkpoint(client, old)
    client.indices.refresh(index=old)
    return Replay(client, old, new, since, ids(client, old), model=model)


def _go_live(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    new: str,
    live: Generation | None,
    replay: Replay | None,
    on_progress: OnProgress,
) -> Counts:
    """Replay and swap; returns what the new generation contains.

    Counted before the swap, because a failure after it would look as if nothing had been swapped.
    """
    record = SwapRecord(client, alias, new)
    if replay:
        on_progress(Progress("replaying"))
        replay.all(lock, record)
    else:
        record.add(ids(client, new))
    counts = count_documents(client, new)
    record.finish(checkpoint(client, new))
    on_progress(Progress("swapping"))
    lock.check()
    generations.swap(client, alias, new, live.name if live else None)
    return counts


def _prune(client: Elasticsearch, alias: str) -> tuple[str, ...]:
    """Delete old generations after a swap, which counts though Elasticsearch may fail here: then
    the next build deletes them."""
    with suppress(ApiError, TransportError):
        return tuple(generations.prune(client, alias))
    return ()


@contextmanager
def undone_on_failure(
    client: Elasticsearch, lock: Lock, alias: str, replay: Replay | None
) -> Iterator[None]:
    """Undo what a build or rollback has changed if the block fails.

    If writes are blocked, it is tried for half a minute while Elasticsearch is unavailable, because
    otherwise the next write has to find out that nobody builds. A process that took over the lock
    undoes it itself.
    """

    def undo() -> None:
        lock.check()
        generations.recover(client, alias)

    try:
        yield
    except BaseException as error:
        seconds = _UNBLOCKED_WITHIN if replay and replay.blocked else 0.0
        try:
            Retry(seconds, first_pause=0.5, longest_pause=0.5).call(undo)
        except Exception as second:  # noqa: BLE001  (the first error is the one to report)
            error.add_note(f"The next write or build has to undo what was changed: {second}")
        raise
