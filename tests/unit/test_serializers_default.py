"""The serializer of the service is the winner of the published measurement, by the written rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cache.serializers import SERIALIZER
from bench.serializers.registry import serializers
from bench.serializers.report import RULE, contenders, put_into, winner

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((DOCS / "serializers.json").read_text("utf-8"))
    return figures


def test_the_service_uses_the_published_winner(published: dict[str, Any]) -> None:
    assert published["winner"] == SERIALIZER


def test_the_published_winner_follows_from_the_published_figures(published: dict[str, Any]) -> None:
    assert published["rule"] == RULE
    assert set(contenders(published["rows"])) == set(published["final"])
    assert winner(published["final"]) == published["winner"]


def test_all_serializers_were_measured(published: dict[str, Any]) -> None:
    assert set(published["rows"]) == set(serializers())


def test_the_tables_of_the_page_show_the_published_figures(published: dict[str, Any]) -> None:
    page = (DOCS / "caching.md").read_text("utf-8")
    assert put_into(page, published) == page


def rows(**given: tuple[float, int]) -> dict[str, dict[str, float]]:
    slow = {name: {"read": 1000.0, "size": 10_000} for name in serializers()}
    chosen = {
        name.replace("_", "+"): {"read": read, "size": size} for name, (read, size) in given.items()
    }
    return slow | chosen


@pytest.mark.parametrize(
    ("given", "wins"),
    [
        ({"json": (100, 9000), "orjson": (120, 10)}, "json"),
        ({"json": (100, 9000), "orjson": (100.9, 8000)}, "orjson"),
        ({"json": (100, 9000), "orjson": (101.1, 8000)}, "json"),
        ({"json": (100, 9000), "orjson": (100.8, 8000), "ujson": (100.7, 8000)}, "ujson"),
        ({"json": (100, 9000), "orjson_zstd": (100.5, 2000), "bytes": (99.9, 8000)}, "orjson+zstd"),
        ({"pickle": (10, 10), "pickle_lz4": (9, 9), "json": (100, 9000)}, "json"),
    ],
)
def test_the_rule(given: dict[str, tuple[float, int]], wins: str) -> None:
    assert winner(rows(**given)) == wins


def test_which_are_measured_once_more() -> None:
    measured = rows(
        json=(100, 1), orjson=(124, 1), ujson=(126, 1), pickle=(10, 1), pickle_lz4=(99, 1)
    )
    assert contenders(measured) == ["json", "orjson"]
