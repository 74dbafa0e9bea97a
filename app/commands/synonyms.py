"""`blogsearch synonyms`: check, preview, load, list and remove rule files."""

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from analyzers.lint.check import check as check_files
from analyzers.lint.static import review
from app.commands.options import stoppable
from app.commands.output import console
from app.commands.reporting import display
from app.commands.synonym_report import (
    counted,
    give_up,
    queries_from,
    show_change,
    tell,
    tell_built,
)
from app.commands.tools import Tools, pass_tools
from app.synonyms.folder import SynonymFolder, check_twice
from app.synonyms.loader import Loader
from app.synonyms.preview import beside, changes
from indexer.generations import live as live_generation
from indexer.generations import require_live

WARNED = 3
"""Exit code of `check`: nothing but warnings. 2 is click's own, for a wrong command line."""

_files = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
_files_or_none = click.argument(
    "files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path)
)
_format = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")


@click.group()
def synonyms() -> None:
    """Keep the synonym rule files.

    \b
    blogsearch synonyms check my.synonyms      what is wrong with it; changes nothing
    blogsearch synonyms preview my.synonyms    which answers would change; changes nothing
    blogsearch synonyms load my.synonyms       make it live; searches go on throughout
    blogsearch synonyms list
    blogsearch synonyms remove my
    """


@synonyms.command()
@_files_or_none
@click.option("--alone", is_flag=True, help="Without the rule files that are in use already.")
@click.option("--offline", is_flag=True, help="Ask no Elasticsearch: syntax and circles only.")
@_format
@pass_tools
def check(tools: Tools, files: tuple[Path, ...], alone: bool, offline: bool, form: str) -> None:
    """Say what is wrong with FILE..., by file and line, on real analysis. Changes nothing.

    The files are checked together with those in use; one of the same name is taken for its older
    version. Without FILE, those in use are checked. A warning that you have thought about is
    silenced by a comment in the file: `# check-allow: CODE`.

    Exit code 0: nothing to say; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --format json *.synonyms
    blogsearch synonyms check
    """
    check_twice(files)
    used = SynonymFolder.of(tools.settings).used()
    files, others = files or tuple(used), [] if alone else used
    if offline:
        report = check_files(None, files, others)
    else:
        with stoppable():
            report = Loader(tools.settings, tools.elastic, tools.cache).check(files, others)
    tell(report, files, form)
    if report.errors:
        click.get_current_context().exit(1)
    if report.warnings:
        click.get_current_context().exit(WARNED)


@synonyms.command()
@_files
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Searches to try, one a line, instead of the most frequent ones.",
)
@click.option(
    "--top",
    default=100,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="How many of the most frequent searches.",
)
@_format
@pass_tools
def preview(
    tools: Tools, files: tuple[Path, ...], queries: Path | None, top: int, form: str
) -> None:
    """Show which answers FILE... would change: posts gained, lost, moved. Changes nothing.

    An index with the rules is built beside the live one, the same searches are put to both, and it
    is removed again.

    \b
    blogsearch synonyms preview my.synonyms
    blogsearch synonyms preview my.synonyms --queries searches.txt
    """
    loader = Loader(tools.settings, tools.elastic, tools.cache)
    live = require_live(tools.elastic, tools.settings.index)
    wanted = queries_from(tools, queries, top)
    report = loader.check(files, SynonymFolder.of(tools.settings).used())
    if report.rules is None:
        for finding in report.errors:
            click.echo(str(finding), err=True)
        give_up(report)
    with stoppable(), beside(tools.elastic, tools.settings.index, live.name, report.rules) as other:
        found = list(changes(tools.elastic, live.name, other, wanted, tools.settings))
    if len(found) < len(wanted):
        refused = len(wanted) - len(found)
        click.echo(f"{refused} left out: no visitor may send them (over 200 characters).", err=True)
    changed = [change for change in found if change]
    if form == "json":
        body = {"searches": len(found), "changed": [asdict(change) for change in changed]}
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
        return
    for change in changed:
        show_change(change)
    click.echo(f"{len(changed)} of {len(found)} searches would be answered otherwise.")


@synonyms.command()
@_files_or_none
@pass_tools
def load(tools: Tools, files: tuple[Path, ...]) -> None:
    """Check FILE..., make an index with them live, and keep them in the synonyms folder.

    The next generation is built from the live index's own posts beside it, verified and swapped
    in; searches go on throughout, and what is written meanwhile is in it. When a check or the
    build fails, nothing is changed. Without FILE, what is in the folder goes live, for instance
    after a change of BLOGSEARCH_SYNONYMS_WITHOUT.

    Exit code 0: done; 1: nothing was changed.

    \b
    blogsearch synonyms load my.synonyms
    blogsearch synonyms load
    """
    with stoppable(), display() as show:
        loader = Loader(tools.settings, tools.elastic, tools.cache, show.report)
        loaded = loader.load(files)
    for finding in loaded.report.findings:
        click.echo(str(finding), err=True)
    if loaded.report.rules is None:
        give_up(loaded.report)
    for name in loaded.replaced:
        click.echo(f"{name} has taken the place of the file of that name in the folder.", err=True)
    tell_built(tools, loaded.built)


@synonyms.command(name="list")
@_format
@pass_tools
def list_(tools: Tools, form: str) -> None:
    """List the rule files in the order they are read, and whether the live index has their rules.

    \b
    blogsearch synonyms list
    blogsearch synonyms list --format json
    """
    folder = SynonymFolder.of(tools.settings)
    used = set(folder.used())
    rows = [(path.name, *counted(path), path in used) for path in folder.all()]
    rules = review(folder.used()).rules
    live = live_generation(tools.elastic, tools.settings.index)
    current = bool(live and rules and live.rules == rules.digest)
    if form == "json":
        names = ("name", "rules", "errors", "used")
        body = {
            "folder": str(folder.path),
            "live": live.name if live else None,
            "current": current,
            "files": [dict(zip(names, row, strict=True)) for row in rows],
        }
        click.echo(json.dumps(body, indent=2))
        return
    table = Table("file", "rules", "", box=None, pad_edge=False)
    for name, count, errors, counts in rows:
        note = "" if counts else "left out by BLOGSEARCH_SYNONYMS_WITHOUT"
        note = f"not rules: {errors} of its lines; see `synonyms check`" if errors else note
        table.add_row(name, f"{count:,}", note)
    console().print(table)
    if live is None:
        click.echo("There is no index yet; `blogsearch reindex` will build it with these rules.")
    elif rules is None:
        click.echo("These files cannot be made live: `blogsearch synonyms check` says why.")
    elif current:
        click.echo(f"{live.name} was built with these rules.")
    else:
        click.echo(
            f"{live.name} was built with other rules: `blogsearch synonyms load` makes these live."
        )


@synonyms.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@pass_tools
def remove(tools: Tools, names: tuple[str, ...]) -> None:
    """Make an index without the rule files NAME... live, and delete them.

    A shipped file is better left out by BLOGSEARCH_SYNONYMS_WITHOUT, followed by `synonyms load`:
    the next update would bring it back.

    \b
    blogsearch synonyms remove my
    """
    with stoppable(), display() as show:
        loader = Loader(tools.settings, tools.elastic, tools.cache, show.report)
        built = loader.remove(names)
    tell_built(tools, built)
