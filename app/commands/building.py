"""What the commands that build or change a generation have in common, before and after."""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click
from elasticsearch import ApiError, TransportError

from analyzers.languages import LANGUAGES
from analyzers.rules import RuleFiles
from app.commands.reporting import RejectLog, display, reject_log
from app.commands.sources import SourceArguments, Sources
from app.commands.tools import Tools
from app.freshness import Freshness
from app.meaning import open_model
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.build.builder import Built, IndexSettings
from indexer.errors import Locked, LockLost
from indexer.ingest import IngestOptions
from indexer.state import record_run


@contextmanager
def stop_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that it removes what it built."""

    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def index_settings(settings: Settings) -> IndexSettings:
    """The settings of a new generation; its rules are compiled when it is created."""
    rules = RuleFiles(SynonymFolder.of(settings).used())
    language = LANGUAGES[settings.language]
    model = open_model(settings)
    return IndexSettings(rules, settings.shards, settings.replicas, language, model)


def begin_cache_generation(tools: Tools, index: str, rules: str) -> None:
    """Make earlier answers stale, or print that this failed."""
    if not tools.cache.new_generation(index, rules):
        print_cache_not_updated()


@contextmanager
def updates_cache_on_failure(tools: Tools) -> Iterator[None]:
    """Make earlier answers stale if the block fails: it may have changed the index before.

    Not if it never had the lock. `sync --watch` asks for it every two seconds: no answer would be
    fresh for as long as another process builds.
    """
    try:
        yield
    except BaseException as error:
        if not _locked_out(error):
            Freshness(tools.elastic, tools.cache, tools.settings.index).at_end()
        raise


@dataclass(slots=True)
class Run:
    """A run on sources, and whether it did what it should."""

    sources: Sources
    options: IngestOptions
    rejects: RejectLog
    succeeded: bool = True


@contextmanager
def run_on(
    tools: Tools,
    command: str,
    arguments: SourceArguments,
    rejects_path: Path | None,
    *,
    writes: bool = True,
    **options: Any,
) -> Iterator[Run]:
    """Open sources, print progress and rejects, and store for `/metrics` how the block ends.

    A block that raises did not succeed. One that never had the lock counts as no run: `sync
    --watch` asks for the lock every two seconds.

    Args:
        writes: whether it is a run that is stored.
        options: further fields of `IngestOptions`.
    """
    with stop_on_sigterm(), display() as show, reject_log(show, rejects_path) as rejects:
        try:
            opened = arguments.open(tools.settings)
            run = Run(
                opened,
                IngestOptions(
                    complete=opened.complete,
                    on_progress=show.on_progress,
                    on_skip=opened.count_skipped,
                    fraction_read=opened.fraction_read,
                    purpose=f"{command} {arguments}",
                    **options,
                ),
                rejects,
            )
            with opened.prints_skipped_on_failure():
                if not writes:
                    yield run
                    return
                with updates_cache_on_failure(tools):
                    yield run
        except BaseException as error:
            if writes and not _locked_out(error):
                _record(tools, command, rejects, succeeded=False)
            raise
        _record(tools, command, rejects, succeeded=run.succeeded)


def _record(tools: Tools, command: str, rejects: RejectLog, *, succeeded: bool) -> None:
    with suppress(ApiError, TransportError):
        record_run(
            tools.elastic,
            tools.settings.index,
            command,
            rejected=rejects.count,
            succeeded=succeeded,
        )


def _locked_out(error: BaseException) -> bool:
    """Whether a command never had the lock."""
    return isinstance(error, Locked) and not isinstance(error, LockLost)


def print_cache_not_updated() -> None:
    """Print that Redis could not be updated after a write."""
    click.echo(
        "Redis could not be updated: earlier answers may be served until they expire "
        "(BLOGSEARCH_CACHE_TTL).",
        err=True,
    )


def print_built(built: Built) -> None:
    """Print which generation is live now, and what it took."""
    print_stale_builds(built.stale_builds)
    if built.over_http.total:
        click.echo(f"Kept {built.over_http}, which came over HTTP and are not in the source.")
    if built.lost:
        click.echo(f"warning: {built.lost}.", err=True)
    replayed = f", {built.replayed:,} writes replayed" if built.replayed else ""
    kept = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    click.echo(f"{built.index} is live: {built.counts}{replayed}, in {built.seconds:.1f} s{kept}.")


def print_stale_builds(names: Iterable[str]) -> None:
    """Print which generations of killed builds were deleted."""
    for name in names:
        click.echo(f"Deleted {name}, left by a build that was killed.")


def after_swap(tools: Tools) -> None:
    """Warm the cache with the most frequent queries, and delete old generations."""
    done = tools.service.after_swap()
    if done.warmed.answered:
        number = done.warmed.answered
        click.echo(f"The answers to the {number:,} most frequent queries are cached.")
    if done.deleted:
        click.echo(f"Deleted {', '.join(done.deleted)}.")
    if done.warning:
        click.echo(done.warning, err=True)
