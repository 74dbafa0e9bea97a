"""Replays writes from the live generation onto another one, before a swap.

Writes that arrive during a build go to the live generation. They are replayed onto the new one:
first while further writes are accepted, then, for the last few, under a write block. Blocked
writers read again, and reach the new generation after the swap. Deleted is what the live generation
had and has no more.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import generations
from indexer.bulk import Operation, delete_operation, index_operation, send_all
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.records import Counts, Document, Origin, batches
from indexer.scan import Checkpoint, changed_since, checkpoint, count_documents, stored_ids
from indexer.write.live import read_posts
from indexer.write.merge import Source

_FEW = 200  # writes that may be left for the blocked phase: about 50 ms
_BATCH = 200  # documents
_MAX_ROUNDS = 20  # writes that arrive faster than they are replayed have to be blocked eventually

Merge = Callable[[Source, Source | None], Source]
"""From a post as the live generation has it and as the other one has it to what that shall have."""


def as_live(live: Source, other: Source | None) -> Source:
    """The post as the live generation has it."""
    return live


class WriteReplay:
    """Replays writes to `old`, which is live, onto `new`, which will be.

    Counts from its creation unless `since` gives an earlier state.

    Args:
        target: the alias through which `new` is written.
        since: a checkpoint of `old`, and the oids that it had then.

    Attributes:
        seen: oids that `old` had at some time, and `new` may have from there.
    """

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        old: str,
        new: str,
        *,
        target: str,
        merge: Merge = as_live,
        model: Model | None = None,
        since: tuple[Checkpoint, set[str]] | None = None,
    ) -> None:
        self._client = client
        self._alias = alias
        self._old = old
        self._new = new
        self._target = target
        self._merge = merge
        self._model = model
        if since:
            self._since, self.seen = since
        else:
            self._since = checkpoint(client, old)
            client.indices.refresh(index=old)
            self.seen = set(stored_ids(client, old))
        self.replayed = 0
        self.blocked = False  # whether `old` may have been blocked

    def replay_all(self, lock: Lock) -> Counts:
        """Replay until only a few writes are left, and those while the old generation is blocked.

        It stays blocked: a write that still reached it would be lost.

        Returns:
            What the new generation contains. Counted before the swap, because a failure after it
            would look as if nothing had been swapped.
        """
        for _ in range(_MAX_ROUNDS):
            before = self.replayed
            self._replay_written()
            if self.replayed - before < _FEW:
                break
        lock.check()
        self.blocked = True
        generations.block_writes(self._client, self._old)
        self._replay_written()
        self._replay_deleted()
        return count_documents(self._client, self._new)

    def _replay_written(self) -> None:
        now = checkpoint(self._client, self._old)
        self._client.indices.refresh(index=self._old)
        for batch in batches(changed_since(self._client, self._old, self._since), _BATCH):
            oids = [document.oid for document in batch]
            self.seen.update(oids)
            others = read_posts(self._client, self._new, oids)
            merged = [
                replace(document, source=self._merge(document.source, other.source))
                for document, other in zip(batch, others, strict=True)
            ]
            written = with_passages(merged, self._model, self._client)
            self.replayed += self._send(map(index_operation, written))
        self._since = now

    def _replay_deleted(self) -> None:
        gone = self.seen - set(stored_ids(self._client, self._old))
        documents = (Document(oid, {}, Origin(self._old)) for oid in gone)
        self.replayed += self._send(map(delete_operation, documents))

    def _send(self, operations: Iterable[Operation]) -> int:
        """Send operations to the new generation; returns how many have changed it."""
        return sum(
            outcome.result != "not_found"
            for outcomes in send_all(self._client, self._target, operations)
            for outcome in outcomes
        )
