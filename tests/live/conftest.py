"""An index of the test's own with commands to change it, and an HTTP server to fetch from."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from elastic_transport import Urllib3HttpNode
from elasticsearch import Elasticsearch

from app.settings import Settings

Answer = Callable[[BaseHTTPRequestHandler], None]


def _not_here(request: BaseHTTPRequestHandler) -> None:
    request.send_response(404)
    request.send_header("Content-Length", "0")
    request.end_headers()


class Server:
    """Answers each path with a function; `asked` has every request's path and headers."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Else the body, a second packet, waits 40 ms for the acknowledgement of the first.
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                outer.asked.append((self.path, dict(self.headers)))
                outer.answers.get(self.path, _not_here)(self)

            do_POST = do_GET  # noqa: N815 - a name of http.server

            def log_message(self, *args: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, *args: Any) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def say(self, path: str, body: bytes | str, **headers: str) -> None:
        """Answers this path with this body from now on."""
        content = body.encode() if isinstance(body, str) else body

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            for name, value in {"Content_Length": str(len(content)), **headers}.items():
                request.send_header(name.replace("_", "-"), value)
            request.end_headers()
            request.wfile.write(content)

        self.answers[path] = answer

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def start(own_settings: Settings) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a `blogsearch` command on the test's own index in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def popen(
        *arguments: object, program: str = "from app.cli import run; run()"
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)],
            env={
                **os.environ,
                "ELASTICSEARCH_URL": own_settings.elasticsearch_url,
                "REDIS_URL": own_settings.redis_url,
                "BLOGSEARCH_INDEX": own_settings.index,
                "BLOGSEARCH_SYNONYMS_DIR": str(own_settings.synonyms_dir),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield popen
    for process in started:
        process.kill()
        with suppress(BrokenPipeError):
            process.communicate()


Faulty = Callable[..., Elasticsearch]
"""`faulty(match, action, **options)`: a client of which some requests do not go well.

`match` is looked for in a request, as `POST /blog/_search {"query":…}`. `action` is an error, which
is raised instead of sending it, or a function, which gets another one that sends it.
"""


@pytest.fixture
def faulty(elasticsearch_url: str) -> Iterator[Faulty]:
    with ExitStack() as stack:

        def client(
            match: str, action: Exception | Callable[[Callable[[], Any]], Any], **options: Any
        ) -> Elasticsearch:
            pattern = re.compile(match, re.DOTALL)

            class Node(Urllib3HttpNode):
                def perform_request(
                    self,
                    method: str,
                    target: str,
                    body: bytes | None = None,
                    *rest: Any,
                    **more: Any,
                ) -> Any:
                    def send() -> Any:
                        return Urllib3HttpNode.perform_request(
                            self, method, target, body, *rest, **more
                        )

                    sent = f"{method} {target} {(body or b'').decode()}"
                    if not pattern.search(sent):
                        return send()
                    if isinstance(action, Exception):
                        raise action
                    return action(send)

            options = {"request_timeout": 60, "max_retries": 0, **options}
            made = Elasticsearch(elasticsearch_url, node_class=Node, **options)
            return stack.enter_context(made)

        yield client


@pytest.fixture
def post_oids(elastic: Elasticsearch, alias: str) -> Callable[[], set[str]]:
    """The oids of the posts in the test's own index now."""

    def search() -> set[str]:
        elastic.indices.refresh(index=alias)
        response = elastic.search(index=alias, size=1_000)
        return {hit["_source"]["oid"] for hit in response["hits"]["hits"]}

    return search
