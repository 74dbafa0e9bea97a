"""The command line: `python -m devstack up|down|run|test`."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

import click

from devstack import chromium
from devstack.elasticsearch_distribution import HEAP
from devstack.engines import free_port_of
from devstack.instance import memory_folder, open_instance
from devstack.site import settings_of
from devstack.stack import Stack
from devstack.terminal import DevstackError, beside, exit_on_signals, run_child

REPOSITORY = Path(__file__).resolve().parent.parent

_SITE_PAGES = 200
_SOME_REJECTED = 3  # the exit code of `blogsearch reindex`
_BLOGSEARCH = str(Path(sys.executable).parent / "blogsearch")

# In a run of minutes the C2 compiler and G1 take more CPU time than they save. Without them the
# first answer of `make run` comes two to four seconds earlier. Classes take 150 MB: by default,
# each step from 20 MB on would cause a full garbage collection.
_QUICK_START = (
    f"{HEAP} -XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC"
    " -XX:MetaspaceSize=256m -XX:-AlwaysPreTouch"
)

_EPILOG = """\b
Environment variables:
  ELASTICSEARCH_URL, REDIS_URL   running engines to use, instead of starting them
  KEEP_SERVICES=1                run and test do not stop the engines that they started
  SITE, PORT                     the blog whose posts `run` serves, and its port
  CHROMIUM                       the browser for the browser tests
  BLOGSEARCH_DEVSTACK_DIR, _INSTANCE, _BACKEND (process or container),
  _ELASTICSEARCH_PORT, _REDIS_PORT
"""


@click.group(epilog=_EPILOG)
@click.pass_context
def main(context: click.Context) -> None:
    """Run a real Elasticsearch and a real Redis on this machine."""
    os.umask(0o022)  # the engines' user must be able to read files that root unpacks
    exit_on_signals()
    environment = dict(os.environ)
    if context.invoked_subcommand in ("run", "test") and not _keep_services(environment):
        environment.setdefault("ES_JAVA_OPTS", _QUICK_START)
    context.obj = Stack(open_instance(environment), environment)


@main.command()
@click.pass_obj
def up(stack: Stack) -> None:
    """Start the engines and leave them running. Print `export` lines for a shell to eval."""
    for variable, url in stack.up()[0].items():
        click.echo(f"export {variable}={shlex.quote(url)}")


@main.command()
@click.pass_obj
def down(stack: Stack) -> None:
    """Stop the engines."""
    stack.down()


@main.command()
@click.pass_obj
def run(stack: Stack) -> None:
    """Run the engines and the service until Ctrl-C. If there is no index, index the sample posts.

    SITE is the home page of a blog to index instead, in a separate index.
    """
    port = free_port_of(stack.environment, "PORT", 8000)
    site = stack.environment.get("SITE", "")
    of_site = settings_of(site) if site else {}
    with stack.using(keep=_keep_services(stack.environment), wait=False) as urls:
        environment = {**of_site, **stack.environment, **urls, "PORT": str(port)}
        # The service starts in a second, during the ten seconds of Elasticsearch's start.
        serve = [_BLOGSEARCH, "serve"]
        with beside(serve, environment, REPOSITORY, signal.SIGTERM) as service:
            stack.wait()
            if site:
                _blogsearch(
                    environment, "reindex", site, "--max-pages", str(_SITE_PAGES), "--force"
                )
            else:
                prepare_index(environment)
            address = f"http://127.0.0.1:{port}"
            click.echo(f"\nblogsearch answers on {address}/ — Ctrl-C stops it.")
            if site:
                script = f'<script src="{address}/widget.js" async></script>'
                click.echo(f"A search box for your pages:\n\n  {script}\n")
            else:
                click.echo(f"Try:\n\n  curl '{address}/search?q=pythn&debug-search'\n")
            sys.exit(service.wait())


@main.command()
@click.option("--check", is_flag=True, help="Also lint and check types, at the same time.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def test(stack: Stack, check: bool, arguments: tuple[str, ...]) -> None:
    """Start the engines and run pytest in three processes. ARGUMENTS for pytest follow `--`.

    Data and temporary files are in memory if enough of it is free.
    """
    keep = _keep_services(stack.environment)
    with ExitStack() as contexts:
        # The type check takes half a minute of a processor that engines and tests leave idle.
        static = ["nice", "make", "--no-print-directory", "static"]
        checks = contexts.enter_context(_printing(static)) if check else None
        # This compiles the tests once; otherwise each process would do it.
        command = [sys.executable, "-m", "pytest"]
        collects = contexts.enter_context(_printing([*command, *arguments, "--collect-only"]))
        browser = chromium.find_or_install(stack.environment)
        memory = None if keep else contexts.enter_context(memory_folder())
        stack.instance = replace(stack.instance, memory=memory)
        environment = {**stack.environment, **contexts.enter_context(stack.using(keep=keep))}
        if memory:
            environment["TMPDIR"] = str(memory)
        # Three processes, because tests wait for engines and timers half of the time. Each runs
        # neighbouring tests, so that most module fixtures are made once, and takes tests from
        # another process when it has none left.
        command += ["--numprocesses=3", "--dist=worksteal", *arguments]
        if browser is None:
            command.append("--deselect=tests/browser")  # --ignore has no effect on an argument
        else:
            environment["CHROMIUM"] = browser
        failed = 0
        collects.communicate()
        if not (checks and checks.poll()):
            failed = run_child(command, environment, REPOSITORY, signal.SIGINT)
        if checks:
            click.echo(checks.communicate()[0])
            failed = failed or checks.returncode
    if browser is None:
        click.echo(chromium.MISSING, err=True)
    sys.exit(failed)


def _printing(command: Sequence[str]) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """Run a program beside the tests; its output is read after its end."""
    return beside(command, os.environ, REPOSITORY, signal.SIGTERM, subprocess.PIPE)


def prepare_index(environment: Mapping[str, str]) -> None:
    """Index the sample posts if there is no index; rebuild an index of another version.

    Raises:
        DevstackError: that failed.
    """
    from elasticsearch import ApiError, Elasticsearch, TransportError  # as in devstack.engines

    alias = environment.get("BLOGSEARCH_INDEX") or "blog"
    key = environment.get("ELASTICSEARCH_API_KEY") or None
    hosts = environment["ELASTICSEARCH_URL"].split(",")
    try:
        with Elasticsearch(hosts, api_key=key, request_timeout=60) as client:
            # After its start, Elasticsearch opens many indices one after the other.
            client.options(ignore_status=408).cluster.health(
                index=f"{alias}-*",
                expand_wildcards="all",
                wait_for_status="yellow",
                timeout="45s",
            )
            exists = client.indices.exists_alias(name=alias)
    except (ApiError, TransportError) as error:
        raise DevstackError(f"Elasticsearch failed when asked for {alias!r}: {error}") from None
    sample = REPOSITORY / "sample" / "posts.jsonl"
    _blogsearch(environment, *(["rebuild"] if exists else ["reindex", str(sample)]))


def _blogsearch(environment: Mapping[str, str], *words: str) -> None:
    """Run a command of the service.

    Raises:
        DevstackError: it failed. Rejected posts are not a failure.
    """
    done = subprocess.run([_BLOGSEARCH, *words], env=environment, check=False)
    if done.returncode not in (0, _SOME_REJECTED):
        raise DevstackError(f"`blogsearch {' '.join(words)}` failed, see above.")


def _keep_services(environment: Mapping[str, str]) -> bool:
    return environment.get("KEEP_SERVICES", "") not in ("", "0")
