"""The language of an index: that of the settings, or else of most posts; and what is said of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from app import create_app
from app.errors import BadSettings
from app.settings import Settings, parse_settings
from indexer.store.generations import require_live
from tests.conftest import Run


def _posts(folder: Path, **numbers: int) -> Path:
    """A file with so many posts in each language; of `none` they name none."""
    file = folder / "posts.jsonl"
    tags = [tag.replace("_", "-") for tag, number in numbers.items() for _ in range(number)]
    file.write_text(
        "".join(
            json.dumps(
                {
                    "oid": f"p{number}",
                    "title": f"Os computadores {number}",
                    "text": "<p>Uma máquina de Turing.</p>",
                    **({} if tag == "none" else {"language": tag}),
                }
            )
            + "\n"
            for number, tag in enumerate(tags)
        )
    )
    return file


@pytest.mark.parametrize("command", ["reindex", "sync"])
def test_a_first_build_takes_the_language_of_most_posts(
    command: str, elastic: Elasticsearch, own_settings: Settings, run: Run, tmp_path: Path
) -> None:
    done = run(command, _posts(tmp_path, pt_BR=5, en=2))
    assert "portuguese (pt-br)" in done.stderr, done.output
    assert "2 of 7 posts are not in portuguese: en 2" in done.stderr
    assert require_live(elastic, own_settings.index).language == "portuguese"
    # The service, which has no setting either, searches it as it was built.
    client = create_app(own_settings).test_client()
    assert client.get("/search?q=computador").get_json()["count"] == 7
    again = run("rebuild")
    assert "already" in again.stdout
    assert run("sync", tmp_path / "posts.jsonl").exit_code == 0
    assert require_live(elastic, own_settings.index).language == "portuguese"


@pytest.mark.parametrize("numbers", [{"none": 4, "de": 3}, {"xx": 4}])
def test_without_a_language_that_is_known_it_is_english(
    numbers: dict[str, int],
    elastic: Elasticsearch,
    own_settings: Settings,
    run: Run,
    tmp_path: Path,
) -> None:
    done = run("reindex", _posts(tmp_path, **numbers))
    assert require_live(elastic, own_settings.index).language == "english", done.output


def test_the_setting_wins_and_doctor_says_what_is_wrong_with_it(
    elastic: Elasticsearch, own_settings: Settings, run: Run, tmp_path: Path
) -> None:
    english = replace(own_settings, language="english")
    done = run("reindex", _posts(tmp_path, de=20, en=1), settings=english)
    assert require_live(elastic, own_settings.index).language == "english"
    assert "20 of 21 posts are not in english: de 20" in done.stderr
    doctor = run("doctor", "--json", settings=english)
    check = json.loads(doctor.stdout)["language"]
    assert (check["status"], "BLOGSEARCH_LANGUAGE=german" in check["remedy"]) == ("warning", True)
    assert run("rebuild", settings=replace(own_settings, language="german")).exit_code == 0
    check = json.loads(run("doctor", "--json").stdout)["language"]
    assert check["status"] == "ok"  # one in 21 is in English


def test_try_says_the_language(own_settings: Settings, run: Run, tmp_path: Path) -> None:
    posts = _posts(tmp_path, de=5, fr=5)
    shown = run("try", posts).stdout
    assert "language of the index: german" in shown
    assert "5 of 10 posts are not in german: fr 5" in shown
    english = run("try", posts, settings=replace(own_settings, language="english")).stdout
    assert "10 of 10 posts are not in english" in english


@pytest.mark.parametrize(
    ("given", "name"),
    [("pt-BR", "portuguese"), ("de", "german"), ("zh_Hans", "chinese"), ("nb", "norwegian")],
)
def test_tags_are_names_of_languages(given: str, name: str) -> None:
    assert parse_settings({"language": given}).language == name


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(BadSettings, match="BLOGSEARCH_LANGUAGE: must be one of arabic"):
        parse_settings({"language": "klingon"})
