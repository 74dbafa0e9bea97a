"""Prepare the start of Elasticsearch's server without its launcher.

`bin/elasticsearch` runs four Java programs: one checks the version of Java, one determines the
server's command line, and one stays until the server ends. Only the second is needed, and only once
per configuration, as its output is stored. That saves two seconds of each start, and 50 MB.
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
    """The call of a server. It reads `arguments` from its stdin, and ends when that is closed."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    arguments: bytes


def server_launch(
    instance: Instance, home: Path, environment: Mapping[str, str], options: Sequence[str]
) -> Launch:
    """Return the call of Elasticsearch's server with a configuration.

    Args:
        home: the folder of Elasticsearch.
        environment: the variables for `bin/elasticsearch`.
        options: its command line options.

    Raises:
        DevstackError: it refuses the configuration, with the reason.
    """
    kept = instance.folder / "elasticsearch-launch"
    config = Path(environment["ES_PATH_CONF"])
    digest = _digest(home, config, environment, options)
    if not (kept.exists() and kept.read_bytes().startswith(digest)):
        printed = _print_launch(instance, home, environment, options)
        if "xpack.security.enabled=true" not in options:
            # The program that prints needs the module. The strings must keep their length.
            without = home_without_users(instance, home)
            printed = printed.replace(str(home).encode(), str(without).encode())
        # The output has the passwords of the key store, which the program creates if there is none.
        # The file is renamed last, so that it is always complete.
        partial = kept.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_bytes(_digest(home, config, environment, options) + printed)
        partial.rename(kept)
    return read_launch(kept.read_bytes()[len(digest) :])


def _digest(
    home: Path, config: Path, environment: Mapping[str, str], options: Sequence[str]
) -> bytes:
    """Hash all that a launch depends on, Java's version, too: its path may stay the same."""
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
            "ES_REDIRECT_STDOUT_TO_STDERR": "true",  # stdout has only the launch
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
    """Parse the output of Elasticsearch 9.4 for its launcher, in Java's DataOutputStream format."""
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
