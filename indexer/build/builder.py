"""One generation: created beside the live one, filled, verified, replayed onto, swapped in."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from elasticsearch import Elasticsearch

from analyzers.languages import ENGLISH, Language
from analyzers.meaning import Model
from analyzers.rules import Rules
from indexer import SCHEMA, generations
from indexer.build.replay import WriteReplay
from indexer.build.upgrade import adaptation
from indexer.bulk import index_operation, send_bulk
from indexer.errors import Locked, VerificationFailed, other_schema
from indexer.generations import Generation
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.progress import OnProgress, Progress
from indexer.records import Counts, Document
from indexer.retry import Retry
from indexer.scan import count_documents
from indexer.state import ensure_state, next_number
from indexer.write.deletions import forget_old_deletions

_UNBLOCK = Retry(total=30.0, first_pause=0.5, longest_pause=0.5)

Fill = Callable[[str, Generation | None], Counts]
"""Writes documents to the new generation of this name through its building alias, given the live
one unless there is none that can be read; returns how many were accepted."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The settings of a new generation. `model` gives the vectors of passages; None: no vectors."""

    rules: Rules
    shards: int
    replicas: int
    language: Language = ENGLISH
    model: Model | None = None


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
    previous: str | None
    replayed: int
    seconds: float
    stale_builds: tuple[str, ...] = ()
    over_http: Counts = field(default_factory=Counts)
    lost: str = ""


def build(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    fill: Fill,
    on_progress: OnProgress,
    *,
    force: bool = False,
) -> Built:
    """Build the next generation and make it live; after any failure the live one is as it was.

    The caller holds the lock.

    Args:
        force: also if the live generation cannot be read; what only it has is lost.

    Raises:
        VerificationFailed: the index does not contain what was accepted; nothing was swapped.
        OtherSchema: the live generation was built by a newer version.
        Damaged: the live generation cannot be read.
    """
    started = time.monotonic()
    ensure_state(client, alias)
    stale_builds = generations.recover(client, alias)
    forget_old_deletions(client, alias)
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
    target = generations.building_alias(name)
    replay = None
    try:
        if readable:
            # Writes to the live generation are replayed from here on: before there is a new one.
            replay = WriteReplay(client, alias, readable.name, name, target=target)
        generations.create(client, name, _index_body(settings))
        if readable and replay:
            replay.adapt = adaptation(client, readable.schema, name, SCHEMA)
        accepted = fill(name, readable)

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
            replay.replay_while_open()
            lock.check()
            counts = replay.replay_blocked()
        on_progress(Progress("swapping"))
        lock.check()
        if replay:
            replay.swap()
        else:
            generations.swap(client, alias, name, live.name if live else None, target)
    except BaseException as error:
        try:
            _undo(client, lock, alias, name, blocked=replay is not None and replay.blocked)
        except Exception as second:  # noqa: BLE001  (the first error is the one to report)
            error.add_note(f"The unfinished generation could not be deleted: {second}")
        raise
    return Built(
        index=name,
        rules=settings.rules.digest,
        counts=counts,
        previous=live.name if live else None,
        replayed=replay.replayed if replay else 0,
        seconds=time.monotonic() - started,
        stale_builds=tuple(stale_builds),
        lost=f"{damage}: what came over HTTP, and is not in the source, is lost" if damage else "",
    )


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
    copied = {"post": 0, "comment": 0}
    operations = map(index_operation, with_passages(documents, model))
    for outcomes in send_bulk(client, target, operations, require_alias=require_alias):
        for outcome in outcomes:
            if outcome.refusal:
                raise VerificationFailed(
                    f"{outcome.operation.id} cannot be copied to {target}: "
                    f"{outcome.refusal.reason}; nothing was swapped.",
                    outcome.refusal.remedy,
                )
            copied[outcome.operation.kind] += 1
        on_copied(copied["post"] + copied["comment"])
    return Counts(copied["post"], copied["comment"])


def _index_body(settings: IndexSettings) -> dict[str, object]:
    # Imported here: it loads elasticsearch.dsl, which a service that only searches never needs.
    from indexer.schema import index_body

    return index_body(
        settings.rules,
        shards=settings.shards,
        replicas=settings.replicas,
        language=settings.language,
        semantic=settings.model is not None,
    )


def _undo(client: Elasticsearch, lock: Lock, alias: str, name: str, *, blocked: bool) -> None:
    if recover(client, lock, alias, blocked=blocked):
        return
    # The process that took the lock over may be building: delete only our own generation.
    for generation in generations.list_generations(client, alias):
        if generation.name == name and generation.state == "building":
            generations.delete_generation(client, name)


def recover(client: Elasticsearch, lock: Lock, alias: str, *, blocked: bool) -> bool:
    """Undo what a failed build or rollback has changed; False if another process has the lock.

    Args:
        blocked: writes are blocked. Then it is tried for half a minute while Elasticsearch is
            unavailable, because otherwise the next write has to find out that nobody builds.
    """

    def attempt() -> None:
        lock.check()
        generations.recover(client, alias)

    try:
        if blocked:
            _UNBLOCK.call(attempt)
        else:
            attempt()
    except Locked:
        return False
    return True
