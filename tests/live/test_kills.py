"""Commands that are killed at a random point, during a stream of writes and searches."""

import pytest

from bench.chaos import COMMANDS, run


@pytest.mark.parametrize("command", COMMANDS)
def test_no_acknowledged_write_is_lost_and_no_search_fails(command: str) -> None:
    assert run(command, kills=2, posts=300)
