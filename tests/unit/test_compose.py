"""docker-compose.yml and the Dockerfile, as far as they can be checked without a Docker engine."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import Settings
from devstack.engines import ELASTICSEARCH_IMAGE, REDIS_IMAGE

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def _settings() -> set[str]:
    return {
        field.validation_alias
        if isinstance(field.validation_alias, str)
        else f"BLOGSEARCH_{name.upper()}"
        for name, field in Settings.model_fields.items()
    }


@pytest.mark.parametrize("text", [DOCKERFILE, (REPOSITORY / "docker-compose.yml").read_text()])
def test_every_variable_of_ours_is_a_setting(text: str) -> None:
    named = set(re.findall(r"\b(?:BLOGSEARCH_\w+|ELASTICSEARCH_\w+|REDIS_\w+)\b", text))
    assert named
    assert named <= _settings()


def test_the_application_gets_nothing_but_settings() -> None:
    for name in ("app", "sample"):
        assert set(SERVICES[name]["environment"]) <= _settings()


def test_the_engines_are_those_that_devstack_runs() -> None:
    assert SERVICES["elasticsearch"]["image"] == ELASTICSEARCH_IMAGE
    assert SERVICES["redis"]["image"] == REDIS_IMAGE


def test_the_addresses_are_those_of_the_services() -> None:
    environment = SERVICES["app"]["environment"]
    assert environment["ELASTICSEARCH_URL"] == "http://elasticsearch:9200"
    assert environment["REDIS_URL"].startswith("redis://redis:6379/")
    assert {"elasticsearch", "redis"} <= set(SERVICES)


def test_all_images_are_pinned() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(images) == 2  # built in one stage, run in another
    images += [service["image"] for service in SERVICES.values() if "build" not in service]
    assert len(images) == 4
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+(-|$)", image), image


def test_nothing_runs_as_root() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\S+)", last, re.MULTILINE)
    assert user.isdecimal()
    assert int(user) > 0
    assert SERVICES["redis"]["user"] == "redis"
    # Elasticsearch's image has a user of its own, and no service goes back to root.
    assert all(str(each.get("user", "own")) not in ("root", "0") for each in SERVICES.values())


def test_the_service_waits_for_healthy_engines_and_for_something_to_search() -> None:
    waits = {name: each["condition"] for name, each in SERVICES["app"]["depends_on"].items()}
    assert waits == {
        "elasticsearch": "service_healthy",
        "redis": "service_healthy",
        "sample": "service_completed_successfully",
    }
    for name in ("app", "elasticsearch", "redis"):
        assert SERVICES[name]["healthcheck"]["test"]


def test_data_is_in_named_volumes_and_the_rules_are_mounted() -> None:
    used = [volume for each in SERVICES.values() for volume in each["volumes"]]
    for name in COMPOSE["volumes"]:
        assert any(volume.startswith(f"{name}:") for volume in used)
    assert "./synonyms:/srv/blogsearch/synonyms:ro" in SERVICES["app"]["volumes"]
    assert "BLOGSEARCH_SYNONYMS_DIR=/srv/blogsearch/synonyms" in DOCKERFILE


def test_the_memory_limits_fit_a_host_of_4_gb() -> None:
    units = {"m": 1, "g": 1024}
    limits = [each["mem_limit"] for each in SERVICES.values()]
    total = sum(int(limit[:-1]) * units[limit[-1]] for limit in limits)
    assert total <= 3.5 * 1024  # the host itself wants some


def test_nothing_is_open_to_other_machines() -> None:
    ports = [port for each in SERVICES.values() for port in each.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_sample_service_runs_python_that_compiles() -> None:
    command = SERVICES["sample"]["command"]
    assert command[:2] == ["python", "-c"]
    compile(command[2], "docker-compose.yml", "exec")


def test_the_image_gets_every_file_it_copies() -> None:
    let_in = re.findall(r"^!(\S+)", (REPOSITORY / ".dockerignore").read_text(), re.MULTILINE)
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert sorted(let_in) == sorted(copied)
    assert all((REPOSITORY / name).exists() for name in copied)


def test_docker_compose_accepts_the_file() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "compose", "version"], capture_output=True).returncode
    ):
        pytest.skip("this docker client has no compose plugin")
    done = subprocess.run(
        [docker, "compose", "config", "--quiet"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
