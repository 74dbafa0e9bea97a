"""Runs clients against a service with faults, and checks their answers.

One writer puts and deletes posts, another one comments; both repeat failed writes until they are
acknowledged. Readers on every host search for what is written, in two ways. As Jepsen does, each
answer is checked against the history of acknowledged writes. Two kinds of answers are wrong:

- stale: a search that began after a write was acknowledged (plus a grace) shows the state before
  that write;
- back: a search shows an older state than a search on the same host that had ended before it began
  (plus the grace).

Other clients send searches that are always new, count the posts that nobody writes, and request the
heartbeat.
"""

import json
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple

import requests
from elasticsearch import Elasticsearch

from bench.service import TOKEN
from tests.waiting import wait_until

Kind = Literal["read", "new", "all", "write", "alive"]

UNCHANGING = 3_000
"""The number of posts of each source; `all` must find them."""

COMMENTED = "commented"
"""The oid of the post with all comments."""

_WRITTEN = 4  # posts, and as many comments
_READERS = 4  # for each host
_OTHERS: dict[Kind, int] = {"new": 3, "all": 1, "alive": 1}
_PAUSE = 0.2  # seconds, on average, between two writes of a client
_SHORT_PAUSE = 0.03
_LAST = 60.0  # seconds in which the last writes must be acknowledged
_LETTERS = "bcdfghjklmnpqrstvwxz"  # for words that no other post has


class Wrote(NamedTuple):
    """A write: when it began and when it was acknowledged. A deletion has no version."""

    version: int | None
    began: float
    ended: float


class Response(NamedTuple):
    """The response to a client: `status` 0 is a connection that failed twice.

    `state`: the X-Cache of an answer, or the code of an error. `version`: the version of `name`
    that an answer to a reader shows, None if the answer does not have it.
    """

    kind: Kind
    began: float
    ended: float
    status: int
    state: str
    host: str = ""
    name: str = ""
    version: int | None = None

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    @property
    def failed(self) -> bool:
        return self.status not in (200, 201, 503)


class Written:
    """Posts and comments, and the history of writes to each, by name."""

    def __init__(self) -> None:
        self.versions = count()
        names = ["".join(random.choices(_LETTERS, k=9)) for _ in range(2 * _WRITTEN)]
        self.posts, self.comments = names[:_WRITTEN], names[_WRITTEN:]
        self.writes = {name: [Wrote(None, 0.0, 0.0)] for name in names}

    def forget(self) -> None:
        """Forget the writes to each before its last acknowledged one."""
        for writes in self.writes.values():
            while any(write.ended < float("inf") for write in writes[1:]):
                del writes[0]

    def path(self, name: str) -> str:
        is_comment = name in self.comments
        return f"/documents/{COMMENTED}/comments/{name}" if is_comment else f"/documents/{name}"

    def missing(self, elastic: Elasticsearch, alias: str) -> list[str]:
        """Return the paths of posts and comments whose last acknowledged write is not stored."""
        elastic.indices.refresh(index=alias)
        missing = []
        for name, writes in self.writes.items():
            oid = COMMENTED if name in self.comments else name
            post = elastic.options(ignore_status=404).get(index=alias, id=oid)
            stored = json.dumps(post.get("_source"))
            version, _, ended = writes[-1]
            as_written = name not in stored if version is None else _text(name, version) in stored
            if ended < float("inf") and not as_written:
                missing.append(self.path(name))
        return missing

    def wrong(self, answers: Sequence[Response], grace: float) -> Iterator[tuple[str, Response]]:
        """Yield the wrong answers to readers, each with its kind."""
        shown: defaultdict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
        for answer in sorted(answers, key=lambda answer: answer.began):
            writes = self.writes[answer.name]
            possible = [
                number
                for number, write in enumerate(writes)
                if write.version == answer.version and write.began <= answer.ended
            ]
            until = answer.began - grace
            # A state may occur several times. An answer is wrong only if it is wrong for each.
            latest, earliest = max(possible, default=-1), min(possible, default=-1)
            before = shown[answer.host, answer.name]
            former = [number for ended, number in before if ended < until]
            if latest < sum(write.ended <= until for write in writes) - 1:
                yield "stale", answer
            elif latest < max(former, default=0):
                yield "back", answer
            before.append((answer.ended, earliest))


class Clients:
    """Writers to the first host, readers of all hosts, and other clients, until they are ended."""

    def __init__(self, hosts: Sequence[str], written: Written) -> None:
        self.responses: list[Response] = []
        self.acknowledged = 0
        self._hosts, self._written = hosts, written
        self._stop, self._stop_writing = threading.Event(), threading.Event()
        self._may_write = threading.Event()
        self._may_write.set()
        self._writers = [
            threading.Thread(target=self._write, args=(names,))
            for names in (written.posts, written.comments)
        ]
        readers = [host for host in hosts for _ in range(_READERS)]
        self._others = [threading.Thread(target=self._read, args=(host,)) for host in readers]
        self._others += [
            threading.Thread(target=self._get, args=(kind,))
            for kind, number in _OTHERS.items()
            for _ in range(number)
        ]
        for thread in (*self._writers, *self._others):
            thread.start()

    def pause_writing(self, seconds: float) -> None:
        """Pause, so that readers cache the present state; only that can be served in an outage."""
        self._may_write.clear()
        writes = self._written.writes.values()
        wait_until(lambda: all(of_name[-1].ended < float("inf") for of_name in writes))
        time.sleep(seconds)

    def resume_writing(self) -> None:
        self._may_write.set()

    def stop_writing(self) -> None:
        """Write a last version, which was never shown, to each post and comment, and stop."""
        self._stop_writing.set()

    def end(self) -> None:
        """Stop all clients, the writers when their last writes are acknowledged."""
        self._may_write.set()  # a pause may have been interrupted
        self._stop_writing.set()
        deadline = time.monotonic() + _LAST
        for thread in self._writers:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._stop.set()
        for thread in (*self._writers, *self._others):
            thread.join()

    def _write(self, names: Sequence[str]) -> None:
        while not self._stop_writing.wait(random.uniform(0, 2 * _PAUSE)):
            self._may_write.wait()
            self._change(random.choice(names))
        for name in names:
            self._change(name, last=True)

    def _change(self, name: str, *, last: bool = False) -> None:
        """Put or delete a post or comment, and repeat it until it is acknowledged."""
        writes = self._written.writes[name]
        puts = last or writes[-1].version is None
        version = next(self._written.versions) if puts else None
        began = time.monotonic()
        # Recorded before it is sent: a search may show it before it is acknowledged.
        writes.append(Wrote(version, began, float("inf")))
        while not self._acknowledged(name, version):
            if self._stop.wait(0.05):
                return
        writes[-1] = Wrote(version, began, time.monotonic())
        self.acknowledged += 1

    def _acknowledged(self, name: str, version: int | None) -> bool:
        path = self._written.path(name)
        if version is None:
            response = self._send("write", "DELETE", path)
            if response.status == 404:  # an earlier attempt has deleted it
                response = response._replace(status=200)
        else:
            text = _text(name, version)
            body = {"comment": text} if "/comments/" in path else {"title": text, "text": text}
            response = self._send("write", "PUT", path, json=body)
        self.responses.append(response)
        return 200 <= response.status < 300

    def _read(self, host: str) -> None:
        while not self._stop.wait(random.uniform(0, 2 * _SHORT_PAUSE)):
            name = random.choice(list(self._written.writes))
            q = random.choice([name, f'"{name}"'])
            path = f"/search?typos=off&q={q}"
            self.responses.append(self._send("read", "GET", path, host, name))

    def _get(self, kind: Kind) -> None:
        while not self._stop.wait(_SHORT_PAUSE):
            new = f"/search?q=post+{random.getrandbits(24):x}"
            paths = {"alive": "/__lbheartbeat__", "all": "/search?q=unchanging", "new": new}
            self.responses.append(self._send(kind, "GET", paths[kind]))

    def _send(
        self, kind: Kind, method: str, path: str, host: str = "", name: str = "", **options: Any
    ) -> Response:
        """Send a request over a new connection; if that fails, send it once more."""
        url, began = host or self._hosts[0], time.monotonic()
        headers = {"Authorization": f"Bearer {TOKEN}"} if kind == "write" else {}
        state = ""
        for _ in range(2):
            try:
                got = requests.request(method, url + path, headers=headers, timeout=60, **options)
            except requests.RequestException as error:
                state = type(error).__name__
                continue
            response = Response(
                kind, began, time.monotonic(), got.status_code, _state(got), host, name
            )
            if kind == "read" and got.ok:
                return response._replace(version=_version(got.text, name))
            if kind == "all" and got.ok and (found := got.json()["count"]) < UNCHANGING:
                return response._replace(status=0, state=f"only {found} posts")
            return response
        return Response(kind, began, time.monotonic(), 0, state, host, name)


def _text(name: str, version: int) -> str:
    return f"{name} version{version}."


def _version(answer: str, name: str) -> int | None:
    """Return the version of `name` in an answer, which may mark the name."""
    found = re.search(rf"{name}(?:</mark>)? version(\d+)\.", answer)
    return int(found[1]) if found else None


def _state(response: requests.Response) -> str:
    if response.ok:
        return response.headers.get("X-Cache", "")
    try:
        return str(response.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return "no JSON"
