"""Measures how many of the posts that link to each other `/similar` and `more_like_this` find.

    .venv/bin/python -m bench.similar SOURCE…           # as `blogsearch reindex` takes them

Half of the posts (by CRC of the oid) lose their links before they are indexed. For both ends of
each lost link, the other end must be among the first five. Posts that are linked by the remaining
links are left out of the ranking; posts that link to more than 20 count as lists, not as posts.
"""

import statistics
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson
from elasticsearch import Elasticsearch

from app.engines.elastic import connect
from app.search.similar import SimilarRequest, similar
from app.search.view import open_session
from bench.results import echo_header, echo_row
from bench.service import indexed, settings_for
from indexer.runs.export import export

FIRST = 5
_MOST_LINKS = 20

Post = dict[str, Any]
Others = Mapping[str, set[str]]
Rank = Callable[[Post, int], Sequence[str]]
"""A function that returns the oids of so many posts similar to one, in order."""


def loses_links(post: Post) -> bool:
    return bool(zlib.crc32(post["oid"].encode()) % 2)


def pairs(posts: Sequence[Post]) -> tuple[Others, Others]:
    """Return, by oid, the posts that must be found, and those linked by the remaining links."""
    at = {post["address"]: post["oid"] for post in posts if post.get("address")}
    lost: defaultdict[str, set[str]] = defaultdict(set)
    left: defaultdict[str, set[str]] = defaultdict(set)
    for post in posts:
        oid = post["oid"]
        addresses = (link.split("\n")[1] for link in post.get("links", ()))
        targets = {at[address] for address in addresses if address in at} - {oid}
        kind = lost if loses_links(post) else left
        for target in targets if len(targets) <= _MOST_LINKS else ():
            kind[oid].add(target)
            kind[target].add(oid)
    return {oid: others - left[oid] for oid, others in lost.items() if others - left[oid]}, left


def ranking_of(client: Elasticsearch, alias: str, *, bare: bool) -> Rank:
    """Return the ranking of `/similar`, or, with `bare`, of `more_like_this` by default."""
    session = open_session(client, alias)

    def rank(post: Post, size: int) -> Sequence[str]:
        if bare:
            query = {"more_like_this": {"like": [{"_id": post["oid"]}]}}
            response = client.search(index=alias, query=query, size=size, source=False)
            return [hit["_id"] for hit in response["hits"]["hits"]]
        request = SimilarRequest(url=post["url"], size=size)
        return [one["oid"] for one in similar(session, request)["posts"]]

    return rank


def share_found(rank: Rank, posts: Sequence[Post]) -> tuple[int, float]:
    """Return the number of measured posts, and the mean share of wanted posts in the first five."""
    wanted, left = pairs(posts)
    shares = []
    for post in posts:
        others, known = wanted.get(post["oid"], set()), left.get(post["oid"], set())
        if others:
            ranking = rank(post, FIRST + len(known))
            first = [oid for oid in ranking if oid not in known][:FIRST]
            shares.append(len(others & set(first)) / min(FIRST, len(others)))
    if not shares:
        raise click.ClickException("No post links to another one, so that nothing can be measured.")
    return len(shares), statistics.fmean(shares)


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(True, path_type=Path))
def main(sources: Sequence[Path]) -> None:
    """Measure the blogs in SOURCES."""
    echo_header([f"share in the first {FIRST}", "posts", "of them linked", "/similar", "m_l_t"])
    for source in sources:
        with tempfile.TemporaryDirectory() as folder, connect(settings_for("")) as client:
            with indexed(source) as alias:
                posts = [orjson.loads(line) for line in export(client, alias)]
            half = Path(folder) / "posts.jsonl"
            with half.open("wb") as written:
                for post in posts:
                    kept = {**post, "links": []} if loses_links(post) else post
                    written.write(orjson.dumps(kept) + b"\n")
            with indexed(half) as alias:
                rankings = [ranking_of(client, alias, bare=bare) for bare in (False, True)]
                shares = [share_found(rank, posts) for rank in rankings]
        number, cells = shares[0][0], [f"{share:.3f}" for _, share in shares]
        echo_row([source.name, f"{len(posts):,}", f"{number:,}", *cells])


if __name__ == "__main__":
    main()
