"""gunicorn's configuration; `blogsearch serve` loads it at the start and at each SIGHUP.

It depends on the environment variables PORT and WEB_CONCURRENCY (the number of workers).
"""

import fcntl
import gc
import json
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import gevent  # type: ignore[import-untyped]
from gunicorn.glogging import Logger as GunicornLogger  # type: ignore[import-untyped]
from gunicorn.http import errors
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]

from analyzers.languages import language_of
from app.engines.meaning import open_model
from app.errors import BlogsearchError
from app.http.logs import configuration
from app.settings import process_settings

_WARM = 60.0  # seconds
_LONGEST_HEADERS = 32_000  # characters of all values, as nginx allows

# Read here, at the start and at SIGHUP, so that all workers have the same settings.
try:
    settings = process_settings(reload=True)
    # The workers share the memory of model and stemmer, and do not load them at the first search.
    open_model(settings)
    language_of(settings.language).stem("")
except BlogsearchError as error:
    sys.exit(f"Error: {error}")

bind = f"127.0.0.1:{int(os.environ.get('PORT') or 8000)}"

# At least two workers, so that one answers while the other is replaced.
workers = int(os.environ.get("WEB_CONCURRENCY") or max(2, min(os.cpu_count() or 1, 8)))


_REFUSED = {
    errors.InvalidRequestLine: (
        400,
        "Bad Request",
        "The first line is no HTTP. Percent-encode each character of the URL that is not ASCII, "
        "such as %C3%A9 for é; curl does so with -G --data-urlencode.",
    ),
    errors.LimitRequestLine: (414, "URI Too Long", "The URL is too long."),
    errors.ExpectationFailed: (417, "Expectation Failed", "Expect may only be 100-continue."),
    errors.LimitRequestHeaders: (
        431,
        "Request Header Fields Too Large",
        "There are too many headers, or too long ones.",
    ),
    errors.UnsupportedTransferCoding: (
        501,
        "Not Implemented",
        "Transfer-Encoding may only be chunked.",
    ),
}
"""The status, the reason and the message for errors of gunicorn's parser."""
_FAULTS_OF_OURS = (
    errors.ConfigurationProblem,
    errors.InvalidResponseHeader,
    errors.InvalidResponseHeaderName,
)


class Worker(GeventWorker):  # type: ignore[misc]
    """A worker with a greenlet for each connection: a slow client, or one that waits for
    Elasticsearch, does not block others."""

    def handle_request(self, listener: Any, request: Any, *args: Any) -> None:
        """Answer a request after the other connections have had their turn; refuse very long
        headers, which take long to read, with 431.

        If a client has always sent its next request, its greenlet never waits: no other would run,
        and the worker could not send its heartbeat to gunicorn.
        """
        gevent.sleep(0)
        if sum(len(value) for _, value in request.headers) > _LONGEST_HEADERS:
            raise errors.LimitRequestHeaders("too many headers, or too long ones")
        super().handle_request(listener, request, *args)

    def handle_error(self, request: Any, client: Any, address: Any, error: Exception) -> None:
        """Answer invalid HTTP in the form of every error; gunicorn would log what is searched."""
        if not isinstance(error, errors.ParseException) or isinstance(error, _FAULTS_OF_OURS):
            super().handle_error(request, client, address, error)
            return
        kind = type(error)
        status, reason, message = _REFUSED.get(kind, (400, "Bad Request", f"{error}."))
        self.log.warning("Invalid request from %s: %s", (address or [""])[0], kind.__name__)
        code = reason.lower().replace(" ", "_")
        body = json.dumps({"error": {"code": code, "message": message, "details": []}})
        head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json"
        with suppress(OSError):
            client.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


worker_class = Worker
worker_connections = 1000

# Seconds without a heartbeat after which a worker is killed.
timeout = 30
graceful_timeout = 20

limit_request_fields = 64  # headers; a browser behind a proxy sends about thirty

# Seconds for receiving the head of a request, from its first byte or from the previous response.
keepalive = 5

# gunicorn takes neither path nor scheme from headers; `TrustedProxies` does, for trusted ones.
forwarded_allow_ips = ""
forwarder_headers = ""

# A worker's heartbeat is a file. On a busy disk it would be late, and the worker would be killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

_METRICS = "blogsearch-metrics-"


def _lock(folder: Path) -> int | None:
    """Lock a folder until this process ends; return its descriptor, or None if it is in use."""
    with suppress(OSError):  # also if it belongs to another user
        descriptor = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
        else:
            os.set_inheritable(descriptor, True)  # for a new gunicorn that replaces this one
            return descriptor
    return None


# The folder of all workers' metrics. Set only once, although SIGHUP loads this module again.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{_METRICS}", dir=worker_tmp_dir))
    except OSError as error:
        sys.exit(f"Error: the service needs a folder for temporary files: {error.strerror}.")
    for left in made.parent.glob(f"{_METRICS}*"):  # left by killed processes
        if (descriptor := _lock(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(descriptor)
    _lock(made)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(made.rename(made.with_name(made.name[1:])))


class Logger(GunicornLogger):  # type: ignore[misc]
    """A logger that skips an unwritten access log, which took a tenth of a cached search."""

    @property
    def access_log_enabled(self) -> bool:
        """Whether an access log is configured; with `logconfig_dict` gunicorn assumes one."""
        return bool(self.cfg.accesslog)


# The application logs requests itself. An access log would record what each visitor searches for.
accesslog = None
errorlog = "-"
logconfig_dict = configuration()
logger_class = Logger

# Unused; several services of one user would share the socket.
control_socket_disable = True


def post_worker_init(worker: Any) -> None:
    """Prepare a worker for its first search: import the stemmer, connect to Redis and read the view
    of the index. On a busy machine the connection takes half a second, more than a search may wait.
    The first worker also fills the cache."""
    import_module("snowballstemmer")
    gc.freeze()  # modules stay imported
    if service := worker.wsgi.extensions.get("blogsearch"):  # not in the bench's bare application
        service.cache.ping()
        service.watch.start()
        if worker.age == 1:
            warm = partial(service.warm, seconds=_WARM)
            threading.Thread(target=warm, daemon=True).start()


def on_exit(server: Any) -> None:
    """Delete the metrics' folder."""
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
