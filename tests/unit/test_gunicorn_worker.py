"""What gunicorn does by the classes of the service; tests/live/test_server.py has it running."""

import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from app.gunicorn_worker import Logger
from app.logs import configuration


@pytest.mark.parametrize(("accesslog", "prepared"), [(None, False), ("-", True)])
def test_an_access_log_is_prepared_only_where_it_is_written(
    accesslog: str | None, *, prepared: bool
) -> None:
    logger = Logger.__new__(Logger)  # without `setup`, which changes the logging of this process
    logger.cfg = Config()
    logger.cfg.set("logconfig_dict", configuration("text"))
    logger.cfg.set("accesslog", accesslog)
    assert logger.access_log_enabled is prepared
