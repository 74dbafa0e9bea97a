"""The arithmetic of the relevance benchmark, against cases worked out by hand."""

import math

import pytest

from bench.relevance import Answered, Judged, by_kind, figures, macro, ndcg


def judged(kind: str = "exact", **grades: int) -> Judged:
    return Judged("q", kind, grades)


def answered(ranking: str) -> Answered:
    oids = tuple(ranking.split())
    return Answered(oids, len(oids), 0.01)


@pytest.mark.parametrize(
    ("ranking", "grades", "value"),
    [
        ("a b x", {"a": 2, "b": 1}, 1),
        ("b a", {"a": 2, "b": 1}, (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ("0 1 2 3 4 5 6 7 8 9 a", {"a": 2}, 0),
        ("", {}, 1),
        ("a", {}, 0),
    ],
)
def test_ndcg(ranking: str, grades: dict[str, int], value: float) -> None:
    assert ndcg(ranking.split(), grades) == pytest.approx(value)


def test_the_macro_figure_is_the_plain_mean_over_kinds_without_nonsense() -> None:
    pairs = [
        (judged("exact", a=1), answered("a")),
        (judged("exact", a=1), answered("a")),
        (judged("typo1", a=1), answered("")),
        (judged("nonsense"), answered("")),
    ]
    mean = macro(by_kind(pairs), figures(pairs))
    assert (mean.ndcg, mean.success, mean.mrr, mean.nothing) == (0.5, 0.5, 0.5, 0.5)
    assert mean.queries == 4


def test_a_known_item_is_a_query_with_one_relevant_post_cut_as_the_service_would() -> None:
    query = Judged.of({"q": "w" * 300, "kind": "desc", "oid": "a"})
    assert query == Judged("w" * 200, "desc", {"a": 1})


def test_posts_that_have_a_link_are_not_among_the_hits_for_its_text() -> None:
    query = Judged.of({"q": "w", "kind": "link", "oid": "a", "skip": ["b"]})
    assert query.skip == {"b"}
    body = {"count": 3, "hits": [{"oid": "b"}, {"oid": "a"}, {"oid": "c"}]}
    assert Answered.of(body, query, 0.1) == Answered(("a", "c"), 3, 0.1)
