"""Searches for queries that cost much more than a usual one; the promise is five times at most.

    make hunt                             # in the sample posts
    make hunt DATA=FOLDER CASES=2000      # in the first corpus of a folder

Sends handmade and random searches in several alphabets, lengths and parameters over HTTP to a
service without a cache, for JSON and for pages. Repeats the most expensive ones in turn with usual
ones, whose cost is nearest to the median of the judged queries: cold, after the caches of
Elasticsearch were cleared, and warm. Those that seem to cost more than four usual ones are measured
again, four times as often. At the end ten posts of 1 MB are written that have all words of a long
query with many hits. The cost is the CPU time of Elasticsearch, without its compiler, and of the
worker, so that other work of the machine matters little. Exits with 1 if a search costs more than
five usual ones. Needs Linux, starts its own Elasticsearch, and takes about five minutes.
"""

import random
import statistics
import string
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import repeat
from pathlib import Path
from urllib.parse import urlencode

import click
import psutil
import requests

from app.search.request import MAX_PAGE, MAX_QUERY, MAX_SIZE
from bench.results import exit_with
from bench.service import TOKEN, index, lines, serving
from bench.turns import alternate
from bench.workload import corpus_of
from devstack.servers import elasticsearch_nodes

_ALIAS = "hunt"
_MOST, _NEAR = 5.0, 4.0  # usual searches
_JUDGED, _USUAL = 100, 9  # judged queries that are measured, and those that are repeated
_WARM_UP, _ROUNDS, _MORE_ROUNDS = 3, 5, 20
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
    "éèêüöäß",
    "😀🎉🚀👍",
    string.ascii_lowercase + string.digits + ".-_/'+#",
)
_MISSPELLED = "pyhton djagno databsae javascirpt brwoser firefxo extensoin langauge compueter"
_WORDS = f"{_MISSPELLED} the a of to in and is how not with code post".split()
_IN_BIG_POSTS = "python web code data post page time work"
_BY_HAND = (
    "inspectorFirefoxTools pythonDjangoFlask databaseQueryPlan camelCaseWords browserExtension",
    _MISSPELLED,
    "site.name.word firefox.inspector.network python.django.models.query javascript.canvas.draw",
    "python -django -flask -sqlite -browser -firefox -chrome -linux -windows -docker",
    '"how to" "a post" "in the" "python code" "web browser" "open source"',
    _IN_BIG_POSTS,
    "p",
    *(alphabet * MAX_QUERY for alphabet in _ALPHABETS),
)
"""Queries that were or might be expensive; cut to the maximum length of a query."""
_WHERE = (
    "/search?",
    "/search?size=50&facets=on",
    "/search?size=50&typing=on",
    "/search?page=3&size=50",
    "/search?debug-search",
    "/search?since=2010-01-01&category=a&category=b&facets=on",
    "/?",
    "/?debug-search",
    "/?debug-search=requests",
)
_BIG_POSTS, _BIG = 10, 950_000  # posts, and letters in each


def random_paths(words: Sequence[str], number: int, chosen: random.Random) -> list[str]:
    """Return the paths of searches for random words with random parameters."""

    def word() -> str:
        alphabet = chosen.choice(_ALPHABETS)
        made = "".join(chosen.choices(alphabet, k=chosen.choice((1, 3, 8, 30, 200))))
        known = chosen.choice(words)
        camel = "".join(part.capitalize() for part in chosen.sample(words, 3))
        dotted = ".".join(chosen.sample(words, 3))
        return chosen.choice((known, known, made, camel, dotted, f'"{known}"', f"-{known}"))

    paths = []
    for _ in range(number):
        q = " ".join(word() for _ in range(chosen.choice((1, 2, 4, 8, 16, 60))))
        paths.append(_path(q, chosen.choice(_WHERE)))
    return [*paths, "/suggest?q=p", f"/search?q=a&page={MAX_PAGE}&size={MAX_SIZE}"]


def _path(q: str, where: str = "/search?") -> str:
    return f"{where}&{urlencode({'q': q[:MAX_QUERY].strip() or 'a'})}"


class CpuTime:
    """Measures the CPU time of searches, in milliseconds and in usual searches.

    Args:
        judged: the queries whose median defines a usual search.
    """

    def __init__(
        self, url: str, engine_url: str, processes: Sequence[psutil.Process], judged: Sequence[str]
    ) -> None:
        self._session = requests.Session()
        self._url, self._clear = url, f"{engine_url}/{_ALIAS}/_cache/clear"
        self._processes = processes
        paths = [_path(q) for q in judged]
        for path in paths * _WARM_UP:
            self.once(path)
        costs = {path: min(self.once(path), self.once(path)) for path in paths}
        self.usual = statistics.median(costs.values())
        self._usual = sorted(costs, key=lambda path: abs(costs[path] - self.usual))[:_USUAL]

    def once(self, path: str) -> float:
        before = self._seconds()
        self._session.get(self._url + path, timeout=120)
        return (self._seconds() - before) * 1000

    def ratios(self, paths: Sequence[str], rounds: int) -> dict[str, tuple[float, float]]:
        """Return how many usual searches each path costs, cold and warm: medians of rounds in which
        all take turns."""
        turns: dict[str, Callable[[], tuple[float, float]]] = {
            path: partial(self._cold_and_warm, path) for path in [*self._usual, *paths]
        }
        measured = alternate(repeat(turns, rounds), warm_up=0)

        def ratio(path: str, which: int) -> float:
            return statistics.median(
                measured[path][nth][which]
                / statistics.median(measured[usual][nth][which] for usual in self._usual)
                for nth in range(rounds)
            )

        return {path: (ratio(path, 0), ratio(path, 1)) for path in paths}

    def _cold_and_warm(self, path: str) -> tuple[float, float]:
        self._session.post(self._clear, timeout=60)
        return self.once(path), min(self.once(path), self.once(path))

    def _seconds(self) -> float:
        nanoseconds = 0
        for process in self._processes:
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                with suppress(OSError):  # the task has ended
                    if not (task / "comm").read_text().startswith(_COMPILERS):
                        nanoseconds += int((task / "schedstat").read_text().split()[0])
        return nanoseconds / 1e9


def _write_big_posts(url: str, words: Sequence[str], chosen: random.Random) -> None:
    """Write posts that repeat all words of `_IN_BIG_POSTS`."""
    for number in range(_BIG_POSTS):
        text = ""
        while len(text) < _BIG:
            text += " ".join(chosen.choices([*_IN_BIG_POSTS.split(), *words], k=5_000)) + ". "
        requests.put(
            f"{url}/documents/big-{number}",
            json={"title": f"Big {number}", "text": f"<p>{text[:_BIG]}</p>"},
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=120,
        ).raise_for_status()


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A folder of corpora.")
@click.option("--cases", default=500, show_default=True, help="How many random searches to try.")
@click.option("--seed", type=int, help="That of a run before, to try the same searches.")
def main(data: Path | None, cases: int, seed: int | None) -> None:
    """Print the most expensive searches, in usual ones."""
    seed = random.randrange(1_000_000) if seed is None else seed
    chosen = random.Random(seed)
    posts, files = corpus_of(data)
    queries = list(dict.fromkeys(str(line["q"]) for path in files for line in lines(path)))
    judged = chosen.sample(queries, min(_JUDGED, len(queries)))
    words = [*_WORDS, *(q.split()[0] for q in judged)]
    paths = [_path(q, where) for q in _BY_HAND for where in _WHERE]
    paths += random_paths(words, cases, chosen)
    with elasticsearch_nodes(1, heap="1g") as (node,):
        variables = {
            "ELASTICSEARCH_URL": node.url,
            "BLOGSEARCH_ELASTICSEARCH_TIMEOUT": "60",
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
        }
        index(posts, _ALIAS, variables=variables)
        # Otherwise counts would be cached, but an expensive search is usually not repeated.
        cache = {"index.requests.cache.enable": False}
        requests.put(f"{node.url}/{_ALIAS}/_settings", json=cache, timeout=30).raise_for_status()
        # The node's process is a launcher, and the parent of Elasticsearch itself.
        engine = psutil.Process(node.pid).children()[0]
        with serving(_ALIAS, variables=variables) as served:
            cost = CpuTime(served.url, node.url, [engine, *served.workers()], judged)
            tried = {path: cost.once(path) for path in dict.fromkeys(paths)}
            dearest = sorted(tried, key=lambda path: -tried[path])[:_CANDIDATES]
            ratios = cost.ratios(dearest, _ROUNDS)
            near = [path for path, ratio in ratios.items() if max(ratio) > _NEAR]
            ratios |= cost.ratios(near, _MORE_ROUNDS)
            shown = sorted(ratios, key=lambda path: -max(ratios[path]))[:_SHOWN]
            _write_big_posts(served.url, words, chosen)
            in_big_posts = _path(_IN_BIG_POSTS, "/search?size=40")
            ratios |= cost.ratios([in_big_posts], _ROUNDS)
    click.echo(f"a usual search: {cost.usual:.1f} ms; {len(tried)} tried, seed {seed}")
    click.echo("usual searches, cold / warm; the last one in ten posts of 1 MB:")
    for path in [*shown, in_big_posts]:
        click.echo(f"{ratios[path][0]:6.1f} / {ratios[path][1]:.1f}  {path[:200]}")
    dear = [path for path, ratio in ratios.items() if max(ratio) > _MOST]
    exit_with([f"more than {_MOST:.0f} usual searches: {path}" for path in dear])


if __name__ == "__main__":
    main()
