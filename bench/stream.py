"""A stream of searches, writes and health checks: what each client got, and what was written."""

import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import requests
from elasticsearch import Elasticsearch

TOKEN = "a-token-of-the-chaos-run"
CACHED = ["python", "juggling", "cornwall", "date", "recipe", "music", "bread", "cycling"]

Kind = Literal["cached", "new", "all", "write", "comment", "alive"]
"""`cached` and `new`: searches; `all`: a search that finds every post of `bench.kills`; `write`:
posts of its own; `comment`: to the posts `base-0` to `base-19`; `alive`: health checks."""

CLIENTS: dict[Kind, int] = {"cached": 2, "new": 3, "write": 2, "alive": 1}
_PAUSES: dict[Kind, float] = {"write": 0.2, "comment": 0.2}  # seconds between two requests
_PAUSE = 0.04
_ALL = "/search?q=unchanging"


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

    @property
    def failed(self) -> bool:
        return self.status not in (200, 201, 503)


class Stream:
    """Clients that send requests until they are stopped.

    `stored` has the last acknowledged text of each path below `/documents/`, None if it was
    deleted. After any other response than 2xx its state is not known, and it is left out.

    Args:
        url: of the service.
        clients: how many of each kind.
        stored: of a stream before.
        posts: how many `all` has to find.
    """

    def __init__(
        self,
        url: str,
        clients: Mapping[Kind, int] = CLIENTS,
        stored: dict[str, str | None] | None = None,
        posts: int = 0,
    ) -> None:
        self.responses: list[Response] = []
        self.stored = {} if stored is None else stored
        self._posts = posts
        self.acknowledged = 0
        self._url = url
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(kind, number))
            for kind, count in clients.items()
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop the clients, and wait until they have their last responses."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, kind: Kind, client: int) -> None:
        number = 0
        while not self._stop.wait(_PAUSES.get(kind, _PAUSE)):
            number += 1
            began = time.monotonic()
            if kind in ("write", "comment"):
                status, state, sent = self._write(kind, client, number)
            else:
                status, state, sent = self._send("GET", _path(kind))
            seconds = time.monotonic() - began
            self.responses.append(Response(kind, began, seconds, status, state, sent))

    def _write(self, kind: Kind, client: int, number: int) -> tuple[int, str, int]:
        path = f"chaos-{client}-{number % 20}"
        if kind == "comment":
            path = f"base-{number % 20}/comments/{client}-{number % 60}"
        text = None if number % 5 == 0 and self.stored.get(path) else f"Text {number}"
        where = f"/documents/{path}"
        if text is None:
            status, state, sent = self._send("DELETE", where)
            if status == 404 and sent > 1:
                status = 200  # the first one has deleted it
        else:
            body = {"comment": text} if kind == "comment" else {"title": path, "text": text}
            status, state, sent = self._send("PUT", where, json=body)
        if 200 <= status < 300:
            self.acknowledged += 1
            self.stored[path] = text
        else:
            self.stored.pop(path, None)
        return status, state, sent

    def _send(self, method: str, path: str, **options: Any) -> tuple[int, str, int]:
        """Status, state, and how often it was sent; status 0 if the connection failed each time.

        Each request has a connection of its own.
        """
        state = ""
        for sent in (1, 2):
            headers = {"Authorization": f"Bearer {TOKEN}"} if method != "GET" else {}
            try:
                response = requests.request(
                    method, self._url + path, headers=headers, timeout=60, **options
                )
            except requests.RequestException as error:
                state = type(error).__name__
                continue
            if path == _ALL and response.ok and (count := response.json()["count"]) < self._posts:
                return 0, f"only {count} posts", sent
            return response.status_code, _state(response), sent
        return 0, state, 2


def missing(stored: Mapping[str, str | None], elastic: Elasticsearch, alias: str) -> list[str]:
    """The paths whose post or comment is not in the index as it was acknowledged."""
    elastic.indices.refresh(index=alias)
    return [path for path, text in stored.items() if not _is_stored(elastic, alias, path, text)]


def _path(kind: Kind) -> str:
    if kind == "alive":
        return "/__lbheartbeat__"
    if kind == "all":
        return _ALL
    q = random.choice(CACHED) if kind == "cached" else f"post+{random.getrandbits(24):x}"
    return f"/search?q={q}"


def _state(response: requests.Response) -> str:
    if response.ok:
        return response.headers.get("X-Cache", "")
    try:
        return str(response.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return "no JSON"


def _is_stored(elastic: Elasticsearch, alias: str, path: str, text: str | None) -> bool:
    """Whether a post or a comment is in the index with this text; None: is not in it."""
    oid, _, comment = path.partition("/comments/")
    post = elastic.options(ignore_status=404).get(index=alias, id=oid).get("_source", {})
    if not comment:
        return bool(post.get("text") == text)
    texts = {each["oid"]: each["comment"] for each in post.get("comments", ())}
    return bool(texts.get(comment) == text)
