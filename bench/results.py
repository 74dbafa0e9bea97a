"""What is printed of a measurement: percentiles, tables, and the report of `make bench`."""

import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click
import psutil
from elasticsearch import Elasticsearch

from devstack.servers import REPOSITORY


@dataclass(frozen=True, slots=True)
class Goal:
    """One row of the summary: what was measured against what, and whether the goal is reached.

    `value` and `reach` are compared; `text` shows the value with its unit. `at_least` says whether
    the goal is a minimum. `note` has the absolute figures.
    """

    what: str
    against: str
    value: float
    reach: float
    unit: str = ""
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool:
        return self.value >= self.reach if self.at_least else self.value <= self.reach

    def cells(self) -> list[str]:
        sign = "≥" if self.at_least else "≤"
        return [
            self.what,
            self.against,
            f"{self.value:.2f}{self.unit}",
            f"{sign} {self.reach:g}{self.unit}",
            "yes" if self.met else "**no**",
            self.note,
        ]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a header; the first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)], *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


@dataclass(frozen=True, slots=True)
class Section:
    """One subject of the report.

    `method` is how it was measured, `figures` are the raw numbers for the JSON file.
    """

    title: str
    method: str
    goals: Sequence[Goal] = ()
    tables: Sequence[Table] = ()
    figures: Mapping[str, object] = field(default_factory=dict)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return percentile(values, 0.95)


def milliseconds(values: Sequence[float]) -> list[str]:
    """Median and 95th percentile as cells; `values` are milliseconds."""
    return [f"{statistics.median(values):.2f}", f"{p95(values):.2f}"]


def echo_row(cells: Sequence[str]) -> None:
    """Print a row of a table, as soon as it was measured."""
    click.echo(f"| {' | '.join(cells)} |")


def echo_header(columns: Sequence[str]) -> None:
    """Print the head of a table, whose rows follow."""
    click.echo(Table(columns, []).markdown())


def exit_with(missed: Sequence[str]) -> None:
    """Print the goals that were missed, and exit: with 1 if there are any."""
    click.echo("\nGoals missed: " + ("" if missed else "none"))
    for goal in missed:
        click.echo(f"- {goal}")
    sys.exit(bool(missed))


# -- the report of `make bench` ----------------------------------------------------------------


def machine(client: Elasticsearch) -> dict[str, str]:
    """What the figures depend on besides the code."""
    names = re.findall(r"^model name\s*: (.*)", _read("/proc/cpuinfo"), re.MULTILINE)
    heap = client.nodes.info(metric="jvm")["nodes"]
    heaps = sorted({node["jvm"]["mem"]["heap_max_in_bytes"] // 2**20 for node in heap.values()})
    packages = ("elasticsearch", "flask", "gevent", "gunicorn", "hiredis", "orjson", "redis")
    describe = ["git", "describe", "--always", "--dirty"]
    revision = subprocess.run(describe, cwd=REPOSITORY, capture_output=True, text=True)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "revision": revision.stdout.strip() or "unknown",
        "processor": f"{os.cpu_count()} cores, {names[0] if names else platform.processor()}",
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "Elasticsearch": f"{client.info()['version']['number']}, "
        + " and ".join(f"{node} MB of heap" for node in heaps),
        "packages": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages),
        "load at the start": load(),
    }


def load() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def write(folder: Path, facts: Mapping[str, str], sections: Sequence[Section]) -> Path:
    """Write `report.md` and `report.json`; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Benchmark", summary(facts, sections)]
    parts += [details(section, level=2) for section in sections]
    path = folder / "report.md"
    path.write_text("\n\n".join(parts) + "\n")
    whole = {
        "machine": dict(facts),
        "sections": [asdict(section) for section in sections],
        "goals": [asdict(goal) | {"met": goal.met} for goal in _goals(sections)],
    }
    (folder / "report.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False))
    return path


def publish(page: Path, facts: Mapping[str, str], sections: Sequence[Section]) -> None:
    """Put the tables into a page, between `<!-- run -->` and `<!-- /run -->`.

    Raises:
        LookupError: the page has no such marks.
    """
    parts = [summary(facts, sections), *(details(section, level=3) for section in sections)]
    page.write_text(put_between(page.read_text(), "run", "\n\n".join(parts)))


def put_between(page: str, name: str, text: str) -> str:
    """A page with this text between `<!-- name -->` and `<!-- /name -->`.

    Raises:
        LookupError: the page has no such marks.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, start_found, rest = page.partition(start)
    _, end_found, after = rest.partition(end)
    if not start_found or not end_found:
        raise LookupError(f"the page has no <!-- {name} --> … <!-- /{name} -->")
    return f"{before}{start}{text}\n{end}{after}"


def summary(facts: Mapping[str, str], sections: Sequence[Section]) -> str:
    """The machine, and every goal with what was measured."""
    header = ["what", "measured against, same run", "measured", "goal", "reached", "figures"]
    table = Table(header, [goal.cells() for goal in _goals(sections)])
    return "\n".join(f"- {name}: {value}" for name, value in facts.items()) + (
        "\n\n" + table.markdown()
    )


def details(section: Section, level: int) -> str:
    """The method and the tables of a section, under a heading of this level."""
    parts = [f"{'#' * level} {section.title}", section.method]
    return "\n\n".join([*parts, *(table.markdown() for table in section.tables)])


def _goals(sections: Sequence[Section]) -> list[Goal]:
    return [goal for section in sections for goal in section.goals]


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
