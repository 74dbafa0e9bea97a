"""Settings: read once, typed, with complaints that a person can act on."""

import pytest

from app.errors import BadSettings
from app.settings import Settings, load_settings


def test_every_setting_says_what_it_does() -> None:
    silent = [name for name, field in Settings.model_fields.items() if not field.description]
    assert silent == []


def test_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_INDEX", "notes")
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9299")
    settings = load_settings()
    assert settings.index == "notes"
    assert settings.elasticsearch_url == "http://127.0.0.1:9299"


def test_every_wrong_setting_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_STRATEGY", "magic")
    monkeypatch.setenv("BLOGSEARCH_SHARDS", "many")
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert "BLOGSEARCH_STRATEGY" in str(raised.value)
    assert "'magic'" in str(raised.value)
    assert "BLOGSEARCH_SHARDS" in str(raised.value)


def test_a_secret_is_not_repeated_in_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_SHARDS", "0")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "hidden-key")
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert "hidden-key" not in str(raised.value)


def test_a_misspelt_setting_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BLOGSEARCH_STRATEGIE", "blended")
    load_settings()
    assert "BLOGSEARCH_STRATEGIE is not a setting" in caplog.text
    assert "did you mean BLOGSEARCH_STRATEGY?" in caplog.text
