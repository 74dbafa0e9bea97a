"""`blogsearch synonyms`: check, convert, load, list and remove rule files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click

from analyzers.lint import check as check_rules
from analyzers.rules.compile import rules_digest
from analyzers.rules.formats import NotConvertible, converted
from analyzers.rules.parse import MAX_BYTES, parse_files
from app.commands.runs import (
    Output,
    after_swap,
    output_options,
    progress,
)
from app.commands.tools import (
    CommandGroup,
    Tools,
    fail,
    json_option,
    pass_tools,
    print_findings,
    print_json,
    print_table,
    report,
    stop_on_sigterm,
)
from app.synonyms.folder import OLD, SynonymFolder, check_unique_names
from app.synonyms.loader import Loaded, load, remove
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


@synonyms.command("check")
@_files
@output_options
@pass_tools
def check_synonyms(tools: Tools, files: tuple[Path, ...], as_json: bool, quiet: bool) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    The files are checked together with those in use; a file in use with the same name counts as
    the older version. Without FILE, the files in use are checked. Neither Elasticsearch nor Redis
    is needed.

    Exit code 0: no findings; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --json *.synonyms
    blogsearch synonyms check
    """
    check_unique_names(files)
    folder = SynonymFolder.of(tools.settings)
    used = folder.used()
    result = check_rules(files or used, used, folder.language)
    report(files or used, result.findings, as_json=as_json, quiet=quiet, unlisted=result.unlisted)


@synonyms.command("convert")
@click.argument("file", type=click.File("rb"))
@json_option
def convert_synonyms(file: BinaryIO, as_json: bool) -> None:
    """Print the synonyms of FILE as rules, one a line: WordNet's `wn_s.pl`, or JSON of
    Elasticsearch (a synonyms set or the settings of an index) or Solr (managed synonyms).

    A text file of Solr or Elasticsearch is a rule file already. Of WordNet, each word is taken in
    its most frequent meaning.

    Exit code 0: done; 1: FILE has no synonyms in one of these formats; 2: it cannot be opened.

    \b
    blogsearch synonyms convert wn_s.pl > wordnet.synonyms
    curl …/_synonyms/my-set | blogsearch synonyms convert - > my.synonyms
    """
    raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise click.ClickException(f"{file.name} is larger than {MAX_BYTES // 2**20} MiB.")
    try:
        rules = converted(raw.decode("utf-8-sig"))
    except NotConvertible as error:
        raise click.ClickException(f"{file.name} {' '.join(error.args)}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{file.name} is not UTF-8. Save it as UTF-8.") from None
    if as_json:
        print_json(rules)
        return
    click.echo(f"# Made of {Path(file.name).name} by `blogsearch synonyms convert`.")
    for rule in rules:
        click.echo(rule)


@synonyms.command("load")
@_files
@output_options
@pass_tools
def load_synonyms(tools: Tools, files: tuple[Path, ...], as_json: bool, quiet: bool) -> None:
    """Check FILE..., make an index with them live, and store them in the synonyms folder.

    The new index is built from the posts of the live one, verified and swapped in. Searches go on,
    and posts written meanwhile are included. A failed check or build changes nothing. Without
    FILE, the files of the folder go live, for instance after a change of
    BLOGSEARCH_SYNONYMS_WITHOUT. What changed is printed, and how to undo it.

    Exit code 0: done; 1: failed, nothing was changed.

    \b
    blogsearch synonyms load my.synonyms
    blogsearch synonyms load
    """
    output = Output(as_json, quiet)
    with stop_on_sigterm(), progress(output) as on_progress:
        loaded = load(tools.settings, tools.elastic, files, on_progress, tools.publish)
    checked = loaded.checked
    if checked and checked.rules is None:
        fail(checked.findings, checked.unlisted)
    print_findings(checked.findings if checked else ())
    undo = ["blogsearch rollback", "change the files or settings back"]
    if files:
        undo = [f"blogsearch synonyms remove {' '.join(path.stem for path in files)}"]
    _report_loaded(tools, loaded, undo, output)


@synonyms.command("list")
@json_option
@pass_tools
def list_synonyms(tools: Tools, as_json: bool) -> None:
    """List the rule files in reading order, and whether the live index has their rules.

    Exit code 0: done; 1: the folder cannot be read.

    \b
    blogsearch synonyms list
    blogsearch synonyms list --json
    """
    folder = SynonymFolder.of(tools.settings)
    used = folder.used()
    rows = []
    for path in folder.all():
        parsed = parse_files([path])
        errors = len(parsed.errors) + parsed.unlisted
        rows.append((path.name, len(parsed.rules), errors, path in used))
    live = live_generation(tools.elastic, tools.settings.index)
    wanted = (rules_digest(used), folder.language.name)
    current = live is not None and (live.rules, live.language) == wanted
    if as_json:
        names = ("name", "rules", "errors", "used")
        body = {
            "folder": str(folder.path),
            "live": live.name if live else None,
            "current": current,
            "files": [dict(zip(names, row, strict=True)) for row in rows],
        }
        print_json(body)
        return
    noted = []
    for name, count, invalid, is_used in rows:
        note = "" if is_used else "not used: BLOGSEARCH_SYNONYMS_WITHOUT or BLOGSEARCH_LANGUAGE"
        note = f"{invalid:,} errors; run `blogsearch synonyms check`" if invalid else note
        noted.append((name, f"{count:,}", note))
    print_table(("file", "rules", ""), noted)
    if live is None:
        click.echo("There is no index yet; `blogsearch reindex` will build one with these rules.")
    elif current:
        click.echo(f"The live index {live.name} has these rules.")
    else:
        click.echo(
            f"The live index {live.name} has other rules or another language; "
            "`blogsearch synonyms load` makes these live."
        )


@synonyms.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@output_options
@pass_tools
def remove_synonyms(tools: Tools, names: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Make an index without the rule files NAME... live, and rename the files to `….old`.

    To leave out a file that comes with blogsearch, use BLOGSEARCH_SYNONYMS_WITHOUT and
    `synonyms load` instead: an update would restore it.

    Exit code 0: done; 1: failed, nothing was changed.

    \b
    blogsearch synonyms remove my
    """
    output = Output(as_json, quiet)
    with stop_on_sigterm(), progress(output) as on_progress:
        loaded = remove(tools.settings, tools.elastic, names, on_progress, tools.publish)
    _report_loaded(tools, loaded, [], output)


def _report_loaded(tools: Tools, loaded: Loaded, undo: Sequence[str], output: Output) -> None:
    """Print what a load or a removal built, what it changed, and how to undo it: `undo`, unless
    files have a former content."""
    built = loaded.built
    if loaded.kept:
        undo = [f"mv {path}{OLD} {path}" for path in loaded.kept] + ["blogsearch synonyms load"]
    body: dict[str, Any] = {
        "index": built.index if built else None,
        "seconds": round(built.seconds, 1) if built else 0.0,
        "added": loaded.added,
        "gone": loaded.gone,
        "words": loaded.words,
        "undo": undo,
    }
    output.result(body)
    if built is not None:
        output.say(
            f"{built.index} is live with the rules: {built.counts}, in {built.seconds:.1f} s."
        )
        for sign, what, rules in (("+", "added", loaded.added), ("-", "gone", loaded.gone)):
            if rules:
                output.say(f"{len(rules):,} rules {what}, as they take effect:")
                output.say("\n".join(f"  {sign} {rule}" for rule in _first(rules)))
        if loaded.words:
            output.say(f"Words: {', '.join(_first(loaded.words))}.")
        output.say(f"To undo it: {'; '.join(undo)}")
        after_swap(tools, output)
    elif live_generation(tools.elastic, tools.settings.index) is None:
        output.say("Done. There is no index yet; `blogsearch reindex` will build one.")
    else:
        output.say("Done. The live index has these rules already.")


def _first(texts: Sequence[str]) -> list[str]:
    more = [f"… {len(texts) - _SHOWN:,} more: --json"] if len(texts) > _SHOWN else []
    return [*texts[:_SHOWN], *more]
