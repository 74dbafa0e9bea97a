"""Builds a site with each generator, reads it, and prints what is right as a table.

python -m bench.sites --work build/sites --only Hugo,Pelican
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click

from bench.results import echo_header, echo_row
from bench.sites.builder import build_site
from bench.sites.corpus import Post, corpus
from bench.sites.generators import BUILDS, SITE, Build
from indexer.dates import moment
from indexer.html_text import Readable, readable
from indexer.normalise import address_of
from indexer.records import RawPost
from indexer.sources import SourceOptions, open_source


@dataclass
class Score:
    """What was read of one site, and what the front matter says.

    `right` counts the posts (`found`) and the drafts that were read, and of the posts those with
    the right titles, addresses, dates and tags.
    """

    posts: int
    right: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    extra: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def measure(folder: Path, posts: list[Post], build: Build) -> Score:
    """Compare what is read of a built site with the posts.

    A post is told by the path of its page; the address is what is said of that.
    """
    score = Score(posts=sum(not post.is_draft for post in posts))
    by_path = {address_of(build.address(post)).strip("/"): post for post in posts}
    drafts = {post.slug: post for post in posts if post.is_draft}
    for item in open_source(str(folder), None, SourceOptions()).read():
        if not isinstance(item, RawPost):
            continue
        oid = str(item.oid)
        post = by_path.get(oid) or drafts.get(oid.rpartition("/")[2])
        if post is None:
            if (oid or "index") not in build.pages:
                score.extra.append(oid)
            continue
        if post.is_draft:
            score.right["drafts"] += 1
            continue
        score.right["found"] += 1
        _compare_words(score, post.html, item.text, oid)
        checks = {
            "titles": _folded(item.title) == _folded(post.title),
            "addresses": item.url in (build.address(post), SITE + build.address(post)),
            "dates": not build.has_dates or _day(item.pub_date) == post.day.isoformat(),
            "tags": not build.has_tags or _labels(item) >= {tag.lower() for tag in post.tags},
        }
        for name, is_right in checks.items():
            score.right[name] += is_right
            if not is_right:
                got = {"titles": item.title, "addresses": item.url, "dates": item.pub_date}
                score.wrong.append(f"{name} {oid}: {got.get(name, _labels(item))}")
        del by_path[oid]
    score.wrong += [f"missing {path}" for path, post in by_path.items() if not post.is_draft]
    return score


def _compare_words(score: Score, html: str, text: str | Readable, oid: str) -> None:
    """Count the words of the post, those of them that are read, and all that are read."""
    true, read = (Counter(_words(value)) for value in (html, text))
    both = (true & read).total()
    score.words.update(true=true.total(), read=read.total(), both=both)
    if more := read - true:
        score.wrong.append(f"words {oid}: {' '.join(list(more)[:12])}")


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


_COLUMNS = [
    *("generator", "found / true", "more than true", "drafts", "titles", "addresses"),
    *("dates", "tags", "words kept", "words its own"),
]


@click.command()
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/sites"))
@click.option("--only", default="", help="Some generators: Hugo,Pelican.")
@click.option("--verbose", is_flag=True, help="Print what is wrong.")
def main(work: Path, only: str, verbose: bool) -> None:
    """Build sites, and print what is read of them."""
    posts = corpus()
    echo_header(_COLUMNS)
    for name, build in BUILDS.items():
        if not any(word in name for word in only.split(",")):
            continue
        try:
            folder = build_site(name, build, posts, work)
        except RuntimeError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        score = measure(folder, posts, build)
        echo_row([name, *_cells(build, score)])
        for line in [f"extra {oid}" for oid in score.extra] + score.wrong if verbose else ():
            click.echo(f"  {line}")


def _cells(build: Build, score: Score) -> list[str]:
    right = score.right
    kept, own = (score.words["both"] / max(1, score.words[key]) for key in ("true", "read"))
    return [
        f"{right['found']} / {score.posts}",
        str(len(score.extra)),
        *(str(right[name]) for name in ("drafts", "titles", "addresses")),
        str(right["dates"]) if build.has_dates else "–",
        str(right["tags"]) if build.has_tags else "–",
        *(f"{kept:.3f}", f"{own:.3f}"),
    ]


if __name__ == "__main__":
    main()
