"""The bars of the debug table."""

from typing import Any

from app.views.page import debug_view

ANSWER = {"page": 2, "size": 2, "hits": [{"oid": "a", "title": "A"}, {"oid": "b", "title": "B"}]}


def hit(oid: str, *parts: tuple[str, float], **more: Any) -> dict[str, Any]:
    scored = [{"part": part, "score": score} for part, score in parts]
    return {"oid": oid, "parts": scored, **more}


def view(*hits: dict[str, Any], **debug: Any) -> dict[str, Any]:
    return debug_view(ANSWER, {"hits": list(hits), **debug}, 200.0)


def test_bars_share_a_scale_and_a_part_has_one_colour() -> None:
    first, second = view(
        hit("a", ("words", 6.0), ("title", 4.0)), hit("b", ("title", 4.0), ("date", 1.0))
    )["hits"]
    assert [(segment["x"], segment["width"]) for segment in first["segments"]] == [
        (0, 600),
        (600, 400),
    ]
    assert [(segment["x"], segment["width"]) for segment in second["segments"]] == [
        (0, 400),
        (400, 100),
    ]
    assert first["segments"][1]["colour"] == second["segments"][0]["colour"]
    assert (first["rank"], second["rank"]) == (3, 4)
    assert first["title"] == "A"
