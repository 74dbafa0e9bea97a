"""Shared parts of the commands that write: progress, rejects, how a run ends, languages, builds."""

import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice

import click
import requests
from elasticsearch import ApiError, Elasticsearch, TransportError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from analyzers.languages import ENGLISH, language_named
from app.commands.sources import SourceArguments, Sources
from app.commands.tools import ONLY_SOME, Output, Tools, error_message
from app.index.last_runs import read_runs, record_run
from app.settings import Settings
from indexer.errors import IndexingError, Locked, LockLost, SourceError
from indexer.posts.records import ExportedPost, RawPost, Reject, SourceItem, quantity
from indexer.runs.build import Built, IndexSettings, is_current, rebuild
from indexer.runs.ingest import IngestOptions
from indexer.store.generations import Generation
from indexer.store.generations import live as live_generation
from indexer.store.retry import time_limit
from indexer.store.state import Lock

_LOOKED_AT = 1_000  # posts
_FEW = 0.1
MAX_PRINTED = 20  # rejects; --verbose prints all of them
_WARM_AFTER_SWAP = 20.0  # seconds that a command that swapped waits for
_EXIT_TIMEOUT = 5.0  # seconds that a command that failed waits for Elasticsearch
_PING_TIMEOUT = 10.0  # seconds
_PINGED_TEXT = 10_000  # characters of an error that a ping sends


@contextmanager
def publish_after(tools: Tools, *, builds: bool) -> Iterator[None]:
    """Publish a new generation of answers after the block, even if it fails: it may have written.

    Args:
        builds: whether the block changes nothing before it swaps. If it is interrupted, the live
            generation is printed.
    """
    alias = tools.settings.index
    before = live_generation(tools.elastic, alias) if builds else None
    try:
        yield
    except BaseException as error:
        if not _locked_out(error):
            with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
                tools.publish()
        if isinstance(error, KeyboardInterrupt | SystemExit):
            click.echo(_after_interruption(tools, before, builds=builds), err=True)
        raise
    tools.publish()


def _after_interruption(tools: Tools, before: Generation | None, *, builds: bool) -> str:
    """Return the message about the live index after an interrupted command."""
    if not builds:
        return "What was written so far stays. Run the command again to write the rest."
    with suppress(ApiError, TransportError, IndexingError), time_limit(_EXIT_TIMEOUT):
        live = live_generation(tools.elastic, tools.settings.index)
        if live and (before is None or live.name != before.name):
            return f"The swap was already done: {live.name} is live."
        is_live = f"{live.name} is still live" if live else "there is no index"
        return f"Nothing was changed: {is_live}."
    return "Elasticsearch does not answer; `blogsearch indices` shows which generation is live."


@dataclass(slots=True)
class Run:
    """A run on sources. `failed`: why it did not do its task, although it ended normally."""

    sources: Sources
    options: IngestOptions
    verbose: bool
    rejected: int = 0
    failed: str = ""

    def on_reject(self, reject: Reject) -> None:
        """Print a reject, unless there were many already."""
        self.rejected += 1
        if self.rejected <= MAX_PRINTED or self.verbose:
            oid = f" ({reject.oid})" if reject.oid else ""
            text = f"rejected: {reject.origin}{oid}: {reject.reason}. {reject.remedy}"
            click.echo(text, err=True)
        elif self.rejected == MAX_PRINTED + 1:
            click.echo(f"rejected: more than {MAX_PRINTED}; --verbose prints them all.", err=True)

    def end(self, output: Output) -> None:
        """End the command: with 1 if it failed, with `ONLY_SOME` if something was rejected."""
        if not output.quiet:
            self.sources.print_skipped()
        if self.failed:
            raise click.ClickException(self.failed)
        if self.rejected:
            click.echo(f"Rejected: {self.rejected:,} (posts and comments).", err=True)
            click.get_current_context().exit(ONLY_SOME)


@contextmanager
def run_on(
    tools: Tools, command: str, arguments: SourceArguments, *, force: bool = False
) -> Iterator[Run]:
    """Open sources, show progress and rejects, and record how the block ends and why it failed.

    Nothing is recorded if the command never had the lock, or if it could not read its sources, as
    they may be misspelt; but an unreadable source of the last run is recorded.
    """
    output = tools.output
    columns = (TextColumn("{task.completed:,} posts read"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True, quiet=output.quiet)
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=None)
        try:
            sources = replace(arguments, quiet=output.quiet or output.as_json).open(tools.settings)
        except SourceError as error:
            if _were_sources(tools, command, arguments):
                _store(tools, command, arguments, str(error))
            raise
        options = IngestOptions(
            force=force,
            complete=sources.complete and command != "add",
            comments=sources.has_comments,
            on_progress=lambda read: progress.update(bar, completed=read, total=sources.total),
            purpose=f"{command} {arguments}",
        )
        run = Run(sources, options, arguments.verbose)
        with sources.prints_skipped_on_failure():
            try:
                with publish_after(tools, builds=command == "reindex"):
                    yield run
            except BaseException as error:
                unread = isinstance(error, SourceError) and not sources.posts
                is_run = not unread or _were_sources(tools, command, arguments)
                if is_run and not _locked_out(error):
                    _store(tools, command, arguments, _reason(error), run)
                raise
            _store(tools, command, arguments, run.failed or None, run)


def _were_sources(tools: Tools, command: str, arguments: SourceArguments) -> bool:
    """Whether the last run of this command was on these sources."""
    with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
        runs = read_runs(tools.elastic, tools.settings.index, [command])
        return any(run.sources == str(arguments) for run in runs)
    return False


def _store(
    tools: Tools,
    command: str,
    arguments: SourceArguments,
    error: str | None,
    run: Run | None = None,
) -> None:
    alias, sources = tools.settings.index, str(arguments)
    rejected, left_out = (run.rejected, run.sources.skipped.total()) if run else (0, 0)
    with suppress(ApiError, TransportError), time_limit(_EXIT_TIMEOUT):
        record_run(tools.elastic, alias, command, sources, rejected, error, left_out)


def _locked_out(error: BaseException) -> bool:
    """Whether a command never had the lock."""
    return isinstance(error, Locked) and not isinstance(error, LockLost)


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "it was stopped by Ctrl-C"
    if isinstance(error, SystemExit):
        return f"it was stopped by {signal.Signals(int(str(error)) - 128).name}"
    return error_message(error) or type(error).__name__


@contextmanager
def ping_around(settings: Settings) -> Iterator[None]:
    """Ping BLOGSEARCH_PING_URL when the block begins and when it ends.

    As healthchecks.io expects it: `…/start`, then the URL itself, or `…/fail` with the reason.
    """
    _ping(settings, "/start")
    try:
        yield
    except click.exceptions.Exit as end:
        _ping(settings, "" if end.exit_code in (0, ONLY_SOME) else "/fail")
        raise
    except BaseException as error:
        if not _locked_out(error):  # the run that holds the lock pings at its own end
            _ping(settings, "/fail", _reason(error))
        raise
    _ping(settings, "")


def _ping(settings: Settings, end: str, text: str = "") -> None:
    if not settings.ping_url:
        return
    try:
        url = settings.ping_url.rstrip("/") + end
        body = text[:_PINGED_TEXT].encode()
        requests.post(url, data=body, timeout=_PING_TIMEOUT).raise_for_status()
    except requests.RequestException as error:
        # Without the URL, which is a secret.
        reason = error.response.status_code if error.response is not None else type(error).__name__
        click.echo(f"BLOGSEARCH_PING_URL cannot be reached: {reason}.", err=True)


# -- languages -----------------------------------------------------------------------------------


def with_language(
    tools: Tools, items: Iterator[SourceItem]
) -> tuple[Settings, Iterator[SourceItem]]:
    """Return the settings, and an iterator over all items. If the settings name no language, it is
    that of most of the first 1,000 posts: English if they name none, or one that an index cannot
    stem."""
    if tools.settings.language:
        return tools.settings, items
    first, output = list(islice(items, _LOOKED_AT)), tools.output
    tag, language = most_frequent(tags_of(first))
    if _name(tag):
        output.note(f"Most posts are in {language} ({tag}), so the index is built for it.")
    elif tag:
        output.note(f"note: most posts are in {tag!r}, which is not supported; English is used.")
    return replace(tools.settings, language=language), chain(first, items)


def most_frequent(tags: Counter[str]) -> tuple[str, str]:
    """Return the tag of most posts ("": none), and the language for an index of them."""
    tag = next((tag for tag, _ in tags.most_common(1)), "")
    return tag, _name(tag) or ENGLISH.name


def tags_of(items: Iterable[SourceItem]) -> Counter[str]:
    """Count the posts by their language tag; "" for none."""
    tags = Counter[str]()
    for item in items:
        if isinstance(item, RawPost | ExportedPost):
            tag = item.language if isinstance(item, RawPost) else item.post.language
            tags[str(tag or "").lower().replace("_", "-")] += 1
    return tags


def tags_in(client: Elasticsearch, index: str) -> Counter[str]:
    """Count the posts of an index by their language tag; "" for none."""
    aggs = {"tags": {"terms": {"field": "language", "size": 100, "missing": ""}}}
    found = client.search(index=index, size=0, track_total_hits=False, aggs=aggs)
    buckets = found["aggregations"]["tags"]["buckets"]
    return Counter({bucket["key"]: bucket["doc_count"] for bucket in buckets})


def in_other_languages(tags: Counter[str], language: str) -> tuple[str, str] | None:
    """Return a message and a remedy if more than a tenth of the posts name another language than
    the one that the index stems; otherwise None."""
    others = Counter({tag: n for tag, n in tags.items() if tag and _name(tag) != language})
    if others.total() <= tags.total() * _FEW:
        return None
    shown = ", ".join(f"{tag} {number:,}" for tag, number in others.most_common(3))
    seen = f"{others.total():,} of {quantity(tags.total(), 'post')} are not in {language}: {shown}"
    names = Counter[str]()
    for tag, number in others.items():
        names[_name(tag)] += number
    best, number = names.most_common(1)[0]
    if best and number > tags.total() / 2:
        return seen, f"Set BLOGSEARCH_LANGUAGE={best}, then run `blogsearch rebuild`."
    return seen, "See docs/languages.md for blogs in two languages."


def _name(tag: str) -> str:
    language = language_named(tag)
    return language.name if language else ""


# -- builds ------------------------------------------------------------------------------------


def rebuild_live(
    tools: Tools, wanted: IndexSettings, purpose: str, *, force: bool = False
) -> Built | None:
    """Build the live index again with these settings.

    Returns None if there is no index, or if it has these settings already and not `force`.
    """
    alias = tools.settings.index
    live = live_generation(tools.elastic, alias)
    if live is None or (is_current(live, wanted) and not force):
        return None
    with Lock(tools.elastic, alias, purpose) as lock, publish_after(tools, builds=True):
        return rebuild(tools.elastic, lock, alias, wanted)


def after_build(tools: Tools, built: Built) -> None:
    """Print the live generation, what was replayed and lost, and warnings; warm the cache."""
    output = tools.output
    if generation := live_generation(tools.elastic, tools.settings.index):
        tags = tags_in(tools.elastic, generation.name)
        for text in in_other_languages(tags, generation.language) or ():
            output.note(f"warning: {text}")
    if built.lost:
        click.echo(f"warning: {built.lost}", err=True)
    replayed = f", {built.replayed:,} writes replayed" if built.replayed else ""
    former = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    output.say(f"{built.index} is live: {quantity(built.posts, 'post')}{replayed}{former}.")
    if answered := tools.service.warm(seconds=_WARM_AFTER_SWAP):
        output.say(f"The answers to the {answered:,} most frequent queries are cached.")
