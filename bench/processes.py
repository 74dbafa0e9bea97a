"""Start-up, the command line, and memory of a worker."""

import os
import statistics
import subprocess
import sys
import time
from functools import partial
from itertools import product, repeat
from urllib.parse import quote

import psutil

from bench.load_generator import highest_rate
from bench.results import Goal, Section, Table, milliseconds
from bench.run import Run
from bench.service import getting, serving
from bench.turns import alternate
from devstack.servers import REPOSITORY, redis_server


def measure_start_up(run: Run) -> Section:
    """From starting gunicorn to the first answer of a search."""

    def start() -> float:
        started = time.monotonic()
        with serving(
            run.alias,
            workers=2,
            redis_url=os.environ.get("REDIS_URL", ""),
            ready="/search?q=start&size=1",
            interval=0.005,
        ):
            return (time.monotonic() - started) * 1000

    # The first one reads the files from the disk.
    times = alternate(repeat({"start-up": start}, run.sizes.rounds + 1))["start-up"]
    value = statistics.median(times) / 1000
    return Section(
        "Start-up",
        "From starting gunicorn with 2 workers to the first answer of a search, the engines "
        "running. The first round is dropped.",
        [Goal("start-up to the first answer", "–", value, 1.5, " s")],
        [Table(["", "median ms", "p95 ms"], [["start-up", *milliseconds(times)]])],
        figures={"start-up": times},
    )


def measure_commands(run: Run) -> Section:
    """`blogsearch --help` and `search` against importing the client of Elasticsearch."""
    cli = [sys.executable, "-c", "from app.cli import run; run()"]
    commands = {
        "import elasticsearch": [sys.executable, "-c", "import elasticsearch"],
        "blogsearch --help": [*cli, "--help"],
        "blogsearch search": [*cli, "search", "python"],
    }
    environment = {
        **os.environ,
        "BLOGSEARCH_INDEX": run.alias,
        "PYTHONDONTWRITEBYTECODE": "",
    }

    def spend(command: list[str]) -> tuple[float, float]:
        """Milliseconds of time and of CPU time."""
        started, before = time.monotonic(), os.times()
        subprocess.run(
            command, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.DEVNULL
        )
        ended, after = time.monotonic(), os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        return (ended - started) * 1000, cpu * 1000

    rounds = 2 * run.sizes.rounds
    turns = {name: partial(spend, command) for name, command in commands.items()}
    spent = alternate(repeat(turns, rounds + 1))
    wall = {name: [pair[0] for pair in pairs] for name, pairs in spent.items()}
    cpu = {name: [pair[1] for pair in pairs] for name, pairs in spent.items()}
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


def measure_memory(run: Run) -> Section:
    """Resident memory of a worker after 1,000 searches, and after many more."""
    # 1,000 different searches: each is computed once, and served from the cache after that.
    asked = [query.q for query in run.queries][:200]
    paths = [f"/search?q={quote(q)}&size={size}" for size, q in product(range(1, 51), asked)]
    paths = paths[:1_000]
    with (
        redis_server() as store,
        serving(run.alias, workers=1, redis_url=store.url) as served,
        getting(served.url) as get,
    ):
        (worker,) = psutil.Process(served.process.pid).children()
        for path in paths:
            get(path)
        points = [(len(paths), worker.memory_info().rss / 2**20)]
        done = float(len(paths))
        for limit in (run.sizes.searches // 2, run.sizes.searches):
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
