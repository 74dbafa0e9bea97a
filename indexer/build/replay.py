"""Replays writes from the live generation onto another one, before a swap.

Writes that arrive during a build go to the live generation. They are replayed onto the new one:
first while further writes are accepted, then, for the last few, under a write block. Blocked
writers retry and reach the new generation after the swap.
"""

from collections.abc import Iterable
from dataclasses import replace

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import generations
from indexer.build.upgrade import Adapt, unchanged
from indexer.bulk import (
    BulkLimits,
    Operation,
    delete_operation,
    index_operation,
    send_all,
)
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.records import Counts, Document, batches
from indexer.scan import (
    Checkpoint,
    changed_since,
    child_comments,
    count_documents,
    current_versions,
)
from indexer.state import checkpoints
from indexer.write.comments import StoredPost, based_on_stored, read_posts, update_comments
from indexer.write.deletions import Deletion, deletions_since
from indexer.write.links import slugs_of, update_link_texts

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
        model: Model | None = None,
        since: tuple[Checkpoint, Checkpoint] | None = None,
    ) -> None:
        self._client = client
        self._alias = alias
        self._old = old
        self._new = new
        self._target = target
        self.adapt = adapt
        self._comments_in_posts = comments_in_posts
        self._model = model
        self._since = since or checkpoints(client, alias, old)
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
            self._replay_once()
            if self.replayed - before < _FEW:
                break
        lock.check()
        self.blocked = True
        generations.block_writes(self._client, self._old)
        self._replay_once()
        return count_documents(self._client, self._new)

    def _replay_once(self) -> None:
        now = checkpoints(self._client, self._alias, self._old)
        self._client.indices.refresh(index=self._old)
        written, deleted = self._since
        changed_posts: set[str] = set()  # whose field `comments` has to be updated
        slugs: set[str] = set()  # of posts whose field `link_texts` has to be updated

        for batch in batches(deletions_since(self._client, self._alias, deleted), _BATCH):
            pending = [deletion.document() for deletion in batch if deletion.pending]
            not_made = current_versions(self._client, self._old, pending)
            made = [deletion for deletion in batch if deletion.id not in not_made]
            oids = [deletion.routing for deletion in made]
            changed_posts.update(oids)
            slugs |= slugs_of(self._client, self._new, oids)
            posts = read_posts(self._client, self._new, oids, ["content_version"])
            documents = (_deleted(deletion, posts.get(deletion.routing)) for deletion in made)
            # "external" is strict: a post written again in the same millisecond stays.
            operations = (delete_operation(document, "external") for document in documents)
            self.replayed += self._send(operations)

        for changes in batches(changed_since(self._client, self._old, written), _BATCH):
            changed_posts.update(change.document.routing for change in changes)
            # The new generation has these posts as its source has them, or does not have them.
            whole = [change.document for change in changes if not change.only_comments]
            slugs |= slugs_of(self._client, self._new, (document.routing for document in whole))
            based = based_on_stored(self._client, self._new, whole)
            adapted = with_passages(map(self.adapt, based), self._model, self._client)
            self.replayed += self._send(map(index_operation, adapted))

        if self._comments_in_posts:
            missing = update_comments(self._client, self._target, changed_posts, BulkLimits())
        else:
            self._client.indices.refresh(index=self._new)
            posts = read_posts(self._client, self._new, changed_posts, ["oid"])
            missing = changed_posts - posts.keys()
        self._send(map(delete_operation, child_comments(self._client, self._new, missing)))
        slugs |= slugs_of(self._client, self._new, changed_posts)
        update_link_texts(self._client, self._target, slugs, BulkLimits())
        self._since = now

    def _send(self, operations: Iterable[Operation]) -> int:
        """Send operations to the new generation; returns how many have changed it."""
        return sum(
            outcome.accepted and outcome.result != "not_found"
            for outcomes in send_all(self._client, self._target, operations)
            for outcome in outcomes
        )


def _deleted(deletion: Deletion, stored: StoredPost | None) -> Document:
    """The document to delete: a post with a version above the updates of its comments, unless its
    content is newer than the deletion."""
    document = deletion.document()
    if document.kind == "post" and stored and deletion.version > stored.content_version:
        return replace(document, version=max(deletion.version, stored.version + 1))
    return document
