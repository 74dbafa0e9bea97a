"""What `debug-search` explains, arranged for the page: bars of what each hit scored. Pure."""

from typing import Any

Json = dict[str, Any]

_COLOURS = 6
_WIDTH = 1000.0  # of a bar, in units of its viewBox


def debug_view(answer: Json, debug: Json, total_ms: float) -> Json:
    """`debug` with the rank and title of each hit, and the segments of its bar.

    Args:
        total_ms: how long the page took so far.
    """
    hits = debug.get("hits", [])
    titles = {hit["oid"]: hit["title"] for hit in answer["hits"]}
    names = list(dict.fromkeys(part["part"] for hit in hits for part in hit["parts"]))
    longest = max((sum(part["score"] for part in hit["parts"]) for hit in hits), default=0.0)
    scale = _WIDTH / (longest or 1.0)
    first = (answer["page"] - 1) * answer["size"] + 1
    shown = []
    for rank, hit in enumerate(hits, first):
        segments, x = [], 0.0
        for part in hit["parts"]:
            width = part["score"] * scale
            colour = names.index(part["part"]) % _COLOURS
            segments.append({**part, "x": round(x, 1), "width": round(width, 1), "colour": colour})
            x += width
        title = titles.get(hit["oid"], hit["oid"])
        shown.append({**hit, "rank": rank, "title": title, "segments": segments})
    return {**debug, "total_ms": total_ms, "hits": shown}
