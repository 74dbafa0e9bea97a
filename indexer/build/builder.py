"""One generation: created beside the live one, filled, verified, replayed onto, swapped in."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import ENGLISH, Language
from analyzers.rules import RuleSet
from indexer import generations
from indexer.build import unfinished
from indexer.build.replay import WriteReplay, checkpoints
from indexer.bulk.operations import BulkLimits, Operation
from indexer.bulk.sender import Outcome, send_bulk
from indexer.errors import Locked, VerificationFailed
from indexer.lock import Lock
from indexer.progress import OnProgress, Progress
from indexer.records import Counts
from indexer.scan import Checkpoint, count_documents
from indexer.state import ensure_state, next_number
from indexer.write.deletions import forget_old_deletions

_UNBLOCK_FOR, _UNBLOCK_PAUSE = 30.0, 0.5  # seconds


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The settings of a new generation."""

    rules: RuleSet
    shards: int
    replicas: int
    language: Language = ENGLISH


@dataclass(frozen=True, slots=True)
class Built:
    """A generation that went live.

    Args:
        index: its name.
        rules: the digest of its synonym rules, which is part of the cache's generation.
        previous: the generation that was live before.
        replayed: number of writes that arrived during the build and were replayed.
        stale_builds: names of generations left by killed builds, which were deleted.
        resumed: it had been filled by an earlier run, and nothing was read.
    """

    index: str
    rules: str
    counts: Counts
    previous: str | None
    replayed: int
    seconds: float
    stale_builds: tuple[str, ...] = ()
    resumed: bool = False


class Build:
    """A generation under construction; created by `build_generation`."""

    def __init__(
        self,
        client: Elasticsearch,
        lock: Lock,
        alias: str,
        settings: IndexSettings,
        on_progress: OnProgress,
        resumed: unfinished.Unfinished | None = None,
    ) -> None:
        self._client = client
        self._lock = lock
        self._alias = alias
        self._settings = settings
        self._on_progress = on_progress
        self._resumed = resumed is not None
        self._started = time.monotonic()
        ensure_state(client, alias)
        self._stale_builds = tuple(generations.recover(client, alias))
        forget_old_deletions(client, alias)
        found = generations.list_generations(client, alias)
        self._old = next((one.name for one in found if one.state == "live"), None)
        for one in found:
            if one.state == "unfinished" and not (resumed and one.name == resumed.generation):
                generations.delete_generation(client, one.name)
        if resumed:
            self._since = resumed.since
            self.name = resumed.generation
            generations.resume(client, self.name)
        else:
            self._since, self.name = self._create(max((one.number for one in found), default=0))
        self._target = generations.building_alias(self.name)
        self._replay = (
            WriteReplay(client, alias, self._old, self.name, target=self._target, since=self._since)
            if self._old
            else None
        )

    def _create(self, highest: int) -> tuple[tuple[Checkpoint, Checkpoint] | None, str]:
        """An empty generation, and the checkpoints from which writes are replayed onto it."""
        # Imported here: it loads elasticsearch.dsl, which a service that only searches never needs.
        from indexer.schema import index_body

        client, alias, settings = self._client, self._alias, self._settings
        body = index_body(
            settings.rules,
            shards=settings.shards,
            replicas=settings.replicas,
            language=settings.language,
        )
        number = next_number(client, alias, highest)
        # Writes to the live generation are replayed from here on: before anybody sees the new one.
        since = checkpoints(client, alias, self._old) if self._old else None
        return since, generations.create(client, alias, number, body)

    def fill(
        self, operations: Iterable[Operation], limits: BulkLimits | None = None
    ) -> Iterator[list[Outcome]]:
        """Send documents to the new generation; yields the outcomes of each request."""
        return send_bulk(self._client, self._target, operations, limits)

    def keep(self, key: str, filled: unfinished.Filled) -> None:
        """Keep the filled generation, unswapped, for the next run with this key."""
        self._lock.check()
        kept = unfinished.Unfinished(self.name, key, self._old, self._since, filled)
        unfinished.keep(self._client, self._alias, kept)

    def finish(self, expected: Counts) -> Built:
        """Verify, replay, swap.

        Args:
            expected: the number of accepted documents.

        Raises:
            VerificationFailed: the index contains another number; nothing was swapped.
        """
        self._on_progress(Progress("verifying", expected.total))
        found = count_documents(self._client, self.name)
        if found != expected:
            raise VerificationFailed(
                f"{self.name} contains {found}, but {expected} were accepted; nothing was swapped.",
                "Look at the log of Elasticsearch, then run the command again.",
            )
        generations.merge_segments(self._client, self.name, found.total, self._settings.shards)
        generations.prepare_for_search(self._client, self.name, self._settings.replicas)
        counts = self._replay_and_swap(found)
        return Built(
            index=self.name,
            rules=self._settings.rules.digest,
            counts=counts,
            previous=self._old,
            replayed=self._replay.replayed if self._replay else 0,
            seconds=time.monotonic() - self._started,
            stale_builds=self._stale_builds,
            resumed=self._resumed,
        )

    def _replay_and_swap(self, counts: Counts) -> Counts:
        if self._replay is None:
            self._before_swap()
            generations.swap(self._client, self._alias, self.name, None, self._target)
            return counts
        self._on_progress(Progress("replaying"))
        self._replay.replay_while_open()
        self._lock.check()
        return self._replay.block_and_swap(self._before_swap)

    @property
    def blocked(self) -> bool:
        """Whether writes to the live generation may have been blocked."""
        return self._replay is not None and self._replay.blocked

    def _before_swap(self) -> None:
        self._on_progress(Progress("swapping"))
        self._lock.check()


@contextmanager
def build_generation(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    settings: IndexSettings,
    on_progress: OnProgress,
    resumed: unfinished.Unfinished | None = None,
) -> Iterator[Build]:
    """A generation to fill and finish; any failure inside deletes it, unless it was kept.

    Args:
        resumed: the generation to continue with, which is filled already.
    """
    build: Build | None = None
    try:
        build = Build(client, lock, alias, settings, on_progress, resumed)
        yield build
    except BaseException as error:
        try:
            _clean_up(client, lock, alias, build)
        except Exception as second:  # noqa: BLE001  (the first error is the one to report)
            error.add_note(f"The unfinished generation could not be deleted: {second}")
        raise


def _clean_up(client: Elasticsearch, lock: Lock, alias: str, build: Build | None) -> None:
    if recover(client, lock, alias, blocked=build is not None and build.blocked):
        return
    # The process that took the lock over may be building: delete only our own generation.
    for generation in generations.list_generations(client, alias):
        if build and generation.name == build.name and generation.state == "building":
            generations.delete_generation(client, generation.name)


def recover(client: Elasticsearch, lock: Lock, alias: str, *, blocked: bool) -> bool:
    """Undo what a failed build or rollback has changed; False if another process has the lock.

    Args:
        blocked: writes are blocked. Then it is tried for half a minute while Elasticsearch is
            unavailable, because otherwise the next write has to find out that nobody builds.
    """
    deadline = time.monotonic() + (_UNBLOCK_FOR if blocked else 0.0)
    while True:
        try:
            lock.check()
            generations.recover(client, alias)
        except Locked:
            return False
        except (ApiError, TransportError):
            if time.monotonic() >= deadline:
                raise
            time.sleep(_UNBLOCK_PAUSE)
        else:
            return True
