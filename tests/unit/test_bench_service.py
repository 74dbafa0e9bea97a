"""A bench command without an engine ends in a message."""

import click
import pytest

from bench.service import temporary_alias


def test_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELASTICSEARCH_URL", raising=False)
    with pytest.raises(click.UsageError, match="make -s services"), temporary_alias():
        pytest.fail("nothing may begin")


def test_an_engine_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9")
    with pytest.raises(click.ClickException, match="does not answer: "), temporary_alias():
        pytest.fail("nothing may begin")
