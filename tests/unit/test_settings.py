"""Settings: read once, typed, with complaints that a person can act on."""

import json
from pathlib import Path

import pytest

from app.cache.redis_client import connect as connect_redis
from app.engines.elastic import connect
from app.errors import BadSettings
from app.settings import (
    SECRETS,
    Settings,
    environment_name,
    load_settings,
    parse_settings,
    read_site_file,
)

CASES = json.loads((Path(__file__).parents[1] / "data/unit/settings.json").read_text("utf-8"))
"""By test: its cases."""


def test_every_wrong_setting_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOGSEARCH_STRATEGY", "magic")
    monkeypatch.setenv("BLOGSEARCH_SHARDS", "many")
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert "BLOGSEARCH_STRATEGY" in str(raised.value)
    assert "'magic'" in str(raised.value)
    assert "BLOGSEARCH_SHARDS" in str(raised.value)


VALUES = [
    ("shards", "2", 2),
    ("shards", " 2\r", 2),
    ("shards", "", 1),
    ("recency", "", True),
    ("cache_ttl", "60", 60.0),
    ("recency", "off", False),
    ("recency", "ON ", True),
    ("recency", 1, True),
    ("insights_token", "one,token,with,commas", "one,token,with,commas"),
    ("synonyms_dir", "/srv/rules", Path("/srv/rules")),
]


@pytest.mark.parametrize(("name", "given", "expected"), VALUES)
def test_a_value_is_converted_to_the_type_of_its_setting(
    name: str, given: object, expected: object
) -> None:
    value = getattr(parse_settings({name: given}), name)
    assert (value, type(value)) == (expected, type(expected))


WRONG = [
    ("shards", "many"),
    ("shards", True),
    ("cache_ttl", "nan"),
    ("elasticsearch_timeout", "inf"),
    ("strategy", "magic"),
    ("recency", "perhaps"),
    ("index", "No Capitals"),
    ("index", "bl\nog"),
    ("index", "blog-previous"),
    ("index", "blog-state"),
    ("index", "blog-000001"),
    ("synonyms_dir", ""),
    ("rate_limit", "often"),
    ("cors_origins", "\udcff"),
    ("trusted_proxies", "proxy"),
    ("site_name", " "),
    ("site_url", "javascript://x/"),
]


@pytest.mark.parametrize(("name", "given"), WRONG)
def test_a_wrong_value_is_named(name: str, given: object) -> None:
    with pytest.raises(BadSettings) as raised:
        parse_settings({name: given})
    assert str(raised.value).startswith(f"{environment_name(name)}: ")
    assert repr(given) in str(raised.value)


def test_a_wrong_value_of_the_file_is_looked_for_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blogsearch.toml").write_text("[settings]\nshards = 0\nreplica = 1\n")
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert "blogsearch.toml, shards: must be a whole number, at least 1" in str(raised.value)
    assert "blogsearch.toml, replica: unknown setting (did you mean replicas?)" in str(raised.value)
    assert "BLOGSEARCH_SHARDS" not in str(raised.value)


@pytest.mark.parametrize(("text", "complaint"), CASES["a_wrong_file_is_named_in_words_of_a_user"])
def test_a_wrong_file_is_named_in_words_of_a_user(
    text: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "blogsearch.toml"
    file.write_text(text)
    with pytest.raises(BadSettings) as raised:
        read_site_file(file)
    assert complaint in str(raised.value)


def test_secrets_are_not_in_the_representation() -> None:
    hidden = {name: f"hidden-{name}-0123456789" for name in SECRETS}
    assert "hidden" not in repr(parse_settings(hidden))
    assert set(SECRETS) == {
        "elasticsearch_url",
        "elasticsearch_api_key",
        "redis_url",
        "insights_token",
        "metrics_token",
        "ping_url",
        "write_tokens",
    }


@pytest.mark.parametrize(("name", "secret"), CASES["a_secret_is_not_repeated_in_a_complaint"])
def test_a_secret_is_not_repeated_in_a_complaint(name: str, secret: str) -> None:
    with pytest.raises(BadSettings, match=environment_name(name)) as raised:
        parse_settings({name: secret})
    assert "secret" not in str(raised.value).lower()


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_may_be_in_a_file(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_bytes(b"\xef\xbb\xbfa-secret-of-this-test\r\n")
    monkeypatch.delenv(environment_name(name), raising=False)
    monkeypatch.setenv(f"{environment_name(name)}_FILE", str(file))
    assert getattr(load_settings(), name) == "a-secret-of-this-test"


@pytest.mark.parametrize("content", [None, b"\n", b"\xff\xfe"])
def test_a_secret_file_that_cannot_be_used_is_named(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    if content:
        file.write_bytes(content)
    monkeypatch.setenv("BLOGSEARCH_WRITE_TOKENS_FILE", str(file))
    with pytest.raises(BadSettings, match="BLOGSEARCH_WRITE_TOKENS_FILE"):
        load_settings()


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


@pytest.mark.parametrize(
    "url", CASES["an_invalid_url_of_elasticsearch_is_refused_without_its_password"]
)
def test_an_invalid_url_of_elasticsearch_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadSettings, match="ELASTICSEARCH_URL is not valid") as raised:
        connect(Settings(elasticsearch_url=url))
    assert "hid" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hidden@a..b/0",
        "redis://:hidden@127.0.0.1?colour=red",
        "redis://:hidden@127.0.0.1?protocol=9",
        "redis://:hidden@127.0.0.1/a",
    ],
)
def test_an_invalid_url_of_redis_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadSettings, match="REDIS_URL is not valid") as raised:
        connect_redis(url, 1.0)
    assert "hid" not in str(raised.value)
