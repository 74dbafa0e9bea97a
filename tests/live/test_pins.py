"""Pinned results on real engines: which posts come, in which order, and the commands."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.errors import Conflict
from app.search.pins import PinStore
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from indexer.runs.build import IndexSettings, rebuild
from indexer.store.state import Lock
from tests.conftest import Run
from tests.waiting import wait_until

Json = dict[str, Any]

POSTS = {
    # oid: title, text, date, category
    "guide": ("A guide to the crontab", "Cron jobs run at night.", "2020-01-01", "tools"),
    "old": ("Cron in 2009", "Cron was different.", "2009-01-01", "tools"),
    "mail": ("Cron sends mail", "Cron jobs send mail.", "2022-01-01", "tools"),
    "start": ("Start here", "What this blog is about.", "2018-01-01", "about"),
    "python": ("Python at work", "We sell shoes.", "2021-01-01", "tools"),
    "soup": ("Soup", "With leeks.", "2021-01-01", "food"),
}


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    """An alias with the posts, for all tests of this module."""
    return module_index(
        RawPost(Origin("test"), oid, title, f"<p>{text}</p>", pub_date=day, categories=(category,))
        for oid, (title, text, day, category) in POSTS.items()
    )


@pytest.fixture
def settings(engine_settings: Settings, elastic: Elasticsearch, index: str) -> Iterator[Settings]:
    """Settings for the posts, without any pins."""
    yield replace(engine_settings, index=index)
    PinStore(elastic, index).change(lambda _: {})


@pytest.fixture
def run(run: Run, settings: Settings) -> Run:
    return partial(run, settings=settings)


@pytest.fixture
def pin(elastic: Elasticsearch, settings: Settings) -> Callable[..., FlaskClient]:
    """Stores rules, and returns a client of a service that has just started."""

    def save(*lines: str) -> FlaskClient:
        text = "\n".join(lines)
        PinStore(elastic, settings.index).change(lambda _: {"my.pins": text})
        # Without Redis: no answer of another set of rules is kept.
        return create_app(replace(settings, redis_url="")).test_client()

    return save


def _search(client: FlaskClient, q: str, **parameters: str) -> Json:
    answer: Json = client.get("/search", query_string={"q": q, **parameters}).get_json()
    assert "error" not in answer
    return answer


def _oids(answer: Json) -> list[str]:
    return [hit["oid"] for hit in answer["hits"]]


def test_pinned_posts_come_first_in_their_order(pin: Callable[..., FlaskClient]) -> None:
    client = pin("cron => start, guide")
    answer = _search(client, "cron")
    assert _oids(answer)[:2] == ["start", "guide"]
    assert sorted(_oids(answer)) == ["guide", "mail", "old", "start"]
    assert answer["count"] == 4
    assert [hit.get("pinned", False) for hit in answer["hits"]] == [True, True, False, False]
    assert all(hit["score"] < 1000 for hit in answer["hits"])
    assert "missing" not in answer["hits"][0]
    assert answer["tier"] == "all words"
    assert _oids(_search(client, "crontab")) == ["guide"]


def test_a_post_that_never_comes_is_not_counted(pin: Callable[..., FlaskClient]) -> None:
    client = pin("cron => -old, -soup", "python => -python")
    assert set(_oids(_search(client, "cron"))) == {"guide", "mail"}
    assert _search(client, "cron")["count"] == 2
    assert _search(client, "cron", sort="newest")["count"] == 2
    assert _search(client, "python")["count"] == 0
    assert "old" in _oids(_search(client, "cron 2009"))


def test_pages_have_every_post_once(pin: Callable[..., FlaskClient]) -> None:
    client = pin("cron => start, mail")
    pages = [_search(client, "cron", size="1", page=str(page)) for page in range(1, 6)]
    assert [_oids(page) for page in pages][:2] == [["start"], ["mail"]]
    assert sorted(oid for page in pages for oid in _oids(page)) == ["guide", "mail", "old", "start"]
    assert {page["count"] for page in pages} == {4}


def test_quoted_excluded_and_corrected_words(pin: Callable[..., FlaskClient]) -> None:
    client = pin("cron jobs => start", "cron * => soup", "python => guide")
    assert _oids(_search(client, '"cron jobs"'))[:2] == ["start", "soup"]
    assert _oids(_search(client, "cron jobs -leeks"))[0] == "start"
    assert "soup" not in _oids(_search(client, "cron jobs -leeks"))
    corrected = _search(client, "pythn")
    assert _oids(corrected) == ["guide", "python"]
    assert corrected["corrected"]["to"] == "python"
    assert _oids(_search(client, "pythn", typos="off")) == []
    client = pin("imprint => start", "zzyzx * => start")
    answer = _search(client, "imprint")
    assert (_oids(answer), answer["count"], answer["tier"]) == (["start"], 1, None)
    # The pinned post does not keep the search from finding posts with only one of the words.
    assert set(_oids(_search(client, "zzyzx leeks"))) == {"start", "soup"}


def test_filters_apply_to_pinned_posts(pin: Callable[..., FlaskClient]) -> None:
    client = pin("cron => start, guide")
    assert _oids(_search(client, "cron", category="about")) == ["start"]
    assert _oids(_search(client, "cron", since="2020-01-01"))[0] == "guide"
    assert _oids(_search(client, "cron", category="food")) == []
    assert _oids(_search(client, "cron", sort="newest")) == ["mail", "guide", "old"]


def test_debug_search_names_the_rule(pin: Callable[..., FlaskClient]) -> None:
    client = pin("# pins", "cron => start, -old")
    _search(client, "python")  # the first search of a process reads the rules
    answer = _search(client, "cron", **{"debug-search": "requests"})
    debug = answer["debug"]
    assert debug["pins"] == ["my.pins:2"]
    assert debug["hits"][0]["pinned"]
    assert [hit["pinned"] for hit in debug["hits"]] == [True, False, False]
    assert debug["hits"][0]["score"] == answer["hits"][0]["score"]
    for hit in debug["hits"][1:]:
        assert sum(part["score"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=0.01)
    assert len(debug["requests"]) == 1


def test_loading_and_removing_make_cached_answers_stale(
    run: Run, settings: Settings, tmp_path: Path
) -> None:
    client = create_app(settings).test_client()
    file = tmp_path / "launch.pins"
    file.write_text("python => start\n")
    assert _oids(_search(client, "python")) == ["python"]

    loaded = run("pins", "load", file)
    assert loaded.exit_code == 0, loaded.output
    assert _oids(_search(client, "python")) == ["start", "python"]
    wait_until(lambda: client.get("/search?q=python").headers["X-Cache"] == "HIT")
    searched = json.loads(run("search", "python", "--json").stdout)
    assert _oids(searched) == ["start", "python"]

    assert run("pins", "list").stdout == "# launch.pins\npython => start\n"

    assert run("pins", "remove", "launch").exit_code == 0
    assert _oids(_search(client, "python")) == ["python"]
    missing = run("pins", "remove", "launch")
    assert missing.exit_code == 1
    assert "launch" in missing.output


def test_a_new_generation_of_the_index_keeps_the_pins(
    elastic: Elasticsearch, pin: Callable[..., FlaskClient], settings: Settings
) -> None:
    client = pin("cron => start")
    with Lock(elastic, settings.index, "test") as lock:
        rebuild(elastic, lock, settings.index, IndexSettings(NO_RULES, 1, 0))
    assert _oids(_search(client, "cron"))[0] == "start"


def test_a_change_in_between_is_a_conflict_and_not_lost(
    elastic: Elasticsearch, settings: Settings
) -> None:
    store = PinStore(elastic, settings.index)

    def interrupted(files: Mapping[str, str]) -> Mapping[str, str]:
        store.change(lambda stored: {**stored, "other.pins": "cron => start"})
        return {**files, "my.pins": "python => start"}

    with pytest.raises(Conflict):
        store.change(interrupted)
    assert dict(store.texts()) == {"other.pins": "cron => start"}
