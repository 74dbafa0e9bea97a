"""`blogsearch try` and `blogsearch init`: see what a source gives, and write `blogsearch.toml`."""

import html
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import click

from app.commands.sources import SourceArguments, source_options
from app.commands.tools import Tools, number_option, pass_tools
from app.site_file import NAME
from indexer.errors import SourceError
from indexer.normalise import documents
from indexer.records import Document, RawPost, Reject, SourceItem, quantity
from indexer.sources import detect
from indexer.sources.base import is_url
from indexer.sources.files import files_in, is_utf8
from indexer.sources.html import SUFFIXES, built_site
from indexer.sources.identity import oid_of_page
from indexer.sources.markdown.config import read_text
from indexer.sources.markdown.generators import Generated, site_of
from indexer.sources.markdown.site import Site

_LEFTOVER = re.compile(r"\{\{|\{%|\{#|\[\^|:::")
_SAME_TITLES = 2
_NAMED = 20
"""Pages left out by a guess that are named without --verbose."""
_WORD = re.compile(r"\w+")


@dataclass
class _Trial:
    """What was read so far; `sample` holds posts at even distances, however many there are."""

    wanted: int
    posts: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    first_rejected: dict[str, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    sample: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)
    stride: int = 1

    def take(self, item: SourceItem) -> None:
        result: Document | Reject | None = item if isinstance(item, Reject) else None
        if isinstance(item, RawPost):
            result = next(documents(item))
        if isinstance(result, Reject):
            self.rejects[result.reason] += 1
            self.first_rejected.setdefault(result.reason, str(result.origin))
        if not isinstance(result, Document):
            return
        source = dict(result.source)
        warnings = _warnings(source)
        self.warnings.update(warnings)
        self.titles[str(source["title"])] += 1
        if self.posts % self.stride == 0:
            self.sample.append((source, warnings))
            if len(self.sample) >= 2 * self.wanted:
                self.sample, self.stride = self.sample[::2], self.stride * 2
        self.posts += 1


@click.command("try")
@source_options
@number_option("--posts", 5, 1, 100, "How many posts to show.")
@click.option(
    "--seconds", default=10.0, show_default=True, help="Stop reading the source after this time."
)
@pass_tools
def try_(tools: Tools, sources: SourceArguments, posts: int, seconds: float) -> None:
    """Show some posts from all over SOURCE... as they would be indexed; nothing is written.

    Neither Elasticsearch nor Redis is needed.

    \b
    blogsearch try content
    blogsearch try public --site https://blog.example.org
    """
    trial = _Trial(posts)
    opened = sources.open(tools.settings)
    items, end, is_whole = opened.read(), time.monotonic() + seconds, True
    for item in items:
        trial.take(item)
        if time.monotonic() > end:
            is_whole = False
            break
    shown = min(posts, len(trial.sample))
    for number in range(shown):
        source, warnings = trial.sample[number * (len(trial.sample) - 1) // max(1, shown - 1)]
        click.echo("\n".join(_lines(source, warnings)) + "\n")
    kinds = ", ".join(sorted({source.kind for source in opened.sources}))
    read = "" if is_whole else f" in the first {seconds:g} s; there may be more"
    click.echo(f"{quantity(trial.posts, 'post')} ({kinds}){read}.")
    for warning, count in trial.warnings.most_common():
        click.echo(f"{quantity(count, 'post')}: {warning}")
    for title, count in trial.titles.most_common(3):
        if count > _SAME_TITLES:
            click.echo(f"{count:,} posts have the title {html.unescape(title)!r}")
    for skipped in [] if sources.verbose else opened.guessed[:_NAMED]:
        click.echo(f"left out: {skipped.origin}: {skipped.reason}")
    for reason, count in trial.rejects.most_common(10):
        more = "" if count == 1 else " and others"
        click.echo(f"{count:,} rejected: {reason} ({trial.first_rejected[reason]}{more})")
    opened.print_skipped()


def _lines(source: dict[str, Any], warnings: list[str]) -> Iterator[str]:
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
    for warning in warnings:
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
@click.argument("place", metavar="[SOURCE]", required=False)
@click.option("--yes", is_flag=True, help="Ask nothing; take what is guessed.")
@click.option("--force", is_flag=True, help=f"Overwrite {NAME}.")
def init(place: str | None, yes: bool, force: bool) -> None:
    """Write blogsearch.toml for the site in this folder.

    The generator, the site's address and its language are guessed from the configuration in
    SOURCE, or in the current folder. Every command then reads the file.
    """
    path = Path(NAME)
    if path.exists() and not force:
        raise click.ClickException(f"{NAME} exists; --force overwrites it.")
    place = place or "."
    kind = "" if is_url(place) else detect.kind_of_path(place)
    address, language, content, root = "", "", place, Path(place)
    if kind == "markdown":
        site = site_of(Path(place))
        address, root = site.address, site.root
        built = _built_site(site)
        if built and isinstance(site, Generated):
            content, kind = built, "html"
            click.echo(
                f"{built} is the site that {site.generator} has built: it is indexed.", err=True
            )
        else:
            language = site.language_of(PurePosixPath("post.md"), "", {})
            content = _shown(site.roots[0].folder if len(site.roots) == 1 else site.root)
            where = "this folder" if content == "." else content
            click.echo(f"Generator: {site.generator}. Posts in {where}.", err=True)
            for note in site.notes:
                click.echo(f"note: {note}", err=True)
            if built:
                hint = f"`blogsearch init {built} --force`"
                click.echo(
                    f"note: {built} looks like the built site; {hint} indexes that.", err=True
                )
    if not is_url(place):
        address = address or _published_at(root) or _built_address(Path(content))
    if not yes:
        address = _ask_for_address(address)
    elif not address and not is_url(place):
        click.echo(f"note: the site's address is not known; write it into {NAME}.", err=True)
    if not is_utf8(content):
        raise SourceError(f"The name of {content!a} is not UTF-8.", "Rename it.")
    try:
        path.write_text(_toml(content, kind, address, language), "utf-8")
    except OSError as error:
        raise SourceError(f"{NAME} cannot be written: {error.strerror}.") from error
    click.echo(f"{NAME} is written. Next: blogsearch try, then blogsearch reindex.")


def _published_at(place: Path) -> str:
    """The site's address by the file with which GitHub Pages names it."""
    for folder in ("", "static", "public", "source", "src", "docs", "content"):
        file = place / folder / "CNAME"
        if file.is_file() and (names := read_text(file).split()):
            return f"https://{names[0]}"
    return ""


def _built_address(folder: Path) -> str:
    """The address of a built site: of its pages, else in the generator's configuration."""
    pages = files_in(folder, SUFFIXES) if folder.is_dir() else []
    files = {oid_of_page(page.relative_to(folder).as_posix()): page for page in pages}
    return built_site(folder, files, "").address or site_of(folder.parent).address


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


def _built_site(site: Site) -> str:
    """The folder into which the generator has built the site; "" if there is none."""
    names = (site.output, "public", "_site", "site", "dist", "build", "out", "output")
    places = (site.root / name for name in names if name)
    built = [place for place in places if (place / "index.html").is_file()]
    return _shown(built[0].resolve()) if built else ""


def _string(text: str) -> str:
    """A string of TOML, which has no surrogate pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(source: str, kind: str, address: str, language: str) -> str:
    return f"""# Every blogsearch command started in this folder reads this; see docs/sources.md.
sources = [{_string(source)}]
{"kind = " + _string(kind) if kind else '# kind = "markdown"'}
site = {_string(address)}
{"language = " + _string(language) if language else '# language = "en"'}
# include = ["posts/*"]
# exclude = ["drafts/*"]

# [urls]                # addresses of Markdown posts by section, the first folder of their path
# posts = "/{{year}}/{{slug}}/"
# "" = "/{{section}}/{{slug}}/"

# [fields]              # front-matter fields to look at first
# title = ["headline"]
# tags = ["topics"]

# [settings]            # any setting of docs/settings.md; the environment wins
# index = "blog"
"""
