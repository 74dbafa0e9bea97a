"""Settings: read once, typed, with complaints that a person can act on."""

from dataclasses import fields
from pathlib import Path

import pytest

from app.errors import BadSettings
from app.settings import SECRETS, Settings, environment_name, load_settings, parse_settings


def test_every_setting_says_what_it_does() -> None:
    silent = [each.name for each in fields(Settings) if not each.metadata["description"]]
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


VALUES = [
    ("shards", "2", 2),
    ("shards", 2, 2),
    ("cache_ttl", "60", 60.0),
    ("recency", "off", False),
    ("recency", "ON", True),
    ("recency", False, False),
    ("recency", "0", False),
    ("max_rejects", 5, "5"),
    ("synonyms_dir", "/srv/rules", Path("/srv/rules")),
]


@pytest.mark.parametrize(("name", "given", "expected"), VALUES)
def test_a_value_is_converted_to_the_type_of_its_setting(
    name: str, given: object, expected: object
) -> None:
    found = getattr(parse_settings({name: given}), name)
    assert (found, type(found)) == (expected, type(expected))


WRONG = [
    ("shards", "many", "must be a whole number, at least 1, at most 64 (it is 'many')"),
    ("shards", "65", "must be a whole number, at least 1, at most 64 (it is '65')"),
    ("shards", True, "must be a whole number, at least 1, at most 64 (it is True)"),
    ("cache_ttl", "0", "must be a number, more than 0, at most 2592000 (it is '0')"),
    ("fetch_timeout", "inf", "must be a number, more than 0 (it is 'inf')"),
    ("strategy", "magic", "must be one of blended, fallback (it is 'magic')"),
    ("recency", "perhaps", "must be on or off (it is 'perhaps')"),
    ("index", "blog\n", "must be lower-case letters"),
    ("synonyms_dir", ["a"], "must be a string (it is ['a'])"),
    ("rate_limit", "often", "must be a limit such as `60/minute` (it is 'often')"),
    ("trusted_proxies", "proxy", "'proxy' does not appear to be an IPv4 or IPv6 network"),
    ("cache_serializer", "pickle", "unknown serializer 'pickle'"),
]


@pytest.mark.parametrize(("name", "given", "complaint"), WRONG)
def test_a_wrong_value_is_told_what_it_must_be(name: str, given: object, complaint: str) -> None:
    with pytest.raises(BadSettings) as raised:
        parse_settings({name: given})
    assert str(raised.value).startswith(f"{environment_name(name)}: {complaint}")


def test_secrets_are_not_in_the_representation() -> None:
    hidden = {name: f"hidden-{name}-0123456789" for name in SECRETS}
    assert "hidden" not in repr(parse_settings(hidden))
    assert set(SECRETS) == {
        "elasticsearch_url",
        "elasticsearch_api_key",
        "redis_url",
        "cache_secret",
        "insights_token",
        "write_tokens",
    }


def test_every_setting_with_a_pattern_is_among_them() -> None:
    found = {
        environment_name(each.name)
        for each in fields(Settings)
        if any(note.pattern for note in getattr(each.type, "__metadata__", ()))
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
    assert found == "a-secret-of-this-test"


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
