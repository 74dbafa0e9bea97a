"""Carries what is written to one generation over to another, and swaps when nothing is left."""

from collections.abc import Callable, Iterable, Iterator

from elasticsearch import Elasticsearch

from indexer import lifecycle
from indexer.bulk import send
from indexer.catch_up import Checkpoint, changed_since, checkpoint
from indexer.errors import VerificationFailed
from indexer.items import Item, to_delete, to_index
from indexer.orphans import comments_of
from indexer.sender import Outcome
from indexer.state import ensure_state, note_swap, state_index
from indexer.tombstones import Tombstone, buried_since

_FEW = 200  # writes that are carried over while writers wait: some 50 ms
_ROUNDS = 20  # a flood of writes that outruns the copying has to wait at some point


class Carrier:
    """From `old`, which is live, to `new`, which is to be; counts from the moment it is made.

    Args:
        target: the alias to write to `new` through.
        since: checkpoints of the old index and of the state index, for an earlier moment.
    """

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        old: str,
        new: str,
        *,
        target: str,
        since: tuple[Checkpoint, Checkpoint] | None = None,
    ) -> None:
        self._client = client
        self._alias = alias
        self._old = old
        self._new = new
        self._target = target
        self._since = since or self._now()
        self.carried = 0

    def while_open(self) -> None:
        """Carry over until only a few writes can be missing; more may come all the time."""
        for _ in range(_ROUNDS):
            before = self.carried
            self._round()
            if self.carried - before < _FEW:
                return

    def close_and_swap(self, announce: Callable[[], None]) -> None:
        """Close the old generation to writes, carry over the last ones, and swap.

        The old one stays closed: a write that still finds it must not be lost in it.
        """
        lifecycle.block_writes(self._client, self._old)
        self._round()
        announce()
        self._note()
        lifecycle.swap(self._client, self._alias, self._new, self._old)

    def _now(self) -> tuple[Checkpoint, Checkpoint]:
        return (
            checkpoint(self._client, self._old),
            checkpoint(self._client, ensure_state(self._client, self._alias)),
        )

    def _round(self) -> None:
        now = self._now()
        self._client.indices.refresh(index=self._old)
        written, deleted = self._since
        self._bury(buried_since(self._client, self._alias, deleted))
        changes = changed_since(self._client, self._old, written)
        self.carried += sum(1 for _ in self._send(to_index(document) for document in changes))
        self._since = now

    def _bury(self, tombstones: Iterable[Tombstone]) -> None:
        """Delete what was deleted in the old one, unless it is newer; a post with its comments."""
        # Strictly newer: a post written again in the millisecond of its deletion stays.
        graves = [tombstone.document() for tombstone in tombstones]
        stones = {grave.id: grave.version for grave in graves}
        gone: dict[str, int] = {}
        for outcome in self._send(to_delete(grave, "external") for grave in graves):
            if outcome.result == "deleted":
                self.carried += 1
                if outcome.item.kind == "post":
                    gone[outcome.item.oid] = stones[outcome.item.id]
        if gone:
            self._client.indices.refresh(index=self._new)
            self.carried += sum(1 for _ in self._send(comments_of(self._client, self._new, gone)))

    def _send(self, items: Iterable[Item]) -> Iterator[Outcome]:
        for outcomes in send(self._client, self._target, items):
            for outcome in outcomes:
                if outcome.refusal and not outcome.refusal.older:
                    raise VerificationFailed(
                        f"{outcome.item.id}, written to {self._old} meanwhile, cannot be carried "
                        f"over to {self._new}: {outcome.refusal.reason}; nothing was swapped.",
                        outcome.refusal.remedy,
                    )
                yield outcome

    def _note(self) -> None:
        """What is in the new one when it goes live, so that a rollback can carry the rest back."""
        noted = {
            "written": checkpoint(self._client, self._new),
            "deleted": checkpoint(self._client, state_index(self._alias)),
        }
        note_swap(self._client, self._alias, self._new, noted)
