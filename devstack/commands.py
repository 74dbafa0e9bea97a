"""The command line: `python -m devstack up|down|status|run|test`."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from elasticsearch import ApiError, Elasticsearch, TransportError

from devstack import chromium
from devstack.elasticsearch_distribution import HEAP
from devstack.engines import free_port_of
from devstack.instance import open_instance
from devstack.stack import Stack
from devstack.terminal import DevstackError, exit_on_signals, run_child

REPOSITORY = Path(__file__).resolve().parent.parent

_BLOGSEARCH = str(Path(sys.executable).parent / "blogsearch")

# In a run of minutes the C2 compiler takes more CPU time than its code saves; so does G1. Without
# them the first answer of `make run` comes two to four seconds earlier.
_QUICK_START = f"{HEAP} -XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC"

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
    for variable, url in stack.up()[0].items():
        print(f"export {variable}={shlex.quote(url)}")
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
    """Start the engines and the service until Ctrl-C; without an index, index the sample posts."""
    port = free_port_of(stack.environment, "PORT", 8000)
    with stack.using(keep=_keep_services(stack.environment)) as urls:
        environment = {**stack.environment, **urls, "PORT": str(port)}
        prepare_index(environment)
        print(
            f"\nblogsearch answers on http://127.0.0.1:{port}/ — Ctrl-C stops it. Try:\n\n"
            f"  curl 'http://127.0.0.1:{port}/search?q=pythn&debug-search'\n",
            flush=True,
        )
        return run_child([_BLOGSEARCH, "serve"], environment, REPOSITORY, signal.SIGTERM)


def test(stack: Stack, arguments: list[str]) -> int:
    """Start the engines and run pytest in three processes; its exit code is returned."""
    browser = chromium.find_or_install(stack.environment)
    with stack.using(keep=_keep_services(stack.environment)) as urls:
        environment = {**stack.environment, **urls}
        # A third process, because tests wait for engines and timers half of their time. Each gets
        # neighbouring tests, so that most fixtures of modules are made once, and takes some of
        # another one's when it has no more.
        processes = ["--numprocesses=3", "--dist=worksteal"]
        command = [sys.executable, "-m", "pytest", *processes, *arguments]
        if browser is None:
            command.append("--deselect=tests/browser")  # pytest ignores no folder that it is given
        else:
            environment["CHROMIUM"] = browser
        return run_child(command, environment, REPOSITORY, signal.SIGINT)


_COMMANDS: dict[str, Callable[[Stack], int]] = {
    "up": up,
    "down": down,
    "status": status,
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
    exit_on_signals()
    try:
        environment = dict(os.environ)
        if parsed.command in ("run", "test") and not _keep_services(environment):
            environment.setdefault("ES_JAVA_OPTS", _QUICK_START)
        stack = Stack(open_instance(environment), environment)
        if parsed.command == "test":
            return test(stack, arguments[cut + 1 :])
        return _COMMANDS[parsed.command](stack)
    except DevstackError as error:
        print(f"devstack: {error}", file=sys.stderr)
        return 1


def prepare_index(environment: Mapping[str, str]) -> None:
    """Index the sample posts if there is no index; rebuild one that another version has built.

    Raises:
        DevstackError: that failed.
    """
    alias = environment.get("BLOGSEARCH_INDEX") or "blog"
    key = environment.get("ELASTICSEARCH_API_KEY") or None
    hosts = environment["ELASTICSEARCH_URL"].split(",")
    try:
        with Elasticsearch(hosts, api_key=key, request_timeout=30) as client:
            exists = client.indices.exists_alias(name=alias)
    except (ApiError, TransportError) as error:
        raise DevstackError(f"Elasticsearch failed when asked for {alias!r}: {error}") from None
    sample = REPOSITORY / "sample" / "posts.jsonl"
    command = ["rebuild"] if exists else ["reindex", str(sample)]
    if subprocess.run([_BLOGSEARCH, *command], env=environment, check=False).returncode != 0:
        raise DevstackError(f"`blogsearch {' '.join(command)}` failed, see above.")


def _keep_services(environment: Mapping[str, str]) -> bool:
    return environment.get("KEEP_SERVICES", "") not in ("", "0")
