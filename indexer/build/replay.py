"""Replays writes from the live generation onto another one, then swaps them.

Writes that arrive during a build go to the live generation. They are replayed onto the new one:
first while further writes are accepted, then, for the last few, under a write block. Blocked
writers retry and reach the new generation after the swap.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.build.upgrade import Adapt, unchanged
from indexer.bulk import (
    BulkLimits,
    Operation,
    Outcome,
    delete_operation,
    index_operation,
    send_bulk,
)
from indexer.errors import VerificationFailed
from indexer.records import Counts, batches
from indexer.scan import (
    Change,
    Checkpoint,
    changed_since,
    checkpoint,
    child_comments,
    count_documents,
    current_versions,
)
from indexer.state import ensure_state, record_swap, state_index
from indexer.write.comments import based_on_stored, read_posts, update_comments
from indexer.write.deletions import Deletion, deletions_since

_FEW = 200  # writes that may be left for the blocked phase: about 50 ms
_BATCH = 200  # documents whose versions in the new generation are looked up at a time
_MAX_ROUNDS = 20  # writes that arrive faster than they are replayed have to be blocked eventually


class WriteReplay:
    """Replays writes to `old`, which is live, onto `new`, which will be.

    Counts from its creation unless `since` gives earlier checkpoints.

    Args:
        target: the alias through which `new` is written.
        adapt: makes documents of `old` into such as `new` takes.
        comments_in_posts: `new` has the field `comments`; the first schema had not.
        since: checkpoints of the old index and of the state index.
    """

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        old: str,
        new: str,
        *,
        target: str,
        adapt: Adapt = unchanged,
        comments_in_posts: bool = True,
        since: tuple[Checkpoint, Checkpoint] | None = None,
    ) -> None:
        self._client = client
        self._alias = alias
        self._old = old
        self._new = new
        self._target = target
        self.adapt = adapt
        self._comments_in_posts = comments_in_posts
        self._since = since or checkpoints(client, alias, old)
        self._changed_posts: set[str] = set()  # whose field `comments` has to be updated
        self.replayed = 0
        self.blocked = False  # whether `old` may have been blocked

    def replay_while_open(self) -> None:
        """Replay until only a few writes are left; further writes are still accepted."""
        for _ in range(_MAX_ROUNDS):
            before = self.replayed
            self._replay_once()
            if self.replayed - before < _FEW:
                return

    def replay_blocked(self) -> Counts:
        """Block writes to the old generation, and replay the last ones.

        Returns what the new generation contains: counted before the swap, because a failure after
        it would look as if nothing had been swapped.
        """
        self.blocked = True
        generations.block_writes(self._client, self._old)
        self._replay_once()
        return count_documents(self._client, self._new)

    def swap(self) -> None:
        """Make the new generation live.

        The old one stays blocked: a write that still reached it would be lost.
        """
        record_swap(
            self._client,
            self._alias,
            self._new,
            written=checkpoint(self._client, self._new),
            deleted=checkpoint(self._client, state_index(self._alias)),
        )
        generations.swap(self._client, self._alias, self._new, self._old, self._target)

    def _replay_once(self) -> None:
        now = checkpoints(self._client, self._alias, self._old)
        self._client.indices.refresh(index=self._old)
        written, deleted = self._since
        self._replay_deletions(deletions_since(self._client, self._alias, deleted))
        self._replay_changes(changed_since(self._client, self._old, written))
        self._update_comments()
        self._since = now

    def _replay_changes(self, changes: Iterator[Change]) -> None:
        def operations() -> Iterator[Operation]:
            for batch in batches(changes, _BATCH):
                self._changed_posts.update(change.document.routing for change in batch)
                # The new generation has these posts as its source has them, or does not have them.
                written = [change.document for change in batch if not change.only_comments]
                based = based_on_stored(self._client, self._new, written)
                yield from (index_operation(self.adapt(document)) for document in based)

        self.replayed += sum(1 for _ in self._send(operations()))

    def _update_comments(self) -> None:
        """Update the field `comments` of changed posts; delete comments whose post is not there."""
        changed, self._changed_posts = self._changed_posts, set()
        if self._comments_in_posts:
            missing = update_comments(self._client, self._target, changed, BulkLimits())
        else:
            missing = changed - read_posts(self._client, self._new, changed, ["oid"]).keys()
        if missing:
            comments = delete_child_comments(self._client, self._new, dict.fromkeys(missing, 0))
            self.replayed -= sum(1 for _ in self._send(comments))

    def _replay_deletions(self, deletions: Iterator[Deletion]) -> None:
        """Delete what was deleted in the old generation, and the comments of deleted posts."""
        versions: dict[str, int] = {}

        def operations() -> Iterator[Operation]:
            for batch in batches(deletions, _BATCH):
                oids = [deletion.routing for deletion in batch if deletion.is_of_post]
                stored = read_posts(self._client, self._new, oids, ["content_version"])
                for deletion in self._complete(batch):
                    document = deletion.document()
                    versions[deletion.id] = deletion.version
                    post = stored.get(deletion.routing) if deletion.is_of_post else None
                    if not deletion.is_of_post:
                        self._changed_posts.add(deletion.routing)
                    elif post and deletion.version > post.content_version:
                        version = max(deletion.version, post.version + 1)
                        document = replace(document, version=version)
                    # "external" is strict: a post written again in the same millisecond stays.
                    yield delete_operation(document, "external")

        deleted_posts: dict[str, int] = {}
        for outcome in self._send(operations()):
            if outcome.result == "deleted":
                self.replayed += 1
                if outcome.operation.kind == "post":
                    deleted_posts[outcome.operation.oid] = versions[outcome.operation.id]
        if deleted_posts:
            self._client.indices.refresh(index=self._new)
            comments = delete_child_comments(self._client, self._new, deleted_posts)
            self.replayed += sum(1 for _ in self._send(comments))

    def _complete(self, deletions: list[Deletion]) -> list[Deletion]:
        """Without pending ones whose document is still there."""
        pending = [deletion.document() for deletion in deletions if deletion.pending]
        present = current_versions(self._client, self._old, pending)
        return [
            deletion for deletion in deletions if not (deletion.pending and deletion.id in present)
        ]

    def _send(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        for outcomes in send_bulk(self._client, self._target, operations):
            for outcome in outcomes:
                if outcome.refusal and not outcome.refusal.version_conflict:
                    raise VerificationFailed(
                        f"{outcome.operation.id}, written to {self._old} during the build, cannot "
                        f"be replayed to {self._new}: {outcome.refusal.reason}; nothing was "
                        "swapped.",
                        outcome.refusal.remedy,
                    )
                yield outcome


def checkpoints(client: Elasticsearch, alias: str, index: str) -> tuple[Checkpoint, Checkpoint]:
    """The current checkpoints of an index and of the state index."""
    return checkpoint(client, index), checkpoint(client, ensure_state(client, alias))


def delete_child_comments(
    client: Elasticsearch, index: str, deleted_posts: Mapping[str, int]
) -> Iterator[Operation]:
    """Operations that delete all comments of deleted posts.

    Args:
        deleted_posts: oid to the version of the deletion. A comment with a later version is
            deleted too, since its post is gone.
    """
    for comment in child_comments(client, index, deleted_posts):
        version = max(comment.version, deleted_posts[comment.routing])
        yield delete_operation(replace(comment, version=version))
