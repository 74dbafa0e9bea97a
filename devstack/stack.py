"""Start and stop both engines."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from devstack.containers import Containers, docker_client
from devstack.engines import (
    ELASTICSEARCH,
    ENGINES,
    Engine,
    check_given_url,
    free_port_of,
    wait_until_ready,
)
from devstack.instance import Instance, StartedEngine, locked
from devstack.processes import Processes
from devstack.terminal import DevstackError, say


class Backend(Protocol):
    """A way to run engines: Processes or Containers."""

    def start(self, engine: Engine, port: int) -> StartedEngine: ...
    def alive(self, state: StartedEngine) -> bool: ...
    def stop(self, state: StartedEngine) -> None: ...


@dataclass(slots=True)
class Stack:
    """The engines of one instance, as configured by the environment.

    If the environment has the URL of an engine, devstack uses that engine and does not start one.
    """

    instance: Instance
    environment: Mapping[str, str]
    backends: dict[str, Backend] = field(default_factory=dict)
    engines: tuple[Engine, ...] = ENGINES

    def up(self) -> tuple[dict[str, str], list[Engine]]:
        """Start the engines that do not run and wait until all answer.

        Returns:
            The URLs, by ELASTICSEARCH_URL and REDIS_URL, and the engines that this call started.

        Raises:
            DevstackError: with the remedy and the path of the log. The engines that this call
                started are stopped, also after an interruption.
        """
        with locked(self.instance.folder / "lock"):
            urls, started = self._start()
            try:
                self.wait()
            except BaseException:
                self._stop_all(started)
                raise
        return urls, started

    def _start(self) -> tuple[dict[str, str], list[Engine]]:
        """Do what `up` does, but without waiting."""
        urls: dict[str, str] = {}
        ports: dict[Engine, int] = {}
        # First all checks that can fail immediately.
        for engine in self.engines:
            if (given := self._given(engine)) is not None:
                check_given_url(engine, given, self.environment)
                urls[engine.variable] = given
            elif (state := self._running(engine)) is not None:
                say(f"{engine.title} is already running on port {state.port}")
                urls[engine.variable] = engine.url(state.port)
            else:
                ports[engine] = free_port_of(
                    self.environment, engine.port_variable, engine.default_port
                )
                urls[engine.variable] = engine.url(ports[engine])
        backend = self._chosen_backend() if ports else None
        started: list[Engine] = []
        try:
            for engine, port in ports.items():
                assert backend is not None
                self.instance.save(engine.name, backend.start(engine, port))
                started.append(engine)
        except BaseException:
            self._stop_all(started)
            raise
        return urls, started

    def wait(self) -> None:
        """Wait until the engines of this instance answer.

        Raises:
            DevstackError: one does not, with the path of its log.
        """
        for engine in self.engines:
            if self._given(engine) is None and (state := self.instance.load(engine.name)):
                wait_until_ready(engine, state, self._backend_of(state).alive)

    def down(self, engines: Sequence[Engine] = ()) -> None:
        """Stop the engines that devstack started for this instance: these, or all."""
        with locked(self.instance.folder / "lock"):
            self._stop_all(engines or self.engines)

    @contextmanager
    def using(self, *, keep: bool, wait: bool = True) -> Iterator[dict[str, str]]:
        """Yield the engines' URLs; after the block stop those that it started, unless `keep`.

        Without `wait` the engines may not answer yet, and the block must call `wait`.
        """
        if wait:
            urls, started = self.up()
        else:
            with locked(self.instance.folder / "lock"):
                urls, started = self._start()
        try:
            yield urls
        finally:
            if started and not keep:
                self.down(started)

    def _given(self, engine: Engine) -> str | None:
        """Return the URL in the environment; an empty REDIS_URL means: without Redis."""
        given = self.environment.get(engine.variable)
        return given or (None if engine.name == ELASTICSEARCH.name else given)

    def _running(self, engine: Engine) -> StartedEngine | None:
        state = self.instance.load(engine.name)
        if state is None or not self._backend_of(state).alive(state):
            return None
        wanted = self.environment.get(engine.port_variable)
        if wanted and wanted != str(state.port):
            raise DevstackError(
                f"{engine.title} already runs on port {state.port}, and {engine.port_variable} is "
                f"{wanted}. Stop it with `make services-stop`, or start a second pair of engines:  "
                "export BLOGSEARCH_DEVSTACK_INSTANCE=second"
            )
        return state

    def _stop_all(self, engines: Sequence[Engine]) -> None:
        for engine in engines:
            if (state := self.instance.load(engine.name)) is not None:
                say(f"stopping {engine.title}")
                self._backend_of(state).stop(state)
                self.instance.delete(engine.name)

    def _chosen_backend(self) -> Backend:
        name = self.environment.get("BLOGSEARCH_DEVSTACK_BACKEND") or None
        if name not in (None, "process", "container"):
            raise DevstackError(
                f"BLOGSEARCH_DEVSTACK_BACKEND is {name!r}; it must be `process` or `container`."
            )
        if name == "process" or (name is None and docker_client() is None):
            return self._backend("process")
        return self._backend("container")

    def _backend_of(self, state: StartedEngine) -> Backend:
        return self._backend("container" if state.container else "process")

    def _backend(self, name: str) -> Backend:
        if name not in self.backends:
            if name == "process":
                self.backends[name] = Processes(self.instance, self.environment)
            elif client := docker_client():
                self.backends[name] = Containers(self.instance, client)
            else:
                raise DevstackError("The Docker engine does not answer; start it.")
        return self.backends[name]
