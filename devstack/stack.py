"""Starts both engines, reports their status, stops them."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from devstack.containers import Containers, docker_client
from devstack.engines import (
    ELASTICSEARCH,
    ENGINES,
    Engine,
    check_given_url,
    port_is_taken,
    port_taken_error,
    wait_until_ready,
    without_password,
)
from devstack.instance import Instance, StartedEngine, locked
from devstack.processes import Processes
from devstack.terminal import DevstackError, NotAnswering, say


class Backend(Protocol):
    """A way to run engines: Processes or Containers."""

    def start(self, engine: Engine, port: int, keep: bool) -> StartedEngine: ...
    def alive(self, state: StartedEngine) -> bool: ...
    def stop(self, state: StartedEngine) -> None: ...


@dataclass(slots=True)
class Stack:
    """The engines of one instance, as the environment configures them.

    An engine whose URL is in the environment is used as it is; devstack does not start it.
    """

    instance: Instance
    environment: Mapping[str, str]
    backends: dict[str, Backend] = field(default_factory=dict)
    engines: tuple[Engine, ...] = ENGINES

    def up(self, *, keep: bool) -> dict[str, str]:
        """Start the engines that do not run, wait until all answer, and return their URLs.

        The keys are ELASTICSEARCH_URL and REDIS_URL. When starting fails or is interrupted, what
        this call started is stopped. With `keep` the engines run until `down`; without, until
        the last `using` block ends.

        Raises:
            DevstackError: with what to do, and the path of the log.
        """
        started: list[tuple[Engine, StartedEngine]] = []
        with locked(self.instance.folder / "lock"):
            try:
                # First everything that can be refused at once; then start all, then wait for all.
                found = {engine: self._find(engine) for engine in self.engines}
                for engine, at in found.items():
                    if isinstance(at, int):
                        found[engine] = self._start(engine, at, keep, started)
                return {
                    engine.variable: self._ready(engine, at, keep) for engine, at in found.items()
                }
            except BaseException:
                for engine, state in started:
                    self._stop(engine, state)
                raise

    def down(self) -> None:
        """Stop all engines of this instance that devstack started."""
        with locked(self.instance.folder / "lock"):
            stopped = [self._stop_saved(engine) for engine in self.engines]
        if not any(stopped):
            say("no engine is running")

    def urls(self) -> dict[str, str]:
        """The URLs of running engines, by variable. Raises DevstackError if one does not run."""
        found = {}
        for engine in self.engines:
            if (given := self._given(engine)) is not None:
                found[engine.variable] = given
                continue
            state = self._running(engine)
            if state is None:
                raise DevstackError(f"{engine.title} is not running. Start it: make services")
            found[engine.variable] = engine.url(state.port)
        return found

    def status(self) -> Iterator[str]:
        """One line for each engine."""
        for engine in self.engines:
            if (given := self._given(engine)) is not None:
                yield f"{engine.title}: {self._status_given(engine, given)}"
                continue
            state = self._running(engine)
            if state is None:
                yield f"{engine.title}: not running"
                continue
            url = engine.url(state.port)
            what = f"process {state.pid}" if state.backend == "process" else state.container[:12]
            until = "make services-stop" if state.keep else "make run or make test ends"
            yield (
                f"{engine.title}: {url}, {_version(engine, url, {})}, {what}, "
                f"runs until {until}, log {state.log}"
            )

    def _status_given(self, engine: Engine, url: str) -> str:
        if not url:
            return f"none, because {engine.variable} is empty"
        version = _version(engine, url, self.environment)
        return f"{without_password(url)}, from {engine.variable}, {version}"

    @contextmanager
    def using(self, *, keep: bool) -> Iterator[dict[str, str]]:
        """The URLs, for as long as the block runs.

        Engines that were started for such a block are stopped when the last block ends; those
        started with `keep` stay. If the process of a block is killed, its engines run until the
        next block ends.
        """
        with (self.instance.folder / "users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_SH)
            urls = self.up(keep=keep)
            try:
                yield urls
            finally:
                with locked(self.instance.folder / "lock"):
                    self._stop_if_unused(users.fileno())

    def _stop_if_unused(self, users: int) -> None:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(users, fcntl.LOCK_UN)  # otherwise the next one to end would see our lock
            say("the engines keep running: another make run or make test uses them")
            return
        for engine in self.engines:
            state = self.instance.load(engine)
            if state is not None and not state.keep:
                self._stop(engine, state)

    def _given(self, engine: Engine) -> str | None:
        """The URL from the environment. An empty REDIS_URL means: without Redis."""
        given = self.environment.get(engine.variable)
        return given or (None if engine.name == ELASTICSEARCH.name else given)

    def _find(self, engine: Engine) -> str | StartedEngine | int:
        """The given URL, or the running engine, or the free port to start it on."""
        if (given := self._given(engine)) is not None:
            check_given_url(engine, given, self.environment)
            return given
        if (state := self._running(engine)) is not None:
            say(f"{engine.title} is already running on port {state.port}")
            return state
        port = engine.port(self.environment)
        if port_is_taken(port):
            raise port_taken_error(engine, port)
        return port

    def _start(
        self, engine: Engine, port: int, keep: bool, started: list[tuple[Engine, StartedEngine]]
    ) -> StartedEngine:
        state = self._configured_backend().start(engine, port, keep)
        started.append((engine, state))
        self.instance.save(engine, state)
        return state

    def _running(self, engine: Engine) -> StartedEngine | None:
        state = self.instance.load(engine)
        if state is None or not self._backend(state.backend).alive(state):
            return None
        return state

    def _ready(self, engine: Engine, at: str | StartedEngine | int, keep: bool) -> str:
        """The URL, as soon as the engine answers there."""
        if not isinstance(at, StartedEngine):
            return str(at)
        url = wait_until_ready(engine, at, self._backend(at.backend).alive)
        if keep and not at.keep:
            self.instance.save(engine, replace(at, keep=True))
        return url

    def _stop_saved(self, engine: Engine) -> bool:
        state = self.instance.load(engine)
        return state is not None and self._stop(engine, state)

    def _stop(self, engine: Engine, state: StartedEngine) -> bool:
        """Stop it and delete its state; returns whether it was running."""
        backend = self._backend(state.backend)
        running = backend.alive(state)
        if running:
            say(f"stopping {engine.title}")
        backend.stop(state)
        self.instance.delete(engine)
        return running

    def _configured_backend(self) -> Backend:
        name = self.environment.get("BLOGSEARCH_DEVSTACK_BACKEND") or None
        if name not in (None, "process", "container"):
            raise DevstackError(
                f"BLOGSEARCH_DEVSTACK_BACKEND is {name!r}; it must be `process` or `container`."
            )
        if name is None:
            name = "process" if docker_client() is None else "container"
        return self._backend(name)

    def _backend(self, name: str) -> Backend:
        if name not in self.backends:
            made = Containers if name == "container" else Processes
            self.backends[name] = made(self.instance, self.environment)
        return self.backends[name]


def _version(engine: Engine, url: str, environment: Mapping[str, str]) -> str:
    try:
        return f"version {engine.get_version(url, environment)}"
    except NotAnswering as error:
        return f"does not answer: {error}"
