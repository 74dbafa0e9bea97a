"""`blogsearch synonyms`: check, convert, load, list and remove rule files."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from analyzers.languages import LANGUAGES
from analyzers.lint import check as check_rules
from analyzers.rules.compile import Rules, terms_of
from analyzers.rules.formats import NotConvertible, converted
from app.commands.runs import (
    Output,
    after_swap,
    output_options,
    progress,
)
from app.commands.tools import (
    CommandGroup,
    Tools,
    json_option,
    pass_tools,
    print_json,
    print_table,
    report,
    stop_on_errors,
    stop_on_sigterm,
)
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


@synonyms.command("check")
@_files
@output_options
@pass_tools
def check_synonyms(tools: Tools, files: tuple[Path, ...], as_json: bool, quiet: bool) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    The files are checked together with those in use; without FILE, those in use are checked.
    Neither Elasticsearch nor Redis is needed.

    Exit code 0: no findings; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --json *.synonyms
    blogsearch synonyms check
    """
    used = used_files(tools.settings)
    _, findings = check_rules(files or used, used, LANGUAGES[tools.settings.language])
    report(files or used, findings, as_json=as_json, quiet=quiet)


@synonyms.command("convert")
@click.argument("file", type=click.File("rb"))
def convert_synonyms(file: BinaryIO) -> None:
    """Print the synonyms of FILE as rules, one a line: WordNet's `wn_s.pl`, or JSON of
    Elasticsearch (a synonyms set or the settings of an index) or Solr (managed synonyms). A text
    file of Solr or Elasticsearch is a rule file already.

    Exit code 0: done; 1: FILE has no synonyms in one of these formats; 2: it cannot be opened.

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
    click.echo("\n".join(rules))


@synonyms.command("load")
@_files
@output_options
@pass_tools
def load_synonyms(tools: Tools, files: tuple[Path, ...], as_json: bool, quiet: bool) -> None:
    """Check FILE..., make an index with them live, and store them in the synonyms folder.

    The new index is built from the posts of the live one. Searches go on, and a failed check or
    build changes nothing. Without FILE, the files of the folder go live, for instance after a
    change of BLOGSEARCH_SYNONYMS_WITHOUT. What changed is printed, and how to undo it.

    Exit code 0: done; 1: failed, nothing was changed.

    \b
    blogsearch synonyms load my.synonyms
    blogsearch synonyms load
    """
    output = Output(as_json, quiet)
    with stop_on_sigterm(), progress(output) as on_progress:
        loaded = load(tools.settings, tools.elastic, files, on_progress, tools.publish)
    stop_on_errors(loaded.findings)
    undo = ["blogsearch rollback", "change the files or settings back"]
    if files:
        undo = [f"blogsearch synonyms remove {' '.join(path.stem for path in files)}"]
    _report_loaded(tools, loaded, undo, output)


@synonyms.command("list")
@json_option
@pass_tools
def list_synonyms(tools: Tools, as_json: bool) -> None:
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
    if as_json:
        body = {
            "folder": str(tools.settings.synonyms_dir),
            "live": live.name if live else None,
            "current": current,
            "files": [dict(zip(("name", "rules", "used"), row, strict=True)) for row in rows],
        }
        print_json(body)
        return
    unused = "not used: BLOGSEARCH_SYNONYMS_WITHOUT or BLOGSEARCH_LANGUAGE"
    noted = [(name, f"{count:,}", "" if is_used else unused) for name, count, is_used in rows]
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
    built = loaded.built
    if loaded.kept:
        undo = [f"mv {path}{OLD} {path}" for path in loaded.kept] + ["blogsearch synonyms load"]
    words = list(dict.fromkeys(terms_of([*loaded.added, *loaded.gone])))
    output.result(
        {
            "index": built.index if built else None,
            "seconds": round(built.seconds, 1) if built else 0.0,
            "added": loaded.added,
            "gone": loaded.gone,
            "words": words,
            "undo": undo,
        }
    )
    if built is not None:
        output.say(
            f"{built.index} is live with the rules: {built.counts}, in {built.seconds:.1f} s."
        )
        for sign, what, rules in (("+", "added", loaded.added), ("-", "gone", loaded.gone)):
            if rules:
                output.say(f"{len(rules):,} rules {what}, as they take effect:")
                output.say("\n".join(f"  {sign} {rule}" for rule in _first(rules)))
        if words:
            output.say(f"Words: {', '.join(_first(words))}.")
        output.say(f"To undo it: {'; '.join(undo)}")
        after_swap(tools, output)
    elif live_generation(tools.elastic, tools.settings.index) is None:
        output.say("Done. There is no index yet; `blogsearch reindex` will build one.")
    else:
        output.say("Done. The live index has these rules already.")


def _first(texts: Sequence[str]) -> list[str]:
    more = [f"… {len(texts) - _SHOWN:,} more: --json"] if len(texts) > _SHOWN else []
    return [*texts[:_SHOWN], *more]
