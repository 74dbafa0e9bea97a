"""Elasticsearch with security and TLS, as a process of its own, from what devstack has unpacked."""

import base64
import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import trustme
from elasticsearch import ApiError, Elasticsearch, TransportError

from devstack.elasticsearch_distribution import configure, find_jdk
from devstack.engines import ELASTICSEARCH_VERSION
from devstack.instance import Instance, open_instance
from devstack.servers import free_port

ADMIN = ("admin", "the-password-of-the-tests")
_JAVA = "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1"  # starts in half the time
_START = 300.0  # seconds; on an idle machine 15


@dataclass(frozen=True, slots=True)
class Certificates:
    """Paths of PEM files: of the authority, and of a certificate with its key for 127.0.0.1."""

    authority: Path
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class SecuredElasticsearch:
    """A running Elasticsearch; `admin` may do everything, `snapshots` is its path.repo."""

    url: str
    ca_file: str
    admin: Elasticsearch
    snapshots: Path

    def api_key(self, body: Mapping[str, Any]) -> str:
        """A new API key; `body` is that of `POST /_security/api_key`."""
        return str(self.admin.security.create_api_key(**body)["encoded"])


@contextmanager
def new_certificates() -> Iterator[Certificates]:
    """Certificates in a folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="certificates-") as folder:
        authority = trustme.CA()
        issued = authority.issue_cert("localhost", "127.0.0.1")
        names = ("authority.pem", "server.pem", "server.key")
        found = Certificates(*(Path(folder) / name for name in names))
        authority.cert_pem.write_to_path(found.authority)
        found.certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(found.key)
        yield found


def unpacked() -> Path | None:
    """The Elasticsearch that devstack unpacked; None where its engines are containers."""
    home = open_instance(os.environ).downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    return home if home.is_dir() else None


@contextmanager
def secured_elasticsearch(
    home: Path, certificates: Certificates, snapshots: Path | None = None
) -> Iterator[SecuredElasticsearch]:
    """Starts it, which takes 15 to 30 seconds, and deletes its data afterwards.

    Args:
        snapshots: the folder of its path.repo; None: one of its own.
    """
    instance = replace(open_instance(os.environ), name=f"secured-{uuid.uuid4().hex[:8]}")
    instance.folder.mkdir(parents=True)
    log = instance.folder / "elasticsearch.log"
    snapshots = snapshots or instance.make_writable_folder(instance.folder / "snapshots")
    process = None
    try:
        process, port = _start(instance, home, certificates, snapshots, log)
        with Elasticsearch(
            f"https://127.0.0.1:{port}",
            basic_auth=ADMIN,
            ca_certs=str(certificates.authority),
            request_timeout=30,
            max_retries=0,
        ) as admin:
            _wait(admin, process, log)
            yield SecuredElasticsearch(
                f"https://127.0.0.1:{port}", str(certificates.authority), admin, snapshots
            )
    finally:
        if process:
            process.terminate()
            process.wait(60)
        shutil.rmtree(instance.folder)


def _start(
    instance: Instance, home: Path, certificates: Certificates, snapshots: Path, log: Path
) -> "tuple[subprocess.Popen[bytes], int]":
    port = free_port()
    command, environment = configure(
        instance, home, find_jdk(os.environ, instance.user), port, os.environ
    )
    config = Path(environment["ES_PATH_CONF"])
    for path in (certificates.certificate, certificates.key):
        shutil.copy(path, config)
    name, password = ADMIN
    (config / "users").write_text(f"{name}:{_hash(password)}\n")
    (config / "users_roles").write_text(f"superuser:{name}\n")
    for path in config.iterdir():
        path.chmod(0o600)
        instance.give_to_user(path)
    options = {
        "xpack.security.enabled": "true",
        "xpack.security.http.ssl.enabled": "true",
        "xpack.security.http.ssl.certificate": certificates.certificate.name,
        "xpack.security.http.ssl.key": certificates.key.name,
        "xpack.security.transport.ssl.enabled": "false",
        "path.repo": str(snapshots),
    }
    user = None if instance.user is None else pwd.getpwnam(instance.user)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *(f"-E{option}={value}" for option, value in options.items())],
            cwd=instance.folder,
            env={**environment, "PATH": os.environ["PATH"], "ES_JAVA_OPTS": _JAVA},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=None if user is None else [],
        )
    return process, port


def _hash(password: str) -> str:
    """A password as the file realm of Elasticsearch stores it."""
    salt = os.urandom(32)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 10_000, 32)
    return "{PBKDF2}10000$" + "$".join(base64.b64encode(part).decode() for part in (salt, digest))


def _wait(admin: Elasticsearch, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            admin.cluster.health(wait_for_status="yellow", timeout="5s")
            return
        except (ApiError, TransportError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{error}\n{log.read_text()[-3000:]}") from None
        time.sleep(0.5)
