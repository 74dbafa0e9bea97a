"""Brings what happens to the live generation during a build onto the new one, before a swap.

Writes that arrive during a build go to the live generation. They are replayed onto the new one:
first while further writes are accepted, then, for the last few, under a write block. Writers that
are refused read again through the alias, and reach the new generation after the swap.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import generations
from indexer.bulk import Operation, delete_operation, index_operation, send_all
from indexer.generations import building_alias
from indexer.passages import with_passages
from indexer.records import Document, Origin, batches
from indexer.scan import Checkpoint, changed_since, checkpoint, count_documents, ids
from indexer.write.live import read_posts
from indexer.write.merge import Source, from_source

_FEW = 200  # writes that may be left for the blocked phase: about 50 ms
_BATCH = 200  # documents
_MAX_ROUNDS = 20  # writes that arrive faster than they are replayed have to be blocked eventually


class Replay:
    """Replays what happens to `old`, which is live, onto `new`, which will be.

    Written is what is above a checkpoint. Deleted is what was there then, or was written since, and
    is not there now: the number of documents tells whether there is any.

    Args:
        swapped: the checkpoint, and the ids of the documents that were there; by default as now.
        from_source: `new` has posts as a source has them. They keep their content, unless they were
            written over HTTP, and get the comments that were.

    Attributes:
        replayed: number of documents written or deleted.
        blocked: whether `old` may have been blocked.
    """

    def __init__(
        self,
        client: Elasticsearch,
        old: str,
        new: str,
        swapped: tuple[Checkpoint, set[str]] | None = None,
        *,
        model: Model | None = None,
        from_source: bool = False,
    ) -> None:
        self._client, self._old, self._new = client, old, new
        if swapped is None:
            since = checkpoint(client, old)
            client.indices.refresh(index=old)
            swapped = since, set(ids(client, old))
        self._since, self._known = swapped
        self._model = model
        self._from_source = from_source
        self.replayed = 0
        self.blocked = False

    def until_few_are_left(self) -> None:
        """Replay while further writes are accepted."""
        for _ in range(_MAX_ROUNDS):
            if len(self._once()) < _FEW:
                return

    def rest(self) -> set[str]:
        """Replay the last writes; returns their ids.

        The old generation stays blocked: a write that still reached it would be lost.
        """
        self.blocked = True
        generations.block_writes(self._client, self._old)
        return self._once()

    def _once(self) -> set[str]:
        """Replay what has happened until now; returns the ids of what was written or deleted."""
        now = checkpoint(self._client, self._old)
        self._client.indices.refresh(index=self._old)
        changed: set[str] = set()
        for batch in batches(changed_since(self._client, self._old, self._since), _BATCH):
            changed.update(document.oid for document in batch)
            posts = with_passages(self._as_new(batch), self._model, self._client)
            self._send(map(index_operation, posts))
        self._since = now
        self._known |= changed
        if count_documents(self._client, self._old).posts < len(self._known):
            present = set(ids(self._client, self._old))
            deleted = self._known - present
            gone = (Document(oid, {}, Origin(self._old)) for oid in deleted)
            self._send(map(delete_operation, gone))
            self._known = present
            changed |= deleted
        self.replayed += len(changed)
        return changed

    def _as_new(self, documents: Sequence[Document]) -> Iterable[Document]:
        if not self._from_source:
            return documents
        posts = read_posts(self._client, self._new, [document.oid for document in documents])
        return [
            replace(document, source=_merged(document.source, post.source))
            for document, post in zip(documents, posts, strict=True)
        ]

    def _send(self, operations: Iterable[Operation]) -> None:
        for _ in send_all(self._client, building_alias(self._new), operations):
            pass


def _merged(live: Source, new: Source | None) -> Source:
    """A post that was written while a source was read: its comments over HTTP were, unless it came
    over HTTP as a whole, or the source does not have it."""
    if new is None or live.get("over_http"):
        return live
    comments = [comment for comment in new.get("comments", ()) if not comment.get("over_http")]
    document = Document(new["oid"], {**new, "comments": comments}, Origin("the source"))
    return from_source(document)(live) or live
