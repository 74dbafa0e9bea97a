"""Looks for searches that cost Elasticsearch much more than a usual one.

    make hunt                             # in the sample posts
    make hunt DATA=FOLDER CASES=2000      # in the first corpus of a folder

hypothesis makes searches of several alphabets, of the words of the judged queries, of all lengths
and parameters, and is led to those that Elasticsearch takes long for. These are then repeated in
turn with usual ones, whose time is nearest to the median of the judged queries. The cost is the CPU
time of Elasticsearch's process, so that other work of the machine counts little; medians of all
rounds are compared. Exits with 1 if a search costs more than five usual ones.

It starts an Elasticsearch of its own, and takes five minutes at most unless the machine is busy.
"""

import random
import statistics
import string
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

import click
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

_ALIAS = "hunt"
_MOST = 5.0  # usual searches
_SECONDS = 120  # for the search for candidates, and for the rounds
_JUDGED = 100  # judged queries that are measured
_USUAL = 11  # of them, those that are repeated
_CANDIDATES, _SHOWN = 16, 10
_ROUNDS, _LEAST_ROUNDS = 7, 3
_REPEATED = 4  # the system counts CPU time in hundredths of a second
_COMMON = ["the", "a", "of", "to", "in", "and", "is", "how", "not", "with", "code", "post"]

_ALPHABETS = (
    string.ascii_lowercase,
    "ab",
    "가나다라마바사아자차카타파하",
    "日本語検索処理言語",
    "การค้นหาข้อความ",
    "абвгдежзик",
    "ابتثجحخ",
    "कखगघङचि",
    "éèêüöäß",
    string.ascii_lowercase + string.digits + ".-_/'+#",
)


def _words(judged: Sequence[str]) -> st.SearchStrategy[str]:
    texts = st.one_of(
        *(st.text(alphabet, min_size=1, max_size=MAX_QUERY) for alphabet in _ALPHABETS)
    )
    camel = st.lists(
        st.text(string.ascii_lowercase, min_size=1, max_size=5).map(str.capitalize), min_size=1
    ).map("".join)
    known = st.sampled_from([*_COMMON, *judged])
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
        typos=st.booleans(),
        sort=st.sampled_from(["relevance", "newest"]),
        facets=st.booleans(),
        typing=st.booleans(),
        since=st.none() | st.just(date(2010, 1, 1)),
    ).filter(_is_valid)


def _is_valid(request: SearchRequest) -> bool:
    try:
        SearchRequest.from_key(request.key())
    except BadRequest:
        return False
    return True


def took(search: Search, request: SearchRequest) -> float:
    """Milliseconds that Elasticsearch says that it took: the lesser of two runs, as a pause of the
    machine is no expensive search."""

    def once() -> float:
        return float(sum(sent["took_ms"] for sent in search(request).debug["requests"]))

    return min(once(), once())


def usual_searches(search: Search, queries: Sequence[str]) -> list[SearchRequest]:
    """The judged queries whose time is nearest to the median; the first round is to warm up."""
    requests = [SearchRequest(q) for q in queries]
    for request in requests:
        search(request)
    times = {request: took(search, request) for request in requests}
    median = statistics.median(times.values())
    return sorted(requests, key=lambda request: abs(times[request] - median))[:_USUAL]


def candidates(search: Search, judged: Sequence[str], cases: int) -> list[SearchRequest]:
    """The most expensive searches of so many cases, or of `_SECONDS`."""
    seen: dict[SearchRequest, float] = {}
    ends = time.monotonic() + _SECONDS

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
            seen[request] = took(search, request)
            target(seen[request])

    measure()
    click.echo(f"{len(seen)} searches were tried", err=True)
    return sorted(seen, key=lambda request: -seen[request])[:_CANDIDATES]


def cpu_times(
    search: Search, process: psutil.Process, requests: Sequence[SearchRequest]
) -> dict[SearchRequest, list[float]]:
    """The milliseconds of CPU time of Elasticsearch for each search, in each of the rounds."""

    def cpu_seconds() -> float:
        times = process.cpu_times()
        return times.user + times.system

    def cost(request: SearchRequest) -> float:
        before = cpu_seconds()
        for _ in range(_REPEATED):
            search(request)
        return (cpu_seconds() - before) * 1000 / _REPEATED

    def rounds() -> Iterator[dict[SearchRequest, Callable[[], float]]]:
        ends = time.monotonic() + _SECONDS
        for number in range(_ROUNDS):
            if number < _LEAST_ROUNDS or time.monotonic() < ends:
                yield {request: partial(cost, request) for request in requests}

    return alternate(rounds(), warm_up=0)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A folder of corpora.")
@click.option("--cases", default=1000, show_default=True, help="How many searches to try.")
def main(data: Path | None, cases: int) -> None:
    """Print the most expensive searches, in usual ones."""
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
        with searching(_ALIAS, **limits) as search:
            usual = usual_searches(search, judged)
            costs = cpu_times(search, process, [*usual, *candidates(search, judged, cases)])
    usual_cost = max(statistics.median(chain(*(costs.pop(request) for request in usual))), 1.0)
    medians = {request: statistics.median(times) for request, times in costs.items()}
    click.echo(f"a usual search: {usual_cost:.0f} ms")
    most_first = sorted(medians, key=lambda request: -medians[request])
    for request in most_first[:_SHOWN]:
        shown = dict(request.parameters()) | {"page": request.page, "size": request.size}
        ratio = medians[request] / usual_cost
        click.echo(f"{ratio:6.1f} usual, {medians[request]:5.0f} ms  {shown}")
    if medians[most_first[0]] > _MOST * usual_cost:
        raise click.ClickException(f"A search costs more than {_MOST:.0f} usual ones.")


if __name__ == "__main__":
    main()
