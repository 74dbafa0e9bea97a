"""gunicorn's configuration: `gunicorn --config gunicorn.conf.py 'app:create_app()'`.

The environment variables PORT, WEB_CONCURRENCY (worker processes) and GUNICORN_CMD_ARGS (any
option of gunicorn) change it.
"""

import os

bind = f"127.0.0.1:{os.environ.get('PORT') or 8000}"

# Threads, because a worker mostly waits for Elasticsearch. At least two workers, so that one
# answers while the other is replaced.
workers = int(os.environ.get("WEB_CONCURRENCY") or max(2, min(os.cpu_count() or 1, 8)))
worker_class = "gthread"
threads = 8

# Seconds; a search gives up long before, so that a worker silent for this long hangs.
timeout = 30
graceful_timeout = 20
keepalive = 5

# The heartbeat of a worker is a file. On a busy disk it would be late, and the worker killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# An access log would record what each visitor searches for.
accesslog = None
errorlog = "-"

# Not used, and several services of one user would share the socket.
control_socket_disable = True
