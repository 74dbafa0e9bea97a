"""gunicorn's configuration, which `blogsearch serve` loads, at the start and at each SIGHUP.

The environment variables PORT and WEB_CONCURRENCY (worker processes) change it, and so does the
setting `log_format`.
"""

import gc
import math
import mmap
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any

from app.errors import BlogsearchError
from app.logs import configuration
from app.meaning import open_model
from app.settings import reload_settings

# Read here, at the start and at SIGHUP, so that all workers have the same.
try:
    settings = reload_settings()
    open_model(settings)  # the workers share its memory
except BlogsearchError as error:
    sys.exit(f"Error: {error}")

bind = f"127.0.0.1:{int(os.environ.get('PORT') or 8000)}"

# At least two workers, so that one answers while the other is replaced.
workers = int(os.environ.get("WEB_CONCURRENCY") or max(2, min(os.cpu_count() or 1, 8)))

# Each connection is a greenlet: one that sends slowly, or waits for Elasticsearch, holds no thread
# that others need.
worker_class = "app.gunicorn_worker.Worker"
worker_connections = 1000

# Seconds without a heartbeat after which a worker is killed.
timeout = 30
graceful_timeout = 20

# Seconds for receiving the head of a request, from its first byte or from the response before it.
keepalive = 5

# Seconds for which a client may leave data unread, or unacknowledged, before its connection ends.
unread_timeout = 30

# No header of a client sets the path or the scheme; BLOGSEARCH_TRUSTED_PROXIES has the rest.
forwarded_allow_ips = ""
forwarder_headers = ""

# The heartbeat of a worker is a file. On a busy disk it would be late, and the worker killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# The figures for Prometheus of all workers, in files. Set once: SIGHUP loads this file again.
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(
        prefix="blogsearch-metrics-", dir=worker_tmp_dir
    )

# The application logs requests itself. An access log would record what each visitor searches for.
accesslog = None
errorlog = "-"
logconfig_dict = configuration(settings.log_format)
logger_class = "app.gunicorn_worker.Logger"

# Not used, and several services of one user would share the socket.
control_socket_disable = True


def when_ready(server: Any) -> None:
    """Limit how long a client may read nothing; connections inherit it from the listener.

    A greenlet that sends waits without a limit, and holds one of the `worker_connections`.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # only Linux has it
    for listener in server.LISTENERS:
        if option is not None and listener.sock.family != socket.AF_UNIX:
            listener.sock.setsockopt(socket.IPPROTO_TCP, option, int(unread_timeout * 1000))


_START_WAIT = 60.0  # seconds that a reload waits for a worker to start
_reloaded_from = math.inf  # `age` of the first worker of the last reload; gunicorn counts them


def on_reload(server: Any) -> None:
    """SIGHUP: the workers that are started from now on replace the present ones."""
    global _reloaded_from
    _reloaded_from = server.worker_age + 1


def pre_fork(server: Any, worker: Any) -> None:
    """Start a worker of a reload when the one before it serves.

    gunicorn stops the old workers once it has forked the last new one. If none of the new ones had
    loaded the application by then, requests would wait until one has.
    """
    deadline = time.monotonic() + _START_WAIT
    started = [other for other in server.WORKERS.values() if other.age >= _reloaded_from]
    while any(map(_starting, started)) and time.monotonic() < deadline and not _stopping(server):
        time.sleep(0.05)


def _stopping(server: Any) -> bool:
    """Whether gunicorn was told to stop; its signals wait in a queue until the reload is over."""
    pending = []
    while not server.SIG_QUEUE.empty():
        pending.append(server.SIG_QUEUE.get_nowait())
    for number in pending:
        server.SIG_QUEUE.put_nowait(number)
    return not {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}.isdisjoint(pending)


def _starting(worker: Any) -> bool:
    """Whether a worker runs that has not served yet.

    A serving worker sets the time of its file to the monotonic clock, which is far behind the date.
    """
    exited = os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return exited is None and worker.tmp.last_update() > time.monotonic()


def post_fork(server: Any, worker: Any) -> None:
    """What a worker imports stays, so a collection would find nothing until it serves."""
    gc.disable()


_outage = mmap.mmap(-1, 8)  # made before the workers are, which share it


def post_worker_init(worker: Any) -> None:
    """All workers know of an outage of Elasticsearch as soon as one does.

    They connect to Redis before the first search, which would miss its time limit: on a busy
    machine that takes half a second.
    """
    gc.freeze()
    gc.enable()
    if service := worker.wsgi.extensions.get("blogsearch"):  # not in the bench's bare application
        service.admission.share(memoryview(_outage))
        service.cache.ping()


def child_exit(server: Any, worker: Any) -> None:
    """The gauges of a worker end with it."""
    # Imported here: when it is imported, it reads PROMETHEUS_MULTIPROC_DIR.
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Delete the figures."""
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
