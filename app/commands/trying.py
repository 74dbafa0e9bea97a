"""`blogsearch try` and `blogsearch init`: see what a source gives, and write `blogsearch.toml`."""

import html
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import click

from app.commands.sources import SourceArguments, Sources, source_options
from app.commands.tools import (
    Tools,
    json_option,
    number_option,
    pass_tools,
    print_json,
    quiet_option,
)
from app.site_file import NAME
from indexer.errors import SourceError
from indexer.fetch import FetchOptions
from indexer.normalise import document_of
from indexer.records import RawPost, Reject, SourceItem, quantity
from indexer.sources import SourceOptions, detect, open_source
from indexer.sources.base import is_url
from indexer.sources.files import is_utf8
from indexer.sources.generators import Site, site_of, sites_in, text_of

_TRIED = 5.0  # seconds for which `init` reads a source
_LEFTOVER = re.compile(r"\{\{|\{%|\{#|\[\^|:::")
_SAME_TITLES = 2
_NAMED = 20
"""Pages left out by a guess that are named without --verbose."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Post:
    """A post as it would be stored, what is suspicious about it, and the characters of its page
    that are no part of it, by what they were taken for."""

    source: dict[str, Any]
    warnings: list[str]
    left_out: Mapping[str, int]

    @property
    def kept(self) -> int:
        """The characters of its text and code, without white space."""
        return sum(map(len, f"{self.source['text']} {self.source['code']}".split()))


@dataclass
class _Trial:
    """What was read so far; `sample` holds posts at even distances, however many there are."""

    wanted: int
    posts: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    first_rejected: dict[str, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    sample: list[_Post] = field(default_factory=list)
    stride: int = 1
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def shown(self) -> list[_Post]:
        """The posts to show, from the first to the last one of the sample."""
        last = len(self.sample) - 1
        count = min(self.wanted, len(self.sample))
        return [self.sample[number * last // max(1, count - 1)] for number in range(count)]

    def take(self, item: SourceItem) -> None:
        document, rejects = document_of(item) if isinstance(item, RawPost) else (None, [])
        for reject in [item] if isinstance(item, Reject) else rejects:
            self.rejects[reject.reason] += 1
            self.first_rejected.setdefault(reject.reason, str(reject.origin))
        if document is None or not isinstance(item, RawPost):
            return
        source = dict(document.source)
        post = _Post(source, _warnings(source), item.left_out)
        self.left_out.update(post.left_out)
        self.kept += post.kept
        self.warnings.update(post.warnings)
        self.titles[str(source["title"])] += 1
        if self.posts % self.stride == 0:
            self.sample.append(post)
            if len(self.sample) >= 2 * self.wanted:
                self.sample, self.stride = self.sample[::2], self.stride * 2
        self.posts += 1


@click.command("try")
@source_options
@number_option("--posts", 5, 1, 100, "How many posts to show.")
@click.option(
    "--seconds", default=10.0, show_default=True, help="Stop reading the source after this time."
)
@json_option
@quiet_option
@pass_tools
def try_(
    tools: Tools, sources: SourceArguments, posts: int, seconds: float, as_json: bool, quiet: bool
) -> None:
    """Show some posts from all over SOURCE... as they would be indexed; nothing is written.

    What is left out, rejected or suspicious is counted, and how many words of the pages were left
    out, as what. Neither Elasticsearch nor Redis is needed.

    Exit code 0: there are posts; 1: there are none, or most of SOURCE... is not read.

    \b
    blogsearch try content
    blogsearch try public --site https://blog.example.org
    blogsearch try public --quiet
    """
    trial = _Trial(posts)
    opened = replace(sources, quiet=quiet or as_json).open(tools.settings)
    end, is_whole, problem = time.monotonic() + seconds, True, None
    try:
        for item in opened.read():
            trial.take(item)
            if time.monotonic() > end:
                is_whole = False
                opened.check_understood()
                break
    except SourceError as error:
        problem = error
    if as_json:
        print_json(_report(trial, opened, is_whole=is_whole))
    elif not quiet:
        _print(trial, opened, "" if is_whole else f" in the first {seconds:g} s; there may be more")
    if problem:
        raise problem
    if not trial.posts:
        raise SourceError(
            f"There is no post in {sources}.", "Look at what is left out, or rejected."
        )


def _print(trial: _Trial, opened: Sources, read: str) -> None:
    for post in trial.shown:
        click.echo("\n".join(_lines(post)) + "\n")
    kinds = ", ".join(sorted({source.kind for source in opened.sources}))
    click.echo(f"{quantity(trial.posts, 'post')} ({kinds}){read}.")
    for warning, count in trial.warnings.most_common():
        click.echo(f"{quantity(count, 'post')}: {warning}")
    for title, count in trial.titles.most_common(3):
        if count > _SAME_TITLES:
            click.echo(f"{count:,} posts have the title {html.unescape(title)!r}")
    if trial.left_out:
        click.echo(f"of the pages is left out {_shares(trial.left_out, trial.kept)}")
    for skipped in opened.guessed[:_NAMED]:
        click.echo(f"left out: {skipped.origin}: {skipped.reason}")
    for reason, count in trial.rejects.most_common(10):
        more = "" if count == 1 else " and others"
        click.echo(f"{count:,} rejected: {reason} ({trial.first_rejected[reason]}{more})")
    opened.print_skipped()


def _report(trial: _Trial, opened: Sources, *, is_whole: bool) -> dict[str, Any]:
    return {
        "posts": trial.posts,
        "whole": is_whole,
        "kinds": sorted({source.kind for source in opened.sources}),
        "sample": [
            {**post.source, "warnings": post.warnings, "left_out": post.left_out}
            for post in trial.shown
        ],
        "warnings": trial.warnings,
        "characters": {"kept": trial.kept, "left_out": trial.left_out},
        "left_out": opened.skipped,
        "rejected": trial.rejects,
    }


def _shares(left_out: Mapping[str, int], kept: int) -> str:
    """`12%: navigation 8%, footer 4%`, of the characters of a page."""
    whole = sum(left_out.values()) + kept
    parts = (f"{name} {count / whole:.0%}" for name, count in Counter(left_out).most_common())
    return f"{1 - kept / whole:.0%}: {', '.join(parts)}"


def _lines(post: _Post) -> Iterator[str]:
    source = post.source
    text, code = str(source["text"]), str(source["code"])
    yield click.style(str(source["title"]), bold=True)
    yield f"  oid       {source['oid']}"
    yield f"  address   {source.get('url', '–')}"
    yield f"  date      {source.get('pub_date', '–')}, changed {source.get('modified', '–')}"
    labels = [*source["categories"], *source["keywords"]]
    yield f"  tags      {', '.join(labels) or '–'}"
    if source.get("language"):
        yield f"  language  {source['language']}"
    yield f"  words     {len(_WORD.findall(text)):,}, code {len(_WORD.findall(code)):,}"
    yield f"  text      {' '.join(text.split())[:160]}"
    if post.left_out:
        yield f"  left out  {_shares(post.left_out, post.kept)}"
    for warning in post.warnings:
        yield click.style(f"  warning   {warning}", fg="yellow")


def _warnings(source: dict[str, Any]) -> list[str]:
    title, text = str(source["title"]), str(source["text"])
    warnings = []
    if not source.get("url"):
        warnings.append("no address")
    elif str(source["url"]).startswith("/"):
        warnings.append("the address is a path: --site puts your site's address before it")
    if not source.get("pub_date"):
        warnings.append("no date")
    if not text and not source["code"]:
        warnings.append("no text")
    if _LEFTOVER.search(title):
        warnings.append("template code in the title")
    if _LEFTOVER.search(text):
        warnings.append("template code in the text (or inline code that shows it)")
    return warnings


@click.command()
@click.argument("place", metavar="[SOURCE]", default=".")
@click.option("--yes", is_flag=True, help="Ask nothing; take what is guessed.")
@click.option("--force", is_flag=True, help=f"Overwrite {NAME}.")
@json_option
@quiet_option
@pass_tools
def init(tools: Tools, place: str, yes: bool, force: bool, as_json: bool, quiet: bool) -> None:
    """Write blogsearch.toml for SOURCE, or for the site in this folder.

    What a site generator has built is taken before its Markdown. The address and the language come
    from the generator's configuration or from the built pages. The source is read for a few
    seconds: nothing is written if no command would accept the file.

    Exit code 0: it is written; 1: it exists, or SOURCE has no posts.

    \b
    blogsearch init
    blogsearch init public --yes
    blogsearch init https://blog.example.org --yes --json
    """
    path = Path(NAME)
    if path.exists() and not force:
        raise click.ClickException(f"{NAME} exists; --force overwrites it.")
    say = _ignore if quiet else _say
    say(f"Reading {place} …")
    site, content = _content_of(place, say)
    if not is_utf8(content):
        raise SourceError(f"The name of {content!a} is not UTF-8.", "Rename it.")
    fetch = FetchOptions(allow_private=is_url(place) and tools.settings.fetch_allow_private)
    source = open_source(content, None, SourceOptions(fetch=fetch))
    address, posts, is_whole = _first_posts(Sources([source], SourceOptions()))
    say(f"{'' if is_whole else 'More than '}{quantity(posts, 'post')} ({source.kind}).")
    language = ""
    if not is_url(place):
        address = (site.address if site else "") or _published_at(Path(place), site) or address
        language = site.language if site and source.kind == "markdown" else ""
    if not yes:
        address = _ask_for_address(address)
    if address and not re.fullmatch(r"https?://[^\s/]+\S*", address):
        raise click.UsageError(f"{address!r} is not a URL. Is https://{address} meant?")
    if not address and not is_url(place):
        say(f"note: the site's address is not known; write it into {NAME}.")
    try:
        path.write_text(_toml(source.spec, address, language), "utf-8")
    except OSError as error:
        raise SourceError(f"{NAME} cannot be written: {error.strerror}.") from error
    if as_json:
        written = {"sources": [source.spec], "site": address, "language": language}
        print_json({"file": NAME, **written, "kind": source.kind, "posts": posts})
    else:
        say(f"{NAME} is written. Next: blogsearch try, then blogsearch reindex.")


def _say(message: str) -> None:
    click.echo(message, err=True)


def _ignore(_: str) -> None:
    """Say nothing."""


def _content_of(place: str, say: Callable[[str], None]) -> tuple[Site | None, str]:
    """The site that a place belongs to, and what of it is to be read: what it has built, if it has.

    Raises:
        SourceError: there is no such place, or nothing in it is known.
    """
    if is_url(place):
        return None, place
    if detect.kind_of_path(place) != "markdown":
        return site_of(Path(place)) or site_of(Path(place).resolve().parent), place
    inner = sites_in(Path(place))
    site = site_of(Path(place)) or (inner[0] if len(inner) == 1 else None)
    if site and site.built:
        built = _shown(site.built)
        say(f"{built} is the site that {site.generator.name} has built: it is indexed.")
        return site, built
    if site:
        say(
            f"note: {site.generator.name} has not built its site here, and only that has its "
            f"addresses. {site.how_to_build}; then: blogsearch init --force."
        )
    return site, place


def _first_posts(sources: Sources) -> tuple[str, int, bool]:
    """The address of the front page as the posts show it, the number of posts, and whether the
    source was read to its end.

    Raises:
        SourceError: there is no post, or most of the source is not read.
    """
    address, posts, end = "", 0, time.monotonic() + _TRIED
    for item in sources.read():
        if isinstance(item, RawPost):
            posts += 1
            address = address or _address_of(item)
        if posts and time.monotonic() > end:
            sources.check_understood()
            return address, posts, False
    if not posts:
        sources.print_skipped()
        raise SourceError("There is no post in it.", "`blogsearch try --verbose` says why.")
    return address, posts, True


def _address_of(post: RawPost) -> str:
    """The address of the front page by that of a post; "" if it does not show it."""
    url, path = str(post.url), f"/{quote(str(post.oid))}"
    if post.oid == "index":
        return url.rstrip("/") if is_url(url) and urlsplit(url).path == "/" else ""
    return url.partition(path)[0] if is_url(url) and path in url else ""


def _published_at(place: Path, site: Site | None) -> str:
    """The site's address by the file with which GitHub Pages names it."""
    for folder in (place, site.folder if site else place):
        for name in ("", "static", "public", "source", "src", "docs", "content"):
            file = folder / name / "CNAME"
            if file.is_file() and (names := text_of(file).split()):
                return f"https://{names[0]}"
    return ""


def _shown(place: Path) -> str:
    """A path as the user would name it from the current folder."""
    current = Path.cwd()
    near = place.is_relative_to(current) or current.is_relative_to(place)
    return os.path.relpath(place, current) if near else str(place)


def _ask_for_address(default: str) -> str:
    try:
        address: str = click.prompt("Address of the site's front page", default=default, err=True)
    except click.Abort:
        if sys.stdin.isatty():  # Ctrl-C
            raise
        raise click.UsageError("There is no terminal for the answer: use --yes.") from None
    return address


def _string(text: str) -> str:
    """A string of TOML, which has no surrogate pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(source: str, address: str, language: str) -> str:
    return f"""# Every blogsearch command started in this folder reads this; see docs/sources.md.
sources = [{_string(source)}]
site = {_string(address)}
{"language = " + _string(language) if language else '# language = "en"'}
# exclude = ["drafts/*", ".promo"]   # files, and elements of pages

# [urls]                # addresses of Markdown posts by section, the first folder of their path
# posts = "/{{year}}/{{slug}}/"

# [fields]              # front-matter fields to look at first
# tags = ["topics"]

# [settings]            # any setting of docs/settings.md; the environment wins
# index = "blog"
"""
