"""Elasticsearch over TLS, with API keys that have the privileges of docs/elasticsearch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app import create_app
from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings
from devstack.servers import SecuredElasticsearch

TOKEN = "a-token-for-these-tests"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}

Keyed = Callable[..., Settings]


def _run(settings: Settings, *words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words], obj=Tools(settings))
    assert done.exit_code == 0, f"{words}: {done.output}"
    return done.output


def _posts(folder: Path, *titles: str) -> Path:
    """A source with posts of these titles."""
    file = folder / f"{len(list(folder.iterdir()))}.jsonl"
    file.write_text("\n".join(json.dumps({"oid": title, "title": title}) for title in titles))
    return file


def test_the_documented_privileges_suffice(keyed: Keyed, tmp_path: Path) -> None:
    rules = tmp_path / "rules.synonyms"
    rules.write_text("juggling, balls\n")
    posts = _posts(tmp_path, "juggling", "python and cms", "python")
    commands = keyed("commands", synonyms_dir=tmp_path)
    _run(commands, "reindex", posts)
    rules.write_text("juggling, balls\npython, snake\n")
    for words in (
        ("synonyms", "load", rules),
        ("synonyms", "check"),
        ("doctor",),
        ("rollback",),
        ("sync", _posts(tmp_path, "juggling", "python and cms", "python for snakes")),
        ("indices",),
        ("analyze", "running"),
        ("search", "pythn"),
    ):
        _run(commands, *words)

    service = create_app(keyed("service")).test_client()
    for path in (
        "/search?q=pythn",
        "/search?q=python+cms&debug-search",
        "/search?q=%22static+site%22+-wordpress&sort=newest",
        "/?q=python",
        "/__heartbeat__",
    ):
        answer = service.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text}"
    assert service.get("/search?q=pythn").get_json()["count"] == 2

    writer = create_app(keyed("service-with-writes", write_tokens=TOKEN)).test_client()
    for method, path, body in (
        ("PUT", "/documents/b", {"title": "Written over HTTP"}),
        ("PUT", "/documents/b/comments/1", {"comment": "Thanks"}),
        ("DELETE", "/documents/b/comments/1", None),
        ("DELETE", "/documents/b", None),
        ("POST", "/documents", {"oid": "c", "title": "C"}),
        ("POST", "/documents", {"oid": "c", "title": "D"}),
        ("GET", "/metrics", None),
    ):
        answer = writer.open(path, method=method, json=body, headers=AUTHORIZED)
        assert answer.status_code < 300, f"{method} {path}: {answer.text}"
    assert "blogsearch_posts" in writer.get("/metrics", headers=AUTHORIZED).text


def test_a_service_that_may_only_search_cannot_write(keyed: Keyed, tmp_path: Path) -> None:
    _run(keyed("commands", synonyms_dir=tmp_path), "reindex", _posts(tmp_path, "python"))
    client = create_app(keyed("service", write_tokens=TOKEN)).test_client()
    answer = client.put("/documents/b", json={"title": "T"}, headers=AUTHORIZED)
    assert answer.status_code == 503
    assert "the index privilege" in (message := answer.get_json()["error"]["message"])
    assert "write" in message


@pytest.mark.parametrize("changed", [{"ca_file": ""}, {"elasticsearch_api_key": "bm86bm8="}])
def test_a_wrong_authority_or_key_is_an_error_that_says_so(
    keyed: Keyed, changed: dict[str, Any]
) -> None:
    settings = keyed("service", **changed)
    answer = create_app(settings).test_client().get("/search?q=python")
    assert answer.status_code == 503
    done = CliRunner().invoke(main, ["doctor", "--json"], obj=Tools(settings))
    assert done.exit_code == 1
    engine = json.loads(done.stdout)["elasticsearch"]
    told = "certificate" if "ca_file" in changed else "ELASTICSEARCH_API_KEY"
    assert told in engine["seen"] + engine["remedy"]


def _back_up(secured: SecuredElasticsearch, alias: str) -> None:
    """Take a snapshot, and lose all indices, as docs/operations.md describes it."""
    repository = {"type": "fs", "settings": {"location": str(secured.snapshots)}}
    secured.admin.snapshot.create_repository(name="backup", repository=repository)
    secured.admin.snapshot.create(
        repository="backup",
        snapshot=alias,
        indices=f"{alias}-*",
        include_global_state=False,
        wait_for_completion=True,
    )
    for name in secured.admin.indices.get(index=f"{alias}-*", expand_wildcards="all"):
        secured.admin.indices.delete(index=name)


def _restore(secured: SecuredElasticsearch, alias: str) -> None:
    secured.admin.snapshot.restore(
        repository="backup",
        snapshot=alias,
        indices=f"{alias}-*",
        include_global_state=False,
        wait_for_completion=True,
    )


def test_a_snapshot_restores_posts_comments_and_generations(
    secured: SecuredElasticsearch, secured_alias: str, keyed: Keyed, tmp_path: Path
) -> None:
    """As docs/operations.md describes it, except that it is restored to where it was taken."""
    alias = secured_alias
    commands = keyed("commands", synonyms_dir=tmp_path)
    _run(commands, "reindex", "--force", _posts(tmp_path, "python"))
    _run(commands, "reindex", _posts(tmp_path, "python", "juggling"))
    client = create_app(keyed("service-with-writes", write_tokens=TOKEN)).test_client()
    comment = {"comment": "unicycles too"}
    path = "/documents/juggling/comments/c"
    assert client.put(path, json=comment, headers=AUTHORIZED).status_code == 201
    assert client.delete("/documents/python", headers=AUTHORIZED).status_code == 200
    before = _run(commands, "indices")

    _back_up(secured, alias)
    assert client.get("/search?q=unicycles").status_code == 503
    _restore(secured, alias)

    assert _run(commands, "indices") == before
    assert [hit["oid"] for hit in client.get("/search?q=unicycles").get_json()["hits"]] == [
        "juggling"
    ]
    assert client.get("/search?q=python").get_json()["count"] == 0
    _run(commands, "rollback")
    # The state index knows what was there at the swap, so it is deleted in the former one, too.
    assert client.get("/search?q=python").get_json()["count"] == 0
    _run(commands, "reindex", "--force", _posts(tmp_path, "python"))
    assert f"{alias}-000003" in _run(commands, "indices")
