"""What every command has in common: options, help, and output for scripts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.settings import Settings

Run = Callable[..., Result]
Words = tuple[str, ...]


def _commands(group: click.Group, *words: str) -> Iterator[Words]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from _commands(command, *words, name)
        else:
            yield (*words, name)


EVERY = list(_commands(main))
CALLS: dict[Words, Words] = {
    ("reindex",): ("posts.jsonl",),
    ("rebuild",): ("--force",),
    ("sync",): ("posts.jsonl",),
    ("try",): ("posts.jsonl",),
    ("init",): ("posts.jsonl", "--force"),
    ("search",): ("post",),
    ("analyze",): ("a post",),
    ("synonyms", "check"): ("my.synonyms",),
    ("synonyms", "convert"): ("set.json",),
    ("synonyms", "load"): ("my.synonyms",),
    ("golden", "add"): ("post", "/a/"),
    ("golden", "list"): (),
    ("golden", "remove"): ("post",),
    ("popularity",): ("views.csv",),
    ("pins", "load"): ("my.pins",),
    ("pins", "list"): (),
    ("pins", "remove"): ("my",),
    ("indices",): (),
    ("export",): ("exported.jsonl",),
    ("doctor",): (),
    ("rollback",): (),
}


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_has_the_options_examples_and_exit_codes(words: Words) -> None:
    text = CliRunner().invoke(main, [*words, "--help"]).output
    for expected in ("--json ", "--quiet ", f"\n  blogsearch {' '.join(words)}", "Exit code 0: "):
        assert expected in text


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_prints_one_json_value_or_nothing(
    run: Run,
    own_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
) -> None:
    not_called = {("serve",), ("fetch-model",), ("meaning",)}
    assert {*EVERY} - {*CALLS} == not_called, "a new command: add a call"
    monkeypatch.chdir(tmp_path)
    Path("posts.jsonl").write_text('{"oid": "a", "title": "A post", "url": "/a/"}\n')
    Path("set.json").write_text('{"synonyms_set": [{"synonyms": "post, article"}]}')
    Path("my.synonyms").write_text("post, article\n")
    Path("views.csv").write_text("/a/,3\n")
    Path("my.pins").write_text("post => a\n")
    Path("rules").mkdir()
    settings = replace(own_settings, synonyms_dir=Path("rules"))
    for words, arguments in CALLS.items():
        done = run(*words, *arguments, option, settings=settings)
        assert done.exit_code == 0, (words, done.output)
        if option == "--json":
            assert json.loads(done.stdout), words
        else:
            # An index that another test is just creating makes the cluster red.
            printed = [line for line in done.output.splitlines() if "cluster red" not in line]
            assert printed == [], words
