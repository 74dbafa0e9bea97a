"""Builds a generation beside the live one: filled, verified, replayed onto, swapped in.

`reindex` fills it from a source. `rebuild` fills it from the documents of the live one, for other
synonym rules, another language, or the schema of another version of this service.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from elasticsearch import Elasticsearch

from analyzers.languages import ENGLISH, Language
from analyzers.meaning import Model
from analyzers.rules.compile import Rules
from indexer import SCHEMA, generations
from indexer.build.replay import Merge, WriteReplay, as_live
from indexer.bulk import index_operation, send_all
from indexer.errors import (
    IndexingError,
    Locked,
    TooFewDocuments,
    VerificationFailed,
    other_schema,
)
from indexer.generations import Generation, building_alias
from indexer.ingest import Ingest, IngestOptions, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.records import Counts, Document, OnProgress, Origin, Progress, SourceItem, batches
from indexer.retry import Retry
from indexer.scan import count_documents, has_own_posts, stored_documents
from indexer.state import ensure_state, next_number
from indexer.write.links import update_link_texts
from indexer.write.live import read_posts
from indexer.write.merge import Source, from_source

_UNBLOCKED_WITHIN = 30.0  # seconds
_EXAMPLES = 5  # oids in a message

_BATCH = 200  # posts

Fill = Callable[[str, Generation | None, set[str]], tuple[Counts, Counts]]
"""Writes documents to the new generation of this name through its building alias.

It is given the live one, unless there is none that can be read, and adds the oids that it copies
from there to the set. It returns how many documents were accepted, and how many of them came over
HTTP and are not in the source.
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

    def fill(name: str, live: Generation | None, seen: set[str]) -> tuple[Counts, Counts]:
        # The first own posts replace the sample posts.
        kept = live.name if live and has_own_posts(client, live.name) else None
        ingest = _read_source(client, alias, name, raws, settings.model, on_reject, options, kept)
        if kept is None:
            return ingest.accepted, Counts()
        posts, lost = _over_http(client, kept, ingest)
        if lost and not options.force:
            raise _left_out(lost)
        seen.update(post.oid for post in posts)
        over_http = copy_documents(client, building_alias(name), posts, settings.model)
        accepted = ingest.accepted + over_http
        if not options.force:
            _check_not_far_fewer(accepted, count_documents(client, kept))
        return accepted, over_http

    with nullcontext(lock) if lock else Lock(client, alias, options.purpose) as held:
        report, force = options.on_progress, options.force
        return build(client, held, alias, settings, fill, report, _as_source, force=force)


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
    live = generations.require_live(client, alias)

    def fill(name: str, _: Generation | None, seen: set[str]) -> tuple[Counts, Counts]:
        total = count_documents(client, live.name).total

        def report(copied: int) -> None:
            on_progress(Progress("copying", copied, min(1.0, copied / total) if total else None))

        def documents() -> Iterator[Document]:
            for document in stored_documents(client, live.name):
                seen.add(document.oid)
                yield document

        target = building_alias(name)
        copied = copy_documents(client, target, documents(), settings.model, report)
        return copied, Counts()

    return build(client, lock, alias, settings, fill, on_progress, as_live)


def is_current(generation: Generation, settings: IndexSettings) -> bool:
    """Whether a generation has these rules, language and vectors, and the present schema."""
    wanted = (settings.rules.digest, settings.language.name, SCHEMA, settings.model_name)
    had = (generation.rules, generation.language, generation.schema, generation.model)
    return had == wanted


def rolled_back_from(
    client: Elasticsearch, alias: str, live: Generation, settings: IndexSettings
) -> str:
    """The generation after the live one that is current; empty if there is none.

    Somebody rolled back from it. To rebuild would undo that.
    """
    if live.schema != SCHEMA:
        return ""  # this version cannot write to the live one
    for generation in generations.list_generations(client, alias):
        if generation.number > live.number and is_current(generation, settings):
            return generation.name
    return ""


def build(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    fill: Fill,
    on_progress: OnProgress,
    merge: Merge,
    *,
    force: bool = False,
) -> Built:
    """Build the next generation and make it live; after any failure the live one is as it was.

    The caller holds the lock.

    Args:
        merge: what becomes of a post that is written meanwhile.
        force: also if the live generation cannot be read; what only it has is lost.

    Raises:
        VerificationFailed: the index does not contain what was accepted; nothing was swapped.
        OtherSchema: the live generation was built by a newer version.
        Damaged: the live generation cannot be read.
    """
    # Imported here: it loads elasticsearch.dsl, which a service that only searches never needs.
    from indexer.schema import index_body

    started = time.monotonic()
    ensure_state(client, alias)
    stale_builds = generations.recover(client, alias)
    existing = generations.list_generations(client, alias)
    live = next((generation for generation in existing if generation.state == "live"), None)
    if live and live.schema is not None and live.schema > SCHEMA:
        raise other_schema(live.schema)
    damage = generations.damage(client, live) if live else ""
    if damage and not force:
        raise generations.damaged(damage)
    readable = None if damage else live
    highest = max((generation.number for generation in existing), default=0)
    name = generations.generation_name(alias, next_number(client, alias, highest))
    target = building_alias(name)
    # Writes to the live generation are replayed from here on: before there is a new one.
    model = settings.model
    replay = (
        WriteReplay(client, alias, readable.name, name, target=target, merge=merge, model=model)
        if readable
        else None
    )
    with undone_on_failure(client, lock, alias, replay, name):
        body = index_body(
            settings.rules,
            shards=settings.shards,
            replicas=settings.replicas,
            language=settings.language,
            model=settings.model_name,
        )
        generations.create(client, name, body)
        accepted, over_http = fill(name, readable, replay.seen if replay else set())
        update_link_texts(client, name, target)

        on_progress(Progress("verifying", accepted.total))
        counts = count_documents(client, name)
        if counts != accepted:
            raise VerificationFailed(
                f"{name} contains {counts}, but {accepted} were accepted; nothing was swapped.",
                "Look at the log of Elasticsearch, then run the command again.",
            )
        generations.merge_segments(client, name, counts.total, settings.shards)
        generations.prepare_for_search(client, name, settings.replicas)

        if replay:
            on_progress(Progress("replaying"))
            counts = replay.replay_all(lock)
        on_progress(Progress("swapping"))
        lock.check()
        generations.swap(client, alias, name, live.name if live else None, target)
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
    )


@contextmanager
def undone_on_failure(
    client: Elasticsearch, lock: Lock, alias: str, replay: WriteReplay | None, name: str = ""
) -> Iterator[None]:
    """Undo what a build or rollback has changed if the block fails.

    If writes are blocked, it is tried for half a minute while Elasticsearch is unavailable, because
    otherwise the next write has to find out that nobody builds.

    Args:
        name: the generation that is built.
    """

    def undo() -> None:
        lock.check()
        generations.recover(client, alias)

    try:
        yield
    except BaseException as error:
        seconds = _UNBLOCKED_WITHIN if replay and replay.blocked else 0.0
        try:
            try:
                Retry(seconds, first_pause=0.5, longest_pause=0.5).call(undo)
            except Locked:
                # The process that took the lock over may build: delete only our own generation.
                for generation in generations.list_generations(client, alias):
                    if generation.name == name and generation.state == "building":
                        generations.delete_generation(client, name)
        except Exception as second:  # noqa: BLE001  (the first error is the one to report)
            error.add_note(f"The next write or build has to undo what was changed: {second}")
        raise


def copy_documents(
    client: Elasticsearch,
    target: str,
    documents: Iterable[Document],
    model: Model | None,
    on_copied: Callable[[int], None] = lambda total: None,
    *,
    require_alias: bool = True,
) -> Counts:
    """Copy documents of another generation with their versions; returns how many.

    Args:
        target: the building alias of the new generation, or an index of another kind.
        require_alias: as for `send_chunk`.

    Raises:
        VerificationFailed: one was refused.
    """
    copied = Counts()
    operations = map(index_operation, with_passages(documents, model, client))
    for outcomes in send_all(client, target, operations, require_alias=require_alias):
        for outcome in outcomes:
            copied += Counts(1, outcome.operation.comments)
        on_copied(copied.total)
    return copied


def _read_source(
    client: Elasticsearch,
    alias: str,
    name: str,
    raws: Iterable[SourceItem],
    model: Model | None,
    on_reject: OnReject,
    options: IngestOptions,
    kept: str | None,
) -> Ingest:
    """Write the documents of a source to a new generation.

    Args:
        kept: the index whose comments over HTTP and texts of links the posts get.
    """
    ingest = Ingest(on_reject, options)

    def merged() -> Iterator[Document]:
        for batch in batches(ingest.documents(raws), _BATCH):
            posts = read_posts(client, kept, (document.oid for document in batch)) if kept else []
            stored = {post.oid: post.source for post in posts}
            for document in batch:
                source = from_source(document)(stored.get(document.oid))
                yield replace(document, source=source or {})

    ingest.send(client, building_alias(name), merged(), model, alias)
    options.max_rejects.check(ingest.rejected, ingest.entries)
    if not ingest.accepted.posts:
        raise IndexingError(
            "The source has no posts; nothing was swapped.",
            "Check that it is the right file or folder.",
        )
    return ingest


def _as_source(live: Source, new: Source | None) -> Source:
    """A post that is written while a source is read: its comments over HTTP are, unless it came
    over HTTP as a whole or the source does not have it."""
    if new is None or live.get("over_http"):
        return live
    comments = [comment for comment in new.get("comments", ()) if not comment.get("over_http")]
    document = Document(new["oid"], {**new, "comments": comments}, Origin("the source"))
    return from_source(document)(live) or {}


def _over_http(
    client: Elasticsearch, live: str, ingest: Ingest
) -> tuple[list[Document], list[Document]]:
    """What an index has over HTTP and the source lacks.

    Returns:
        Posts; then other posts that have comments over HTTP, which are lost.
    """
    commented = {"nested": {"path": "comments", "query": {"term": {"comments.over_http": True}}}}
    query = {"bool": {"should": [{"term": {"over_http": True}}, commented]}}
    lacking = [
        document
        for document in stored_documents(client, live, query)
        if document.oid not in ingest.read
    ]
    posts = [document for document in lacking if document.source.get("over_http")]
    return posts, [document for document in lacking if document not in posts]


def _left_out(posts: list[Document]) -> TooFewDocuments:
    """The error for comments that exist nowhere else, naming their posts."""
    examples = ", ".join(post.oid for post in posts[:_EXAMPLES])
    more = ", …" if len(posts) > _EXAMPLES else ""
    return TooFewDocuments(
        f"Comments came over HTTP, on {len(posts):,} posts that the source does not have "
        f"({examples}{more}); nothing was swapped.",
        "Check the source, or use --force to leave them out.",
    )


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
