"""docker-compose.yml and the Dockerfile, as far as they can be checked without a Docker engine."""

import ast
import importlib
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from app.settings import NAMES, environment_name
from devstack.engines import ELASTICSEARCH_IMAGE, REDIS_IMAGE

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def _settings() -> set[str]:
    return set(map(environment_name, NAMES))


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml", ".env.example"])
def test_every_variable_of_ours_is_a_setting(name: str) -> None:
    text = (REPOSITORY / name).read_text()
    named = set(re.findall(r"\bBLOGSEARCH_[A-Z_]*[A-Z]\b", text))
    assert named
    assert named - {"BLOGSEARCH_COMMIT"} <= _settings()  # an argument of the build


@pytest.mark.parametrize("name", ["app", "sample"])
def test_the_application_gets_every_setting_of_the_env_file(name: str) -> None:
    service = SERVICES[name]
    assert service["env_file"] == [{"path": ".env", "required": False}]
    assert set(service["environment"]) <= _settings() | {"WEB_CONCURRENCY"}


def test_the_example_env_file_sets_the_variables_that_compose_reads() -> None:
    example = (REPOSITORY / ".env.example").read_text()
    given = set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    read = set(re.findall(r"\$\{(\w+)", (REPOSITORY / "docker-compose.yml").read_text()))
    assert read
    assert read <= given
    assert given - read <= _settings()


def test_the_engines_are_those_that_devstack_runs() -> None:
    assert SERVICES["elasticsearch"]["image"] == ELASTICSEARCH_IMAGE
    assert SERVICES["redis"]["image"] == REDIS_IMAGE


def _interpolated(text: str, environment: Mapping[str, str]) -> str:
    """What Compose makes of `${NAME:-default}`."""
    return re.sub(
        r"\$\{(\w+):-([^}]*)\}", lambda found: environment.get(found[1]) or found[2], text
    )


@pytest.mark.parametrize("passwords", [{}, {"ELASTIC_PASSWORD": "e1", "REDIS_PASSWORD": "r1"}])
def test_the_application_connects_with_the_passwords_of_the_engines(
    passwords: dict[str, str],
) -> None:
    environment = SERVICES["app"]["environment"]
    elasticsearch = urlsplit(_interpolated(environment["ELASTICSEARCH_URL"], passwords))
    redis = urlsplit(_interpolated(environment["REDIS_URL"], passwords))
    assert (elasticsearch.hostname, elasticsearch.port) == ("elasticsearch", 9200)
    assert (redis.hostname, redis.port) == ("redis", 6379)
    engines = SERVICES["elasticsearch"]["environment"], SERVICES["redis"]["command"]
    assert elasticsearch.password == _interpolated(engines[0]["ELASTIC_PASSWORD"], passwords)
    assert engines[0]["xpack.security.enabled"] == "true"
    required = engines[1][engines[1].index("--requirepass") + 1]
    assert redis.password == _interpolated(required, passwords)
    for name, password in passwords.items():
        assert password in (elasticsearch.password, redis.password), name


def test_all_images_are_pinned() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert images
    images += [service["image"] for service in SERVICES.values() if "build" not in service]
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+(-|$)", image), image


def test_nothing_runs_as_root() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\S+)", last, re.MULTILINE)
    assert user.isdecimal()
    assert int(user) > 0
    for name in ("elasticsearch", "redis", "proxy"):
        assert re.fullmatch(r"redis|[1-9]\d*(:\d+)?", SERVICES[name]["user"])


@pytest.mark.parametrize("name", SERVICES)
def test_containers_have_no_capabilities_and_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"]
    assert service["pids_limit"] > 0


def test_file_systems_are_read_only_where_possible() -> None:
    """Elasticsearch writes its keystore beside its configuration."""
    assert {name for name, each in SERVICES.items() if not each.get("read_only")} == {
        "elasticsearch"
    }


def test_the_service_waits_for_healthy_engines_and_for_something_to_search() -> None:
    waits = {name: each["condition"] for name, each in SERVICES["app"]["depends_on"].items()}
    assert waits == {
        "elasticsearch": "service_healthy",
        "redis": "service_healthy",
        "sample": "service_completed_successfully",
    }
    for name in ("app", "elasticsearch", "redis", "proxy"):
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


def test_nothing_is_open_to_other_machines_without_the_proxy() -> None:
    used = [each for each in SERVICES.values() if "profiles" not in each]
    ports = [port for each in used for port in each.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_sample_service_imports_what_exists() -> None:
    command = SERVICES["sample"]["command"]
    assert command[:2] == ["python", "-c"]
    for node in ast.walk(ast.parse(command[2])):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            assert all(hasattr(module, name.name) for name in node.names)


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
