"""Builds a generation beside the live one: create, fill, verify, replay, swap.

`reindex` fills it from a source. `rebuild` replays the whole live generation, for other synonym
rules, another language, or the schema of a new version of this service. `rollback` replays the
writes since the swap onto the generation that was live before.

Writes that arrive during a build go to the live generation. They are replayed onto the new one:
first while further writes are accepted, then, for the last few, under a write block. Refused
writers read again through the alias, and reach the new generation after the swap.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from dataclasses import replace as with_fields
from functools import partial
from itertools import chain

from elasticsearch import ApiError, Elasticsearch, TransportError
from msgspec.structs import replace

from analyzers.chains import analysis_digest
from analyzers.languages import ENGLISH, Language
from analyzers.meaning import Model
from analyzers.rules.compile import Rules
from indexer import SCHEMA
from indexer.errors import Damaged, LockLost, NoIndex, NotBuilt, other_schema
from indexer.posts.passages import with_passages
from indexer.posts.records import OfTheIndex, Post, SourceItem, batches, examples, quantity
from indexer.runs.ingest import Alike, Ingest, IngestOptions, OnReject, too_many_removed
from indexer.runs.refusals import Refusal
from indexer.store import generations
from indexer.store.bulk import BulkLimits, Operation, Ready, operation, send_bulk
from indexer.store.generations import Generation, building_alias
from indexer.store.scan import (
    NO_SAMPLES,
    Checkpoint,
    checkpoint,
    count,
    ids,
    read_changed_since,
    read_of_the_index,
    stored_posts,
)
from indexer.store.state import Lock, next_number, read_swap, store_swap
from indexer.write.links import update_link_texts
from indexer.write.live import from_source, read_posts

_BATCH = 200  # documents
_DOCUMENTS_PER_SEGMENT = 200_000

OVER_HTTP = {
    "bool": {
        "should": [
            {"term": {"over_http": True}},
            {"nested": {"path": "comments", "query": {"term": {"comments.over_http": True}}}},
        ]
    }
}
"""The posts that came over HTTP, or that have a comment that did."""

Check = Callable[[str], None]
"""Raises an error if the generation of this name must not go live."""
Fill = Callable[[str, str | None, Collection[str], Ready], int]
"""Writes posts to the new generation of this name, once it is ready; returns their number. The next
arguments are the name of the live one, if there is one, and the oids in it: what is written to it
from now on is replayed."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The settings of a new generation. `model` computes vectors of passages; None: no vectors."""

    rules: Rules
    shards: int
    replicas: int
    language: Language = ENGLISH
    model: Model | None = None
    check: Check | None = None

    @property
    def model_name(self) -> str:
        """The name of the model; "" without one."""
        return self.model.name if self.model else ""


@dataclass(frozen=True, slots=True)
class Built:
    """A generation that went live.

    `replayed` is the number of writes that arrived during the build; `lost` explains what a
    rollback could not replay.
    """

    index: str
    posts: int
    previous: str | None
    replayed: int
    lost: str = ""


def is_current(generation: Generation, settings: IndexSettings) -> bool:
    """Whether a generation has these rules, language, vectors, and today's schema and analysis."""
    language = settings.language
    wanted = (settings.rules.digest, language.name, SCHEMA, settings.model_name)
    had = (generation.rules, generation.language, generation.schema, generation.model)
    return had == wanted and generation.analysis == analysis_digest(language)


# -- what fills it -----------------------------------------------------------------------------


def reindex(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> Built:
    """Build the next generation from a source, and make it live.

    Raises:
        IndexingError: nothing was swapped. It is locked; the source cannot be read, has far fewer
            posts than the live generation, or too many were rejected; accepted documents are
            missing; or the live generation cannot be read.
    """
    options = options or IngestOptions()

    def fill(name: str, live: str | None, there: Collection[str], ready: Ready) -> int:
        ingest = Ingest(on_reject, options)
        posts: Iterable[Post] = ingest.posts(raws)
        lacking: list[str] = []
        alike = Alike(len(there))
        if live:
            # Also their popularity, and the texts of links, most of which stay the same.
            pairs = _with_stored(client, live, posts)
            merged = (_merge(post, had, there, alike, ingest) for post, had in pairs)
            over_http = _posts_over_http(client, live, ingest.read, lacking)
            copied = (post for post in over_http if post.oid in there)
            posts = chain(merged, copied)
        posts = with_passages(posts, settings.model, client, live)
        operations = (operation("index", post.oid, post) for post in posts)
        accepted = _write(client, name, operations, ingest.refuse, options.limits, ready)
        if not options.force:
            ingest.check_rejects()
        if not (ingest.read and accepted):
            raise NotBuilt("The source has no posts", "Check that it is the right file or folder.")
        if live and not options.force:
            alike.check(partial(posts_named, client, live))
            _check_complete(client, live, name, lacking, sum(map(len, ingest.withdrawn.values())))
        return accepted

    with Lock(client, alias, options.purpose) as lock:
        return _build(client, lock, alias, settings, fill)


def rebuild(client: Elasticsearch, lock: Lock, alias: str, settings: IndexSettings) -> Built:
    """Build the next generation from the live one's documents, and make it live.

    Searches go on throughout; writes made meanwhile are replayed. The caller holds the lock.

    Raises:
        IndexingError: nothing was swapped. There is no live index, or it cannot be read, or has a
            schema that is neither the present one nor the one before; or a document was refused.
    """
    generations.require_live(client, alias)
    return _build(client, lock, alias, settings)


def posts_named(client: Elasticsearch, index: str, oids: Iterable[str]) -> Iterator[Post]:
    """Yield the posts with these oids that an index has."""
    for batch in batches(oids, _BATCH):
        yield from (found.post for found in read_posts(client, index, batch) if found.post)


def _with_stored(
    client: Elasticsearch, index: str, posts: Iterable[Post]
) -> Iterator[tuple[Post, OfTheIndex]]:
    """Yield posts, each with the other data that an index has of it."""
    for batch in batches(posts, _BATCH):
        oids, kept = [post.oid for post in batch], ("comments", "popularity", "link_texts")
        yield from zip(batch, read_of_the_index(client, index, oids, *kept), strict=True)


def _merge(
    post: Post, had: OfTheIndex, there: Collection[str], alike: Alike, ingest: Ingest
) -> Post:
    """Merge a post of a source with the data that only the live index has. A post that the index
    already has goes to `alike`; of its withdrawn comments, only those in the index are kept."""
    if post.oid in there:
        alike.add(post)
    if withdrawn := ingest.withdrawn.get(post.oid):
        ingest.withdrawn[post.oid] = withdrawn & had.comment_oids()
    return from_source(post)(had)


def _posts_over_http(
    client: Elasticsearch, live: str, read: Collection[str], lacking: list[str]
) -> Iterator[Post]:
    """Yield posts that came over HTTP and were not read from the source; append to `lacking` the
    oids of other posts with such comments."""
    for post in stored_posts(client, live, {"bool": {"must": [OVER_HTTP, NO_SAMPLES]}}):
        if post.oid not in read:
            if post.over_http:
                yield post
            else:
                lacking.append(post.oid)


def _check_complete(
    client: Elasticsearch, live: str, new: str, lacking: Sequence[str], withdrawn: int
) -> None:
    """Check that the source lacks nothing by mistake; `withdrawn` comments may be missing."""
    if lacking:
        raise NotBuilt(
            f"The source does not have {quantity(len(lacking), 'post')} with comments that came "
            f"over HTTP ({examples(lacking)})",
            "Check the source, or use --force to leave them out.",
        )
    client.indices.refresh(index=new)
    indexed = count(client, live, NO_SAMPLES)  # any source replaces the samples
    names, out = ("posts", "comments"), (0, withdrawn)
    for name, now, before, less in zip(names, count(client, new), indexed, out, strict=True):
        if too_many_removed(before - now - less, before):
            raise NotBuilt(
                f"The source has {now:,} {name}, the live index {before:,}",
                "Check the source, or use --force to replace them.",
            )


def _fail(oid: str, refusal: Refusal) -> None:
    raise NotBuilt(f"{oid} cannot be written: {refusal.reason}", refusal.remedy)


def _write(
    client: Elasticsearch,
    name: str,
    operations: Iterable[Operation],
    refuse: Callable[[str, Refusal], None] = _fail,
    limits: BulkLimits | None = None,
    ready: Ready | None = None,
) -> int:
    """Write to a generation through its building alias; return the number of accepted writes."""
    accepted = 0
    for outcomes in send_bulk(client, building_alias(name), operations, limits, ready):
        for outcome in outcomes:
            if outcome.refusal:
                refuse(outcome.operation.oid, outcome.refusal)
            else:
                accepted += 1
    return accepted


# -- the build ---------------------------------------------------------------------------------


def _build(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    fill: Fill | None = None,
) -> Built:
    """Build the next generation and make it live; after any failure the live one is unchanged.

    Without `fill`, copy the live one.

    Raises:
        NotBuilt: the index does not contain what was accepted.
        OutdatedIndex: the live generation was built by a newer version, or one that is too old.
        Damaged: the live generation cannot be read.
    """
    # Imported here: it loads elasticsearch.dsl, which a service that only searches never needs.
    from indexer.schema import index_body

    existing = generations.recover(client, alias)
    live = generations.live_of(existing)
    highest = max((generation.number for generation in existing), default=0)
    name = f"{alias}-{next_number(client, alias, highest):06d}"
    body = index_body(settings.rules, settings.shards, settings.language, settings.model_name)
    replay, there = None, set[str]()
    if live:
        if live.schema not in (SCHEMA, SCHEMA - 1):
            raise other_schema(live.schema)
        # Writes to the live generation are replayed from here on: before there is a new one.
        since = checkpoint(client, live.name)
        if fill:
            client.indices.refresh(index=live.name)
            there = set(ids(client, live.name))
        else:
            since = dict.fromkeys(since, -1)
        replay = _Replay(client, live.name, name, since, there, settings.model, bool(fill))
    with _undone_on_failure(client, lock, alias), ThreadPoolExecutor(1) as beside:
        aliases = {building_alias(name): {"is_hidden": True}}
        made = beside.submit(
            client.indices.create, index=name, aliases=aliases, wait_for_active_shards=1, **body
        )
        if fill:
            # The first posts are read meanwhile: the creation takes a tenth of a small build.
            accepted = fill(name, live.name if live else None, there, made.result)
        elif replay:
            made.result()
            # Without the posts written there after it was read, which are replayed later.
            accepted = len(replay.once() & replay.there)
        # Set explicitly: by default an index not searched for 30 s stops refreshing, and the first
        # search after a write has to wait for a refresh.
        searched = {"refresh_interval": "1s", "number_of_replicas": settings.replicas}
        changed = beside.submit(client.indices.put_settings, index=name, settings=searched)
        update_link_texts(client, name, building_alias(name))
        client.indices.refresh(index=name)
        posts, comments = count(client, name)
        if posts != accepted:
            raise NotBuilt(
                f"{name} has {quantity(posts, 'post')}, but {accepted:,} were accepted",
                "See Elasticsearch's log, then run the command again.",
            )
        changed.result()
        built = _go_live(client, lock, alias, name, live, replay, settings.check)
    # Every part of a search is repeated for each segment. Large indices keep several, so that more
    # than one thread can search them.
    segments = max(1, (posts + comments) // settings.shards // _DOCUMENTS_PER_SEGMENT)
    with suppress(ApiError, TransportError):
        client.indices.forcemerge(index=name, max_num_segments=segments, wait_for_completion=False)
    return built


def rollback(client: Elasticsearch, alias: str, check: Check | None = None) -> Built:
    """Make the previous generation live; the live one becomes the previous one.

    Writes since the swap are replayed: a rollback undoes a build, not the posts written after it.
    If the live generation is gone or cannot be read, they are lost as long as it cannot be read,
    and nothing is checked.

    Raises:
        NoIndex: there is no previous generation.
        Damaged: the previous one cannot be read either.
        NotBuilt: a write since the swap does not fit the older mapping, or `check` raises it.
        Locked: another process is building.
    """
    with Lock(client, alias, "rollback") as lock:
        existing = generations.recover(client, alias)
        live = generations.live_of(existing)
        previous = next((item for item in existing if item.state == "previous"), None)
        if previous is None:
            raise NoIndex(
                f"There is no previous generation of {alias!r} to roll back to.",
                "`blogsearch indices` lists the existing ones.",
            )
        checkpoint(client, previous.name)
        name, replay, lost = previous.name, None, ""
        try:
            if live is None:
                raise Damaged("There is no live generation.")
            checkpoint(client, live.name)
            since, removed = read_swap(client, alias, live.name)
            client.indices.refresh(index=live.name)
            there = (set(ids(client, name)) - removed) | set(ids(client, live.name))
            replay = _Replay(client, live.name, name, since, there)
        except Damaged as error:
            lost = f"{error.message} What was written since it went live is lost."
        with _undone_on_failure(client, lock, alias):
            reopened = {"index": name, "alias": building_alias(name), "is_hidden": True}
            client.indices.update_aliases(actions=[{"add": reopened}])
            client.indices.put_settings(index=name, settings={"index.blocks.write": None})
            # Not earlier: a process that took the lock before this has not seen the alias.
            lock.check()
            built = _go_live(client, lock, alias, name, live, replay, check if replay else None)
            return with_fields(built, lost=lost)


def _go_live(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    new: str,
    live: Generation | None,
    replay: "_Replay | None",
    check: Check | None,
) -> Built:
    """Replay onto a filled generation, and swap."""
    replayed, removed = 0, None
    if replay:
        replayed = len(replay.once())
    client.indices.refresh(index=new)
    if check:
        check(new)
    if replay:
        # The writes during the first replay: few are left for the blocked phase.
        replayed += len(replay.once())
        client.indices.refresh(index=new)
        removed = replay.there - set(ids(client, new))
    posts, _ = count(client, new)
    # Before the swap: a failure after it would look as if nothing had been swapped. And before the
    # block: writes wait from there on.
    old, since = replay.old if replay else None, checkpoint(client, new)
    store_swap(client, alias, old, new, since, removed)
    lock.check()
    if replay:
        # Blocked for good: a write that still reached it would be lost.
        client.indices.add_block(index=replay.old, block="write")
        if last := replay.once():
            replayed += len(last)
            client.indices.refresh(index=new)
            if removed and removed & last:
                store_swap(client, alias, old, new, since, removed - last)
        lock.check()
    former = generations.swap(client, alias, new, live.name if live else None)
    with suppress(ApiError, TransportError):  # else the next command deletes the one before these
        generations.recover(client, alias)
    return Built(new, posts, former, replayed)


@contextmanager
def _undone_on_failure(client: Elasticsearch, lock: Lock, alias: str) -> Iterator[None]:
    """Undo the changes of a build or rollback; a process that took over the lock does so itself.

    If Elasticsearch is unavailable, the next write or command does it.
    """
    try:
        yield
    except BaseException:
        with suppress(ApiError, TransportError, LockLost):
            lock.check()
            generations.recover(client, alias)
        raise


# -- what is written meanwhile -----------------------------------------------------------------


@dataclass(slots=True)
class _Replay:
    """Replays changes of `old`, which is live, onto `new`, which will be.

    Documents above a checkpoint were written. Documents that were there then, or were written
    since, and are missing now, were deleted: the number of documents shows whether there are any.

    Args:
        since: the checkpoint; -1 for each shard: everything in the index.
        there: the ids of the documents that were there then; of others, only if they are there now.
        from_source: `new` has posts from a source. They keep their content, unless they were
            written over HTTP, and get the comments that were.
    """

    client: Elasticsearch
    old: str
    new: str
    since: Checkpoint
    there: set[str]
    model: Model | None = None
    from_source: bool = False

    def once(self) -> set[str]:
        """Replay all changes until now; return the ids of the documents written or deleted."""
        client, old = self.client, self.old
        now = checkpoint(client, old)
        client.indices.refresh(index=old)
        changed: set[str] = set()
        written = self._changed(changed)
        if self.from_source:
            written = self._joined(written)
        posts = with_passages(written, self.model, client)
        _write(client, self.new, (operation("index", post.oid, post) for post in posts))
        self.since = now
        self.there |= changed
        if count(client, old)[0] < len(self.there):
            present = set(ids(client, old))
            deleted = self.there - present
            _write(client, self.new, (operation("delete", oid) for oid in deleted))
            self.there = present
            changed |= deleted
        return changed

    def _changed(self, oids: set[str]) -> Iterator[Post]:
        """Yield the posts written, and add their ids to `oids`."""
        for post in read_changed_since(self.client, self.old, self.since):
            oids.add(post.oid)
            yield post

    def _joined(self, written: Iterable[Post]) -> Iterator[Post]:
        """Merge the posts written while a source was read with those of the source.

        Only comments were written, unless the post came over HTTP as a whole, or the source does
        not have it.
        """
        for batch in batches(written, _BATCH):
            new = read_posts(self.client, self.new, [post.oid for post in batch])
            for post, stored in zip(batch, new, strict=True):
                if stored.post is None or post.over_http:
                    yield post
                else:
                    comments = stored.post.comments
                    of_source = tuple(one for one in comments if not one.over_http)
                    yield from_source(replace(stored.post, comments=of_source))(post)
