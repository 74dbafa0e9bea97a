"""The service behind nginx with deploy/proxy/nginx.conf."""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from devstack.servers import (
    NGINX,
    REPOSITORY,
    Gunicorn,
    free_port,
    gunicorn,
    new_certificates,
    nginx,
    redis_server,
    running_process,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


class Site:
    """gunicorn behind nginx."""

    def __init__(self, url: str, service: Gunicorn, ca_file: str) -> None:
        self.url = url
        self.service = service
        self._ca_file = ca_file

    def get(self, path: str, **headers: str) -> requests.Response:
        return requests.get(f"{self.url}{path}", headers=headers, verify=self._ca_file, timeout=30)


@pytest.fixture(scope="module")
def site(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site without posts: what is tested here needs none."""
    log = tmp_path_factory.mktemp("proxy") / "log"
    with ExitStack() as stack:
        certificates = stack.enter_context(new_certificates())
        redis = stack.enter_context(redis_server())
        environment = {
            "ELASTICSEARCH_URL": elasticsearch_url,
            "REDIS_URL": redis.url,
            "BLOGSEARCH_INDEX": "test-no-posts",
            "BLOGSEARCH_CACHE_TIMEOUT": "5",  # a busy machine is not a fault of Redis
            "BLOGSEARCH_RATE_LIMIT": "10/day",
            "BLOGSEARCH_TRUSTED_PROXIES": "127.0.0.1",
        }
        service = stack.enter_context(gunicorn(environment, log))
        url = stack.enter_context(nginx(service.port, certificates.certificate, certificates.key))
        proxied = Site(url, service, str(certificates.authority))
        yield proxied


def test_responses_over_tls_are_compressed_and_have_the_id_of_the_proxy(site: Site) -> None:
    answer = site.get("/", **{"X-Request-ID": "mine"})
    assert answer.status_code == 200
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"]
    assert answer.headers["Strict-Transport-Security"]
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["X-Request-ID"])


def test_metrics_are_not_for_visitors(site: Site) -> None:
    assert site.get("/metrics").status_code == 404


def test_a_client_does_not_choose_the_address_it_is_limited_by(site: Site) -> None:
    headers = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in range(12)]
    statuses = [site.get("/search?q=python", **header).status_code for header in headers]
    assert statuses[-2:] == [429, 429]


def test_below_a_path_of_a_blog(site: Site, tmp_path: Path) -> None:
    """With deploy/proxy/below-path.conf."""
    port = free_port()
    located = (REPOSITORY / "deploy/proxy/below-path.conf").read_text()
    assert "http://127.0.0.1:8000/;" in located
    located = located.replace("127.0.0.1:8000", f"127.0.0.1:{site.service.port}")
    folders = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{name}_temp_path {tmp_path}/{name}; " for name in folders)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {paths}"
        f"server {{ listen 127.0.0.1:{port}; {located} }} }}"
    )
    command = [str(NGINX), "-p", str(tmp_path), "-c", "nginx.conf", "-g", "daemon off;"]
    with running_process(command, port, stop=signal.SIGTERM):
        url = f"http://127.0.0.1:{port}/find"
        assert requests.get(url, timeout=30).url == f"{url}/"
        page = requests.get(f"{url}/docs", timeout=30).text
        own = re.findall('(?:href|src)="(/[^"]+)"', page)
        assert own
        for path in own:
            assert requests.get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code == 200
        assert f'template="{url}/?q=' in requests.get(f"{url}/opensearch.xml", timeout=30).text
        assert requests.get(f"{url}/metrics", timeout=30).status_code == 404


def test_a_killed_worker_fails_no_request(site: Site) -> None:
    """The proxy sends it again, to another worker, unless the response had begun: a worker has one
    at a time. This heartbeat is not limited in rate."""
    statuses: list[int] = []
    broken_off: list[requests.RequestException] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                statuses.append(site.get("/__lbheartbeat__").status_code)
            except requests.exceptions.ChunkedEncodingError as error:
                broken_off.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(statuses) > 20)
    site.service.workers()[0].kill()
    number = len(statuses)
    wait_until(lambda: len(statuses) > number + 100)
    stop.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200}
    assert len(broken_off) <= 1
