"""A stream of searches, writes and health checks: what each client got, and what was written."""

import http.client
import json
import random
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

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

    `state`: the X-Cache of an answer, the code of an error. `sent`: how often it was sent, as it is
    sent again once when its connection failed.
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

    Args:
        urls: of services; each request goes to one of them.
        ca_file: signs the certificates of those that are https.
    """

    def __init__(self, urls: list[str], ca_file: str | None = None) -> None:
        self.responses: list[Response] = []
        self.stored: dict[str, str | None] = {}
        self.acknowledged = 0
        self._urls = urls
        self._context = ssl.create_default_context(cafile=ca_file)
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
            if kind == "write":
                status, state, sent = self._write(f"chaos-{client}-{number % _POSTS}", number)
            else:
                status, state, sent = self._send("GET", _path(kind))
            seconds = time.monotonic() - began
            self.responses.append(Response(kind, began, seconds, status, state, sent))

    def _write(self, oid: str, number: int) -> tuple[int, str, int]:
        text = None if number % 5 == 0 and self.stored.get(oid) else f"Text {number}"
        path = f"/documents/{oid}?refresh=false"
        if text is None:
            status, state, sent = self._send("DELETE", path)
            if status == 404 and sent > 1:
                status = 200  # the first one has deleted it
        else:
            body = json.dumps({"title": oid, "text": text})
            status, state, sent = self._send("PUT", path, body)
        if 200 <= status < 300:
            self.acknowledged += 1
            self.stored[oid] = text
        else:
            self.stored.pop(oid, None)
        return status, state, sent

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, str, int]:
        """Status, state, and how often it was sent; status 0 if the connection failed each time."""
        status, state = self._send_once(method, path, body)
        if status:
            return status, state, 1
        return *self._send_once(method, path, body), 2

    def _send_once(self, method: str, path: str, body: str | None) -> tuple[int, str]:
        parts = urlsplit(random.choice(self._urls))
        host, port = parts.hostname or "", parts.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=60, context=self._context)
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=60)
        )
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, body, headers if method != "GET" else {})
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, type(error).__name__
        finally:
            connection.close()
        if response.status < 400:
            return response.status, response.headers.get("X-Cache", "")
        with suppress(ValueError, KeyError, TypeError):
            return response.status, str(json.loads(content)["error"]["code"])
        return response.status, "no JSON"


def _path(kind: Kind) -> str:
    if kind == "alive":
        return "/__lbheartbeat__"
    query = random.choice(CACHED) if kind == "cached" else f"post {random.getrandbits(24):x}"
    return f"/search?q={quote(query)}"
