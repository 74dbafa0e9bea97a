"""Checks every served answer against the history of acknowledged writes, as Jepsen does.

Two writers put and delete a post each, and repeat what failed until it is acknowledged. Readers
search for these posts, in two ways each, on every host. Two kinds of answers are wrong:

- stale: a search that began after a write was acknowledged (plus the grace of the scenario) shows
  what was there before it;
- back: a search shows an older state of a post than one that had ended before it began (plus the
  grace), on the same host.
"""

import random
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple
from urllib.parse import urlsplit

import redis
import requests

from bench.faults import SAMPLE
from bench.results import echo_header, echo_row
from bench.service import indexed, serving
from bench.stream import TOKEN
from devstack.servers import Gunicorn, RedisServer, redis_server
from tests.tcp import forward, listening

_SECONDS = 20.0  # of each scenario
_WRITERS, _READERS = 2, 4  # clients; those that read are of each host
_PAUSE = 0.3  # seconds, on average, between two writes of a client
_LETTERS = "bcdfghjklmnpqrstvwxz"  # of words that no other post has
_LATE = 5.0  # seconds: the grace where Redis cannot be told


# -- histories -----------------------------------------------------------------------------------


class Wrote(NamedTuple):
    """A write: when it began and was acknowledged. A post that was deleted has no version."""

    version: int | None
    began: float
    ended: float


class Read(NamedTuple):
    """An answer: the version of the post that it shows, None without the post."""

    host: str
    version: int | None
    began: float
    ended: float
    state: str


@dataclass
class History:
    """What one client wrote to a post, one after the other, and what searches showed of it."""

    writes: list[Wrote] = field(default_factory=lambda: [Wrote(None, 0.0, 0.0)])
    reads: list[Read] = field(default_factory=list)

    def wrong(self, grace: float) -> Iterator[tuple[str, Read]]:
        """The answers that are wrong, and how."""
        shown: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
        for read in sorted(self.reads, key=lambda read: read.began):
            possible = [
                number
                for number, write in enumerate(self.writes)
                if write.version == read.version and write.began <= read.ended
            ]
            until = read.began - grace
            # The same state may come again. A wrong answer is one that is whichever it was.
            latest, earliest = max(possible, default=-1), min(possible, default=-1)
            former = [number for ended, number in shown[read.host] if ended < until]
            if latest < sum(write.ended <= until for write in self.writes) - 1:
                yield "stale", read
            elif latest < max(former, default=0):
                yield "back", read
            shown[read.host].append((read.ended, earliest))


class Clients:
    """Writers to the first host and readers of all, until they are stopped."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self.histories: defaultdict[str, History] = defaultdict(History)
        self.acknowledged = self.failed = 0
        self._hosts = hosts
        self._stop, self._stop_writing = threading.Event(), threading.Event()
        self._names = ["".join(random.choices(_LETTERS, k=9)) for _ in range(_WRITERS)]
        self._threads = [threading.Thread(target=self._write, args=(name,)) for name in self._names]
        self._threads += [
            threading.Thread(target=self._read, args=(host,))
            for host in hosts
            for _ in range(_READERS)
        ]
        for name in self._names:
            self.histories[name]
        for thread in self._threads:
            thread.start()

    def stop_writing(self) -> None:
        """From then on no write tells Redis what it does not know."""
        self._stop_writing.set()

    def end(self) -> None:
        self._stop_writing.set()
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, name: str) -> None:
        """Put and delete a post in turn; the last state has a version that was never shown."""
        chance, versions = random.Random(name), count()
        writes = self.histories[name].writes
        last = False
        while not last:
            last = self._stop_writing.wait(chance.uniform(0, 2 * _PAUSE))
            version = next(versions) if last or writes[-1].version is None else None
            began = time.monotonic()
            # In the history before it is sent: a search may show it before it is acknowledged.
            writes.append(Wrote(version, began, float("inf")))
            while not self._sent(name, version):
                self.failed += 1
                if self._stop.wait(0.05):
                    return
            writes[-1] = Wrote(version, began, time.monotonic())
            self.acknowledged += 1

    def _sent(self, name: str, version: int | None) -> bool:
        """Whether a write was acknowledged; a deletion is if the post is not there any more."""
        url, headers = f"{self._hosts[0]}/documents/{name}", {"Authorization": f"Bearer {TOKEN}"}
        with suppress(requests.RequestException):
            if version is None:
                return requests.delete(url, headers=headers, timeout=60).status_code in (200, 404)
            post = {"title": f"{name} version{version}", "text": f"{name} {version}"}
            return requests.put(url, json=post, headers=headers, timeout=60).ok
        return False

    def _read(self, host: str) -> None:
        chance = random.Random()
        while not self._stop.wait(chance.uniform(0, 0.06)):
            name = chance.choice(self._names)
            q = chance.choice([name, f'"{name}"'])
            began = time.monotonic()
            try:
                found = requests.get(f"{host}/search", params={"q": q, "typos": "off"}, timeout=60)
            except requests.RequestException:
                continue
            if not found.ok:
                continue
            titles = [hit["title"].split() for hit in found.json()["hits"]]
            versions = [int(title[1][7:]) for title in titles if title[0] == name]
            version, state = versions[0] if versions else None, found.headers["X-Cache"]
            read = Read(host, version, began, time.monotonic(), state)
            self.histories[name].reads.append(read)


# -- scenarios -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens during the reads and writes.

    `grace`: seconds after which an acknowledged write has to be served. `hosts`: services, each
    with a Redis of its own, the first of which `breaks` for a while. `before`: called with each
    request to Elasticsearch, which waits for it, and the services.
    """

    name: str
    grace: float = 0.0
    hosts: int = 1
    has_redis: bool = True
    breaks: Callable[[RedisServer], AbstractContextManager[None]] | None = None
    before: Callable[[bytes, Sequence[Gunicorn]], None] | None = None


@contextmanager
def _stalled(cache: RedisServer) -> Iterator[None]:
    cache.process.send_signal(signal.SIGSTOP)
    yield
    cache.process.send_signal(signal.SIGCONT)


@contextmanager
def _restored(cache: RedisServer) -> Iterator[None]:
    """Redis has again what it had some seconds before, as after a restart from its snapshot."""
    with redis.Redis.from_url(cache.url) as server:
        dumped = {key: server.dump(key) for key in server.scan_iter()}
        yield
        server.flushall()
        for key, data in dumped.items():
            if data:
                server.restore(key, 60_000, data)


@contextmanager
def _flushed(cache: RedisServer) -> Iterator[None]:
    yield
    with redis.Redis.from_url(cache.url) as server:
        server.flushall()


def _slow(request: bytes, services: Sequence[Gunicorn]) -> None:
    if b"/_msearch" in request[:200]:
        time.sleep(1.2)


def _kill(request: bytes, services: Sequence[Gunicorn]) -> None:
    """All workers, when a write has been made and searches cannot find it yet."""
    if b"/_refresh" in request[:200] and random.random() < 0.1:
        for worker in services[0].workers():
            worker.kill()


SCENARIOS = [
    Scenario("nothing"),
    Scenario("slow Elasticsearch", before=_slow),
    Scenario("workers killed during a write", before=_kill),
    Scenario("Redis flushed", breaks=_flushed),
    Scenario("Redis stalled", _LATE, breaks=_stalled),
    Scenario("Redis restored", _LATE, breaks=_restored),
    Scenario("no Redis", _LATE, has_redis=False),
    Scenario("two hosts", _LATE, hosts=2),
]


def _run(scenario: Scenario, url: str) -> list[str]:
    """Print the row of a scenario; what was wrong."""
    parts = urlsplit(url)
    services: list[Gunicorn] = []
    caches: list[RedisServer] = []

    def passes(data: bytes) -> bool:
        if scenario.before:
            scenario.before(data, services)
        return True

    with ExitStack() as stack:
        alias = stack.enter_context(indexed(SAMPLE))
        address = parts.hostname or "", parts.port or 9200
        port = stack.enter_context(listening(lambda near: forward(near, address, passes)))
        for _ in range(scenario.hosts):
            if scenario.has_redis:
                caches.append(stack.enter_context(redis_server()))
            variables = {
                "ELASTICSEARCH_URL": f"http://127.0.0.1:{port}",
                "BLOGSEARCH_WRITE_TOKENS": TOKEN,
                "BLOGSEARCH_CACHE_TIMEOUT": "0.25",
            }
            redis_url = caches[-1].url if caches else ""
            service = serving(alias, redis_url=redis_url, workers=2, variables=variables)
            services.append(stack.enter_context(service))
        clients = Clients([service.url for service in services])
        try:
            time.sleep(_SECONDS / 3)
            with scenario.breaks(caches[0]) if scenario.breaks else ExitStack():
                time.sleep(4.0)
            clients.stop_writing()
            time.sleep(max(_SECONDS / 3, scenario.grace + 4))
        finally:
            clients.end()
    histories = clients.histories.values()
    reads = [read for history in histories for read in history.reads]
    wrong = [found for history in histories for found in history.wrong(scenario.grace)]
    kinds = [kind for kind, _ in wrong]
    hits = sum(read.state == "HIT" for read in reads)
    cells = [clients.acknowledged, clients.failed, len(reads), hits]
    cells += [kinds.count("stale"), kinds.count("back")]
    echo_row([scenario.name, *(f"{cell:,}" for cell in cells)])
    return [f"{scenario.name}: {len(wrong)} wrong answers, such as {wrong[0]}"] if wrong else []


def run(only: str, url: str) -> list[str]:
    """Print the rows of the scenarios whose name contains `only`; what was wrong."""
    echo_header(["history", "acknowledged", "repeated", "answers", "hits", "stale", "back"])
    chosen = [scenario for scenario in SCENARIOS if only in scenario.name]
    return [wrong for scenario in chosen for wrong in _run(scenario, url)]
