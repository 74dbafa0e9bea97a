"""Alert rules and dashboard, checked by promtool where it is installed (Debian: prometheus)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = json.loads((Path(__file__).parents[1] / "data/unit/monitoring.json").read_text("utf-8"))
"""By test: its cases."""

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "monitoring"
PANELS = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
UP, DOWN = "1+0x30", "0+0x30"
ENGINES = "blogsearch_available{engine="
RUN = "blogsearch_run_"
REQUESTS = "blogsearch_request_seconds_"

promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def _promtool(*words: object) -> None:
    done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _expected(rule: dict[str, Any]) -> dict[str, Any]:
    """The alert of a rule, whose series have the label `command` if the rule names it."""
    command = {"command": "sync"} if "by (command)" in rule["expr"] else {}
    annotations = {
        name: text.replace("{{ $labels.command }}", "sync")
        for name, text in rule["annotations"].items()
    }
    return {"exp_labels": {**rule["labels"], **command}, "exp_annotations": annotations}


@promtool
def test_the_expressions_of_the_dashboard_are_valid(tmp_path: Path) -> None:
    expressions = [target["expr"] for panel in PANELS for target in panel["targets"]]
    rules = [
        {"record": f"panel:{number}", "expr": expression}
        for number, expression in enumerate(expressions)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    _promtool("check", "rules", file)


@promtool
@pytest.mark.parametrize(
    ("alert", "series"), CASES["each_alert_fires_when_it_should_and_none_without_a_fault"]
)
def test_each_alert_fires_when_it_should_and_none_without_a_fault(
    alert: str | None, series: dict[str, str], tmp_path: Path
) -> None:
    healthy = {
        f'{ENGINES}"elasticsearch"}}': UP,
        f'{ENGINES}"redis"}}': UP,
        f'{REQUESTS}count{{outcome="hit"}}': "0+10x30",
        "blogsearch_posts": UP,
        f'{RUN}rejected_documents{{command="sync"}}': DOWN,
        f'{RUN}succeeded{{command="sync"}}': UP,
        f'{RUN}timestamp_seconds{{command="sync"}}': UP,
    }
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"][0]["rules"]
    test = {
        "interval": "1m",
        "input_series": [{"series": k, "values": v} for k, v in {**healthy, **series}.items()],
        "alert_rule_test": [
            {
                "eval_time": "25m",
                "alertname": rule["alert"],
                "exp_alerts": [_expected(rule)] * (rule["alert"] == alert),
            }
            for rule in rules
        ],
    }
    file = tmp_path / "test.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(FOLDER / "alerts.yml")], "tests": [test]}))
    _promtool("test", "rules", file)
