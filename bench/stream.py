"""A stream of searches, writes and health checks: what each client got, and what was written."""

import http.client
import json
import random
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from elasticsearch import Elasticsearch

TOKEN = "a-token-of-the-chaos-run"
CACHED = ["python", "juggling", "cornwall", "date", "recipe", "music", "bread", "cycling"]

Kind = Literal["cached", "new", "write", "alive"]

_CLIENTS: dict[Kind, int] = {"cached": 2, "new": 3, "write": 2, "alive": 1}
_PAUSE, _WRITE_PAUSE = 0.04, 0.2  # seconds between two requests of a client
_POSTS = 20  # that each writer writes again and again


@dataclass(frozen=True, slots=True)
class Response:
    """What a client got: `status` 0 is a connection that failed; times in seconds.

    `sent`: how often it was sent; a search is sent again once when its connection failed.
    """

    kind: Kind
    began: float
    seconds: float
    status: int
    state: str
    sent: int


class Stream:
    """Clients that send requests until they are stopped.

    `stored` has the last acknowledged text of each oid, None if it was deleted. After any other
    response than 2xx the state of a post is not known, and it is left out.
    """

    def __init__(self, ports: list[int]) -> None:
        self.responses: list[Response] = []
        self.stored: dict[str, str | None] = {}
        self.acknowledged = 0
        self._ports = ports
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(kind, number))
            for kind, clients in _CLIENTS.items()
            for number in range(clients)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop the clients, and wait until they have their last responses."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def missing(self, elastic: Elasticsearch, alias: str) -> list[str]:
        """The oids whose post is not in the index as it was acknowledged."""
        elastic.indices.refresh(index=alias)
        found = []
        for oid, text in self.stored.items():
            answer = elastic.options(ignore_status=404).get(
                index=alias, id=f"post:{oid}", routing=oid
            )
            if answer.get("_source", {}).get("text") != text:
                found.append(oid)
        return found

    def _run(self, kind: Kind, client: int) -> None:
        number = 0
        while not self._stop.wait(_WRITE_PAUSE if kind == "write" else _PAUSE):
            number += 1
            began = time.monotonic()
            sent = 1
            if kind == "write":
                status, state = self._write(f"chaos-{client}-{number % _POSTS}", number)
            else:
                path = _path(kind)
                status, state = self._send("GET", path)
                if not status:
                    sent = 2
                    status, state = self._send("GET", path)
            seconds = time.monotonic() - began
            self.responses.append(Response(kind, began, seconds, status, state, sent))

    def _write(self, oid: str, number: int) -> tuple[int, str]:
        text = None if number % 5 == 0 and self.stored.get(oid) else f"Text {number}"
        path = f"/documents/{oid}?refresh=false"
        if text is None:
            status, state = self._send("DELETE", path)
        else:
            status, state = self._send("PUT", path, json.dumps({"title": oid, "text": text}))
        if 200 <= status < 300:
            self.acknowledged += 1
            self.stored[oid] = text
        else:
            self.stored.pop(oid, None)
        return status, state

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        return send(random.choice(self._ports), method, path, body)


def send(port: int, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    """The status of a response and its X-Cache; status 0 if the connection failed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with suppress(OSError, http.client.HTTPException):
        try:
            connection.request(method, path, body, headers if method != "GET" else {})
            response = connection.getresponse()
            response.read()
            return response.status, response.headers.get("X-Cache", "")
        finally:
            connection.close()
    return 0, ""


def _path(kind: Kind) -> str:
    if kind == "alive":
        return "/__lbheartbeat__"
    query = random.choice(CACHED) if kind == "cached" else f"post {random.getrandbits(24):x}"
    return f"/search?q={quote(query)}"
