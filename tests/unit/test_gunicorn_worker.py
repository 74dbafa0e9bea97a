"""What gunicorn does by the classes of the service; tests/live/test_server.py has it running."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from app.gunicorn_worker import Logger
from app.logs import configuration

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("accesslog", "prepared"), [(None, False), ("-", True)])
def test_an_access_log_is_prepared_only_where_it_is_written(
    accesslog: str | None, *, prepared: bool
) -> None:
    logger = Logger.__new__(Logger)  # without `setup`, which changes the logging of this process
    logger.cfg = Config()
    logger.cfg.set("logconfig_dict", configuration("text"))
    logger.cfg.set("accesslog", accesslog)
    assert logger.access_log_enabled is prepared


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WEB_CONCURRENCY", "0"),
        ("PORT", "http"),
        ("PORT", "65536"),
        ("BLOGSEARCH_SHARDS", "many"),
    ],
)
def test_an_invalid_variable_is_named(variable: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--check-config", "app:create_app()"],
        cwd=REPOSITORY,
        env={**os.environ, variable: value},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {variable}: must be a whole number from")
    assert "Traceback" not in done.stderr
