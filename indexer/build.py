"""One generation, built beside the live one: filled, verified, caught up with, swapped in.

Writes that arrive meanwhile go to the live generation as ever. At the end they are carried over,
first while more may come, then, for the blink of the last few, with the live generation closed to
writes: writers try again and land in the new one.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from analyzers.rules import RuleSet
from indexer import lifecycle
from indexer.bulk import send
from indexer.carry import Carrier
from indexer.documents import index_body
from indexer.errors import VerificationFailed
from indexer.items import Item, Limits
from indexer.lock import Lock
from indexer.progress import Built, Counts, Progress, Report
from indexer.sender import Outcome
from indexer.state import ensure_state, next_number
from indexer.tombstones import forget_old


@dataclass(frozen=True, slots=True)
class Shape:
    """What a new generation is to look like."""

    rules: RuleSet
    shards: int
    replicas: int


class Build:
    """A generation under construction; made by `building`."""

    def __init__(
        self, client: Elasticsearch, lock: Lock, alias: str, shape: Shape, report: Report
    ) -> None:
        self._client = client
        self._lock = lock
        self._alias = alias
        self._shape = shape
        self._report = report
        self._started = time.monotonic()
        ensure_state(client, alias)
        self.orphans = tuple(lifecycle.recover(client, alias))
        forget_old(client, alias)
        found = lifecycle.generations(client, alias)
        self.old = next((one.name for one in found if one.state == "live"), None)
        body = index_body(shape.rules, shards=shape.shards, replicas=shape.replicas)
        number = next_number(client, alias, max((one.number for one in found), default=0))
        self.name = lifecycle.create(client, alias, number, body)
        # From here on, what is written to the live generation is carried over.
        self._carrier = self._carrier_from(self.old) if self.old else None

    def fill(self, items: Iterable[Item], limits: Limits | None = None) -> Iterator[list[Outcome]]:
        """Send documents to the new generation; yields what became of them."""
        return send(self._client, self._target, items, limits)

    def finish(self, expected: Counts) -> Built:
        """Verify, catch up, swap.

        Args:
            expected: what was accepted, and so has to be there.

        Raises:
            VerificationFailed: it is not there; nothing was swapped.
        """
        self._report(Progress("verifying", expected.total))
        found = self.count()
        if found != expected:
            raise VerificationFailed(
                f"{self.name} holds {found}, but {expected} were accepted; nothing was swapped.",
                "Look at the log of Elasticsearch, then run it again.",
            )
        lifecycle.make_ready(self._client, self.name, self._shape.replicas)
        carried = self._catch_up_and_swap()
        return Built(
            index=self.name,
            rules=self._shape.rules.digest,
            counts=self.count(),
            previous=self.old,
            carried=carried,
            seconds=time.monotonic() - self._started,
            orphans=self.orphans,
        )

    def count(self) -> Counts:
        """What is in the new generation now."""
        return count(self._client, self.name)

    def _catch_up_and_swap(self) -> int:
        if self._carrier is None:
            self._lock.check()
            self._report(Progress("swapping"))
            lifecycle.swap(self._client, self._alias, self.name, None)
            return 0
        self._report(Progress("catching up"))
        self._carrier.while_open()
        self._lock.check()
        self._carrier.close_and_swap(self._about_to_swap)
        return self._carrier.carried

    @property
    def _target(self) -> str:
        return lifecycle.building_alias(self.name)

    def _carrier_from(self, old: str) -> Carrier:
        return Carrier(self._client, self._alias, old, self.name, target=self._target)

    def _about_to_swap(self) -> None:
        self._report(Progress("swapping"))
        self._lock.check()


@contextmanager
def building(
    client: Elasticsearch, lock: Lock, alias: str, shape: Shape, report: Report
) -> Iterator[Build]:
    """A new generation to fill and finish; whatever fails inside, it is removed again."""
    build: Build | None = None
    try:
        build = Build(client, lock, alias, shape, report)
        yield build
    except BaseException as error:
        try:
            _clean_up(client, lock, alias, build)
        except Exception as second:  # noqa: BLE001  (the first error is the one to tell)
            error.add_note(f"What was built could not be removed: {second}")
        raise


def _clean_up(client: Elasticsearch, lock: Lock, alias: str, build: Build | None) -> None:
    if lock.holds():
        lifecycle.recover(client, alias)
        return
    # Whoever took the lock over may be building; of ours nothing but our own may be touched.
    for generation in lifecycle.generations(client, alias):
        if build and generation.name == build.name and generation.state == "building":
            lifecycle.discard(client, generation.name)


def count(client: Elasticsearch, index: str) -> Counts:
    """Posts and comments in an index, after a refresh."""
    client.indices.refresh(index=index)
    posts, comments = (
        int(client.count(index=index, query={"term": {"kind": kind}})["count"])
        for kind in ("post", "comment")
    )
    return Counts(posts, comments)
