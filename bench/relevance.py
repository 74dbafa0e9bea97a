"""Measures how well searches find what was meant: judged queries and known items, over HTTP.

    make bench-relevance                    # the sample
    make bench-relevance DATA=FOLDER        # every corpus of a folder
    .venv/bin/python -m bench.relevance FOLDER --compare bm25 blended
    .venv/bin/python -m bench.relevance FOLDER --save before.json
    .venv/bin/python -m bench.relevance FOLDER --compare before.json blended

A folder has posts in `NAME.jsonl` and queries in any `NAME.….jsonl`, such as
`NAME.questions.jsonl`; also as `.gz`. Posts have oid, title, text, pub_date, categories and url.
Queries have q and kind, and also

- judged queries: grades ({oid: 2 for the title, 1 for the text});
- known items: the oid of the one post that must be found; texts of links, too, and skip: the oids
  of the posts with the link, which are left out of the ranking;
- any query: the visitor's language.

Each corpus is indexed under its own alias, and served without a cache. `--compare` takes
strategies, `bm25` and saved files.
"""

import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import requests

from app.engines.elastic import connect
from app.search.request import MAX_QUERY, MAX_SIZE
from bench.results import Table, p95, percentile
from bench.service import elasticsearch_url, get_search, indexed, lines, serving, settings_for
from devstack.servers import REPOSITORY

CUT = 10
NONSENSE = "nonsense"
STRATEGIES = ("blended", "fallback")
BM25 = "bm25"
_WARM_UP = 20

# -- queries and answers ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """One query: `grades` by oid (2 title, 1 text); `skip`, posts left out of the ranking;
    `language`, the visitor's."""

    q: str
    kind: str
    grades: Mapping[str, int]
    skip: frozenset[str] = frozenset()
    language: str = ""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "Judged":
        """Read a line of a file of judged queries or known items. A query that is too long for the
        service is cut."""
        grades = line["grades"] if "grades" in line else {line["oid"]: 1}
        skip = frozenset(line.get("skip") or ())
        language = line.get("language", "")
        return cls(line["q"][:MAX_QUERY], line["kind"], grades, skip, language)

    @property
    def size(self) -> int:
        """The number of posts to request."""
        return min(CUT + len(self.skip), MAX_SIZE)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: the oids in order, the number of posts found, and its time in seconds."""

    ranking: tuple[str, ...]
    count: int
    seconds: float

    @classmethod
    def of(cls, body: Mapping[str, Any], query: Judged, seconds: float) -> "Answered":
        """Read the body of an answer to the query."""
        ranking = dict.fromkeys(hit["oid"] for hit in body["hits"] if hit["oid"] not in query.skip)
        return cls(tuple(ranking)[:CUT], body["count"], seconds)


Pairs = list[tuple[Judged, Answered]]


def ask(url: str, queries: Sequence[Judged]) -> list[Answered]:
    """Send the queries to a service, one after the other, and return the answers."""
    answers = []
    with requests.Session() as session:
        for query in queries[:_WARM_UP]:
            get_search(session, url, query.q)
        for query in queries:
            started = time.perf_counter()
            body = get_search(session, url, query.q, query.size, query.language)
            answers.append(Answered.of(body, query, time.perf_counter() - started))
    return answers


def ask_bm25(alias: str, queries: Sequence[Judged]) -> list[Answered]:
    """Return the answers of plain BM25 on stemmed titles and texts."""
    answers = []
    with connect(settings_for(alias)) as client:
        for query in queries:
            started = time.perf_counter()
            response = client.search(
                index=alias,
                query={"multi_match": {"query": query.q, "fields": ["title", "text"]}},
                size=query.size,
                source_includes=["oid"],
            )
            seconds = time.perf_counter() - started
            hits = [hit["_source"] for hit in response["hits"]["hits"]]
            body = {"hits": hits, "count": response["hits"]["total"]["value"]}
            answers.append(Answered.of(body, query, seconds))
    return answers


# -- measures --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """The means over some queries: nDCG@10, success@1, MRR@10, the share without hits; times in
    milliseconds."""

    queries: int
    ndcg: float
    success: float
    mrr: float
    nothing: float
    p50: float
    p95: float


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return nDCG@10 with gain 2^grade - 1; if no post is relevant, 1 for no hits."""
    if not grades:
        return float(not ranking)
    best = sorted(grades.values(), reverse=True)
    return _dcg([grades.get(oid, 0) for oid in ranking]) / _dcg(best)


def _dcg(grades: Sequence[int]) -> float:
    gains = ((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:CUT]))
    return math.fsum(gains)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return 1 / the rank of the first relevant post among the first ten, 0 if there is none."""
    places = (place for place, oid in enumerate(ranking[:CUT], 1) if oid in grades)
    return 1 / next(places, math.inf)


def figures(pairs: Pairs) -> Figures:
    """Return the figures of some queries, each with the same weight."""

    def mean(measure: Callable[[Judged, Answered], float]) -> float:
        return statistics.fmean(measure(judged, answered) for judged, answered in pairs)

    times = [answered.seconds * 1000 for _, answered in pairs]
    return Figures(
        queries=len(pairs),
        ndcg=mean(lambda judged, answered: ndcg(answered.ranking, judged.grades)),
        success=mean(lambda judged, answered: _finds(judged, answered.ranking[:1])),
        mrr=mean(lambda judged, answered: reciprocal_rank(answered.ranking, judged.grades)),
        nothing=mean(lambda _, answered: not answered.count),
        p50=percentile(times, 0.5),
        p95=p95(times),
    )


def _finds(judged: Judged, oids: Sequence[str]) -> bool:
    return not judged.grades.keys().isdisjoint(oids)


def by_kind(pairs: Pairs) -> dict[str, Figures]:
    """Return the figures by kind, in the order of the file."""
    kinds: dict[str, Pairs] = defaultdict(list)
    for judged, answered in pairs:
        kinds[judged.kind].append((judged, answered))
    return {kind: figures(members) for kind, members in kinds.items()}


def macro(kinds: Mapping[str, Figures], everything: Figures) -> Figures:
    """Return the plain mean over kinds except `nonsense`; times are over all queries."""
    counted = [of_kind for kind, of_kind in kinds.items() if kind != NONSENSE] or [everything]
    means: dict[str, Any] = {
        name: statistics.fmean(getattr(of_kind, name) for of_kind in counted) for name in _MEASURES
    }
    return replace(everything, **means)


# -- the report ------------------------------------------------------------------------------------

_MEASURES = ("ndcg", "success", "mrr", "nothing")
_HEAD = [
    *("kind", "queries", "nDCG@10", "success@1", "MRR@10", "nothing", "p50 ms", "p95 ms"),
]


def table(pairs: Pairs) -> str:
    """Return the figures by kind and their mean as a Markdown table."""
    kinds = by_kind(pairs)
    named = [*kinds.items(), ("macro", macro(kinds, figures(pairs)))]
    return Table(_HEAD, [_row(name, of_kind) for name, of_kind in named]).markdown()


def _row(name: str, row: Figures) -> list[str]:
    return [
        *(name, str(row.queries)),
        *(f"{getattr(row, measure):.3f}" for measure in _MEASURES),
        *(f"{row.p50:.1f}", f"{row.p95:.1f}"),
    ]


def comparison(names: tuple[str, str], first: Pairs, second: Pairs, limit: int) -> str:
    """Report the gains and losses of the second in nDCG@10, by kind and by query."""
    kinds, other_kinds = by_kind(first), by_kind(second)
    gains = [
        (ndcg(late.ranking, judged.grades) - ndcg(early.ranking, judged.grades), judged)
        for (judged, early), (_, late) in zip(first, second, strict=True)
    ]
    won = sorted((gain for gain in gains if gain[0] > 0.005), key=lambda gain: -gain[0])
    lost = sorted((gain for gain in gains if gain[0] < -0.005), key=lambda gain: gain[0])
    report = [f"\n{names[0]} → {names[1]}, nDCG@10"]
    for kind, row in kinds.items():
        after = other_kinds[kind].ndcg
        report.append(f"{kind:<15}{row.ndcg:>8.3f} → {after:.3f} ({after - row.ndcg:+.3f})")
    for title, listed in (("won", won), ("lost", lost)):
        report.append(f"\n{len(listed)} queries {title}")
        report += [f"  {gain:+.3f}  {judged.kind:<15}{judged.q}" for gain, judged in listed[:limit]]
    return "\n".join(report)


# -- the command -----------------------------------------------------------------------------------


def corpora(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield each corpus of a folder that has queries, with its files of queries."""
    files = sorted(path for path in folder.iterdir() if ".jsonl" in path.suffixes)
    for corpus in files:
        name, _, kind = corpus.name.partition(".")
        if kind not in ("jsonl", "jsonl.gz"):
            continue
        queries = [path for path in files if path.name.startswith(f"{name}.") and path != corpus]
        if queries:
            yield corpus, queries


SAMPLE = (REPOSITORY / "sample" / "posts.jsonl", [REPOSITORY / "sample" / "queries.jsonl"])


@click.command()
@click.argument("folder", required=False, type=click.Path(True, file_okay=False, path_type=Path))
@click.option("--strategy", default="blended", show_default=True, help="Or bm25, a file.")
@click.option("--compare", nargs=2, help="Two of these.")
@click.option("--every", default=1, show_default=True, help="Use every n-th query only.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Save the answers.")
@click.option("--limit", default=30, show_default=True, help="Queries to list as won and as lost.")
def main(
    folder: Path | None,
    strategy: str,
    compare: tuple[str, str] | None,
    every: int,
    save: Path | None,
    limit: int,
) -> None:
    """Measure every corpus of FOLDER that has queries; without FOLDER, the sample."""
    names = compare or (strategy,)
    saved: dict[str, dict[str, Any]] = {}
    for corpus, files in list(corpora(folder)) if folder else [SAMPLE]:
        with ExitStack() as stack:
            alias = ""
            if {*STRATEGIES, BM25} & {*names}:
                elasticsearch_url()
                alias = stack.enter_context(indexed(corpus))
            for path in files:
                judged = [Judged.of(line) for line in lines(path)][::every]
                results = [_answers(name, path.name, judged, alias) for name in names]
                for name, pairs in zip(names, results, strict=True):
                    click.echo(f"\n{path.name}, {name}\n\n{table(pairs)}")
                if compare:
                    click.echo(comparison(compare, results[0], results[1], limit))
                saved[path.name] = {query.q: asdict(answered) for query, answered in results[-1]}
    if save:
        save.write_text(json.dumps(saved))


def _answers(name: str, file: str, judged: Sequence[Judged], alias: str) -> Pairs:
    if name in STRATEGIES:
        with serving(alias, name) as served:
            return list(zip(judged, ask(served.url, judged), strict=True))
    if name == BM25:
        return list(zip(judged, ask_bm25(alias, judged), strict=True))
    saved = json.loads(Path(name).read_text()).get(file, {})
    if missing := [query.q for query in judged if query.q not in saved]:
        raise click.ClickException(f"{name} has no answer to {missing[0]!r} of {file}.")
    answers = [saved[query.q] for query in judged]
    loaded = [Answered(**{**answer, "ranking": tuple(answer["ranking"])}) for answer in answers]
    return list(zip(judged, loaded, strict=True))


if __name__ == "__main__":
    main()
