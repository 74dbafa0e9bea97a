"""The arguments and options that name sources and describe how to read them."""

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from app.settings import SITE_FILE, Settings, read_site_file
from app.version import VERSION
from indexer.errors import IndexingError, SourceError
from indexer.posts.addresses import address_of, hide_credentials
from indexer.posts.records import IsUnchangedEntry, RawPost, Skipped, SourceItem, quantity
from indexer.sources import KINDS, Source, SourceOptions, open_source
from indexer.sources.base import UNREAD, complete
from indexer.sources.fetch import FetchOptions
from indexer.sources.json_lines import JSONLines
from indexer.sources.wordpress_rest import WordPressSite

_LATEST_ONLY = "feed"
_NAMED = 3
"""The maximum number of pages, left out by a guess, that are named."""
_SUSPECT = 5
"""If all posts, at least this many, have the same date, it is probably that of the build."""
_SAME_ADDRESS = "the address of a post in an earlier source"


@dataclass(frozen=True, slots=True)
class SourceArguments:
    """The sources named on the command line, and how they are read."""

    specs: tuple[str, ...]
    kind: str | None
    options: SourceOptions
    verbose: bool = False
    quiet: bool = False

    def open(self, settings: Settings) -> "Sources":
        """Print what is read, as that may take seconds, and detect the kind of each source.

        Raises:
            SourceError: a source does not exist, or its kind is unknown.
        """
        if not self.quiet:
            click.echo(f"Reading {self} …", err=True)
        contact = f" (+{settings.site_url})" if settings.site_url else ""
        fetch = FetchOptions(
            user_agent=f"blogsearch/{VERSION}{contact}",
            allow_private=settings.fetch_allow_private,
        )
        warn = (lambda message: None) if self.quiet else self.options.warn
        options = replace(self.options, fetch=fetch, warn=warn)
        began = time.monotonic()
        opened = [open_source(spec, self.kind, options) for spec in self.specs]
        return Sources(opened, options, verbose=self.verbose, began=began)

    def __str__(self) -> str:
        return " ".join(hide_credentials(spec) if "://" in spec else spec for spec in self.specs)


class Sources:
    """Several sources, read one after the other."""

    def __init__(
        self,
        sources: Sequence[Source],
        options: SourceOptions,
        *,
        verbose: bool = False,
        began: float = 0.0,
    ) -> None:
        # A feed may have only summaries, which must not replace the whole posts.
        self.sources = sorted(sources, key=lambda source: source.kind == _LATEST_ONLY)
        self.kinds = sorted({source.kind for source in sources})
        self.skipped: Counter[str] = Counter()
        self.guessed: Counter[str] = Counter()
        self._examples: list[str] = []
        self._layouts: Counter[str] = Counter()
        self._days: Counter[str] = Counter()
        self._shared: Counter[str] = Counter()  # addresses, without their first post
        self._options = options
        self._verbose = verbose
        self._unread: Counter[str] = Counter()
        self.posts = 0
        self.is_whole = True
        self._began = began or time.monotonic()
        self._addresses: dict[int, int] = {}  # hash of the address → the first source with it

    def read(self, is_unchanged: IsUnchangedEntry | None = None) -> Iterator[SourceItem]:
        """Yield the posts of all sources, without the unchanged ones if the only source is JSON
        Lines or WordPress: with several sources, two may have the same address.

        Raises:
            SourceError: a source cannot be read to its end, or most files are in formats that are
                not read.
        """
        for number, source in enumerate(self.sources):
            if isinstance(source, JSONLines | WordPressSite) and len(self.sources) == 1:
                items = source.read(is_unchanged)
            else:
                items = source.read()
            for item in items:
                if isinstance(item, RawPost):
                    item = replace(complete(item, self._options), stands_in=source.stands_in)
                    if item.title is None and not isinstance(source, JSONLines):  # such as a photo
                        oid = item.oid and str(item.oid)
                        item = Skipped(item.origin, oid, "neither title nor words", "empty")
                    elif not self._is_first(item, number):
                        item = Skipped(item.origin, None, _SAME_ADDRESS, "copy", declared=True)
                if isinstance(item, Skipped):
                    self._count(item)
                if isinstance(item, RawPost):
                    self.posts += 1
                    self._layouts[item.layout or "no known layout"] += 1
                    self._days[str(item.pub_date or "")] += 1
                yield item
        self._check_understood()

    def read_for(self, seconds: float) -> Iterator[SourceItem]:
        """Yield items for so many seconds, and for at least a tenth of that after the first post.

        `is_whole` is False if there may be more.
        """
        end = 0.0
        for item in self.read():
            yield item
            if self.posts and not end:
                end = max(self._began + seconds, time.monotonic() + seconds / 10)
            if end and time.monotonic() > end:
                self.is_whole = False
                self._check_understood()
                return

    def _check_understood(self) -> None:
        if self.skipped[UNREAD] > self.posts:
            suffix, count = self._unread.most_common(1)[0]
            names = " ".join(hide_credentials(source.spec) for source in self.sources)
            posts = quantity(self.posts, "post")
            raise SourceError(
                f"Most of {names} has an unsupported format: {count:,} {suffix} files, {posts}.",
                "Build the site and index the built folder, or leave these files out with "
                f'exclude = ["*{suffix}"] in {SITE_FILE}.',
            )

    def _count(self, skipped: Skipped) -> None:
        self.skipped[skipped.reason] += 1
        known = skipped.declared or skipped.kind in ("copy", "unread")
        if skipped.oid is not None and not known:
            self.guessed[skipped.reason] += 1
            self._examples += [skipped.oid] if len(self._examples) < _NAMED else []
        if skipped.reason == UNREAD:
            self._unread[Path(skipped.origin.source).suffix] += 1
        if self._verbose:
            click.echo(f"left out: {skipped.origin}: {skipped.reason}", err=True)

    def print_skipped(self) -> None:
        """Print how many files or pages were left out, and why: those that ask for it, and apart
        from them those that do not look like a post."""
        hint = "" if self._verbose else "; --verbose lists them"
        if asked := self.skipped - self.guessed:
            click.echo(f"Left out: {_counts(asked)}{hint}.", err=True)
        if self.guessed:
            named = ", ".join(self._examples)
            more = ", …" if self.guessed.total() > _NAMED else ""
            said = f"{_counts(self.guessed)} ({named}{more})"
            click.echo(f"Left out, probably not posts: {said}{hint}.", err=True)
        day, count = next(iter(self._days.most_common(1)), ("", 0))
        if day and self.posts == count >= _SUSPECT:
            click.echo(
                f"note: all {count:,} posts have the date {day}; set `date` if it is wrong.",
                err=True,
            )
        for url, count in self._shared.most_common(_NAMED):
            click.echo(f"note: {count + 1:,} posts have the address {url}.", err=True)
        if self._verbose and self._layouts.keys() - {"no known layout"}:
            click.echo(f"Layouts: {_counts(self._layouts)}.", err=True)

    @contextmanager
    def prints_skipped_on_failure(self) -> Iterator[None]:
        """Print what was left out if the block fails: it may explain missing posts."""
        try:
            yield
        except IndexingError:
            self.print_skipped()
            raise

    def _is_first(self, post: RawPost, number: int) -> bool:
        """Whether no earlier source has a post with the same address."""
        if not isinstance(post.url, str) or not post.url:
            return True
        key = hash(address_of(post.url))
        if self._addresses.get(key) == number:
            self._shared[post.url] += 1
        return self._addresses.setdefault(key, number) == number

    @property
    def total(self) -> int | None:
        """The number of entries in the sources that know it, or None."""
        return sum(source.total or 0 for source in self.sources) or None

    @property
    def has_comments(self) -> bool:
        """Whether every source has all comments of its posts."""
        return all(source.has_comments for source in self.sources)

    @property
    def complete(self) -> bool:
        """Whether the sources have every post of the blog; a feed has only the latest."""
        return _LATEST_ONLY not in self.kinds and self._options.max_pages is None


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} × {reason}" for reason, count in counts.most_common())


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add SOURCE... and its options to a command, which gets `sources: SourceArguments`.

    The `kind` in blogsearch.toml applies to the `sources` there, not to a SOURCE of the user.
    """

    @click.argument("specs", metavar="[SOURCE]...", nargs=-1)
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
        help="The URLs of Markdown posts, such as /{year}/{month}/{slug}/.",
    )
    @click.option("--site", default="", metavar="URL", help="The URL of the blog's home page.")
    @click.option(
        "--max-pages",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        help="Fetch at most this many pages of a sitemap, the latest first.",
    )
    @click.option("-v", "--verbose", is_flag=True, help="List every file or page that is left out.")
    @functools.wraps(command)
    def wrapped(
        *args: Any, specs: tuple[str, ...], kind: str | None, verbose: bool, **given: Any
    ) -> Any:
        file = read_site_file()
        options = SourceOptions(
            drafts=given.pop("drafts") or file.drafts,
            future=given.pop("future") or file.future,
            url_template=given.pop("url_template") or file.url_template,
            site=given.pop("site") or file.site,
            max_pages=given.pop("max_pages"),
            include=file.include,
            exclude=file.exclude,
            language=file.language,
            content=file.content,
            title=file.title,
            date=file.date,
            tags=file.tags,
            warn=lambda message: click.echo(f"note: {message}", err=True),
        )
        kind = kind or (file.kind if not specs else "") or None
        if not (specs := specs or file.sources):
            raise click.UsageError(f"Name a SOURCE, or `sources` in {SITE_FILE}.")
        if options.site and not options.site.lower().startswith(("http://", "https://")):
            raise click.UsageError(
                f"The site {options.site!r} (--site, or `site` in {SITE_FILE}) is not a URL. "
                f"Did you mean https://{options.site}?"
            )
        return command(*args, sources=SourceArguments(specs, kind, options, verbose), **given)

    return wrapped
