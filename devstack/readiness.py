"""Waits until a service answers, and checks one that the environment names."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from devstack.errors import DevstackError, NotAnswering, with_log
from devstack.probe import elasticsearch_version, without_password
from devstack.services import ELASTICSEARCH, Service
from devstack.signals import raise_if_asked
from devstack.state import State
from devstack.talk import Ticker, say


def wait_until_ready(service: Service, state: State, alive: Callable[[State], bool]) -> str:
    """The address of a started service, once the right version answers there.

    Raises:
        DevstackError: it ended, takes too long, or is another version; with the log's path.
    """
    url, log, ticker = service.url(state.port), Path(state.log), Ticker()
    while True:
        raise_if_asked()
        version = _answer(service, url)
        # Looked at after the answer: one that has died may have left its port to another.
        if not alive(state):
            raise DevstackError(with_log(f"{service.title} has ended by itself.", log))
        if version is not None:
            if service.fits(version):
                return url
            raise DevstackError(
                f"The {service.title} at {url} is {version}, and {service.wanted} is needed: "
                "make services-stop, then once more."
            )
        if ticker.seconds > service.start_limit:
            raise DevstackError(
                with_log(
                    f"{service.title} does not answer at {url}, after {ticker.seconds:.0f} s of "
                    "waiting. `make services-stop` ends it.",
                    log,
                )
            )
        ticker.tick(f"waiting for {service.title} to answer")
        time.sleep(0.25)


def _answer(service: Service, url: str) -> str | None:
    try:
        if service is ELASTICSEARCH:
            return elasticsearch_version(url, ready=True)
        return service.ask(url)
    except NotAnswering:
        return None


def version_given(service: Service, url: str, environment: Mapping[str, str]) -> str:
    """The version of the service at an address that the environment names.

    Raises:
        NotAnswering: with the reason.
    """
    if service is ELASTICSEARCH:
        return elasticsearch_version(url, environment)
    return service.ask(url)


def check_given(service: Service, url: str, environment: Mapping[str, str]) -> str:
    """The address that the environment names, if the service answers there.

    An empty one is taken as it is: the service is to run without.

    Raises:
        DevstackError: nothing answers there.
    """
    if not url:
        return url
    shown = without_password(url)
    try:
        version = version_given(service, url, environment)
    except NotAnswering as error:
        raise DevstackError(
            f"{service.variable} is set to {shown}, and no {service.title} answers there:\n"
            f"    {error}\n  Start it, or have one started here: unset {service.variable}"
        ) from None
    if not service.fits(version):
        say(f"note: blogsearch is tried on {service.title} {service.wanted}, this is {version}")
    say(f"using the {service.title} {version} at {shown}, from {service.variable}")
    return url
