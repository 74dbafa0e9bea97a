"""What `debug-search` explains, arranged for the page: bars, their scales and sentences. Pure."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

_COLOURS = 6
_WIDTH = 1000.0  # of a bar, in units of its viewBox


def debug_view(answer: Json, debug: Json, total_ms: float) -> Json:
    """`debug` with the bars of the page.

    Args:
        total_ms: how long the page took so far.

    Returns:
        `hits` in their order, each with its title, the segments of its bar and why it is where
        it is, and `waterfall` with a row for each request.
    """
    return {
        **debug,
        "total_ms": total_ms,
        "hits": _hits(answer, debug.get("hits", [])),
        "waterfall": _waterfall(debug.get("requests", []), total_ms),
    }


def _hits(answer: Json, explained: Sequence[Json]) -> list[Json]:
    titles = {hit["oid"]: hit["title"] for hit in answer["hits"]}
    names = list(dict.fromkeys(part["part"] for hit in explained for part in hit["parts"]))
    longest = max((sum(part["score"] for part in hit["parts"]) for hit in explained), default=0.0)
    scale = _WIDTH / (longest or 1.0)
    hits = []
    above: Json | None = None
    for rank, hit in enumerate(explained, (answer["page"] - 1) * answer["size"] + 1):
        segments, x = [], 0.0
        for part in hit["parts"]:
            width = part["score"] * scale
            colour = names.index(part["part"]) % _COLOURS
            segments.append({**part, "x": round(x, 1), "width": round(width, 1), "colour": colour})
            x += width
        hits.append(
            {
                **hit,
                "rank": rank,
                "title": titles.get(hit["oid"], hit["oid"]),
                "segments": segments,
                "reason": _reason(hit, above) if above else "",
            }
        )
        above = hit
    return hits


def _reason(hit: Json, above: Json) -> str:
    """Why a hit ranks below the one above it."""
    if hit.get("pinned"):
        return "It is pinned."
    if above.get("pinned"):
        return "The hit above is pinned."
    ours = {part["part"]: part["score"] for part in hit["parts"]}
    theirs = {part["part"]: part["score"] for part in above["parts"]}
    less = sum(theirs.values()) - sum(ours.values())
    if less < 0:
        return "It scores more than the hit above; the order is not by score."
    if less < 0.00005:
        return "It scores the same as the hit above."
    part = max(theirs, key=lambda name: theirs[name] - ours.get(name, 0.0))
    return (
        f"{less:.2f} less than the hit above, most of it for {part}: "
        f"{ours.get(part, 0.0):.2f}, above {theirs[part]:.2f}."
    )


def _waterfall(requests: Sequence[Json], total_ms: float) -> list[Json]:
    scale = _WIDTH / (total_ms or 1.0)
    return [
        {
            **request,
            "x": round(request["started_ms"] * scale, 1),
            "width": round(request["total_ms"] * scale, 1),
            "engine": round(min(request["took_ms"], request["total_ms"]) * scale, 1),
        }
        for request in requests
        if "started_ms" in request
    ]
