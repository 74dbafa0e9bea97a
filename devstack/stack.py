"""Brings both services up, tells how they are, takes them down again."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from devstack.containers import Containers, docker_client
from devstack.errors import DevstackError, NotAnswering
from devstack.places import Places, locked
from devstack.probe import port_is_taken, without_password
from devstack.processes import Processes
from devstack.readiness import check_given, version_given, wait_until_ready
from devstack.services import ELASTICSEARCH, SERVICES, Service
from devstack.state import State, forget, remember, remembered
from devstack.talk import say


class Backend(Protocol):
    """A way to run engines: Processes or Containers."""

    def start(self, service: Service, port: int, keep: bool) -> State: ...
    def alive(self, state: State) -> bool: ...
    def stop(self, state: State) -> None: ...


@dataclass(slots=True)
class Stack:
    """The two services of one instance, as the environment wants them."""

    places: Places
    environment: Mapping[str, str]
    backends: dict[str, Backend] = field(default_factory=dict)

    def up(self, *, keep: bool) -> dict[str, str]:
        """The addresses, by variable, of services that answer; started where they did not run.

        What this call started is stopped again when it fails or is interrupted. With `keep` they
        stay until `down`; without, until the last `using` ends.

        Raises:
            DevstackError: with what to do, and the log's path.
        """
        started: list[tuple[Service, State]] = []
        with locked(self.places.folder / "lock"):
            try:
                # What can be refused at once is; then both start before either is waited for.
                found = {each: self._find(each) for each in SERVICES}
                for service, at in found.items():
                    if isinstance(at, int):
                        found[service] = self._start(service, at, keep, started)
                return {each.variable: self._ready(each, at, keep) for each, at in found.items()}
            except BaseException:
                for service, state in started:
                    self._stop(service, state)
                raise

    def down(self) -> None:
        """Stop what devstack started, whoever asked for it."""
        with locked(self.places.folder / "lock"):
            stopped = [self._stop_remembered(service) for service in SERVICES]
        if not any(stopped):
            say("nothing of devstack's is running")

    def addresses(self) -> dict[str, str]:
        """The addresses without starting anything. Raises DevstackError when one is missing."""
        found = {}
        for service in SERVICES:
            if (given := self._given(service)) is not None:
                found[service.variable] = given
                continue
            state = self._running(service)
            if state is None:
                raise DevstackError(f"{service.title} is not running: make services")
            found[service.variable] = service.url(state.port)
        return found

    def status(self) -> Iterator[str]:
        """A line on each service."""
        for service in SERVICES:
            if (given := self._given(service)) is not None:
                yield f"{service.title}: {self._how_given(service, given)}"
                continue
            state = self._running(service)
            if state is None:
                yield f"{service.title}: not running"
                continue
            try:
                how = f"version {service.ask(service.url(state.port))}"
            except NotAnswering as error:
                how = f"does not answer: {error}"
            what = f"process {state.pid}" if state.backend == "process" else state.container[:12]
            yield (
                f"{service.title}: {service.url(state.port)}, {how}, {what}, "
                f"{'kept' if state.keep else 'until its user leaves'}, log {state.log}"
            )

    def _how_given(self, service: Service, given: str) -> str:
        if not given:
            return f"none, by {service.variable}"
        try:
            how = f"version {version_given(service, given, self.environment)}"
        except NotAnswering as error:
            how = f"does not answer: {error}"
        return f"{without_password(given)}, from {service.variable}, {how}"

    @contextmanager
    def using(self, *, keep: bool) -> Iterator[dict[str, str]]:
        """The addresses for as long as the block runs.

        Services that were started for such a block are stopped when the last one ends; those of
        `make services` stay. A block that was killed leaves its services to the next one's end.
        """
        with (self.places.folder / "users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_SH)
            addresses = self.up(keep=keep)
            try:
                yield addresses
            finally:
                with locked(self.places.folder / "lock"):
                    self._leave(users.fileno())

    def _leave(self, users: int) -> None:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(users, fcntl.LOCK_UN)  # or the next one to leave would see us
            say("the services stay: another run uses them, and will stop them")
            return
        for service in SERVICES:
            state = remembered(self.places, service)
            if state is not None and not state.keep:
                self._stop_remembered(service)

    def _given(self, service: Service) -> str | None:
        """The address from the environment. An empty REDIS_URL means: without Redis."""
        given = self.environment.get(service.variable)
        return given or (None if service is ELASTICSEARCH else given)

    def _find(self, service: Service) -> str | State | int:
        """The address that was given, or what runs already, or the free port to start it on."""
        if (given := self._given(service)) is not None:
            return check_given(service, given, self.environment)
        if (state := self._running(service)) is not None:
            say(f"{service.title} runs already, on port {state.port}")
            return state
        port = service.port(self.environment)
        if port_is_taken(port):
            raise service.who_has(port)
        return port

    def _start(
        self, service: Service, port: int, keep: bool, started: list[tuple[Service, State]]
    ) -> State:
        state = self._wanted_backend().start(service, port, keep)
        started.append((service, state))
        remember(self.places, service, state)
        return state

    def _running(self, service: Service) -> State | None:
        state = remembered(self.places, service)
        if state is None or not self._backend(state.backend).alive(state):
            return None
        return state

    def _ready(self, service: Service, at: str | State | int, keep: bool) -> str:
        """The address, once it answers there."""
        if not isinstance(at, State):
            return str(at)
        url = wait_until_ready(service, at, self._backend(at.backend).alive)
        if keep and not at.keep:
            remember(self.places, service, at.kept())
        return url

    def _stop_remembered(self, service: Service) -> bool:
        state = remembered(self.places, service)
        if state is None:
            return False
        return self._stop(service, state)

    def _stop(self, service: Service, state: State) -> bool:
        """Stop it and clear up after it; whether it ran."""
        backend = self._backend(state.backend)
        running = backend.alive(state)
        if running:
            say(f"stopping {service.title}")
        backend.stop(state)
        forget(self.places, service)
        return running

    def _wanted_backend(self) -> Backend:
        wanted = self.environment.get("BLOGSEARCH_DEVSTACK_BACKEND") or None
        if wanted not in (None, "process", "container"):
            raise DevstackError(
                f"BLOGSEARCH_DEVSTACK_BACKEND is {wanted!r}; it can be `process` or `container`."
            )
        if wanted is None:
            wanted = "process" if docker_client() is None else "container"
        return self._backend(wanted)

    def _backend(self, name: str) -> Backend:
        if name not in self.backends:
            made = Containers if name == "container" else Processes
            self.backends[name] = made(self.places, self.environment)
        return self.backends[name]
