"""How many machines a number of posts and searches needs: a calculation, not a measurement.

    .venv/bin/python -m bench.capacity
    .venv/bin/python -m bench.capacity --posts 1e6 --searches 200 --hit-ratio 0.5

The time of a search in Elasticsearch is taken to grow linearly with the posts of a shard, and the
work to be the sum over all shards. Every number is an option; docs/growing.md gives its source.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The numbers of the calculation; each one is an option of the command."""

    posts: float = 100e6
    searches: float = 10_000.0  # per second, at the peak
    hit_ratio: float = 0.8  # share of the searches that the cache answers
    bytes_per_post: float = 4_900.0  # in the index
    engine_ms: float = 6.0  # CPU time of Elasticsearch per search and shard, without any posts
    engine_ms_per_100k: float = 15.0  # the same, added by each 100,000 posts
    app_ms: float = 1.7  # CPU time of Python per search that is not cached
    cached_ms: float = 0.2  # and per cached one
    answer_bytes: float = 6_000.0  # a cached answer in Redis
    cached_answers: float = 1e6
    latency_ms: float = 100.0  # what the slowest shard may take
    shard_gb: float = 30.0  # the largest shard
    replicas: float = 1.0  # of each shard
    cores: float = 16.0  # of each machine
    disk_gb: float = 1_000.0  # of each machine of Elasticsearch
    utilization: float = 0.6  # share of the cores that may be busy at the peak


@dataclass(frozen=True, slots=True)
class Capacity:
    """What is needed, in cores, machines and gigabytes (10^9 bytes)."""

    index_gb: float
    shards: int
    engine_cores: float
    engine_hosts: int
    app_cores: float
    app_hosts: int
    redis_gb: float


def capacity(given: Assumptions) -> Capacity:
    """What the assumptions need.

    Raises:
        ValueError: a shard without posts already takes longer than allowed.
    """
    if given.latency_ms <= given.engine_ms:
        raise ValueError(f"latency_ms must be above engine_ms, {given.engine_ms:g}")
    index_gb = given.posts * given.bytes_per_post / 1e9
    posts_per_shard = (given.latency_ms - given.engine_ms) / given.engine_ms_per_100k * 100_000
    shards = math.ceil(max(given.posts / posts_per_shard, index_gb / given.shard_gb, 1))
    uncached = given.searches * (1 - given.hit_ratio)
    per_search = given.engine_ms * shards + given.engine_ms_per_100k * given.posts / 100_000
    engine_cores = uncached * per_search / 1000 / given.utilization
    app_ms = uncached * given.app_ms + given.searches * given.hit_ratio * given.cached_ms
    app_cores = app_ms / 1000 / given.utilization
    stored_gb = index_gb * (1 + given.replicas)
    hosts = math.ceil(max(engine_cores / given.cores, stored_gb / given.disk_gb))
    return Capacity(
        index_gb=index_gb,
        shards=shards,
        engine_cores=engine_cores,
        engine_hosts=max(hosts, 1 + int(given.replicas)),
        app_cores=app_cores,
        app_hosts=math.ceil(app_cores / given.cores),
        redis_gb=given.cached_answers * given.answer_bytes / 1e9,
    )


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for field in reversed(fields(Assumptions)):
        name = f"--{field.name.replace('_', '-')}"
        command = click.option(name, type=float, default=field.default, show_default=True)(command)
    return command


@click.command()
@_options
def main(**numbers: Any) -> None:
    """Calculate the machines for a number of posts and searches."""
    try:
        found = capacity(Assumptions(**numbers))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    engine, app = math.ceil(found.engine_cores), math.ceil(found.app_cores)
    click.echo(f"index               {found.index_gb:,.0f} GB in {found.shards} shards")
    click.echo(f"Elasticsearch       {engine:,} cores, {found.engine_hosts} machines")
    click.echo(f"the service         {app:,} cores, {found.app_hosts} machines")
    click.echo(f"Redis               {found.redis_gb:,.1f} GB")


if __name__ == "__main__":
    main()
