"""`make bench`: measures the speed of everything and writes a report.

    make bench                          # 15 to 19 minutes on 2 cores; generated posts
    make bench QUICK=1                  # a few minutes, for trying it
    make bench FULL=1                   # the sizes of the goals: 100,000 and 500,000 posts
    make bench DATA=FOLDER              # posts and queries of a folder, as for bench.relevance
    make bench ONLY=cached,memory       # some sections
    make bench MEILISEARCH=/path/to/meilisearch
    make bench PUBLISH=1                # put the tables into docs/performance.md as well

The engines are those of ELASTICSEARCH_URL and REDIS_URL, else devstack starts them. The report is
build/bench/report.md, with report.json beside it.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from bench.browser import measure_browser
from bench.cached import measure_cached
from bench.indexing import measure_reindex, measure_sync
from bench.other_engines import measure_other_engines
from bench.processes import measure_commands, measure_memory, measure_start_up
from bench.results import Section, load, machine, publish, write
from bench.run import FULL, NORMAL, QUICK, Run
from bench.uncached import (
    measure_clients,
    measure_mix,
    measure_sizes,
    measure_typeahead,
    measure_uncached,
)
from devstack.instance import open_instance
from devstack.servers import REPOSITORY
from devstack.stack import Stack

SECTIONS: dict[str, Callable[[Run], Section | None]] = {
    "cached": measure_cached,
    "uncached": measure_uncached,
    "clients": measure_clients,
    "mix": measure_mix,
    "typeahead": measure_typeahead,
    "startup": measure_start_up,
    "commands": measure_commands,
    "memory": measure_memory,
    "posts": measure_sizes,
    "sync": measure_sync,
    "reindex": measure_reindex,
    "browser": measure_browser,
    "engines": measure_other_engines,
}


def say(text: str) -> None:
    """Progress, on stderr."""
    click.echo(text, err=True)


def measure(run: Run, names: list[str], page: Path | None) -> tuple[Path, list[str]]:
    """Measure sections and write the report after each, into `page` too if there is one; the path
    of the report, and what failed."""
    facts = machine(run.client)
    sections: list[Section] = []
    failed: list[str] = []
    began = time.monotonic()
    path = write(run.folder, facts, sections)
    for nth, name in enumerate(names, 1):
        started = time.monotonic()
        say(f"[{nth}/{len(names)}] {name} …")
        try:
            section = SECTIONS[name](run)
        except Exception as error:  # noqa: BLE001 -- the other sections are still of use
            say(f"  failed: {type(error).__name__}: {error}")
            failed.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if section is None:
            say("  left out: CHROMIUM is not set")
            continue
        sections.append(section)
        for goal in section.goals:
            sign = "reached" if goal.met else "NOT reached"
            say(f"  {goal.what}: {goal.value:.2f}{goal.unit} of {goal.against} ({sign})")
        say(f"  {time.monotonic() - started:.0f} s")
        facts |= {
            "load at the end": load(),
            "time": f"{(time.monotonic() - began) / 60:.1f} minutes",
            "failed sections": "; ".join(failed) or "none",
        }
        path = write(run.folder, facts, sections)
        if page:
            publish(page, facts, sections)
    return path, failed


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--quick", is_flag=True, help="Little of everything, for trying it.")
@click.option("--full", is_flag=True, help="The sizes of the goals: about 35 minutes.")
@click.option("--only", default="", help=f"Some sections: {', '.join(SECTIONS)}.")
@click.option("--meilisearch", default="", help="The path of a Meilisearch binary.")
@click.option("--publish", "into_docs", is_flag=True, help="Into docs/performance.md as well.")
@click.option("--out", default=REPOSITORY / "build" / "bench", type=click.Path(path_type=Path))
def main(
    data: Path | None,
    quick: bool,
    full: bool,
    only: str,
    meilisearch: str,
    into_docs: bool,
    out: Path,
) -> None:
    """Measure the speed of the service on this machine, and write a report."""
    names = [name.strip() for name in only.split(",") if name.strip()] or list(SECTIONS)
    if unknown := set(names) - set(SECTIONS):
        raise click.UsageError(f"There is no section {', '.join(unknown)}: {', '.join(SECTIONS)}.")
    page = REPOSITORY / "docs" / "performance.md" if into_docs else None
    # Engines whose URLs are set are used as they are.
    with Stack(open_instance(os.environ), os.environ).using(keep=False) as urls:
        os.environ.update(urls)
        run = Run(QUICK if quick else FULL if full else NORMAL, data, meilisearch, out)
        try:
            path, failed = measure(run, names, page)
        finally:
            run.close()
    click.echo(path.read_text())
    say(f"the report: {path}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
