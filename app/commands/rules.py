"""`blogsearch synonyms`: check, load, list and remove files of rules."""

from dataclasses import asdict
from pathlib import Path

import click

from analyzers.languages import LANGUAGES
from analyzers.lint import check as check_rules
from analyzers.rules.compile import rules_digest
from analyzers.rules.parse import parse_files
from app.commands.runs import after_swap, display, print_stale_builds
from app.commands.tools import (
    CommandGroup,
    Tools,
    fail,
    number_option,
    pass_tools,
    print_findings,
    print_json,
    print_table,
    report,
    stop_on_sigterm,
    text_or_json,
)
from app.synonyms.folder import SynonymFolder, check_unique_names
from app.synonyms.loader import Loader
from app.synonyms.preview import Change, compare_searches, preview_index
from indexer.build.builder import Built
from indexer.generations import live as live_generation
from indexer.generations import require_live, require_schema

_SHOWN_MOVES = 10  # of each kind, per search

_files = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
_optional_files = click.argument(
    "files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path)
)
_names = click.argument("names", metavar="NAME...", nargs=-1, required=True)


@click.group(cls=CommandGroup)
def synonyms() -> None:
    """Manage the synonym rule files.

    \b
    blogsearch synonyms check my.synonyms      report its errors; changes nothing
    blogsearch synonyms preview my.synonyms    show which results would change; changes nothing
    blogsearch synonyms load my.synonyms       make it live, without interrupting searches
    blogsearch synonyms list
    blogsearch synonyms remove my
    """


@synonyms.command("check")
@_optional_files
@click.option("--alone", is_flag=True, help="Check without the rule files in use.")
@click.option("--offline", is_flag=True, help="Check without Elasticsearch: syntax and cycles.")
@text_or_json
@pass_tools
def check_synonyms(
    tools: Tools, files: tuple[Path, ...], alone: bool, offline: bool, form: str
) -> None:
    """Report errors and warnings in FILE..., by file and line. Changes nothing.

    The files are checked together with those in use; a file in use with the same name counts as
    the older version. Without FILE, the files in use are checked. A comment in a file suppresses
    warnings: `# check-ignore: CODE`.

    Exit code 0: no findings; 1: errors, the files cannot be loaded; 3: warnings only.

    \b
    blogsearch synonyms check my.synonyms
    blogsearch synonyms check --format json *.synonyms
    blogsearch synonyms check
    """
    check_unique_names(files)
    used = SynonymFolder.of(tools.settings).used()
    files, in_use = files or tuple(used), [] if alone else used
    if offline:
        language = LANGUAGES[tools.settings.language]
        result = check_rules(None, files, in_use, language=language)
    else:
        with stop_on_sigterm():
            result = Loader(tools.settings, tools.elastic, tools.cache).check(files, in_use)
    report(files, result.findings, form, result.suppressed)


@synonyms.command("preview")
@_files
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Searches to compare, one per line, instead of the most frequent ones.",
)
@number_option("--top", 100, 1, 1000, "Number of most frequent searches to compare.")
@text_or_json
@pass_tools
def preview_synonyms(
    tools: Tools, files: tuple[Path, ...], queries: Path | None, top: int, form: str
) -> None:
    """Show which results FILE... would change: posts gained, lost, moved. Changes nothing.

    A temporary index with the rules is built beside the live one, and the results of the same
    searches on both are compared.

    \b
    blogsearch synonyms preview my.synonyms
    blogsearch synonyms preview my.synonyms --queries searches.txt
    """
    check_unique_names(files)
    live = require_live(tools.elastic, tools.settings.index)
    require_schema(tools.elastic, tools.settings.index)
    loader = Loader(tools.settings, tools.elastic, tools.cache)
    with stop_on_sigterm():
        result = loader.check(files, SynonymFolder.of(tools.settings).used())
        if result.rules is None:
            fail(result.findings)
        searches = _searches_of(queries) if queries else _frequent_searches(tools, top)
        alias = tools.settings.index
        language = LANGUAGES[tools.settings.language]
        with preview_index(tools.elastic, alias, live.name, result.rules, language) as other:
            compared = list(
                compare_searches(tools.elastic, live.name, other, searches, tools.settings)
            )
    if len(compared) < len(searches):
        invalid = len(searches) - len(compared)
        click.echo(f"Left out {invalid} invalid searches (over 200 characters).", err=True)
    changed = [change for change in compared if change]
    if form == "json":
        body = {"searches": len(compared), "changed": [asdict(change) for change in changed]}
        print_json(body)
        return
    for change in changed:
        _show_change(change)
    click.echo(f"The results of {len(changed)} of {len(compared)} searches would change.")


@synonyms.command("load")
@_optional_files
@pass_tools
def load_synonyms(tools: Tools, files: tuple[Path, ...]) -> None:
    """Check FILE..., make an index with them live, and store them in the synonyms folder.

    The new index is built from the posts of the live one, verified and swapped in. Searches go on,
    and posts written meanwhile are included. A failed check or build changes nothing. Without
    FILE, the files of the folder go live, for instance after a change of
    BLOGSEARCH_SYNONYMS_WITHOUT.

    Exit code 0: done; 1: failed, nothing was changed.

    \b
    blogsearch synonyms load my.synonyms
    blogsearch synonyms load
    """
    with stop_on_sigterm(), display() as show:
        loader = Loader(tools.settings, tools.elastic, tools.cache, show.on_progress)
        loaded = loader.load(files)
    if loaded.checked.rules is None:
        fail(loaded.checked.findings)
    print_findings(loaded.checked.findings)
    for name in loaded.replaced:
        click.echo(f"Replaced {name} in the synonyms folder.", err=True)
    _report_built(tools, loaded.built)


@synonyms.command("list")
@text_or_json
@pass_tools
def list_synonyms(tools: Tools, form: str) -> None:
    """List the rule files in reading order, and whether the live index has their rules.

    \b
    blogsearch synonyms list
    blogsearch synonyms list --format json
    """
    folder = SynonymFolder.of(tools.settings)
    used = folder.used()
    rows = []
    for path in folder.all():
        rules, errors = parse_files([path])
        rows.append((path.name, len(rules), len(errors), path in used))
    digest = rules_digest(used)
    has_errors = any(row[2] for row in rows)
    live = live_generation(tools.elastic, tools.settings.index)
    wanted = (digest, tools.settings.language)
    current = live is not None and (live.rules, live.language) == wanted
    if form == "json":
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
        note = f"{invalid} invalid lines; run `blogsearch synonyms check`" if invalid else note
        noted.append((name, f"{count:,}", note))
    print_table(("file", "rules", ""), noted)
    if live is None:
        click.echo("There is no index yet; `blogsearch reindex` will build one with these rules.")
    elif has_errors and not current:
        click.echo("The files have errors: run `blogsearch synonyms check`.")
    elif current:
        click.echo(f"The live index {live.name} has these rules.")
    else:
        click.echo(
            f"The live index {live.name} has other rules or another language; "
            "`blogsearch synonyms load` "
            "makes these live."
        )


@synonyms.command("remove")
@_names
@pass_tools
def remove_synonyms(tools: Tools, names: tuple[str, ...]) -> None:
    """Make an index without the rule files NAME... live, and delete the files.

    To leave out a file that comes with blogsearch, use BLOGSEARCH_SYNONYMS_WITHOUT and
    `synonyms load` instead: an update would restore it.

    \b
    blogsearch synonyms remove my
    """
    with stop_on_sigterm(), display() as show:
        loader = Loader(tools.settings, tools.elastic, tools.cache, show.on_progress)
        built = loader.remove(names)
    _report_built(tools, built)


def _report_built(tools: Tools, built: Built | None) -> None:
    """What a load or a removal built."""
    if built is not None:
        print_stale_builds(built.stale_builds)
        click.echo(
            f"{built.index} is live with the rules: {built.counts}, in {built.seconds:.1f} s."
        )
        after_swap(tools)
    elif live_generation(tools.elastic, tools.settings.index) is None:
        click.echo("Done. There is no index yet; `blogsearch reindex` will build one.")
    else:
        click.echo("Done. The live index has these rules already.")


def _searches_of(path: Path) -> list[str]:
    lines = path.read_text("utf-8-sig", "replace").splitlines()
    searches = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not searches:
        raise click.ClickException(f"{path} has no searches: write one per line.")
    return searches


def _frequent_searches(tools: Tools, top: int) -> list[str]:
    # Requests are counted with their filters; several may be the same search.
    popular = tools.service.counts.popular(top)
    searches = list(dict.fromkeys(request.q for request, _ in popular))
    if searches:
        return searches
    reason = (
        "No searches have been counted yet"
        if tools.cache.ping() is not None
        else "The most frequent searches are counted in Redis, which does not answer"
    )
    raise click.ClickException(f"{reason}: name searches, one per line, with --queries FILE.")


def _show_change(change: Change) -> None:
    """One search: the number of hits, and the hits it would gain, lose and move."""
    click.echo(f"{change.query}: {change.before} → {change.after} hits")
    for sign, word, moves in (
        ("+", "gained", change.gained),
        ("-", "lost", change.lost),
        ("~", "moved", change.moved),
    ):
        for move in moves[:_SHOWN_MOVES]:
            ranks = " → ".join(str(rank) for rank in (move.before, move.after) if rank)
            click.echo(f"  {sign} {word} {ranks}: {move.title}")
        if len(moves) > _SHOWN_MOVES:
            click.echo(f"  {sign} {word}: {len(moves) - _SHOWN_MOVES} more")
