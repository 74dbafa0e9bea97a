"""gunicorn's configuration: `gunicorn --config gunicorn.conf.py 'app:create_app()'`.

The environment variables PORT, WEB_CONCURRENCY (worker processes) and GUNICORN_CMD_ARGS (any
option of gunicorn) change it.
"""

import os

bind = f"127.0.0.1:{os.environ.get('PORT') or 8000}"

# At least two workers, so that one answers while the other is replaced.
workers = int(os.environ.get("WEB_CONCURRENCY") or max(2, min(os.cpu_count() or 1, 8)))

# Each connection is a greenlet: one that sends slowly, or waits for Elasticsearch, holds no thread
# that others need.
worker_class = "gevent"
worker_connections = 1000

# Seconds without a sign of life after which a worker is killed.
timeout = 30
graceful_timeout = 20

# Seconds for receiving the head of a request, from its first byte or from the response before it.
keepalive = 5

# No header of a client sets the path or the scheme; BLOGSEARCH_TRUSTED_PROXIES has the rest.
forwarded_allow_ips = ""
forwarder_headers = ""

# The heartbeat of a worker is a file. On a busy disk it would be late, and the worker killed.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# An access log would record what each visitor searches for.
accesslog = None
errorlog = "-"

# Not used, and several services of one user would share the socket.
control_socket_disable = True
