"""What gunicorn's configuration does; tests/live/test_server.py has it running."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("WEB_CONCURRENCY", "x"), ("PORT", "65536"), ("BLOGSEARCH_SHARDS", "many")],
)
def test_an_invalid_variable_is_named(variable: str, value: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("blogsearch"), "serve"],
        cwd=REPOSITORY,
        env={**os.environ, "GUNICORN_CMD_ARGS": "--check-config", variable: value},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert variable in done.stderr
    assert value in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_named_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [Path(sys.executable).with_name("blogsearch"), "serve"],
            cwd=REPOSITORY,
            env={**os.environ, "PORT": str(port)},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 1
    assert f"PORT={port + 1} blogsearch serve" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_module_app_of_another_project_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("raise SystemExit('the wrong module')")
    done = subprocess.run(
        [Path(sys.executable).with_name("blogsearch"), "serve"],
        cwd=tmp_path,
        env={**os.environ, "GUNICORN_CMD_ARGS": "--check-config"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_gunicorns_configuration_imports_no_client_before_sockets_are_patched() -> None:
    """What is imported in the main process is there before gevent replaces `ssl`."""
    code = "import sys, app.http.gunicorn_config; print({'redis', 'urllib3'} & sys.modules.keys())"
    given = {"BLOGSEARCH_RATE_LIMIT": "60/minute"}
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **given}, capture_output=True, text=True
    )
    assert result.stdout.strip() == "set()", result.stderr


def test_the_figures_of_a_killed_process_go_at_the_next_start(tmp_path: Path) -> None:
    """Those of a process that lives stay, also while only a worker of it does."""
    code = (
        "import os, tempfile; tempfile.tempdir = os.environ['IN']; os.access = lambda *_: False\n"
        "import app.http.gunicorn_config\n"
        "print(os.environ['PROMETHEUS_MULTIPROC_DIR'], flush=True)\n"
        "input()"
    )

    def start() -> tuple[subprocess.Popen[str], Path]:
        environment = {**os.environ, "IN": str(tmp_path)}
        environment.pop("PROMETHEUS_MULTIPROC_DIR", None)
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        return process, Path(process.stdout.readline().strip())

    (killed, left), (living, used) = start(), start()
    killed.kill()
    killed.communicate()
    third, own = start()
    assert sorted(tmp_path.iterdir()) == sorted([used, own])
    assert left != used
    for process in (living, third):
        process.communicate("\n")
