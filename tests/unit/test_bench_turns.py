"""The loop in which measurements alternate."""

from collections.abc import Callable
from functools import partial
from itertools import repeat

from bench.turns import alternate


def test_each_turn_is_taken_once_a_round_and_the_warm_up_is_dropped() -> None:
    taken: list[str] = []

    def turn(name: str) -> int:
        taken.append(name)
        return len(taken)

    turns: dict[str, Callable[[], int]] = {name: partial(turn, name) for name in "abc"}
    results = alternate(repeat(turns, 10), warm_up=2)
    assert list(results) == ["a", "b", "c"]
    assert sorted(number for numbers in results.values() for number in numbers) == [*range(7, 31)]
    rounds = [taken[start : start + 3] for start in range(0, 30, 3)]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)
    assert len({tuple(names) for names in rounds}) > 1
