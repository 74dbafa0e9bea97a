"""`blogsearch synonyms`: list, check, preview, load and remove, without interrupting searches."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.insights.counts import Counts
from app.search.request import SearchRequest
from app.settings import Settings
from indexer.build.builder import IndexSettings, reindex
from indexer.normalise import documents
from indexer.records import Document, Origin, RawPost
from indexer.state import state_index
from indexer.write.live import Write, put
from tests.tcp import forward, listening
from tests.waiting import wait_until

POSTS = {
    "ml": "An ML model in ten lines",
    "learning": "We use machine learning for everything",
    "postgres": "Backups in Postgres",
    "postgresql": "Vacuum in PostgreSQL",
    "other": "Of cabbages and kings",
}

Run = Callable[..., Result]


def _post(oid: str, text: str) -> RawPost:
    return RawPost(Origin("test"), oid, f"Post {oid}", f"<p>{text}</p>", pub_date="2024-01-01")


def _posts(filler: int) -> list[RawPost]:
    many = (_post(f"filler-{n}", f"filler number {n}") for n in range(filler))
    return [*(_post(oid, text) for oid, text in POSTS.items()), *many]


@pytest.fixture
def live(elastic: Elasticsearch, alias: str) -> str:
    reindex(elastic, alias, _posts(20), IndexSettings(NO_RULES, 1, 0), pytest.fail)
    return alias


@pytest.fixture(scope="module")
def shared_live(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index(_posts(300))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms"
    path.mkdir()
    return path


@pytest.fixture
def settings(engine_settings: Settings, live: str, folder: Path) -> Settings:
    return replace(engine_settings, index=live, synonyms_dir=folder)


@pytest.fixture
def run(run: Run) -> Run:
    """Runs `blogsearch synonyms WORD…`."""
    return partial(run, "synonyms")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.synonyms"
    path.write_text("machine learning, ml\npostgres, postgresql\n")
    return path


def _found(elastic: Elasticsearch, alias: str, text: str) -> set[str]:
    answer = elastic.search(index=alias, query={"match_phrase": {"text": text}})
    return {hit["_source"]["oid"] for hit in answer["hits"]["hits"]}


def _generation(elastic: Elasticsearch, alias: str) -> str:
    (name,) = elastic.indices.get_alias(name=alias)
    return str(name)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _temporary(elastic: Elasticsearch, alias: str) -> list[str]:
    return list(elastic.indices.get(index=f"{alias}-preview-*"))


class TestWhatChangesNothing:
    """Commands that only read share an index."""

    @pytest.fixture
    def live(self, shared_live: str) -> str:
        return shared_live

    def test_a_file_that_fails_the_check_changes_nothing(
        self, elastic: Elasticsearch, live: str, run: Run, folder: Path, mine: Path
    ) -> None:
        (folder / "mine.synonyms").write_text("a, b\n")
        mine.write_text("machine learning, ml\n@@@ => foo\n")
        failed = run("load", mine)
        assert failed.exit_code == 1
        assert "mine.synonyms:2: error" in failed.output
        assert (folder / "mine.synonyms").read_text() == "a, b\n"
        assert _names(folder) == ["mine.synonyms"]
        assert _generation(elastic, live) == f"{live}-000001"

    def test_the_exit_code_of_check_depends_on_the_findings(
        self, run: Run, mine: Path, folder: Path
    ) -> None:
        assert run("check", mine).exit_code == 0
        mine.write_text("going => go\n")
        warned = run("check", mine)
        assert warned.exit_code == 3
        assert "mine.synonyms:1: warning" in warned.output
        mine.write_text("going => go\nalone\n")
        failed = run("check", "--format", "json", mine)
        assert failed.exit_code == 1
        body = json.loads(failed.stdout)
        assert (body["errors"], body["warnings"]) == (1, 1)
        assert [finding["line"] for finding in body["findings"]] == [1, 2]
        assert body["findings"][0].keys() == {
            "file", "line", "severity", "code", "message", "remedy",
        }  # fmt: skip
        assert run("check", folder / "nowhere.synonyms").exit_code == 1
        misnamed = mine.rename(mine.with_suffix(".txt"))
        misnamed.write_text("postgres, postgresql\n")
        warned = run("check", misnamed)
        assert (warned.exit_code, "[file_name]" in warned.output) == (3, True)
        assert run("preview").exit_code == 2

    def test_check_without_a_file_checks_the_folder(self, run: Run, folder: Path) -> None:
        (folder / "a.synonyms").write_text("alone\n")
        checked = run("check")
        assert (checked.exit_code, "a.synonyms:1: error" in checked.output) == (1, True)
        assert "synonyms check" in run("list").output

    def test_check_counts_the_posts_of_the_live_index(self, run: Run, mine: Path) -> None:
        mine.write_text("filler => padding\n")
        checked = run("check", mine)
        assert checked.exit_code == 3
        assert "300 of 305 posts" in checked.output

    def test_preview_shows_what_would_change_and_changes_nothing(
        self,
        elastic: Elasticsearch,
        live: str,
        run: Run,
        folder: Path,
        mine: Path,
        tmp_path: Path,
    ) -> None:
        queries = tmp_path / "searches.txt"
        queries.write_text("ml\n\ncabbages\npostgresql\nml\n" + "x" * 500 + "\n")
        shown = run("preview", mine, "--queries", queries, "--format", "json")
        assert shown.exit_code == 0, shown.output
        body = json.loads(shown.stdout)
        assert body["searches"] == 3
        changed = {change["query"]: change for change in body["changed"]}
        assert changed.keys() == {"ml", "postgresql"}
        assert {move["oid"] for move in changed["ml"]["gained"]} == {"learning"}
        text = run("preview", mine, "--queries", queries)
        assert "ml: 1 → 2 hits" in text.output
        assert "2 of 3" in text.output
        queries.write_text("\n\n")
        without = run("preview", mine, "--queries", queries)
        assert (without.exit_code, str(queries) in without.output) == (1, True)
        assert _names(folder) == []
        assert _generation(elastic, live) == f"{live}-000001"
        assert _temporary(elastic, live) == []

    def test_preview_reports_the_errors_of_a_file(self, run: Run, mine: Path) -> None:
        mine.write_text("postgres, postgresql\nalone\ngoing => go\n")
        shown = run("preview", mine)  # there are no searches either
        assert shown.exit_code == 1
        assert "mine.synonyms:2: error" in shown.output
        assert "mine.synonyms:3: warning" in shown.output
        missing = run("preview", mine.with_name("nowhere.synonyms"))
        assert (missing.exit_code, "nowhere.synonyms: error" in missing.output) == (1, True)

    def test_preview_without_redis_needs_searches(
        self, run: Run, mine: Path, settings: Settings
    ) -> None:
        shown = run("preview", mine, settings=replace(settings, redis_url=""))
        assert shown.exit_code == 1
        assert "Redis" in shown.output
        assert "--queries" in shown.output

    def test_preview_compares_the_most_frequent_searches(
        self,
        run: Run,
        mine: Path,
        settings: Settings,
        count_searches: Callable[..., Counts],
    ) -> None:
        unknown = run("preview", mine)
        assert unknown.exit_code == 1
        assert "--queries" in unknown.output
        queries = (("ml", 1), ("ml", 1), ("ml", 2), ("of kings", 1))
        count_searches(settings, *(SearchRequest(q, page) for q, page in queries))
        body = json.loads(run("preview", mine, "--format", "json").stdout)
        assert body["searches"] == 2
        assert [change["query"] for change in body["changed"]] == ["ml"]


def test_a_loaded_file_goes_live_and_is_stored(
    elastic: Elasticsearch, live: str, run: Run, folder: Path, mine: Path, settings: Settings
) -> None:
    assert _found(elastic, live, "ml") == {"ml"}
    loaded = run("load", mine)
    assert loaded.exit_code == 0, loaded.output
    assert _generation(elastic, live) == f"{live}-000002"
    assert _found(elastic, live, "ml") == {"ml", "learning"}
    assert _found(elastic, live, "machine learning") == {"ml", "learning"}
    assert _names(folder) == ["mine.synonyms"]

    again = run("load", mine)
    assert again.exit_code == 0
    assert "mine.synonyms" not in again.output
    mine.write_text(mine.read_text() + "# now with a comment\n")
    assert "mine.synonyms" in run("load", mine).output
    assert (folder / "mine.synonyms").read_text() == mine.read_text()
    assert _generation(elastic, live) == f"{live}-000003"

    listed = json.loads(run("list", "--format", "json").stdout)
    assert listed["current"] is True
    assert listed["files"] == [{"name": "mine.synonyms", "rules": 2, "errors": 0, "used": True}]

    removed = run("remove", "mine")
    assert removed.exit_code == 0, removed.output
    assert _found(elastic, live, "ml") == {"ml"}
    assert _names(folder) == []
    assert run("remove", "mine").exit_code == 1


def test_cached_results_change_with_the_rules(run: Run, mine: Path, settings: Settings) -> None:
    visitor = create_app(settings).test_client()
    assert visitor.get("/search?q=ml").get_json()["count"] == 1
    assert run("load", mine).exit_code == 0
    assert visitor.get("/search?q=ml").get_json()["count"] == 2


def test_a_failed_build_changes_nothing(
    elastic: Elasticsearch, live: str, run: Run, folder: Path, mine: Path
) -> None:
    # The build needs an alias of this name.
    elastic.indices.create(index=f"{live}-000002-building")
    assert run("load", mine).exit_code == 1
    assert _names(folder) == []
    assert _generation(elastic, live) == f"{live}-000001"


def test_files_that_the_setting_leaves_out_are_not_used(
    elastic: Elasticsearch, live: str, run: Run, mine: Path, settings: Settings
) -> None:
    assert run("load", mine).exit_code == 0
    run = partial(run, settings=replace(settings, synonyms_without="mine"))
    listed = json.loads(run("list", "--format", "json").stdout)
    assert (listed["current"], listed["files"][0]["used"]) == (False, False)
    assert "BLOGSEARCH_SYNONYMS_WITHOUT" in run("list").output
    assert run("load").exit_code == 0
    assert _found(elastic, live, "ml") == {"ml"}
    assert json.loads(run("list", "--format", "json").stdout)["current"] is True


def test_files_for_another_language_are_not_used(
    elastic: Elasticsearch, live: str, run: Run, mine: Path, settings: Settings
) -> None:
    mine.write_text("# language: english\nmachine learning, ml\n")
    assert run("load", mine).exit_code == 0
    german = partial(run, settings=replace(settings, language="german"))
    listed = json.loads(german("list", "--format", "json").stdout)
    assert (listed["current"], listed["files"][0]["used"]) == (False, False)
    refused = german("load", mine)
    assert (refused.exit_code, "BLOGSEARCH_LANGUAGE" in refused.output) == (1, True)
    assert "[other_language]" in german("check", mine).output
    mine.write_text("# language: klingon\nmachine learning, ml\n")
    assert "[unknown_language]" in run("check", mine).output


def test_load_rebuilds_the_index_in_the_language_of_the_settings(
    elastic: Elasticsearch, live: str, run: Run, settings: Settings
) -> None:
    german = replace(settings, language="german")
    assert run("load", settings=german).exit_code == 0
    assert _generation(elastic, live) == f"{live}-000002"
    tokens = elastic.indices.analyze(index=live, analyzer="blog_text", text="Häuser")["tokens"]
    assert [token["token"] for token in tokens] == ["haus"]
    assert run("load", settings=german).exit_code == 0
    assert _generation(elastic, live) == f"{live}-000002"


@pytest.fixture
def load() -> Iterator[Callable[[Callable[[int], None]], list[BaseException]]]:
    """Repeats something in threads until the test ends; returns the list of its failures."""
    stop = threading.Event()
    threads = []

    def repeat(work: Callable[[int], None]) -> list[BaseException]:
        failures: list[BaseException] = []

        def loop() -> None:
            number = 0
            while not stop.is_set():
                try:
                    work(number)
                except BaseException as error:  # noqa: BLE001  (the test asserts on it)
                    failures.append(error)
                    return
                number += 1

        threads.append(threading.Thread(target=loop, daemon=True))
        threads[-1].start()
        return failures

    yield repeat
    stop.set()
    for thread in threads:
        thread.join()


def test_searches_and_writes_continue_while_rules_are_loaded(
    elastic: Elasticsearch,
    live: str,
    run: Run,
    mine: Path,
    load: Callable[[Callable[[int], None]], list[BaseException]],
) -> None:
    written: list[str] = []
    answers: list[frozenset[str]] = []

    def search(_: int) -> None:
        answers.append(frozenset(_found(elastic, live, "ml")))
        assert elastic.count(index=live, query={"match": {"text": "filler"}})["count"] == 20

    def write(number: int) -> None:
        made = documents(_post(f"new-{number}", "written meanwhile"))
        (result,) = put(
            elastic,
            live,
            [Write(document, newest=True) for document in made if isinstance(document, Document)],
        )
        assert result.status == 201
        written.append(f"new-{number}")

    failures = [load(search), load(search), load(write)]
    wait_until(lambda: answers and written)
    loaded = run("load", mine)
    assert loaded.exit_code == 0, loaded.output
    assert _found(elastic, live, "ml") == {"ml", "learning"}
    wait_until(lambda: frozenset({"ml", "learning"}) in answers)
    assert failures == [[], [], []]
    assert set(answers) == {frozenset({"ml"}), frozenset({"ml", "learning"})}
    elastic.indices.refresh(index=live)
    for oid in list(written):
        assert elastic.exists(index=live, id=f"post:{oid}", routing=oid), oid
    assert written


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_load_changes_nothing(
    elastic: Elasticsearch,
    run: Run,
    settings: Settings,
    mine: Path,
    how: signal.Signals,
) -> None:
    live, folder = settings.index, settings.synonyms_dir
    mine.write_text("machine learning, ml\n")
    elasticsearch = urlsplit(settings.elasticsearch_url)
    address = (str(elasticsearch.hostname), elasticsearch.port or 9200)
    built, killed = threading.Event(), threading.Event()

    def hold_the_built_index(data: bytes) -> bool:
        if f"/{live}-000002/_refresh".encode() in data:
            built.set()
            killed.wait(120)
        return True

    with listening(lambda near: forward(near, address, hold_the_built_index)) as port:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("blogsearch"), "synonyms", "load", mine],
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "ELASTICSEARCH_URL": f"http://127.0.0.1:{port}",
                "BLOGSEARCH_INDEX": live,
                "BLOGSEARCH_SYNONYMS_DIR": str(folder),
            },
        )
        assert built.wait(120)
        assert list(folder.glob(".staged-*"))
        process.send_signal(how)
        killed.set()
        assert process.wait(120) != 0
    assert [path.name for path in folder.glob("*.synonyms")] == []
    assert _generation(elastic, live) == f"{live}-000001"
    assert _found(elastic, live, "ml") == {"ml"}
    # The lease of a lock that was not released is not waited for here.
    elastic.options(ignore_status=404).delete(index=state_index(live), id="lock")
    again = run("load", mine)
    assert again.exit_code == 0, again.output
    assert _names(folder) == ["mine.synonyms"]


def test_rules_that_are_live_but_cannot_be_stored_are_reported(
    run: Run, settings: Settings, folder: Path, mine: Path
) -> None:
    visitor = create_app(settings).test_client()
    assert visitor.get("/search?q=ml").get_json()["count"] == 1
    (folder / mine.name).mkdir()  # a file cannot replace it
    result = run("load", mine)
    assert result.exit_code == 1
    assert f"{settings.index}-000002" in result.output
    assert visitor.get("/search?q=ml").get_json()["count"] == 2
