"""How gunicorn serves the application; `gunicorn --config gunicorn.conf.py 'app:create_app()'`.

The environment changes it: PORT, WEB_CONCURRENCY (worker processes), and GUNICORN_CMD_ARGS for
everything gunicorn knows.
"""

import os

bind = f"127.0.0.1:{os.environ.get('PORT') or 8000}"

# A worker mostly waits for Elasticsearch, hence the threads; two workers at least, so that one
# that has to be replaced does not leave nobody to answer.
workers = int(os.environ.get("WEB_CONCURRENCY") or max(2, min(os.cpu_count() or 1, 8)))
worker_class = "gthread"
threads = 8

# A search gives up long before; a worker silent for this long is stuck.
timeout = 30
graceful_timeout = 20
keepalive = 5

# Where it can be, not on a disk: a worker's heartbeat is a file, and a busy disk would get it
# killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# The application counts and times its requests itself; every search in a log would be a record
# of what people look for.
accesslog = None
errorlog = "-"

# Nobody steers it from outside, and several services of one user would share the socket.
control_socket_disable = True
