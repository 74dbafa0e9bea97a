"""The command line: `python -m devstack up|down|status|exports|run|test`."""

import argparse
import hashlib
import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from elasticsearch import ApiError, Elasticsearch, TransportError

from devstack import chromium
from devstack.elasticsearch_distribution import HEAP
from devstack.engines import port_is_taken
from devstack.instance import Instance, open_instance
from devstack.stack import Stack
from devstack.terminal import (
    DevstackError,
    Stopped,
    Ticker,
    ending_with_us,
    raise_if_stopped,
    say,
    stoppable,
)

REPOSITORY = Path(__file__).resolve().parent.parent

_BIN = Path(sys.executable).parent
_SAMPLE_POSTS = REPOSITORY / "sample" / "posts.jsonl"

# The files that determine what an index of the sample posts contains.
_SAMPLE_INPUTS = ("sample/*.jsonl", "synonyms/*.synonyms", "analyzers/**/*.py", "indexer/**/*.py")

# In a run of minutes the C2 compiler takes more CPU time than its code saves; so does G1.
_TEST_JAVA_OPTIONS = f"{HEAP} -XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC"

_EPILOG = """\
Environment variables:
  ELASTICSEARCH_URL, REDIS_URL   engines to use as they are; nothing is started for them
  KEEP_SERVICES=1                run and test leave running what they started
  CHROMIUM                       the browser for the browser tests
  BLOGSEARCH_DEVSTACK_DIR, _INSTANCE, _BACKEND (process or container),
  _ELASTICSEARCH_PORT, _REDIS_PORT
"""


def up(stack: Stack) -> int:
    """Start the engines and leave them running; print exports for a shell to eval."""
    _print_exports(stack.up(keep=True))
    return 0


def exports(stack: Stack) -> int:
    """Print the exports of running engines; start nothing."""
    _print_exports(stack.urls())
    return 0


def down(stack: Stack) -> int:
    """Stop the engines."""
    stack.down()
    return 0


def status(stack: Stack) -> int:
    """Print the status of the engines."""
    for line in stack.status():
        print(line)
    return 0


def run(stack: Stack) -> int:
    """Start the engines and the service, with the sample posts, until Ctrl-C."""
    port = _web_port(stack.environment)
    with stack.using(keep=_keep_services(stack.environment)) as urls:
        raise_if_stopped()
        environment = {**stack.environment, **urls, "PORT": str(port)}
        index_sample(stack.instance, environment)
        say(f"starting gunicorn on port {port}")
        server = subprocess.Popen(
            [_BIN / "blogsearch", "serve"],
            cwd=REPOSITORY,
            env=environment,
        )
        with ending_with_us(server, signal.SIGTERM):
            _announce(server, port)
            raise_if_stopped()
            code = server.wait()
    say(f"gunicorn ended with exit code {code}")
    return code


def test(stack: Stack, arguments: list[str]) -> int:
    """Start the engines and run pytest in two processes; its exit code is returned."""
    browser = chromium.find_or_install(stack.environment, stack.instance.root / "browser.log")
    with stack.using(keep=_keep_services(stack.environment)) as urls:
        environment = {**stack.environment, **urls}
        # One file is run by one process, so that its fixtures are made once. The many short files
        # of unit tests stay last: sorted by size, a few long files would end alone.
        processes = ["--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]
        command = [sys.executable, "-m", "pytest", *processes, *arguments]
        if browser is None:
            command.append("--ignore=tests/browser")
        else:
            environment["CHROMIUM"] = browser
        raise_if_stopped()
        tests = subprocess.Popen(command, cwd=REPOSITORY, env=environment)
        with ending_with_us(tests, signal.SIGINT):
            return tests.wait()


_COMMANDS: dict[str, Callable[[Stack], int]] = {
    "up": up,
    "down": down,
    "status": status,
    "exports": exports,
    "run": run,
}


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m devstack",
        description="Run a real Elasticsearch and a real Redis on this machine.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", required=True)
    for name, function in _COMMANDS.items():
        subparsers.add_parser(name, help=function.__doc__)
    subparsers.add_parser("test", help=f"{test.__doc__} Arguments for pytest follow `--`.")
    # Split here: Python versions differ in how argparse treats what follows a `--`.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parsed = parser.parse_args(arguments[:cut])
    os.umask(0o022)  # the engines' user must be able to read what root unpacks
    try:
        with stoppable():
            environment = dict(os.environ)
            if parsed.command == "test" and not _keep_services(environment):
                environment.setdefault("ES_JAVA_OPTS", _TEST_JAVA_OPTIONS)
            stack = Stack(open_instance(environment), environment)
            if parsed.command == "test":
                return test(stack, arguments[cut + 1 :])
            return _COMMANDS[parsed.command](stack)
    except DevstackError as error:
        print(f"devstack: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        return 128 + stopped.number


def _print_exports(urls: Mapping[str, str]) -> None:
    for variable, url in urls.items():
        print(f"export {variable}={shlex.quote(url)}")


def _keep_services(environment: Mapping[str, str]) -> bool:
    return environment.get("KEEP_SERVICES", "") not in ("", "0")


def _web_port(environment: Mapping[str, str]) -> int:
    value = environment.get("PORT") or "8000"
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise DevstackError(f"PORT is {value!r}; it must be a port, 1–65535.")
    if port_is_taken(int(value)):
        raise DevstackError(
            f"Port {value} is taken by another program. Use another one:  "
            f"make run PORT={int(value) + 1}"
        )
    return int(value)


def _announce(server: subprocess.Popen[bytes], port: int) -> None:
    """Print the URL and an example as soon as the server answers; return if it ends before."""
    ticker = Ticker()
    while not _answers(port):
        if server.poll() is not None:
            return
        ticker.tick("waiting for gunicorn")
        time.sleep(0.2)
    print(
        f"\nblogsearch is running on http://127.0.0.1:{port}/ — Ctrl-C stops it. Try:\n\n"
        f"  curl 'http://127.0.0.1:{port}/search?q=pythn&debug-search'\n",
        flush=True,
    )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/__lbheartbeat__")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def index_sample(instance: Instance, environment: Mapping[str, str]) -> None:
    """Index the sample posts if there is no index, or only an older build of them.

    An index that the user built of other posts is left alone.

    Raises:
        DevstackError: indexing failed.
    """
    alias = environment.get("BLOGSEARCH_INDEX") or "blog"
    notes = instance.folder / "sample.json"
    digest = _sample_digest()
    try:
        live = _live_index(alias, environment)
        if live is not None:
            known = _read_notes(notes)
            if live not in known:
                say(f"the index {alias!r} already contains posts; they are left alone")
                return
            if known[live] == digest:
                say(f"the index {alias!r} contains the sample posts")
                return
        say(f"indexing the sample posts into {alias!r} …")
        command = [str(_BIN / "blogsearch"), "reindex", str(_SAMPLE_POSTS)]
        if subprocess.run(command, env=dict(environment), check=False).returncode != 0:
            raise DevstackError(f"`blogsearch reindex {_SAMPLE_POSTS}` failed, see above.")
        if (built := _live_index(alias, environment)) is not None:
            notes.write_text(json.dumps({built: digest}))
    except (ApiError, TransportError) as error:
        raise DevstackError(f"Elasticsearch failed when asked for {alias!r}: {error}") from None


def _live_index(alias: str, environment: Mapping[str, str]) -> str | None:
    """The UUID of the index behind the alias: its name may exist in another Elasticsearch too."""
    with Elasticsearch(
        environment["ELASTICSEARCH_URL"].split(","),
        api_key=environment.get("ELASTICSEARCH_API_KEY") or None,
        request_timeout=30,
    ) as client:
        if not client.indices.exists_alias(name=alias):
            return None
        for found in client.indices.get_settings(index=alias).values():
            return str(found["settings"]["index"]["uuid"])
    return None


def _read_notes(notes: Path) -> dict[str, str]:
    """The digests of the sample indices that devstack built, by UUID."""
    try:
        return dict(json.loads(notes.read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def _sample_digest() -> str:
    digest = hashlib.sha256()
    for pattern in _SAMPLE_INPUTS:
        for path in sorted(REPOSITORY.glob(pattern)):
            digest.update(path.relative_to(REPOSITORY).as_posix().encode() + b"\0")
            digest.update(path.read_bytes())
    return digest.hexdigest()
