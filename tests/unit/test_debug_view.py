"""The bars and sentences of the debug table."""

from typing import Any

from app.views.debug import debug_view

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


def test_a_hit_is_compared_with_the_one_above() -> None:
    hits = view(hit("a", ("words", 6.0), ("title", 4.0)), hit("b", ("words", 5.5)))["hits"]
    assert hits[0]["reason"] == ""
    assert hits[1]["reason"].startswith("4.50 less than the hit above, most of it for title: 0.00")


def test_reasons_that_are_no_score() -> None:
    def reason(above: dict[str, Any], below: dict[str, Any]) -> str:
        return str(view(above, below)["hits"][1]["reason"])

    assert "same" in reason(hit("a", ("words", 1.0)), hit("b", ("words", 1.0)))
    assert "not by score" in reason(hit("a", ("words", 1.0)), hit("b", ("words", 2.0)))
    assert "pinned" in reason(hit("a", ("words", 1.0), pinned=True), hit("b", ("words", 2.0)))


def test_requests_stand_in_the_waterfall_when_they_were_sent() -> None:
    request = {"kind": "first", "took_ms": 30, "started_ms": 20.0, "total_ms": 50.0}
    (row,) = view(requests=[request])["waterfall"]
    assert (row["x"], row["width"], row["engine"]) == (100, 250, 150)


def test_an_answer_without_hits_has_no_bars() -> None:
    assert view()["hits"] == []
