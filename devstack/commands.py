"""What the Makefile calls: services on their own, the service itself, the tests."""

import http.client
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from devstack import browser
from devstack.errors import DevstackError
from devstack.probe import port_is_taken
from devstack.sample import REPOSITORY, index_sample
from devstack.signals import ending_with_us, raise_if_asked
from devstack.stack import Stack
from devstack.talk import Ticker, say

_BIN = Path(sys.executable).parent


def up(stack: Stack) -> int:
    """Start the services to stay, and print what a shell can eval."""
    _print_exports(stack.up(keep=True))
    return 0


def exports(stack: Stack) -> int:
    """Print the same, but start nothing."""
    _print_exports(stack.addresses())
    return 0


def down(stack: Stack) -> int:
    """Stop the services."""
    stack.down()
    return 0


def status(stack: Stack) -> int:
    """Say how they are."""
    for line in stack.status():
        print(line)
    return 0


def run(stack: Stack) -> int:
    """Serve the blog search, with the sample posts, until Ctrl-C."""
    port = _web_port(stack.environment)
    with stack.using(keep=_keeps(stack.environment)) as addresses:
        raise_if_asked()
        environment = {**stack.environment, **addresses, "PORT": str(port)}
        index_sample(_BIN / "blogsearch", stack.places, environment)
        say(f"starting gunicorn on port {port}")
        server = subprocess.Popen(
            [_BIN / "gunicorn", "--config", "gunicorn.conf.py", "app:create_app()"],
            cwd=REPOSITORY,
            env=environment,
        )
        with ending_with_us(server, signal.SIGTERM):
            _announce(server, port)
            raise_if_asked()
            code = server.wait()
    say(f"gunicorn has ended with code {code}")
    return code


def test(stack: Stack, arguments: list[str]) -> int:
    """Run pytest on real engines; its exit code."""
    chromium = browser.find_or_install(stack.environment, stack.places.root / "browser.log")
    with stack.using(keep=_keeps(stack.environment)) as addresses:
        environment = {**stack.environment, **addresses}
        command = [sys.executable, "-m", "pytest", *arguments]
        if chromium is None:
            command.append("--ignore=tests/browser")
        else:
            environment["CHROMIUM"] = chromium
        raise_if_asked()
        tests = subprocess.Popen(command, cwd=REPOSITORY, env=environment)
        with ending_with_us(tests, signal.SIGINT):
            return tests.wait()


def _print_exports(addresses: Mapping[str, str]) -> None:
    for variable, url in addresses.items():
        print(f"export {variable}={shlex.quote(url)}")


def _keeps(environment: Mapping[str, str]) -> bool:
    return environment.get("KEEP_SERVICES", "") not in ("", "0")


def _web_port(environment: Mapping[str, str]) -> int:
    value = environment.get("PORT") or "8000"
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise DevstackError(f"PORT is {value!r}; it must be a port, 1–65535.")
    if port_is_taken(int(value)):
        raise DevstackError(
            f"Port {value} is taken by something else. Take another one:  "
            f"make run PORT={int(value) + 1}"
        )
    return int(value)


def _announce(server: subprocess.Popen[bytes], port: int) -> None:
    """Print where it serves and what to try, once it does. A server that ends is not waited for."""
    ticker = Ticker()
    while not _serves(port):
        if server.poll() is not None:
            return
        ticker.tick("waiting for gunicorn")
        time.sleep(0.2)
    print(
        f"\nblogsearch serves on http://127.0.0.1:{port}/ — Ctrl-C stops it. Try:\n\n"
        f"  curl 'http://127.0.0.1:{port}/search?q=pythn&debug-search'\n",
        flush=True,
    )


def _serves(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/__lbheartbeat__")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
