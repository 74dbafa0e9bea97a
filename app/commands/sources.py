"""The arguments and options that name sources and say how to read them."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from app.settings import Settings
from indexer.fetch import FetchOptions, PageStore
from indexer.records import SourceItem
from indexer.sources import KINDS, Source, SourceOptions, open_source
from indexer.sources.base import is_url

_LATEST_ONLY = {"feed"}


@dataclass(frozen=True, slots=True)
class SourceArguments:
    """The sources named on the command line, and how to read them."""

    specs: tuple[str, ...]
    kind: str | None
    options: SourceOptions

    def open(self, settings: Settings) -> "Sources":
        """Detect the kind of each source.

        Raises:
            SourceError: a source does not exist, or its kind is unknown.
        """
        fetch = FetchOptions(
            user_agent=settings.fetch_user_agent,
            allow_private=settings.fetch_allow_private,
            deadline=settings.fetch_timeout,
            max_bytes=settings.fetch_max_bytes,
            connections=settings.fetch_connections,
        )
        fetching = any(map(is_url, self.specs))
        store = _page_store(settings.fetch_store) if fetching and settings.fetch_store else None
        options = replace(self.options, fetch=fetch, store=store)
        return Sources([open_source(spec, self.kind, options) for spec in self.specs])

    def paths(self) -> list[Path]:
        """The sources as paths to watch.

        Raises:
            click.UsageError: a source is not a file or folder.
        """
        for spec in self.specs:
            if not Path(spec).exists():
                raise click.UsageError(f"--watch needs files or folders; {spec} is neither.")
        return [Path(spec).resolve() for spec in self.specs]

    def __str__(self) -> str:
        return " ".join(self.specs)


class Sources:
    """Several sources, read one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._sizes = [_size(source.spec) for source in sources]
        self._current = 0

    def read(self) -> Iterator[SourceItem]:
        """Every post of every source.

        Raises:
            SourceError: a source cannot be read to its end.
        """
        for number, source in enumerate(self._sources):
            self._current = number
            yield from source.read()

    def fraction_read(self) -> float | None:
        """The fraction read so far (0 to 1), weighted by file size; None if unknown."""
        fraction = self._sources[self._current].progress
        if fraction is None:
            return None
        done = sum(self._sizes[: self._current]) + fraction * self._sizes[self._current]
        return min(1.0, done / sum(self._sizes))

    @property
    def complete(self) -> bool:
        """Whether they have every post of the blog; a feed has only the latest."""
        return not any(source.kind in _LATEST_ONLY for source in self._sources)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add SOURCE... and its options to a command, which gets `sources: SourceArguments`."""

    @click.argument("specs", metavar="SOURCE...", nargs=-1, required=True)
    @click.option(
        "--source",
        "kind",
        type=click.Choice(sorted(KINDS)),
        help="The kind of the sources, if it is detected wrongly.",
    )
    @click.option("--drafts", is_flag=True, help="Include drafts.")
    @click.option("--future", is_flag=True, help="Include posts with a date in the future.")
    @click.option(
        "--url-template",
        default="",
        metavar="TEMPLATE",
        help="URLs of Markdown posts, such as /{year}/{month}/{slug}/.",
    )
    @click.option("--site", default="", metavar="URL", help="The URL of the blog's home page.")
    @functools.wraps(command)
    def wrapped(
        *args: Any,
        specs: tuple[str, ...],
        kind: str | None,
        drafts: bool,
        future: bool,
        url_template: str,
        site: str,
        **rest: Any,
    ) -> Any:
        options = SourceOptions(drafts=drafts, future=future, url_template=url_template, site=site)
        return command(*args, sources=SourceArguments(specs, kind, options), **rest)

    return wrapped


rejects_option = click.option(
    "--rejects",
    "rejects_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write every reject to FILE as JSON Lines: source, line, oid, reason, remedy.",
)


def _page_store(folder: str) -> PageStore | None:
    """The store of fetched pages; None if the folder cannot be created."""
    try:
        return PageStore(Path(folder).expanduser())
    except (OSError, RuntimeError) as error:
        click.echo(f"Fetched pages are not stored in {folder}: {error}.", err=True)
        return None


def _size(spec: str) -> float:
    path = Path(spec)
    return float(path.stat().st_size or 1) if path.is_file() else 1.0
