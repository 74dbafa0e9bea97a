"""`blogsearch try` and `blogsearch init`: show posts of a source, and write `blogsearch.toml`."""

import html
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import click
from msgspec import to_builtins

from analyzers.signs import CHARACTERS
from app.commands.runs import in_other_languages, most_frequent, tags_of
from app.commands.sources import SourceArguments, Sources, source_options
from app.commands.tools import Tools, command, pass_tools
from app.settings import SITE_FILE
from indexer.errors import SourceError
from indexer.posts.addresses import is_url
from indexer.posts.normalise import check_post
from indexer.posts.records import Post, RawPost, Reject, quantity
from indexer.sources import SourceOptions, detect, open_source
from indexer.sources.fetch import FetchOptions
from indexer.sources.generators import Site, find_built, site_of, sites_in

_SECONDS = 10.0
"""How long `try` reads a source; `init` takes half of it."""
_SHOWN = 5
_SAME_TITLES = 2
# Chinese, Japanese and Korean are counted by their characters, as word processors do.
_WORD = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+")


@command("try", exit_codes={1: "there are no posts, or most of SOURCE... is not read"})
@source_options
@pass_tools
def try_(tools: Tools, sources: SourceArguments) -> None:
    """Show some posts from all over SOURCE... as they would be indexed; write nothing.

    It also counts posts that are left out, rejected or suspicious, and shows which parts of the
    pages' text are left out. It reads for at most 10 s, without Elasticsearch and Redis.

    \b
    blogsearch try content
    blogsearch try public --site https://blog.example.org
    blogsearch try public --quiet
    """
    output = tools.output
    opened = replace(sources, quiet=output.quiet or output.as_json).open(tools.settings)
    posts: list[Post] = []
    left_out: list[Mapping[str, int]] = []  # for each post
    rejects: list[Reject] = []
    warnings, problem = Counter[str](), None
    try:
        for item in opened.read_for(_SECONDS):
            if isinstance(item, Reject):
                rejects.append(item)
            elif isinstance(item, RawPost):
                post, refused = check_post(item)
                rejects += refused
                if post:
                    warnings.update(_warnings(post))
                    posts.append(post)
                    left_out.append(item.left_out)
    except SourceError as error:
        problem = error
    sample = list(zip(posts, left_out, strict=True))[:: -(-len(posts) // _SHOWN) or 1]
    output.result(
        {
            "posts": len(posts),
            "whole": opened.is_whole,
            "kinds": opened.kinds,
            "sample": [
                {**_unescape(to_builtins(post)), "left_out": parts} for post, parts in sample
            ],
            "warnings": warnings,
            "left_out": opened.skipped,
            "left_out_by_a_guess": opened.guessed,
            "rejected": Counter(reject.reason for reject in rejects),
        }
    )
    for post, parts in sample:
        output.say("\n".join(_lines(post, parts)) + "\n")
    of_them = "" if opened.is_whole else f" in the first {_SECONDS:g} s; there may be more"
    output.say(f"{quantity(len(posts), 'post')} ({', '.join(opened.kinds)}){of_them}.")
    for warning, count in warnings.most_common():
        output.say(f"{quantity(count, 'post')}: {warning}")
    tags = Counter(post.language for post in posts)
    language = tools.settings.language or most_frequent(tags)[1]
    if posts:
        output.say(f"language of the index: {language}")
    for text in in_other_languages(tags, language) or ():
        output.say(f"note: {text}")
    for title, count in Counter(post.title for post in posts).most_common(3):
        if count > _SAME_TITLES:
            output.say(f"{count:,} posts have the title {html.unescape(title)!r}")
    if of_all := sum(map(Counter[str], left_out), Counter()):
        share, _, what = _shares(of_all, sum(map(_characters, posts))).partition(": ")
        output.say(f"{share} of the pages' text was left out: {what}")
    first = {reject.reason: reject for reject in reversed(rejects)}
    for reason, count in Counter(reject.reason for reject in rejects).most_common(10):
        more = "" if count == 1 else " and others"
        output.say(f"{count:,} rejected: {reason} ({first[reason].origin}{more})")
    if not (output.as_json or output.quiet):
        opened.print_skipped()
    if problem:
        raise problem
    if not posts:
        remedy = "Check what was left out or rejected."
        raise SourceError(f"There is no post in {sources}.", remedy)


def _unescape(value: Any) -> Any:
    """Unescape the texts of a post, which are stored as HTML."""
    if isinstance(value, dict):
        return {name: _unescape(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_unescape, value))
    return html.unescape(value) if isinstance(value, str) else value


def _characters(post: Post) -> int:
    """Count the characters of a post's text and code, without white space."""
    return sum(map(len, f"{post.text} {post.code}".split()))


def _shares(left_out: Mapping[str, int], kept: int) -> str:
    """Return shares of a page's characters, such as `12%: navigation 8%, footer 4%`."""
    whole = sum(left_out.values()) + kept
    parts = (f"{name} {count / whole:.0%}" for name, count in Counter(left_out).most_common())
    return f"{1 - kept / whole:.0%}: {', '.join(parts)}"


def _lines(post: Post, left_out: Mapping[str, int]) -> Iterator[str]:
    text, code = html.unescape(post.text), html.unescape(post.code)
    yield click.style(html.unescape(post.title), bold=True)
    yield f"  oid       {post.oid}"
    yield f"  address   {post.url or '–'}"
    yield f"  date      {post.pub_date or '–'}, changed {post.modified or '–'}"
    yield f"  tags      {html.unescape(', '.join((*post.categories, *post.keywords))) or '–'}"
    if post.language:
        yield f"  language  {post.language}"
    yield f"  words     {len(_WORD.findall(text)):,}, code {len(_WORD.findall(code)):,}"
    yield f"  text      {' '.join(text.split())[:160]}"
    if left_out:
        yield f"  left out  {_shares(left_out, _characters(post))}"


def _warnings(post: Post) -> Iterator[str]:
    if not post.url:
        yield "no address"
    if post.url.startswith("/"):
        yield "the address is only a path; add your site's address with --site"
    if not post.pub_date:
        yield "no date"
    if not post.text and not post.code:
        yield "no text"


@command(exit_codes={1: "the file exists, or SOURCE has no posts"})
@click.argument("place", metavar="[SOURCE]", default=".")
@click.option("--force", is_flag=True, help=f"Overwrite {SITE_FILE}.")
@pass_tools
def init(tools: Tools, place: str, force: bool) -> None:
    """Write blogsearch.toml for SOURCE, or for the site in this folder.

    The HTML that a site generator has built is preferred to its Markdown. The address and the
    language come from the generator's configuration or from the built pages. The source is read for
    a few seconds; if it cannot be read, or has no posts, nothing is written.

    \b
    blogsearch init
    blogsearch init public
    blogsearch init https://blog.example.org
    """
    say = tools.output.note
    path = Path(SITE_FILE)
    if path.exists() and not force:
        raise click.ClickException(f"{SITE_FILE} exists; --force overwrites it.")
    site, content = _content_of(place)
    fetch = FetchOptions(allow_private=is_url(place) and tools.settings.fetch_allow_private)
    source = open_source(content, None, SourceOptions(fetch=fetch))
    sources = Sources([source], SourceOptions())
    items = list(sources.read_for(_SECONDS / 2))
    posts = [item for item in items if isinstance(item, RawPost)]
    if not posts:
        sources.print_skipped()
        remedy = f"`blogsearch try --verbose {shlex.quote(content)}` says why."
        raise SourceError("There is no post in it.", remedy)
    more = "" if sources.is_whole else "more than "
    is_built = site and site.built and source.kind == "html"
    what = f", built by {site.generator.name}" if site and is_built else ""
    say(f"{source.spec}: {more}{quantity(len(posts), 'post')} ({source.kind}){what}.")
    # Prefer the built pages: the configuration may be for other machines, too.
    addresses = [next(filter(None, map(_address_of, posts)), ""), site.address if site else ""]
    address = next(filter(None, addresses if is_built else reversed(addresses)), "")
    tags = tags_of(posts)
    tag, index_language = most_frequent(tags)
    language = tag or (site.language if site else "")
    say(f"address {address or 'unknown'}, language {language or 'unknown: English'}.")
    if site and not site.built and source.kind == "markdown":
        say(
            f"note: the {site.generator.name} site is not built, and only the built site has all "
            f"addresses. Run `{site.generator.command}`, then `blogsearch init --force`."
        )
    if not address and not is_url(place):
        say(f"note: the site's address is unknown. Add it to {SITE_FILE}.")
    for text in in_other_languages(tags, index_language) or ():
        say(f"note: {text}")
    try:
        path.write_text(_toml(source.spec, address, language), "utf-8")
    except UnicodeError as error:
        raise SourceError(f"{SITE_FILE} cannot be written: {error}.") from error
    say(f"{SITE_FILE} is written. Next: blogsearch try, then blogsearch reindex.")
    tools.output.result(
        {
            "file": SITE_FILE,
            "source": source.spec,
            "site": address,
            "language": language,
            "posts": len(posts),
        }
    )


def _content_of(place: str) -> tuple[Site | None, str]:
    """Return the site that a place belongs to, and the source to read: its built pages, if any.

    Raises:
        SourceError: there is no such place, or nothing in it is known.
    """
    if is_url(place):
        return None, place
    folder = Path(place).resolve()
    site = site_of(folder)
    is_site = (folder / "index.html").is_file() and not (site and site.folder == folder)
    if not site and not is_site and (built := find_built(folder)):
        return None, os.path.relpath(built)
    if detect.kind_of_path(place) != "markdown":
        return site or site_of(folder.parent), place
    if not site and len(inner := sites_in(folder)) == 1:
        site = inner[0]
    return site, os.path.relpath(site.built) if site and site.built else place


def _address_of(post: RawPost) -> str:
    """Derive the address of the front page from that of a post; "" if it cannot be derived."""
    url, path = str(post.url), f"/{quote(str(post.oid))}"
    if post.oid == "index":
        return url.rstrip("/") if is_url(url) and urlsplit(url).path == "/" else ""
    return url.partition(path)[0] if is_url(url) and path in url else ""


def _toml(source: str, address: str, language: str) -> str:
    # Strings of JSON are strings of TOML, except for surrogate pairs.
    source, address, language = (
        json.dumps(text, ensure_ascii=False) for text in (source, address, language)
    )
    return f"""# Every blogsearch command started in this folder reads this; see docs/sources.md.
sources = [{source}]
site = {address}
language = {language}
# exclude = ["drafts/*", ".promo"]   # files, and elements of pages
# [settings]                         # any setting of docs/settings.md; the environment wins
"""
