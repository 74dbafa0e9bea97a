"""Looks for searches that cost Elasticsearch much more than a usual one.

    make hunt                             # in the sample posts
    make hunt DATA=FOLDER CASES=2000      # in the first corpus of a folder

A usual search is the median of the judged queries of the corpus. hypothesis makes others of several
alphabets, lengths and parameters, and is led to expensive ones. The cost is Elasticsearch's own
time for all requests of a search, the least of three runs. Exits with 1 if a search costs more than
five usual ones.
"""

import statistics
import string
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import click
from elasticsearch import Elasticsearch
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

from app.elastic import connect
from app.errors import BadRequest, BlogsearchError
from app.search import search
from app.search.known import Known
from app.search.request import MAX_PAGE, MAX_QUERY, MAX_SIZE, SearchRequest
from app.settings import Settings
from bench.service import indexed, lines, settings_for
from bench.workload import corpus_of

_MOST = 5.0  # usual searches
_RUNS = 3
_USUAL = 100  # judged queries that are measured
_SHOWN = 10
_COMMON = ["the", "a", "of", "to", "in", "and", "is", "how", "not", "with", "code", "post"]

_ALPHABETS = (
    string.ascii_lowercase,
    "ab",
    "가나다라마바사아자차카타파하",
    "日本語検索処理言語",
    "абвгдежзик",
    "ابتثجحخ",
    "कखगघङचि",
    "éèêüöäß",
    string.ascii_lowercase + string.digits + ".-_/'+#",
)


def _words() -> st.SearchStrategy[str]:
    plain = st.one_of(
        *(st.text(alphabet, min_size=1, max_size=MAX_QUERY) for alphabet in _ALPHABETS)
    )
    camel = st.lists(
        st.text(string.ascii_lowercase, min_size=1, max_size=5).map(str.capitalize), min_size=1
    ).map("".join)
    word = plain | camel | st.sampled_from(_COMMON)
    return word | word.map(lambda text: f'"{text}"') | word.map(lambda text: f"-{text}")


def _requests() -> st.SearchStrategy[SearchRequest]:
    return st.builds(
        SearchRequest,
        q=st.lists(_words(), min_size=1, max_size=60)
        .map(lambda words: " ".join(words)[:MAX_QUERY].strip())
        .filter(bool),
        page=st.integers(1, MAX_PAGE),
        size=st.integers(1, MAX_SIZE),
        typos=st.booleans(),
        sort=st.sampled_from(["relevance", "newest"]),
        facets=st.booleans(),
        since=st.none() | st.just(date(2010, 1, 1)),
    ).filter(_is_valid)


def _is_valid(request: SearchRequest) -> bool:
    try:
        SearchRequest.from_key(request.key())
    except BadRequest:
        return False
    return True


class Meter:
    """Measures searches of one index."""

    def __init__(self, client: Elasticsearch, alias: str, chosen: Settings) -> None:
        self._client = client
        self._alias = alias
        self._settings = replace(chosen, elasticsearch_timeout=60.0)
        self._known = Known()

    def cost(self, request: SearchRequest, runs: int = 1) -> float:
        """Milliseconds that Elasticsearch works, the least of some runs."""
        return min(self._run(request) for _ in range(runs))

    def _run(self, request: SearchRequest) -> float:
        # Counts are cached by Elasticsearch, but nobody repeats an expensive search.
        self._client.indices.clear_cache(index=self._alias, request=True)
        try:
            answer = search(self._client, self._alias, request, self._settings, self._known)
        except BlogsearchError as error:
            raise click.ClickException(f"{request}: {error}") from error
        return float(sum(sent["took_ms"] for sent in answer.debug["requests"]))


def usual_cost(meter: Meter, queries: Sequence[str]) -> float:
    """The median of the judged queries; the first round is to warm up."""
    for q in queries:
        meter.cost(SearchRequest(q))
    return max(statistics.median(meter.cost(SearchRequest(q), _RUNS) for q in queries), 1.0)


def expensive(meter: Meter, cases: int) -> list[tuple[float, SearchRequest]]:
    """The most expensive searches that were found, with their milliseconds."""
    seen: dict[SearchRequest, float] = {}

    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(_requests())
    def measure(request: SearchRequest) -> None:
        seen[request] = meter.cost(request)
        target(seen[request])

    measure()
    worst = sorted(seen, key=lambda request: -seen[request])[: 2 * _SHOWN]
    again = [(meter.cost(request, _RUNS), request) for request in worst]
    return sorted(again, key=lambda pair: -pair[0])[:_SHOWN]


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="A folder of corpora.")
@click.option("--cases", default=1000, show_default=True, help="How many searches to try.")
@click.option("--alias", default="", help="Search this alias instead of indexing the corpus.")
def main(data: Path | None, cases: int, alias: str) -> None:
    """Print the most expensive searches, in usual ones."""
    posts, files = corpus_of(data)
    queries = list(dict.fromkeys(str(line["q"]) for path in files for line in lines(path)))[:_USUAL]
    if alias:
        _hunt(alias, queries, cases)
    else:
        with indexed(posts) as made:
            _hunt(made, queries, cases)


def _hunt(alias: str, queries: Sequence[str], cases: int) -> None:
    chosen = settings_for(alias)
    with connect(chosen, 60.0) as client:
        meter = Meter(client, alias, chosen)
        usual = usual_cost(meter, queries)
        click.echo(f"a usual search: {usual:.0f} ms")
        worst = expensive(meter, cases)
    for milliseconds, request in worst:
        click.echo(f"{milliseconds / usual:6.1f} usual, {milliseconds:5.0f} ms  {_shown(request)}")
    if worst[0][0] > _MOST * usual:
        raise click.ClickException(f"A search costs more than {_MOST:.0f} usual ones.")


def _shown(request: SearchRequest) -> dict[str, Any]:
    return dict(request.parameters()) | {"page": request.page, "size": request.size}


if __name__ == "__main__":
    main()
