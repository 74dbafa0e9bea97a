"""Looks for searches that cost much more than a usual one: at most five times is the promise.

    make hunt                             # in the sample posts
    make hunt DATA=FOLDER CASES=2000      # in the first corpus of a folder

Searches made by hand and at random, of several alphabets, lengths and parameters, are sent over
HTTP to a service without a cache. The most expensive ones are then repeated in turn with usual
ones, whose cost is nearest to the median of the judged queries. The cost is the CPU time of
Elasticsearch, without that of its compiler, and of the worker, so that other work of the machine
counts little. Exits with 1 if a search costs more than five usual ones.

It needs Linux, starts an Elasticsearch of its own, and takes about five minutes.
"""

import random
import statistics
import string
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import repeat
from pathlib import Path
from urllib.parse import quote, urlencode

import click
import psutil
import requests

from app.search.request import MAX_PAGE, MAX_QUERY, MAX_SIZE
from bench.service import index, lines, serving
from bench.turns import alternate
from bench.workload import corpus_of
from devstack.servers import elasticsearch_nodes

Cost = Callable[[str], float]
"""A path → milliseconds of CPU time."""

_ALIAS = "hunt"
_MOST = 5.0  # usual searches
_JUDGED, _USUAL = 100, 11  # judged queries that are measured, and those that are repeated
_WARM_UP, _ROUNDS = 4, 7
_CANDIDATES, _SHOWN = 16, 10
_COMPILERS = ("C1 Compiler", "C2 Compiler")

_ALPHABETS = (
    string.ascii_lowercase,
    "ab",
    string.digits,
    "가나다라마바사아자차카타파하",
    "日本語検索処理言語",
    "การค้นหาข้อความ",
    "абвгдежзик",
    "ابتثجحخ",
    "कखगघङचि",
    "éèêüöäß",
    "😀🎉🚀👍",
    string.ascii_lowercase + string.digits + ".-_/'+#",
)
_MISSPELLED = "pyhton djagno databsae javascirpt brwoser firefxo extensoin langauge compueter"
_COMMON = "the a of to in and is how not with code post"
_BY_HAND = (
    "inspectorFirefoxTools pythonDjangoFlask databaseQueryPlan camelCaseWords browserExtension "
    "javascriptModule canvasContext searchIndexFields sqliteUtils tableColumnNames webFontLoader",
    _MISSPELLED,
    "site.name.word firefox.inspector.network python.django.models.query javascript.canvas.draw "
    "browser.extension.manifest sqlite.utils.cli.insert",
    "python -django -flask -sqlite -browser -firefox -chrome -linux -windows -docker",
    '"how to" "a post" "in the" "python code" "web browser" "open source"',
    "the code of a post is not in the",
    "python web code data post page time work",
    "p",
    *(alphabet * MAX_QUERY for alphabet in _ALPHABETS),
)
"""Queries that were expensive, or that one would expect to be; cut to the longest query."""
_PARAMETERS = (
    "",
    "size=50&facets=on",
    "size=50&typing=on",
    "size=50&typos=off",
    "page=3&size=50",
    "debug-search",
    "sort=newest&size=50",
    "since=2010-01-01&category=a&category=b&facets=on",
    "prefer=de&size=50",
)


def random_paths(words: Sequence[str], number: int, chosen: random.Random) -> list[str]:
    """Paths of searches for random words with random parameters."""

    def word() -> str:
        alphabet = chosen.choice(_ALPHABETS)
        made = "".join(chosen.choices(alphabet, k=chosen.choice((1, 3, 8, 30, 200))))
        known = chosen.choice(words)
        camel = "".join(part.capitalize() for part in chosen.sample(words, 3))
        return chosen.choice(
            (
                known,
                known,
                made,
                camel,
                ".".join(chosen.sample(words, 3)),
                f'"{known}"',
                f"-{known}",
            )
        )

    paths = []
    for _ in range(number):
        q = " ".join(word() for _ in range(chosen.choice((1, 2, 4, 8, 16, 60))))
        paths.append(_path(q, chosen.choice(_PARAMETERS)))
    return [*paths, f"/suggest?q={quote('p')}", f"/search?q=a&page={MAX_PAGE}&size={MAX_SIZE}"]


def _path(q: str, parameters: str) -> str:
    return f"/search?{urlencode({'q': q[:MAX_QUERY].strip() or 'a'})}&{parameters}"


class CpuTime:
    """The CPU time that a search takes Elasticsearch and the service, in milliseconds."""

    def __init__(self, url: str, engine: psutil.Process, worker: psutil.Process) -> None:
        self._session = requests.Session()
        self._url = url
        self._tasks = Path(f"/proc/{engine.pid}/task")
        self._worker = worker

    def once(self, path: str) -> float:
        """The lesser of two runs, as other work of Elasticsearch is no search."""
        return min(self.mean(path, 1), self.mean(path, 1))

    def mean(self, path: str, runs: int = 3) -> float:
        """The mean of several runs."""
        before = self._seconds()
        for _ in range(runs):
            self._session.get(self._url + path, timeout=60)
        return (self._seconds() - before) * 1000 / runs

    def _seconds(self) -> float:
        nanoseconds = 0
        for task in self._tasks.iterdir():
            with suppress(OSError):  # it has ended
                if not (task / "comm").read_text().startswith(_COMPILERS):
                    nanoseconds += int((task / "schedstat").read_text().split()[0])
        own = self._worker.cpu_times()
        return nanoseconds / 1e9 + own.user + own.system


def measured(
    cost: CpuTime, judged: Sequence[str], paths: Sequence[str]
) -> tuple[float, dict[str, float]]:
    """The milliseconds of a usual search, and how many usual ones the most expensive paths cost:
    medians of rounds in which all take turns."""
    usual_paths = [_path(q, "") for q in judged]
    for _ in range(_WARM_UP):
        for path in usual_paths:
            cost.mean(path, 1)
    costs = {path: cost.once(path) for path in usual_paths}
    median = statistics.median(costs.values())
    usual = sorted(costs, key=lambda path: abs(costs[path] - median))[:_USUAL]
    tried = {path: cost.once(path) for path in dict.fromkeys(paths)}
    expensive = sorted(tried, key=lambda path: -tried[path])[:_CANDIDATES]
    turns: dict[str, Callable[[], float]] = {
        path: partial(cost.mean, path) for path in [*usual, *expensive]
    }
    of_rounds = alternate(repeat(turns, _ROUNDS), warm_up=0)
    usual_costs = [
        statistics.median(of_round)
        for of_round in zip(*(of_rounds[path] for path in usual), strict=True)
    ]
    ratios = {
        path: statistics.median(
            one / usual_one for one, usual_one in zip(of_rounds[path], usual_costs, strict=True)
        )
        for path in expensive
    }
    return statistics.median(usual_costs), ratios


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A folder of corpora.")
@click.option("--cases", default=500, show_default=True, help="How many searches to try.")
@click.option("--seed", type=int, help="That of a run before, to try the same searches.")
def main(data: Path | None, cases: int, seed: int | None) -> None:
    """Print the most expensive searches, in usual ones."""
    seed = random.randrange(1_000_000) if seed is None else seed
    chosen = random.Random(seed)
    posts, files = corpus_of(data)
    queries = list(dict.fromkeys(str(line["q"]) for path in files for line in lines(path)))
    judged = chosen.sample(queries, min(_JUDGED, len(queries)))
    words = [*_MISSPELLED.split(), *_COMMON.split(), *(q.split()[0] for q in judged)]
    paths = [_path(q, parameters) for q in _BY_HAND for parameters in _PARAMETERS]
    paths += random_paths(words, cases, chosen)
    with elasticsearch_nodes(1, heap="1g") as (node,):
        variables = {"ELASTICSEARCH_URL": node.url, "BLOGSEARCH_ELASTICSEARCH_TIMEOUT": "60"}
        index(posts, _ALIAS, variables=variables)
        # Counts would be cached, but nobody repeats an expensive search.
        cache = {"index.requests.cache.enable": False}
        requests.put(f"{node.url}/{_ALIAS}/_settings", json=cache, timeout=30).raise_for_status()
        # Its launcher is the parent of Elasticsearch itself.
        engine = psutil.Process(node.pid).children()[0]
        with serving(_ALIAS, variables=variables) as served:
            (worker,) = served.workers()
            usual_cost, ratios = measured(CpuTime(served.url, engine, worker), judged, paths)
    click.echo(f"a usual search: {usual_cost:.1f} ms; {len(paths)} searches tried, seed {seed}")
    most_first = sorted(ratios, key=lambda path: -ratios[path])
    for path in most_first[:_SHOWN]:
        ratio = ratios[path]
        click.echo(f"{ratio:6.1f} usual, {ratio * usual_cost:5.0f} ms  {path[:200]}")
    if ratios[most_first[0]] > _MOST:
        raise click.ClickException(f"A search costs more than {_MOST:.0f} usual ones.")


if __name__ == "__main__":
    main()
