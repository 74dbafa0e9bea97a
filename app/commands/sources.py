"""The sources that an indexing command was given, read one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from app.settings import Settings
from indexer.fetch import FetchOptions, PageStore
from indexer.records import RawPost, Reject
from indexer.sources import Source, SourceOptions, open_source
from indexer.sources.base import is_url

_LATEST_ONLY = {"feed"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What is to be read, and how."""

    specs: tuple[str, ...]
    kind: str | None
    options: SourceOptions

    def open(self, settings: Settings) -> "Sources":
        """Find out what the sources are.

        Raises:
            SourceError: one of them is not there, or nothing that is known.
        """
        fetch = FetchOptions(
            user_agent=settings.fetch_user_agent,
            allow_private=settings.fetch_allow_private,
            deadline=settings.fetch_timeout,
            max_bytes=settings.fetch_max_bytes,
            connections=settings.fetch_connections,
        )
        fetching = any(map(is_url, self.specs))
        store = _store(settings.fetch_store) if fetching and settings.fetch_store else None
        options = replace(self.options, fetch=fetch, store=store)
        return Sources([open_source(spec, self.kind, options) for spec in self.specs])

    def paths(self) -> list[Path]:
        """The sources as something to watch.

        Raises:
            click.UsageError: one of them is no file or folder.
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
        self._at = 0

    def read(self) -> Iterator[RawPost | Reject]:
        """Every post of every source.

        Raises:
            SourceError: one of them cannot be read to its end.
        """
        for at, source in enumerate(self._sources):
            self._at = at
            yield from source.read()

    def part(self) -> float | None:
        """The part read so far, 0 to 1, weighed by size; None when it is not known."""
        here = self._sources[self._at].progress
        if here is None:
            return None
        done = sum(self._sizes[: self._at]) + here * self._sizes[self._at]
        return min(1.0, done / sum(self._sizes))

    @property
    def complete(self) -> bool:
        """Whether they have every post there is; a feed has only the latest."""
        return not any(source.kind in _LATEST_ONLY for source in self._sources)


def _store(folder: str) -> PageStore | None:
    """None where there can be no such folder: then everything is fetched whole."""
    try:
        return PageStore(Path(folder).expanduser())
    except (OSError, RuntimeError) as error:
        click.echo(f"Fetched pages are not kept in {folder}: {error}.", err=True)
        return None


def _size(spec: str) -> float:
    path = Path(spec)
    return float(path.stat().st_size or 1) if path.is_file() else 1.0
