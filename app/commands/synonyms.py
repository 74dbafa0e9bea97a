"""`blogsearch synonyms`: check, convert, load, list and remove rule files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from analyzers.languages import LANGUAGES
from analyzers.rules.compile import Rules, terms_of
from analyzers.rules.compile import check as check_rules
from analyzers.rules.formats import NotConvertible, converted
from app.commands.runs import (
    after_swap,
    progress,
)
from app.commands.tools import (
    UNCHANGED,
    CommandGroup,
    Tools,
    pass_tools,
    report,
    stop_on_errors,
)
from app.golden import gated
from app.synonyms import OLD, Loaded, all_files, load, remove, used_files
from indexer.generations import live as live_generation

_SHOWN = 10  # rules and words that are printed; --json has all

_files = click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))


@click.group(cls=CommandGroup)
def synonyms() -> None:
    """Manage the synonym rule files.

    \b
    blogsearch synonyms check my.synonyms                     report its errors; changes nothing
    blogsearch synonyms convert wn_s.pl > my.synonyms         make a rule file of another format
    blogsearch synonyms load my.synonyms                      make it live; searches go on
    blogsearch synonyms list
    blogsearch synonyms remove my
    """


@synonyms.command("check", exit_codes={1: "there are errors", 3: "there are warnings only"})
@_files
@pass_tools
def check_synonyms(tools: Tools, files: tuple[Path, ...]) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    The files are checked together with those in use; without FILE, those in use are checked.
    Neither Elasticsearch nor Redis is needed.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --json *.synonyms
    blogsearch synonyms check
    """
    used = used_files(tools.settings)
    _, findings = check_rules(files or used, used, LANGUAGES[tools.settings.language])
    report(files or used, findings, tools.output)


@synonyms.command("convert")
@click.argument("file", type=click.File("rb"))
@pass_tools
def convert_synonyms(tools: Tools, file: BinaryIO) -> None:
    """Print the synonyms of FILE as rules, one a line: WordNet's `wn_s.pl`, or JSON of
    Elasticsearch (a synonyms set or the settings of an index) or Solr (managed synonyms). A text
    file of Solr or Elasticsearch is a rule file already.

    \b
    blogsearch synonyms convert wn_s.pl > wordnet.synonyms
    curl …/_synonyms/my-set | blogsearch synonyms convert - > my.synonyms
    """
    try:
        rules = converted(file.read().decode("utf-8-sig"))
    except NotConvertible as error:
        raise click.ClickException(f"{file.name} {' '.join(error.args)}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{file.name} is not UTF-8. Save it as UTF-8.") from None
    tools.output.say("\n".join(rules))
    tools.output.result({"rules": rules})


@synonyms.command("load", exit_codes=UNCHANGED)
@_files
@click.option("--force", is_flag=True, help="Also if a golden search breaks.")
@pass_tools
def load_synonyms(tools: Tools, files: tuple[Path, ...], force: bool) -> None:
    """Check FILE..., make an index with them live, and store them in the synonyms folder.

    The new index is built from the posts of the live one. Searches go on, and a failed check or
    build changes nothing. Without FILE, the files of the folder go live, for instance after a
    change of BLOGSEARCH_SYNONYMS_WITHOUT. What changed is printed, and how to undo it.

    \b
    blogsearch synonyms load my.synonyms
    blogsearch synonyms load
    """
    with progress(tools.output) as on_progress:
        gate = partial(gated, client=tools.elastic, settings=tools.settings, force=force)
        loaded = load(tools.settings, tools.elastic, files, on_progress, tools.publish, gate)
    stop_on_errors(loaded.findings)
    undo = ["blogsearch rollback", "change the files or settings back"]
    if files:
        undo = [f"blogsearch synonyms remove {' '.join(path.stem for path in files)}"]
    _report_loaded(tools, loaded, undo)


@synonyms.command("list")
@pass_tools
def list_synonyms(tools: Tools) -> None:
    """List the rule files in reading order, and whether the live index has their rules.

    \b
    blogsearch synonyms list
    blogsearch synonyms list --json
    """
    used = used_files(tools.settings)
    live = live_generation(tools.elastic, tools.settings.index)
    wanted = (Rules(used).digest, tools.settings.language)
    current = live is not None and (live.rules, live.language) == wanted
    rows = [
        (path.name, len(Rules([path]).rules), path in used) for path in all_files(tools.settings)
    ]
    output = tools.output
    output.result(
        {
            "folder": str(tools.settings.synonyms_dir),
            "live": live.name if live else None,
            "current": current,
            "files": [dict(zip(("name", "rules", "used"), row, strict=True)) for row in rows],
        }
    )
    unused = "not used: BLOGSEARCH_SYNONYMS_WITHOUT or BLOGSEARCH_LANGUAGE"
    noted = [(name, f"{count:,}", "" if is_used else unused) for name, count, is_used in rows]
    output.table(("file", "rules", ""), noted)
    if live is None:
        output.say("There is no index yet; `blogsearch reindex` will build one with these rules.")
    elif current:
        output.say(f"The live index {live.name} has these rules.")
    else:
        output.say(
            f"The live index {live.name} has other rules or another language; "
            "`blogsearch synonyms load` makes these live."
        )


@synonyms.command("remove", exit_codes=UNCHANGED)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@pass_tools
def remove_synonyms(tools: Tools, names: tuple[str, ...]) -> None:
    """Make an index without the rule files NAME... live, and rename the files to `….old`.

    To leave out a file that comes with blogsearch, use BLOGSEARCH_SYNONYMS_WITHOUT and
    `synonyms load` instead: an update would restore it.

    \b
    blogsearch synonyms remove my
    """
    with progress(tools.output) as on_progress:
        loaded = remove(tools.settings, tools.elastic, names, on_progress, tools.publish)
    _report_loaded(tools, loaded, [])


def _report_loaded(tools: Tools, loaded: Loaded, undo: Sequence[str]) -> None:
    output, built = tools.output, loaded.built
    if loaded.kept:
        undo = [f"mv {path}{OLD} {path}" for path in loaded.kept] + ["blogsearch synonyms load"]
    words = list(dict.fromkeys(terms_of([*loaded.added, *loaded.gone])))
    output.result(
        {
            "index": built.index if built else None,
            "added": loaded.added,
            "gone": loaded.gone,
            "words": words,
            "undo": undo,
        }
    )
    if built is not None:
        output.say(f"{built.index} is live with the rules: {built.counts}.")
        for sign, what, rules in (("+", "added", loaded.added), ("-", "gone", loaded.gone)):
            if rules:
                output.say(f"{len(rules):,} rules {what}, as they take effect:")
                output.say("\n".join(f"  {sign} {rule}" for rule in _first(rules)))
        if words:
            output.say(f"Words: {', '.join(_first(words))}.")
        output.say(f"To undo it: {'; '.join(undo)}")
        after_swap(tools)
    elif live_generation(tools.elastic, tools.settings.index) is None:
        output.say("Done. There is no index yet; `blogsearch reindex` will build one.")
    else:
        output.say("Done. The live index has these rules already.")


def _first(texts: Sequence[str]) -> list[str]:
    more = [f"… {len(texts) - _SHOWN:,} more: --json"] if len(texts) > _SHOWN else []
    return [*texts[:_SHOWN], *more]
