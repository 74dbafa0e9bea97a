"""The report of `make bench`."""

import json
from pathlib import Path

import pytest

from bench.results import Goal, Section, Table, publish, write

FACTS = {"machine": "a test"}


def section() -> Section:
    return Section(
        "A search",
        "How it was measured.",
        [
            Goal("rate", "heartbeat", 0.75, 0.7, at_least=True),
            Goal("median", "bare", 2.5, 2.0, " times", note="5 and 2 ms"),
        ],
        [Table(["queries", "ms"], [["correct", "5.0"]])],
        figures={"times": [1.0, 2.0]},
    )


def test_the_report_has_goals_tables_and_figures(tmp_path: Path) -> None:
    text = write(tmp_path, FACTS, [section()]).read_text()
    assert "| rate | heartbeat | 0.75 | ≥ 0.7 | yes |  |" in text
    assert "| median | bare | 2.50 times | ≤ 2 times | **no** | 5 and 2 ms |" in text
    assert "| correct | 5.0 |" in text
    saved = json.loads((tmp_path / "report.json").read_text())
    assert [goal["met"] for goal in saved["goals"]] == [True, False]
    assert saved["sections"][0]["figures"] == {"times": [1.0, 2.0]}


def test_publishing_replaces_the_last_run_only(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- run -->\nold\n<!-- /run -->\nafter\n")
    publish(page, FACTS, [section()])
    publish(page, FACTS, [section()])
    text = page.read_text()
    assert text.startswith("before\n<!-- run -->\n- machine: a test\n")
    assert text.endswith("<!-- /run -->\nafter\n")
    assert "old" not in text
    assert text.count("### A search") == 1
    page.write_text("no marks")
    with pytest.raises(LookupError):
        publish(page, FACTS, [section()])
