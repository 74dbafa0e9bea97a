"""What devstack remembers of a service it started: one small JSON file each."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from devstack.places import Places
from devstack.services import Service


@dataclass(frozen=True, slots=True)
class State:
    """A service that was started.

    `pid` and `born` (seconds since 1970, as the system counts them) name the process and cannot
    be mistaken for a later one with the same number. `keep`: it stays when `make run` and `make
    test` leave.
    """

    backend: Literal["process", "container"]
    port: int
    log: str
    keep: bool
    pid: int = 0
    born: float = 0.0
    container: str = ""

    def kept(self) -> "State":
        """The same, to stay."""
        return replace(self, keep=True)


def _file(places: Places, service: Service) -> Path:
    return places.folder / f"{service.name}.json"


def remembered(places: Places, service: Service) -> State | None:
    """What was started here, running or not; None when nothing is known."""
    try:
        return State(**json.loads(_file(places, service).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None  # a file of another version of devstack is as good as none


def remember(places: Places, service: Service, state: State) -> None:
    """Write it down; a reader never sees half of it."""
    path = _file(places, service)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(asdict(state)))
    beside.replace(path)


def forget(places: Places, service: Service) -> None:
    """It is gone."""
    _file(places, service).unlink(missing_ok=True)
