"""Measures in turns: the only loop of the bench in which compared things alternate."""

import random
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
Value = TypeVar("Value")


def alternate(
    rounds: Iterable[Mapping[Name, Callable[[], Value]]], warm_up: int = 1
) -> dict[Name, list[Value]]:
    """Run the turns of all rounds, and return their results by name.

    The turns of a round run in random order, which is the same in every run. The results of the
    first `warm_up` rounds are dropped.
    """
    order = random.Random(14)
    results: dict[Name, list[Value]] = {}
    for nth, turns in enumerate(rounds):
        if nth >= warm_up:
            for name in turns:  # in this order, not in the random one
                results.setdefault(name, [])
        for name in order.sample(list(turns), len(turns)):
            value = turns[name]()
            if nth >= warm_up:
                results[name].append(value)
    return results


def timed(run: Callable[[], object]) -> Callable[[], float]:
    """Return a turn that returns the milliseconds that `run` takes."""

    def turn() -> float:
        started = time.perf_counter()
        run()
        return (time.perf_counter() - started) * 1000

    return turn
