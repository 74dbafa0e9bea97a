"""How many of the posts that link to each other `/similar` finds, and `more_like_this` does.

    .venv/bin/python -m bench.similar POSTS.jsonl…      # fields as for `blogsearch reindex`

Half of the posts (by CRC of the oid) lose their links before they are indexed. Of both ends of a
link that was lost, the other one must be among the first five. Other posts that are linked by what
is left are taken out of the ranking, and posts with more than 20 links are lists, not posts.
"""

import html
import json
import re
import statistics
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from elasticsearch import Elasticsearch

from app.elastic import connect
from app.search.session import Known
from app.search.similar import SimilarRequest, similar
from bench.results import Table
from bench.service import indexed, lines, settings_for
from indexer.normalise import address_of

FIRST = 5
_MOST_LINKS = 20
_LINK = re.compile(r'(?is)<a\s[^>]*?href="([^"]+)"[^>]*>')
_TAGS_OF_LINKS = re.compile(r"(?is)</?a\b[^>]*>")

Rank = Callable[[Mapping[str, Any], int], Sequence[str]]
"""The oids of so many posts like one, in their order."""


def loses_links(oid: str) -> bool:
    return bool(zlib.crc32(oid.encode()) % 2)


def pairs(posts: Sequence[Mapping[str, Any]]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By oid: the posts that must be found, and those that are linked by what is left."""
    at = {_path(post["url"]): post["oid"] for post in posts}
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    left: defaultdict[str, set[str]] = defaultdict(set)
    for post in posts:
        oid = post["oid"]
        paths = map(_path, map(html.unescape, _LINK.findall(post["text"])))
        targets = {at[path] for path in paths if path in at} - {oid}
        if len(targets) <= _MOST_LINKS:
            kind = wanted if loses_links(oid) else left
            for target in targets:
                kind[oid].add(target)
                kind[target].add(oid)
    return {oid: others - left[oid] for oid, others in wanted.items() if others - left[oid]}, left


def _path(url: str) -> str:
    return address_of(url.partition("#")[0].partition("?")[0]).partition("/")[2].lower()


def share_found(
    rank: Rank, posts: Mapping[str, Mapping[str, Any]], every: int
) -> tuple[int, float, float]:
    """Of how many posts: the mean share of the posts wanted, and how often one of them is found."""
    wanted, left = pairs(list(posts.values()))
    if not wanted:
        raise click.ClickException("No post links to another one, so that nothing can be measured.")
    shares, any_found = [], []
    for oid in sorted(wanted)[::every]:
        ranking = rank(posts[oid], FIRST + len(left[oid]))
        first = [other for other in ranking if other not in left[oid]][:FIRST]
        shares.append(len(wanted[oid] & set(first)) / min(FIRST, len(wanted[oid])))
        any_found.append(bool(wanted[oid] & set(first)))
    return len(shares), statistics.fmean(shares), statistics.fmean(any_found)


def rankings(client: Elasticsearch, alias: str) -> dict[str, Rank]:
    """What is compared, by name."""
    settings, known = settings_for(alias), Known()

    def ours(post: Mapping[str, Any], size: int) -> list[str]:
        request = SimilarRequest(url=post["url"], size=size)
        body, _ = similar(client, alias, request, settings, known)
        return [one["oid"] for one in body["posts"]]

    def theirs(post: Mapping[str, Any], size: int) -> list[str]:
        query = {"more_like_this": {"like": [{"_id": post["oid"]}]}}
        response = client.search(index=alias, query=query, size=size, source=False)
        return [hit["_id"] for hit in response["hits"]["hits"]]

    return {"/similar": ours, "more_like_this": theirs}


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(True, path_type=Path))
@click.option("--every", default=1, show_default=True, help="Ask for every n-th post only.")
def main(files: Sequence[Path], every: int) -> None:
    """Measure the blogs in FILES."""
    rows: list[list[str]] = []
    for file in files:
        posts = {post["oid"]: post for post in lines(file)}
        with tempfile.TemporaryDirectory() as folder:
            half = Path(folder) / "posts.jsonl"
            with half.open("w") as written:
                for oid, post in posts.items():
                    text = post["text"]
                    text = _TAGS_OF_LINKS.sub("", text) if loses_links(oid) else text
                    written.write(json.dumps({**post, "text": text}) + "\n")
            with indexed(half) as alias, connect(settings_for(alias), timeout=60) as client:
                for name, rank in rankings(client, alias).items():
                    number, share, any_of = share_found(rank, posts, every)
                    rows.append([file.name, str(number), name, f"{share:.3f}", f"{any_of:.3f}"])
    header = ["blog", "posts", "ranking", f"share in the first {FIRST}", "any of them"]
    click.echo(Table(header, rows).markdown())


if __name__ == "__main__":
    main()
