"""`blogsearch synonyms`: check and load rule files."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from elasticsearch import ApiError, TransportError

from analyzers.languages import language_of
from analyzers.rules.compile import check as check_rules
from analyzers.rules.compile import in_effect, terms_of
from app.commands.runs import after_build, rebuild_live
from app.commands.tools import UNCHANGED, CommandGroup, Tools, pass_tools, report, stop_on_errors
from app.index.golden import require_golden
from app.index.synonyms import check_writable, index_settings, live_rules, store, used_files
from indexer.errors import IndexingError
from indexer.posts.records import quantity
from indexer.store.generations import live as live_generation
from indexer.store.retry import time_limit

_TIMEOUT = 2.0  # seconds that a check waits for the language of the index
_SHOWN = 10  # rules and words that are printed; --json has all

_file = click.Path(path_type=Path)


@click.group(cls=CommandGroup)
def synonyms() -> None:
    """Check synonym rule files, and make them live.

    \b
    blogsearch synonyms check my.synonyms                     report errors; change nothing
    blogsearch synonyms load my.synonyms                      make it live; searches go on
    """


@synonyms.command("check", exit_codes={1: "there are errors"})
@click.argument("files", metavar="[FILE]...", nargs=-1, type=_file)
@pass_tools
def check_synonyms(tools: Tools, files: tuple[Path, ...]) -> None:
    """Report errors in FILE... by file and line; change nothing.

    The files are checked together with those in use; without FILE, only those in use are checked.
    This works without Elasticsearch and Redis.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --json *.synonyms
    blogsearch synonyms check
    """
    settings = tools.settings
    with suppress(ApiError, TransportError, IndexingError), time_limit(_TIMEOUT):
        settings = tools.index_settings
    used = used_files(settings)
    _, findings = check_rules(files or used, used, language_of(settings.language))
    report(files or used, findings, tools.output)


@synonyms.command("load", exit_codes=UNCHANGED)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_file)
@click.option("--force", is_flag=True, help="Do it even if it breaks a golden search.")
@pass_tools
def load_synonyms(tools: Tools, files: tuple[Path, ...], force: bool) -> None:
    """Check FILE..., make an index with them live, and store them in the synonyms folder.

    The new index is built from the posts of the live one. Searches go on, and a failed check or
    build changes nothing. The changed rules are printed, and the commands that undo them. After a
    change in the folder itself, use `blogsearch rebuild`.

    \b
    blogsearch synonyms load my.synonyms
    """
    settings, client, output = tools.index_settings, tools.elastic, tools.output
    language = language_of(settings.language)
    rules, findings = check_rules(files, used_files(settings), language)
    stop_on_errors(findings)
    check_writable(settings.synonyms_dir)
    live = live_generation(client, settings.index)
    before = live_rules(client, live.name) if live else {}
    wanted = require_golden(index_settings(settings, rules), client, settings, force=force)
    built = rebuild_live(tools, wanted, f"synonyms load {' '.join(path.name for path in files)}")
    now = in_effect(rules.compiled.lines, rules.compiled.post_lines) if built else before
    added = [rule for rule in now if rule not in before]
    gone = [rule for rule in before if rule not in now]
    undo = store(settings.synonyms_dir, files)
    names = ", ".join(file.name for file in files)
    output.say(f"Copied to {settings.synonyms_dir}: {names}.")
    words = list(dict.fromkeys(terms_of([*added, *gone])))
    output.result(
        {
            "index": built.index if built else None,
            "added": added,
            "gone": gone,
            "words": words,
            "undo": undo,
        }
    )
    if built is None:
        state = "The live index has these rules already" if live else "There is no index yet"
        output.say(f"Done. {state}.")
        return
    after_build(tools, built)
    for sign, what, changed in (("+", "added", added), ("-", "gone", gone)):
        if changed:
            output.say(f"{quantity(len(changed), 'rule')} {what}, as they take effect:")
            output.say("\n".join(f"  {sign} {rule}" for rule in _first(changed)))
    if words:
        output.say(f"Words: {', '.join(_first(words))}.")
    output.say(f"To undo it: {'; '.join(undo)}")


def _first(texts: Sequence[str]) -> list[str]:
    more = [f"… {len(texts) - _SHOWN:,} more (--json shows them)"] if len(texts) > _SHOWN else []
    return [*texts[:_SHOWN], *more]
