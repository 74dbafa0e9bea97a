"""How good a ranking is: nDCG@10, success@1 and MRR, per kind of query and over all. Pure."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

CUT = 10
NONSENSE = "nonsense"


@dataclass(frozen=True, slots=True)
class Judged:
    """One judged query: `grades` by oid (2 title, 1 text), `related` are other inflections."""

    q: str
    kind: str
    grades: Mapping[str, int]
    related: frozenset[str]

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "Judged":
        """From a line of the queries' file."""
        related = frozenset(line.get("related") or ())
        return cls(line["q"], line["kind"], line["grades"], related)

    @property
    def with_related(self) -> Mapping[str, int]:
        """The grades with related posts as grade 1."""
        return {**dict.fromkeys(self.related, 1), **self.grades}


@dataclass(frozen=True, slots=True)
class Answered:
    """What the service said: oids in order, posts found, seconds, requests to Elasticsearch."""

    ranking: tuple[str, ...]
    count: int
    seconds: float
    requests: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of some queries; all but `queries`, the times (ms) and `requests` are 0 to 1."""

    queries: int
    strict: float
    inflected: float
    success: float
    mrr: float
    nothing: float
    p50: float
    p95: float
    requests: float


def ndcg(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """nDCG@10 with gain 2^grade - 1; where nothing is relevant, 1 for finding nothing."""
    if not grades:
        return float(not ranking)
    best = sorted(grades.values(), reverse=True)
    return _dcg([grades.get(oid, 0) for oid in ranking]) / _dcg(best)


def _dcg(grades: Sequence[int]) -> float:
    gains = ((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:CUT]))
    return math.fsum(gains)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """1 over the place of the first relevant post, 0 where there is none."""
    places = (place for place, oid in enumerate(ranking, 1) if oid in grades)
    return 1 / next(places, math.inf)


def figures(pairs: Sequence[tuple[Judged, Answered]]) -> Figures:
    """The measures of some queries, all counted alike."""

    def mean(values: Iterable[float]) -> float:
        return statistics.fmean(values)

    times = sorted(answered.seconds * 1000 for _, answered in pairs)
    return Figures(
        queries=len(pairs),
        strict=mean(ndcg(found.ranking, judged.grades) for judged, found in pairs),
        inflected=mean(ndcg(found.ranking, judged.with_related) for judged, found in pairs),
        success=mean(
            float(found.ranking[:1] != () and found.ranking[0] in judged.grades)
            for judged, found in pairs
        ),
        mrr=mean(reciprocal_rank(found.ranking, judged.grades) for judged, found in pairs),
        nothing=mean(float(not found.count) for _, found in pairs),
        p50=times[len(times) // 2],
        p95=times[min(len(times) - 1, int(len(times) * 0.95))],
        requests=mean(found.requests for _, found in pairs),
    )


def by_kind(pairs: Sequence[tuple[Judged, Answered]]) -> dict[str, Figures]:
    """The measures per kind, in the order in which the kinds first come."""
    kinds: dict[str, list[tuple[Judged, Answered]]] = defaultdict(list)
    for judged, answered in pairs:
        kinds[judged.kind].append((judged, answered))
    return {kind: figures(members) for kind, members in kinds.items()}


def macro(kinds: Mapping[str, Figures], everything: Figures) -> Figures:
    """The plain mean over kinds without `nonsense`; times and requests are of all queries."""
    counted = [found for kind, found in kinds.items() if kind != NONSENSE] or [everything]

    def mean(name: str) -> float:
        return statistics.fmean(getattr(found, name) for found in counted)

    return replace(
        everything,
        strict=mean("strict"),
        inflected=mean("inflected"),
        success=mean("success"),
        mrr=mean("mrr"),
        nothing=mean("nothing"),
    )
