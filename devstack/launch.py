"""Starts the server of Elasticsearch without its launcher.

`bin/elasticsearch` is four Java programs: one checks the version of Java, one works out how the
server is called, one stays until the server ends. Only the second is needed, and only once for each
configuration: what it prints is kept. That saves two seconds of each start, and 50 MB.
"""

import hashlib
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devstack.elasticsearch_distribution import home_without_users
from devstack.instance import Instance
from devstack.terminal import DevstackError

_MAGIC = b"ESLD"


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is called; it reads `arguments` from its stdin, and ends when that is closed."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    arguments: bytes


def server_launch(
    instance: Instance, home: Path, environment: Mapping[str, str], options: Sequence[str]
) -> Launch:
    """How the server of Elasticsearch is called with a configuration.

    Args:
        home: its folder.
        environment: of `bin/elasticsearch`.
        options: of its command line.

    Raises:
        DevstackError: it refuses the configuration; with its reason.
    """
    kept = instance.folder / "elasticsearch-launch"
    config = Path(environment["ES_PATH_CONF"])
    digest = _digest(home, config, environment, options)
    if not (kept.exists() and kept.read_bytes().startswith(digest)):
        printed = _print_launch(instance, home, environment, options)
        if "xpack.security.enabled=true" not in options:
            # The program that prints needs the module; strings stay as long as they are.
            without = home_without_users(instance, home)
            printed = printed.replace(str(home).encode(), str(without).encode())
        # It has the passwords of the key store, which that program makes if there is none. Renamed
        # last, so that what is kept is always whole.
        partial = kept.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_bytes(_digest(home, config, environment, options) + printed)
        partial.rename(kept)
    return read_launch(kept.read_bytes()[len(digest) :])


def _digest(
    home: Path, config: Path, environment: Mapping[str, str], options: Sequence[str]
) -> bytes:
    """Of all that a launch depends on; at a path another version of Java can be installed."""
    digest = hashlib.sha256(repr((str(home), sorted(environment.items()), options)).encode())
    for path in [Path(environment["ES_JAVA_HOME"]) / "release", *sorted(config.iterdir())]:
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()


def _print_launch(
    instance: Instance, home: Path, environment: Mapping[str, str], options: Sequence[str]
) -> bytes:
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        [home / "bin" / "elasticsearch-cli", *options],
        cwd=instance.folder,
        env={
            **environment,
            "CLI_NAME": "server",
            "CLI_LIBS": "lib/tools/server-cli",
            "ES_REDIRECT_STDOUT_TO_STDERR": "true",  # stdout has the launch and nothing else
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        **instance.as_user(),
    )
    if done.returncode or not done.stdout.startswith(_MAGIC):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = "\n".join(line[:300] for line in said if not line.startswith("\tat "))
        raise DevstackError(f"Elasticsearch refuses its configuration, or ES_JAVA_OPTS:\n{reason}")
    return done.stdout


def read_launch(printed: bytes) -> Launch:
    """Read what Elasticsearch 9.4 prints for its launcher, as Java's DataOutputStream writes it."""
    at = len(_MAGIC)

    def number(form: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(form, printed, at)
        at += struct.calcsize(form)
        return int(value)

    def text() -> str:
        nonlocal at
        end = number(">H") + at
        value, at = printed[at:end].decode(), end
        return value

    command = [text(), *(text() for _list in range(2) for _ in range(number(">i")))]
    environment = {text(): text() for _ in range(number(">i"))}
    folder, _temporary, _daemon = text(), text(), number(">?")
    length = number(">i")
    return Launch(command, environment, folder, printed[at : at + length])
