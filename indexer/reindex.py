"""A new generation from a source: what the source has, and what is written while it is read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from elasticsearch import Elasticsearch

from indexer.build import Build, Shape, building
from indexer.errors import IndexingError
from indexer.intake import Allowance, Intake, OnReject
from indexer.items import Limits, to_index
from indexer.lock import Lock
from indexer.orphans import comments_of
from indexer.progress import Built, Progress, Report, in_silence
from indexer.records import RawPost, Reject
from indexer.seen import Seen


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a source into a new generation.

    Args:
        part: tells how much of the source was read (0 to 1), None where that is not known.
        purpose: what it is called for others who wait for the lock.
    """

    allowance: Allowance = field(default_factory=Allowance)
    limits: Limits = field(default_factory=Limits)
    report: Report = in_silence
    part: Callable[[], float | None] = lambda: None
    purpose: str = "reindex"


def reindex(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[RawPost | Reject],
    shape: Shape,
    on_reject: OnReject,
    options: Options | None = None,
) -> Built:
    """Build the next generation from a source, and make it live.

    Raises:
        Locked: another process is building.
        TooManyRejects: more was rejected than allowed; nothing was swapped.
        VerificationFailed: what was accepted is not there; nothing was swapped.
        SourceError: the source broke off; nothing was swapped.
    """
    options = options or Options()
    with Lock(client, alias, options.purpose) as lock:
        return reindex_locked(client, lock, alias, raws, shape, on_reject, options)


def reindex_locked(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    raws: Iterable[RawPost | Reject],
    shape: Shape,
    on_reject: OnReject,
    options: Options,
) -> Built:
    """`reindex` for who holds the lock already."""
    intake = Intake(on_reject)
    with building(client, lock, alias, shape, options.report) as build:
        _fill(build, intake, raws, options)
        _withdraw_orphans(client, build, intake)
        options.allowance.check(intake.rejected_lines, intake.lines)
        if not intake.accepted.posts:
            raise IndexingError(
                "The source has no posts; nothing was swapped.",
                "Check that it is the right file or folder.",
            )
        return build.finish(intake.accepted)


def _fill(build: Build, intake: Intake, raws: Iterable[RawPost | Reject], options: Options) -> None:
    with Seen() as seen:
        items = map(to_index, intake.documents(raws, seen))
        for outcomes in build.fill(items, options.limits):
            intake.settle(outcomes)
            part = intake.part(options.part())
            options.report(Progress("reading", intake.accepted.total, part, intake.rejects))


def _withdraw_orphans(client: Elasticsearch, build: Build, intake: Intake) -> None:
    """Comments of a post that Elasticsearch refused would hang in the air."""
    if not intake.refused_posts:
        return
    client.indices.refresh(index=build.name)
    orphans = comments_of(client, build.name, dict.fromkeys(intake.refused_posts, 0))
    intake.withdraw(sum(len(outcomes) for outcomes in build.fill(orphans)))
