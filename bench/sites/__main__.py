"""Builds a site with each generator, reads it, and prints what is right as a table.

python -m bench.sites --work build/sites --only hugo,pelican
"""

import re
from collections import Counter
from pathlib import Path

import click

from bench.results import echo_header, echo_row
from bench.sites.corpus import Post, corpus
from bench.sites.generators import BUILDS, Build, build_site
from indexer.dates import moment
from indexer.html_text import Readable, readable
from indexer.records import RawPost
from indexer.sources import SourceOptions, open_source

_SITE = "https://blog.example.org"
_PAGES = ("index", "about", "docs/intro")
"""The oids of pages that are not posts, such as a page about the author."""
_COLUMNS = [
    *("generator", "found / true", "more than true", "titles", "addresses"),
    *("dates", "tags", "words kept", "words its own"),
]


def measure(folder: Path, posts: list[Post], build: Build) -> tuple[Counter[str], list[str]]:
    """What is right of what is read of a built site, counted, and what is wrong, in words.

    A post is told by the path of its page.
    """
    public = [post for post in posts if not post.is_draft]
    right, wrong = Counter({"true": len(public)}), []
    missing = {re.sub(r"\.html$|/$", "", build.url.format(slug=p.slug))[1:]: p for p in public}
    for item in open_source(str(folder), None, SourceOptions()).read():
        if not isinstance(item, RawPost):
            continue
        oid = str(item.oid)
        if (post := missing.pop(oid, None)) is None:
            if oid not in _PAGES:
                right["more"] += 1
                wrong.append(f"more than true: {oid}")
            continue
        true, read = Counter(_words(post.html)), Counter(_words(item.text))
        right.update(found=1, words=true.total(), read=read.total(), both=(true & read).total())
        path, day = build.url.format(slug=post.slug), post.day.isoformat()
        checks = {
            "titles": _folded(item.title) == _folded(post.title),
            "addresses": item.url in (path, _SITE + path),
            "dates": not build.has_fields or _day(item.pub_date) == day,
            "tags": not build.has_fields or _labels(item) >= set(post.tags),
        }
        right.update({name: int(is_right) for name, is_right in checks.items()})
        wrong += [f"{name} {oid}: {item}"[:300] for name, is_so in checks.items() if not is_so]
        if more := read - true:
            wrong.append(f"words {oid}: {' '.join(list(more)[:12])}")
    return right, [*wrong, *(f"missing {path}" for path in missing)]


def _words(source: str | Readable) -> list[str]:
    text = source if isinstance(source, Readable) else readable(source)
    return re.findall(r"\w+", _folded(f"{text.prose} {text.code}").lower())


def _day(when: object) -> str:
    day = moment(when)  # type: ignore[arg-type]
    return day.date().isoformat() if day else ""


def _folded(title: object) -> str:
    """A title without the quotes and dashes that generators replace."""
    return re.sub(r"[’‘]", "'", str(title)).replace("–", "--")


def _labels(post: RawPost) -> set[str]:
    return {str(label).lower() for label in [*post.keywords, *post.categories]}


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/sites"))
@click.option("--only", default="", help="Some generators: hugo,pelican.")
@click.option("--verbose", is_flag=True, help="Print what is wrong.")
def main(work: Path, only: str, verbose: bool) -> None:
    """Build sites, and print what is read of them."""
    posts = corpus()
    echo_header(_COLUMNS)
    for name, build in BUILDS.items():
        if only and name not in only.split(","):
            continue
        try:
            folder = build_site(name, posts, work)
        except RuntimeError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        right, wrong = measure(folder, posts, build)
        counts = [str(right[column]) for column in ("more", "titles", "addresses", "dates", "tags")]
        kept, own = (right["both"] / max(1, right[key]) for key in ("words", "read"))
        found = f"{right['found']} / {right['true']}"
        echo_row([name, found, *counts, f"{kept:.3f}", f"{own:.3f}"])
        for line in wrong if verbose else ():
            click.echo(f"  {line}")


if __name__ == "__main__":
    main()
