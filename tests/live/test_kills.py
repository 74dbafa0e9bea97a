"""A command that is killed at a random point, during a stream of writes and searches.

`make chaos-commands` does it with the other commands too, and more often.
"""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_no_acknowledged_write_is_lost_and_no_search_fails(elasticsearch_url: str) -> None:
    kills = [sys.executable, "-m", "bench.kills", "sync", "--kills", "1", "--posts", "300"]
    done = subprocess.run(kills, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
