"""Keeps the live index in step with a source: adds, changes and removes just what differs."""

from collections.abc import Iterable
from dataclasses import replace

from elasticsearch import Elasticsearch

from indexer.build import Shape
from indexer.comparison import Comparison
from indexer.documents import SCHEMA
from indexer.generations import live
from indexer.intake import Allowance, OnReject
from indexer.lifecycle import recover
from indexer.lock import Lock
from indexer.rebuild import rebuild_locked
from indexer.reconcile import Reconciliation, Synced, SyncOptions
from indexer.records import RawPost, Reject
from indexer.reindex import Options, reindex_locked

__all__ = ["SyncOptions", "Synced", "sync"]


def sync(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[RawPost | Reject],
    shape: Shape,
    on_reject: OnReject,
    options: SyncOptions | None = None,
) -> Synced:
    """Compare a source with the live index by digests, and make the index like it.

    Without an index, or when the rules or the mapping are others, a generation is built first.
    Comments are removed only when the source has comments at all, or with their post.

    Raises:
        Locked: another process is building or syncing.
        SourceError: the source broke off; nothing was removed.
    """
    options = options or SyncOptions()
    with Lock(client, alias, options.purpose) as lock:
        orphans = tuple(recover(client, alias))
        found = live(client, alias)
        if found is None:
            first = _first(client, lock, alias, raws, shape, on_reject, options)
            return replace(first, orphans=orphans)
        built = None
        if (found.rules, found.schema) != (shape.rules.digest, SCHEMA):
            built = rebuild_locked(client, lock, alias, shape, options.report)
        with Comparison(client, alias) as comparison:
            run = Reconciliation(client, alias, comparison, on_reject, options)
            # Documents of an older schema may lack a field though nothing of the post changed.
            run.rewrite = found.schema != SCHEMA
            run.write(raws)
            lock.check()
            run.remove()
        client.indices.refresh(index=alias)
        index = built.index if built else found.name
        return replace(
            run.result, index=index, rules=shape.rules.digest, built=built, orphans=orphans
        )


def _first(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    raws: Iterable[RawPost | Reject],
    shape: Shape,
    on_reject: OnReject,
    options: SyncOptions,
) -> Synced:
    everything = Options(Allowance(share=1.0), options.limits, options.report, options.part)
    built = reindex_locked(client, lock, alias, raws, shape, on_reject, everything)
    return Synced(built.index, built.rules, added=built.counts.total, built=built)
