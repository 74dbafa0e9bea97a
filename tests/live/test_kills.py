"""Commands that are killed at a random point, during a stream of writes and searches."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["reindex", "sync", "synonyms", "rollback"])
def test_no_acknowledged_write_is_lost_and_no_search_fails(
    command: str, elasticsearch_url: str
) -> None:
    kills = [sys.executable, "-m", "bench.kills", command, "--kills", "1", "--posts", "300"]
    done = subprocess.run(kills, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
