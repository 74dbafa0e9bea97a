"""Start-up, the command line, and memory of a worker."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import product
from urllib.parse import quote

import psutil
import requests

from bench.load_generator import highest_rate
from bench.results import Goal, Section, Table, milliseconds
from bench.service import serving
from bench.workload import Query
from devstack.servers import REPOSITORY, redis_server


def measure_start_up(alias: str, redis_url: str, rounds: int) -> Section:
    """From starting gunicorn to the first answer of a search."""
    times = []
    for _ in range(rounds + 1):
        started = time.monotonic()
        with serving(
            alias, workers=2, redis_url=redis_url, ready="/search?q=start&size=1", interval=0.005
        ):
            times.append((time.monotonic() - started) * 1000)
    times = times[1:]  # the first one reads the files from the disk
    value = statistics.median(times) / 1000
    return Section(
        "Start-up",
        "From starting gunicorn with 2 workers to the first answer of a search, the engines "
        "running. The first round is dropped.",
        [Goal("start-up to the first answer", "–", value, 1.5, " s")],
        [Table(["", "median ms", "p95 ms"], [["start-up", *milliseconds(times)]])],
        figures={"start-up": times},
    )


def measure_commands(alias: str, rounds: int) -> Section:
    """`blogsearch --help` and `search` against importing the client of Elasticsearch."""
    cli = [sys.executable, "-c", "from app.cli import run; run()"]
    commands = {
        "import elasticsearch": [sys.executable, "-c", "import elasticsearch"],
        "blogsearch --help": [*cli, "--help"],
        "blogsearch search": [*cli, "search", "python"],
    }
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    for nth in range(rounds + 1):
        for name, command in commands.items():
            started, before = time.monotonic(), os.times()
            subprocess.run(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "BLOGSEARCH_INDEX": alias, "PYTHONDONTWRITEBYTECODE": ""},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            ended, after = time.monotonic(), os.times()
            if nth:
                wall[name].append((ended - started) * 1000)
                spent = after.children_user + after.children_system
                spent -= before.children_user + before.children_system
                cpu[name].append(spent * 1000)
    medians = {name: statistics.median(times) for name, times in wall.items()}
    ratio = medians["blogsearch search"] / medians["import elasticsearch"]
    rows = [
        [name, *milliseconds(wall[name]), f"{statistics.median(cpu[name]):.0f}"]
        for name in commands
    ]
    return Section(
        "The command line",
        f"{rounds} rounds in turn; the first is dropped. `search` sends its search to "
        "Elasticsearch.",
        [
            Goal("`blogsearch --help`", "–", medians["blogsearch --help"] / 1000, 0.5, " s"),
            Goal("`blogsearch search`", "`import elasticsearch`", ratio, 1.3, " times"),
        ],
        [Table(["", "median ms", "p95 ms", "CPU time, median ms"], rows)],
        figures={"wall": wall, "cpu": cpu},
    )


def measure_memory(alias: str, queries: Sequence[Query], searches: int) -> Section:
    """Resident memory of a worker after 1,000 and after `searches` searches."""
    # 1,000 different searches: each is computed once, and served from the cache after that.
    asked = [query.q for query in queries][:200]
    paths = [f"/search?q={quote(q)}&size={size}" for size, q in product(range(1, 51), asked)]
    paths = paths[:1_000]
    with (
        redis_server() as store,
        serving(alias, workers=1, redis_url=store.url) as served,
        requests.Session() as session,
    ):
        (worker,) = psutil.Process(served.process.pid).children()
        for path in paths:
            session.get(served.url + path, timeout=30).raise_for_status()
        points = [(len(paths), worker.memory_info().rss / 2**20)]
        done = float(len(paths))
        for limit in (searches // 2, searches):
            while done < limit:
                done += highest_rate(served.url, paths, 5.0) * 5.0
            points.append((int(done), worker.memory_info().rss / 2**20))
    (first, before), *_, (last, after) = points
    return Section(
        "Memory of a worker",
        f"Resident memory of one worker while it answers {len(paths):,} different searches again "
        "and again: computed first, cached after that.",
        [
            Goal(
                f"memory of a worker after {last:,} searches",
                f"after {first:,}",
                after / before,
                1.05,
                " times",
                note=f"{after:.0f} and {before:.0f} MB",
            )
        ],
        [Table(["searches", "MB"], [[f"{count:,}", f"{size:.1f}"] for count, size in points])],
        figures={"points": points},
    )
