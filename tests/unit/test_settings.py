"""Settings: read once, typed, with complaints that a person can act on."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.errors import BadSettings
from app.settings import Settings, environment_name, load_settings


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


PATTERNS = [
    ("BLOGSEARCH_INDEX", "No Capitals", "lower-case letters"),
    ("BLOGSEARCH_MAX_REJECTS", "ten", "a share such as `10%`"),
    ("BLOGSEARCH_FETCH_USER_AGENT", "böt", "printable ASCII"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), PATTERNS)
def test_a_value_of_a_wrong_form_is_told_the_form(
    name: str, value: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=f"{name}: must be {wanted}") as raised:
        load_settings()
    assert repr(value) in str(raised.value)


def test_every_setting_with_a_pattern_is_among_them() -> None:
    found = {
        environment_name(name)
        for name, field in Settings.model_fields.items()
        if any(getattr(each, "pattern", None) for each in field.metadata)
    }
    assert found == {name for name, _, _ in PATTERNS}


def test_settings_made_in_code_ignore_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_INDEX", "notes")
    assert Settings().index == "blog"


def test_a_secret_is_not_repeated_in_a_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_SHARDS", "0")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "hidden-key")
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert "hidden-key" not in str(raised.value)


def test_a_url_of_a_wrong_type_is_not_repeated_either(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REDIS_URL", raising=False)
    Path("blogsearch.toml").write_text('[settings]\nredis_url = ["redis://:hidden@host/0"]\n')
    with pytest.raises(BadSettings, match="REDIS_URL") as raised:
        load_settings()
    assert "hidden" not in str(raised.value)


def test_a_misspelt_setting_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BLOGSEARCH_STRATEGIE", "blended")
    load_settings()
    assert "BLOGSEARCH_STRATEGIE is not a setting" in caplog.text
    assert "did you mean BLOGSEARCH_STRATEGY?" in caplog.text


SECRET_FIELDS = [
    ("ELASTICSEARCH_URL", "elasticsearch_url"),
    ("ELASTICSEARCH_API_KEY", "elasticsearch_api_key"),
    ("REDIS_URL", "redis_url"),
    ("BLOGSEARCH_CACHE_SECRET", "cache_secret"),
    ("BLOGSEARCH_WRITE_TOKENS", "write_tokens"),
]


@pytest.mark.parametrize(("name", "field"), SECRET_FIELDS)
def test_a_secret_may_be_in_a_file(
    name: str, field: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text("a-secret-of-this-test\n")
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(f"{name}_FILE", str(file))
    found = getattr(load_settings(), field)
    shown = found.get_secret_value() if isinstance(found, SecretStr) else found
    assert shown == "a-secret-of-this-test"


@pytest.mark.parametrize("problem", ["missing", "empty", "binary", "both"])
def test_a_secret_file_that_cannot_be_used_is_named(
    problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    if problem != "missing":
        file.write_bytes({"empty": b"\n", "binary": b"\xff\xfe"}.get(problem, b"x" * 20))
    if problem == "both":
        monkeypatch.setenv("BLOGSEARCH_WRITE_TOKENS", "another-long-token")
    monkeypatch.setenv("BLOGSEARCH_WRITE_TOKENS_FILE", str(file))
    with pytest.raises(BadSettings, match="BLOGSEARCH_WRITE_TOKENS_FILE") as raised:
        load_settings()
    assert "xxx" not in str(raised.value)
    assert "another-long-token" not in str(raised.value)


def test_a_file_without_certificates_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    for content in (None, "no certificate"):
        if content:
            file.write_text(content)
        monkeypatch.setenv("BLOGSEARCH_CA_FILE", str(file))
        with pytest.raises(BadSettings, match=r"BLOGSEARCH_CA_FILE: .*certificates"):
            load_settings()
