"""Looks for searches that cost Elasticsearch much more than a usual one.

    make hunt                             # in the sample posts
    make hunt DATA=FOLDER CASES=2000      # in the first corpus of a folder

hypothesis makes searches of several alphabets, of the words of the judged queries, of all lengths
and parameters, and is led to those that Elasticsearch takes long for. These, and some made by hand,
are then repeated in turn with usual ones, whose cost is nearest to the median of the judged
queries. The cost is the CPU time of Elasticsearch without that of its compiler, so that other work
of the machine counts little. Each round is compared with the usual ones of the same round, and the
median of all rounds counts. Exits with 1 if a search costs more than five usual ones.

It needs Linux, starts an Elasticsearch of its own, and takes five minutes at most unless the
machine is busy.
"""

import random
import statistics
import string
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path

import click
import hypothesis
import psutil
from elasticsearch import Elasticsearch
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

from app.errors import BadRequest
from app.search import Answer
from app.search.request import MAX_PAGE, MAX_QUERY, MAX_SIZE, SearchRequest
from bench.service import index, lines, searching
from bench.turns import alternate
from bench.workload import corpus_of
from devstack.servers import elasticsearch_nodes

Search = Callable[[SearchRequest], Answer]
Cost = Callable[[SearchRequest], float]

_ALIAS = "hunt"
_MOST = 5.0  # usual searches
_SECONDS = 120  # for the search for candidates, and for the rounds
_JUDGED = 100  # judged queries that are measured
_WARM_UP = 4  # rounds of them, after which Elasticsearch is compiled
_USUAL = 11  # of them, those that are repeated
_CANDIDATES, _SHOWN = 16, 10
_ROUNDS, _LEAST_ROUNDS = 9, 5
_REPEATED = 3
_COMMON = ["the", "a", "of", "to", "in", "and", "is", "how", "not", "with", "code", "post"]
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
_CAMEL_CASE = (
    "inspectorFirefoxTools pythonDjangoFlask databaseQueryPlan camelCaseWords browserExtension "
    "javascriptModule canvasContext searchIndexFields sqliteUtils tableColumnNames webFontLoader"
)
_CHAINS = (
    "site.name.word firefox.inspector.network python.django.models.query javascript.canvas.draw "
    "browser.extension.manifest sqlite.utils.cli.insert"
)
_EXCLUDED = "python -django -flask -sqlite -browser -firefox -chrome -linux -windows -docker"
_BY_HAND = (
    _CAMEL_CASE,
    _MISSPELLED,
    _CHAINS,
    _EXCLUDED,
    '"how to" "a post" "in the" "python code" "web browser" "open source"',
    "the code of a post is not in the",
    "python web code data post page time work",
    "p",
    *(alphabet * MAX_QUERY for alphabet in _ALPHABETS[:10]),
)
"""Queries that were expensive, or that one would expect to be; they are cut to the longest query,
and measured with every parameter that costs something."""


def _words(judged: Sequence[str]) -> st.SearchStrategy[str]:
    texts = st.one_of(
        *(st.text(alphabet, min_size=1, max_size=MAX_QUERY) for alphabet in _ALPHABETS)
    )
    camel = st.lists(
        st.text(string.ascii_lowercase, min_size=1, max_size=5).map(str.capitalize), min_size=1
    ).map("".join)
    known = st.sampled_from([*_COMMON, *_MISSPELLED.split(), *judged])
    path = st.lists(known, min_size=2, max_size=6).map(".".join)
    word = texts | camel | known | path
    return word | word.map(lambda text: f'"{text}"') | word.map(lambda text: f"-{text}")


def _requests(judged: Sequence[str]) -> st.SearchStrategy[SearchRequest]:
    return st.builds(
        SearchRequest,
        q=st.lists(_words(judged) | st.sampled_from(judged), min_size=1, max_size=60)
        .map(lambda words: " ".join(words)[:MAX_QUERY].strip())
        .filter(bool),
        page=st.integers(1, MAX_PAGE),
        size=st.integers(1, MAX_SIZE),
        debug=st.booleans(),
        typos=st.booleans(),
        sort=st.sampled_from(["relevance", "newest"]),
        categories=st.sampled_from([(), ("a", "b", "c")]),
        facets=st.booleans(),
        typing=st.booleans(),
        since=st.none() | st.just(date(2010, 1, 1)),
        prefer=st.sampled_from(["", "en", "de"]),
    ).filter(_is_valid)


def _is_valid(request: SearchRequest) -> bool:
    try:
        SearchRequest.from_key(request.key())
    except BadRequest:
        return False
    return True


def by_hand() -> list[SearchRequest]:
    """The queries by hand, each with the largest page that is allowed."""
    requests = []
    for q in (q[:MAX_QUERY].strip() for q in _BY_HAND):
        largest = next(
            size for size in range(MAX_SIZE, 0, -1) if _is_valid(SearchRequest(q, size=size))
        )
        for changed in ({}, {"typing": True}, {"typos": False}, {"page": 3}):
            requests.append(SearchRequest(q, size=largest, facets=True, **changed))
    return requests


class CpuTime:
    """The CPU time that a search takes Elasticsearch.

    Args:
        process: that of Elasticsearch.
    """

    def __init__(self, search: Search, process: psutil.Process) -> None:
        self._search = search
        self._tasks = Path(f"/proc/{process.pid}/task")

    def once(self, request: SearchRequest) -> float:
        """Milliseconds: the lesser of two runs, as other work of Elasticsearch is no search."""
        return min(self.mean(request, 1), self.mean(request, 1))

    def mean(self, request: SearchRequest, runs: int = _REPEATED) -> float:
        """The mean of several runs, in milliseconds."""
        before = self._seconds()
        for _ in range(runs):
            self._search(request)
        return (self._seconds() - before) * 1000 / runs

    def _seconds(self) -> float:
        """That of all threads but the compiler's, which /proc has in nanoseconds."""
        nanoseconds = 0
        for task in self._tasks.iterdir():
            with suppress(OSError):  # it has ended
                if not (task / "comm").read_text().startswith(_COMPILERS):
                    nanoseconds += int((task / "schedstat").read_text().split()[0])
        return nanoseconds / 1e9


def usual_searches(cost: Cost, queries: Sequence[str]) -> list[SearchRequest]:
    """The judged queries whose cost is nearest to the median."""
    costs = {request: cost(request) for request in map(SearchRequest, queries)}
    median = statistics.median(costs.values())
    return sorted(costs, key=lambda request: abs(costs[request] - median))[:_USUAL]


def candidates(cost: Cost, judged: Sequence[str], cases: int, seed: int) -> list[SearchRequest]:
    """The most expensive searches of so many cases, or of `_SECONDS`, and of those by hand; of each
    query the one with the most expensive parameters."""
    costs = {request: cost(request) for request in by_hand()}
    ends = time.monotonic() + _SECONDS

    @hypothesis.seed(seed)
    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(_requests(judged))
    def measure(request: SearchRequest) -> None:
        if time.monotonic() < ends:
            costs[request] = cost(request)
            target(costs[request])

    measure()
    click.echo(f"{len(costs)} searches were tried, seed {seed}", err=True)
    most_last = sorted(costs, key=lambda request: costs[request])
    of_queries = {request.q: request for request in most_last}
    return sorted(of_queries.values(), key=lambda request: -costs[request])[:_CANDIDATES]


def cost_ratios(
    cost: Cost, usual: Sequence[SearchRequest], expensive: Sequence[SearchRequest]
) -> tuple[float, dict[SearchRequest, float]]:
    """The milliseconds that a usual search costs, and how many usual ones each of the others:
    medians of the rounds."""

    def rounds() -> Iterator[dict[SearchRequest, Callable[[], float]]]:
        ends = time.monotonic() + _SECONDS
        for number in range(_ROUNDS):
            if number < _LEAST_ROUNDS or time.monotonic() < ends:
                yield {request: partial(cost, request) for request in [*usual, *expensive]}

    costs = alternate(rounds(), warm_up=0)
    usual_costs = [
        statistics.median(of_round)
        for of_round in zip(*(costs[request] for request in usual), strict=True)
    ]
    ratios = {
        request: statistics.median(
            one / usual_one for one, usual_one in zip(costs[request], usual_costs, strict=True)
        )
        for request in expensive
    }
    return statistics.median(usual_costs), ratios


def measured(
    search: Search, process: psutil.Process, queries: Sequence[str], cases: int, seed: int
) -> tuple[float, dict[SearchRequest, float]]:
    """What `cost_ratios` returns, of the most expensive searches that were made."""
    time_of = CpuTime(search, process)
    for _ in range(_WARM_UP):
        for q in queries:
            search(SearchRequest(q))
    usual = usual_searches(time_of.once, queries)
    expensive = candidates(time_of.once, queries, cases, seed)
    return cost_ratios(time_of.mean, usual, expensive)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A folder of corpora.")
@click.option("--cases", default=1000, show_default=True, help="How many searches to try.")
@click.option("--seed", type=int, help="That of a run before, to try the same searches first.")
def main(data: Path | None, cases: int, seed: int | None) -> None:
    """Print the most expensive searches, in usual ones."""
    seed = random.randrange(1_000_000) if seed is None else seed
    posts, files = corpus_of(data)
    queries = list(dict.fromkeys(str(line["q"]) for path in files for line in lines(path)))
    judged = random.Random(14).sample(queries, min(_JUDGED, len(queries)))
    with elasticsearch_nodes(1, heap="1g") as (node,):
        index(posts, _ALIAS, variables={"ELASTICSEARCH_URL": node.url})
        with Elasticsearch(node.url) as client:
            # Counts would be cached, but nobody repeats an expensive search.
            cache = {"index.requests.cache.enable": False}
            client.indices.put_settings(index=_ALIAS, settings=cache)
        # Its launcher is the parent of Elasticsearch itself.
        process = psutil.Process(node.pid).children()[0]
        limits = {"elasticsearch_url": node.url, "elasticsearch_timeout": 60.0}
        with searching(_ALIAS, new_words=True, **limits) as search:
            usual_cost, ratios = measured(search, process, judged, cases, seed)
    click.echo(f"a usual search: {usual_cost:.1f} ms")
    most_first = sorted(ratios, key=lambda request: -ratios[request])
    for request in most_first[:_SHOWN]:
        shown = dict(request.parameters()) | {"page": request.page, "size": request.size}
        shown |= {"debug-search": "on"} if request.debug else {}
        ratio = ratios[request]
        click.echo(f"{ratio:6.1f} usual, {ratio * usual_cost:5.0f} ms  {shown}")
    if ratios[most_first[0]] > _MOST:
        raise click.ClickException(f"A search costs more than {_MOST:.0f} usual ones.")


if __name__ == "__main__":
    main()
