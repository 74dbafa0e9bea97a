"""docker-compose.yml on a real Docker engine, from a clean clone: `make test-docker`.

Every container, volume and network belongs to a project of this run and is removed afterwards.
"""

import http.client
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from devstack.servers import free_port, new_certificates
from tests.waiting import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-this-test"
_UP = 900  # seconds, with building the image

pytestmark = pytest.mark.timeout(2 * _UP)


class Project:
    """A Compose project with ports and addresses of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.port, self.https_port = free_port(), free_port()
        self.variables = {
            "IMAGE": f"{name}:test",
            "PORT": str(self.port),
            "HTTP_PORT": str(free_port()),
            "HTTPS_PORT": str(self.https_port),
            "SUBNET": f"172.29.{os.getpid() % 250}",
            "VERSION": "0.1.0+g0123456789ab",
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
        }

    def use(self, folder: Path) -> None:
        """Continue with the files of another checkout."""
        self.folder = folder
        (folder / "backups").mkdir(exist_ok=True)
        (folder / "backups").chmod(0o777)
        # Without a limit of requests: the visitor of the update sends more than people do.
        settings = f"BLOGSEARCH_WRITE_TOKENS={TOKEN}\nBLOGSEARCH_RATE_LIMIT=\n"
        (folder / ".env").write_text(settings)
        limit = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 65535)
        longer = {"start_period": "300s"}  # a former release gave a busy machine less
        engine = {"ulimits": {"nofile": limit}, "healthcheck": longer}
        rebuild = {"depends_on": {"elasticsearch": {"condition": "service_healthy"}}}
        override = {"services": {"elasticsearch": engine, "rebuild": rebuild}}
        (folder / "docker-compose.override.yml").write_text(json.dumps(override))

    def compose(
        self, *words: str, check: bool = True, seconds: float = _UP, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """`docker compose WORD…` in the folder, with stdout and stderr in one."""
        done = subprocess.run(
            ["docker", "compose", "-p", self.name, *words],
            cwd=self.folder,
            env={**os.environ, **self.variables, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
        )
        if check and done.returncode:
            logs = self.compose("logs", "--tail", "40", check=False).stdout
            raise AssertionError(f"docker compose {' '.join(words)}\n{done.stdout}\n{logs}")
        return done

    def certificate(self) -> str:
        """The one that the proxy shows."""
        return ssl.get_server_certificate(("127.0.0.1", self.https_port))

    def run(self, script: str, **variables: str) -> str:
        """Run a script of `deploy`; what it printed."""
        done = subprocess.run(
            [script],
            cwd=self.folder,
            env={**os.environ, **self.variables, "COMPOSE_PROJECT_NAME": self.name, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_UP,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def pid(self, service: str) -> int:
        """The process of a container, as the machine sees it."""
        container = self.compose("ps", "-q", service).stdout.strip()
        command = ["docker", "inspect", "-f", "{{.State.Pid}}", container]
        return int(subprocess.check_output(command, text=True))

    def request(
        self, path: str, method: str = "GET", body: Mapping[str, Any] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if content else None
        finally:
            connection.close()

    def count(self, q: str) -> int:
        status, body = self.request(f"/search?q={q}")
        assert status == 200, body
        return int(body["count"])

    def wait_for(self, q: str, seconds: float = 120) -> None:
        """Wait until a search finds something."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if self.request(f"/search?q={q}")[1].get("count"):
                    return
            except (OSError, http.client.HTTPException):
                pass
            assert time.monotonic() < deadline, self.compose("logs", "--tail", "30").stdout
            time.sleep(0.5)


def _clone(folder: Path, revision: str = "HEAD") -> Path:
    subprocess.run(["git", "clone", "-q", REPOSITORY, folder], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", revision], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The running service."""
    folder = _clone(tmp_path_factory.mktemp("docker") / "clone")
    project = Project(folder, f"blogsearch-test-{uuid.uuid4().hex[:6]}")
    project.use(folder)
    try:
        project.compose("up", "--detach", "--build", "--wait")
        yield project
    finally:
        project.compose("--profile", "proxy", "down", "--volumes", "--timeout", "5", check=False)
        images = [project.variables["IMAGE"], f"{project.name}:previous"]
        subprocess.run(["docker", "image", "rm", *images], capture_output=True)
    leaked = subprocess.check_output(["docker", "volume", "ls", "-q"], text=True)
    assert project.name not in leaked


def test_the_sample_posts_are_found(project: Project) -> None:
    status, body = project.request("/search?q=pythn")
    assert status == 200
    assert body["hits"]
    assert project.request("/__version__")[1]["commit"] == "0123456789ab"


def test_the_commands_of_the_readme(project: Project, tmp_path: Path) -> None:
    page = "<html><head><title>{0}</title></head><body><main><h1>{0}</h1><p>{1}</p></main></body>"
    for name in ("zeppelin", "gyroscope"):
        text = f"All that there is to know about the {name}. " * 20
        (tmp_path / f"{name}.html").write_text(page.format(f"About the {name}", text))
    tmp_path.chmod(0o755)
    mount = ["--rm", "--no-deps", "-v", f"{tmp_path}:/posts:ro", "app", "blogsearch"]
    site = ["--site", "https://blog.example.org"]
    project.compose("run", *mount, "reindex", "/posts", *site, "--force")
    project.wait_for("zeppelin")
    assert project.count("juggling") == 0
    doctor = project.compose("exec", "-T", "app", "blogsearch", "doctor").stdout
    assert "elasticsearch" in doctor
    # Posts and comments over HTTP, which the tests below must not lose.
    post = {"title": "Written over HTTP", "text": "marzipan", "url": "/marzipan/"}
    assert project.request("/documents/http", "PUT", post)[0] == 201
    comment = {"comment": "liquorice"}
    assert project.request("/documents/http/comments/1", "PUT", comment)[0] == 201
    project.wait_for("liquorice")


def test_a_folder_that_the_container_may_not_read_is_named_with_its_user(
    project: Project, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    mount = ["--rm", "--no-deps", "-v", f"{tmp_path}:/posts:ro", "app", "blogsearch"]
    done = project.compose("run", *mount, "reindex", "/posts", check=False)
    assert done.returncode
    assert "10001" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_service_may_do_nothing_but_serve(project: Project) -> None:
    assert project.compose("exec", "-T", "app", "id", "-u").stdout.strip() == "10001"
    for path in ("/file", "/srv/blogsearch/synonyms/new.synonyms"):
        done = project.compose("exec", "-T", "app", "touch", path, check=False)
        assert "Read-only" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may kill processes of a container")
@pytest.mark.parametrize("service", ["app", "redis", "elasticsearch"])
def test_a_killed_container_comes_back_with_its_data(project: Project, service: str) -> None:
    os.kill(project.pid(service), signal.SIGKILL)
    if service == "redis":  # without a cache, but at once
        assert project.count("zeppelin") == 1
    project.compose("up", "--detach", "--wait")
    project.wait_for("zeppelin")
    assert project.count("liquorice") == 1


def test_posts_survive_that_everything_is_removed_but_the_volumes(project: Project) -> None:
    project.compose("down", "--timeout", "5")
    with socket.create_server(("127.0.0.1", project.port)):
        done = project.compose("up", "--detach", check=False)
        assert done.returncode
        assert str(project.port) in done.stdout
    project.compose("up", "--detach", "--wait")
    project.wait_for("liquorice")


def test_a_wrong_setting_ends_the_start_and_is_in_the_log(project: Project) -> None:
    wrong = {"BLOGSEARCH_STRATEGY": "guess"}
    settings = "".join(f"{name}={value}\n" for name, value in wrong.items())
    env = project.folder / ".env"
    before = env.read_text()
    env.write_text(before + settings)
    try:
        assert project.compose("up", "--detach", check=False).returncode
        assert "BLOGSEARCH_STRATEGY" in project.compose("logs", "rebuild").stdout
    finally:
        env.write_text(before)
    project.compose("up", "--detach", "--wait")
    project.wait_for("marzipan")


class Visitor(threading.Thread):
    """Searches over HTTPS one after the other; what it got, at most 30 s after it asked."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.statuses: list[int | str] = []
        self._port = port
        self._stopped = threading.Event()

    def run(self) -> None:
        context = ssl._create_unverified_context()
        while not self._stopped.wait(0.05):
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self._port, context=context, timeout=30
            )
            try:
                connection.request("GET", "/search?q=marzipan")
                self.statuses.append(connection.getresponse().status)
            except OSError as error:
                self.statuses.append(repr(error))
            finally:
                connection.close()

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def test_an_update_behind_the_proxy_has_no_gap(project: Project, tmp_path: Path) -> None:
    folder = project.folder / "certificates"
    folder.mkdir(mode=0o755)
    with new_certificates() as certificates:
        shutil.copy(certificates.certificate, folder / "fullchain.pem")
        shutil.copy(certificates.key, folder / "privkey.pem")
    (folder / "privkey.pem").chmod(0o600)
    proxied = ["--profile", "proxy"]
    owner = os.geteuid() or 12345
    shutil.chown(folder / "privkey.pem", owner)
    if owner != 101:
        project.compose(*proxied, "up", "--detach")
        time.sleep(3)
        assert "set PROXY_USER in .env" in project.compose(*proxied, "logs", "proxy").stdout
    project.variables["PROXY_USER"] = str(owner)
    project.compose(*proxied, "up", "--detach", "--wait")
    visitor = Visitor(project.https_port)
    visitor.start()
    try:
        time.sleep(2)
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        new = ["git", *identity, "commit", "-q", "--allow-empty", "-m", "a new version"]
        subprocess.run(new, cwd=project.folder, check=True)
        printed = project.run("deploy/update.sh", COMPOSE_PROFILES="proxy")
        time.sleep(2)
    finally:
        visitor.stop()
    assert set(visitor.statuses) == {200}, visitor.statuses
    image = project.variables["IMAGE"]
    assert f"docker tag {project.name}:previous {image}\n" in printed
    version = project.request("/__version__")[1]["version"]
    assert version != project.variables["VERSION"]
    for service in ("app-second", "index"):
        ask = ["exec", "-T", service, "blogsearch", "--version"]
        assert version in project.compose(*proxied, *ask).stdout
    with new_certificates() as renewed:
        lineage = tmp_path / "live"
        lineage.mkdir()
        shutil.copy(renewed.certificate, lineage / "fullchain.pem")
        shutil.copy(renewed.key, lineage / "privkey.pem")
        project.run(
            "deploy/proxy/renewed.sh", COMPOSE_PROFILES="proxy", RENEWED_LINEAGE=str(lineage)
        )
        certificate = renewed.certificate.read_text()
        wait_until(lambda: certificate.startswith(project.certificate().strip()))
    # Restarting the proxy does not change what it trusts or reaches.
    project.compose(*proxied, "up", "--detach", "--wait", "--force-recreate", "proxy")
    visitor = Visitor(project.https_port)
    visitor.start()
    time.sleep(2)
    visitor.stop()
    assert set(visitor.statuses) == {200}


@pytest.mark.skipif(not os.environ.get("FORMER"), reason="FORMER names no revision")
def test_an_upgrade_keeps_posts_and_comments(project: Project, tmp_path: Path) -> None:
    project.compose("--profile", "proxy", "down", "--volumes", "--timeout", "5")
    project.use(_clone(tmp_path / "former", os.environ["FORMER"]))
    project.compose("up", "--detach", "--build", "--wait")
    post = {"title": "Written over HTTP", "text": "marzipan", "url": "/marzipan/"}
    assert project.request("/documents/http", "PUT", post)[0] == 201
    assert project.request("/documents/http/comments/1", "PUT", {"comment": "liquorice"})[0] == 201
    project.wait_for("liquorice")
    words = ("marzipan", "liquorice", "juggling")
    before = {word: project.count(word) for word in words}
    assert all(before.values())
    new = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, text=True).strip()
    subprocess.run(["git", "checkout", "-q", "--detach", new], cwd=project.folder, check=True)
    project.run("deploy/update.sh")  # as `make update` does
    assert {word: project.count(word) for word in words} == before
