"""docker-compose.yml and the Dockerfile, as far as they can be checked without a Docker engine."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import NAMES, environment_name

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE = (REPOSITORY / "docker-compose.yml").read_text()


def _services(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The services with what Compose makes of `${NAME:-default}`."""
    text, before = COMPOSE, ""
    while text != before:  # a default may have another one in it
        before = text
        text = re.sub(
            r"\$\{(\w+):-([^${}]*)\}", lambda name: environment.get(name[1]) or name[2], text
        )
    services: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return services


SERVICES = _services({})


def _settings() -> set[str]:
    return set(map(environment_name, NAMES))


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml", ".env.example"])
def test_every_variable_of_ours_is_a_setting(name: str) -> None:
    text = (REPOSITORY / name).read_text()
    named = set(re.findall(r"\bBLOGSEARCH_[A-Z_]*[A-Z]\b", text))
    assert named
    assert named <= _settings()


@pytest.mark.parametrize("name", ["app", "app-second", "index", "export", "rebuild"])
def test_the_application_gets_every_setting_of_the_env_file(name: str) -> None:
    service = SERVICES[name]
    assert service["env_file"] == [{"path": ".env", "required": False}]
    assert set(service["environment"]) <= _settings() | {"WEB_CONCURRENCY", "SYNC_SOURCE"}


def test_the_example_env_file_sets_the_variables_that_compose_reads() -> None:
    example = (REPOSITORY / ".env.example").read_text()
    given = set(re.findall(r"^#?(\w+)=", example, re.MULTILINE))
    read = set(re.findall(r"\$\{(\w+)", COMPOSE))
    assert read
    assert read <= given
    assert given - read <= _settings() | {"COMPOSE_PROFILES"}


def test_containers_have_no_capabilities_and_limits() -> None:
    for service in SERVICES.values():
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert service["mem_limit"]
        assert service["pids_limit"] > 0


def test_nothing_is_open_to_other_machines_without_the_proxy() -> None:
    used = [service for service in SERVICES.values() if "profiles" not in service]
    ports = [port for service in used for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
