"""The chart of docs/caching.md, as SVG."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

_HIGHLIGHT, _PLAIN, _REFUSED = "#1b6ca8", "#a9c4d9", "#d9a9a9"

# Text stays text: smaller, searchable, and the same on each machine.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "blogsearch"})


def draw_serializers(
    rows: Mapping[str, Mapping[str, Any]], winner: str, title: str, path: Path
) -> None:
    """Two panels of bars, one serializer a line, the quickest on top: time to read, and size.

    `rows` have `read` (median, µs), `stddev` and `size` (bytes) by serializer.
    """
    names = sorted(rows, key=lambda name: rows[name]["read"], reverse=True)
    colours = [
        _HIGHLIGHT if name == winner else _REFUSED if name.startswith("pickle") else _PLAIN
        for name in names
    ]
    figure, (times, sizes) = plt.subplots(1, 2, sharey=True, figsize=(10, 11), layout="constrained")
    times.barh(names, [rows[name]["read"] for name in names], color=colours, height=0.7)
    sizes.barh(names, [rows[name]["size"] / 1024 for name in names], color=colours, height=0.7)
    times.set_xlabel("median time to read, µs")
    sizes.set_xlabel("stored, KiB")
    for axes in (times, sizes):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", alpha=0.3)
        axes.tick_params(axis="y", labelsize=8)
        axes.margins(y=0.01)
    figure.suptitle(title, fontsize=11)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
