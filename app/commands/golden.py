"""`blogsearch golden`: manage the searches that no build may break."""

import csv
import sys
from pathlib import Path

import click
from werkzeug.datastructures import MultiDict

from app.commands.tools import UNCHANGED, CommandGroup, Tools, pass_tools, read_csv
from app.index.golden import FIRST, add_searches, as_cell, find_broken, of_cell, open_golden
from app.search.request import SearchRequest
from indexer.posts.normalise import Invalid
from indexer.store.generations import require_live

_HEADER = ["q", "address"]


@click.group(cls=CommandGroup)
def golden() -> None:
    """Manage the golden searches. A build that breaks one goes live only with --force.

    \b
    blogsearch golden add "date format" https://blog.example.org/posts/date-format/
    blogsearch golden list
    blogsearch golden list --csv > golden.csv
    blogsearch golden load golden.csv
    """


@golden.command("list", exit_codes={1: "a search does not find its post"})
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV that `load` can read.")
@pass_tools
def list_golden(tools: Tools, as_csv: bool) -> None:
    """List the golden searches and check each on the live index; --csv does not check them.

    --quiet prints only those that fail.

    \b
    blogsearch golden list --quiet
    blogsearch golden list --csv > golden.csv
    """
    alias, output = tools.settings.index, tools.output
    goldens = open_golden(tools.elastic, alias).texts()
    if as_csv:
        lines = [_HEADER, *(map(as_cell, pair) for pair in goldens.items())]
        csv.writer(sys.stdout, lineterminator="\n").writerows(lines)
        return
    live = require_live(tools.elastic, alias)
    failing = find_broken(tools.elastic, live.name, tools.settings, goldens)
    rows = [("fails" if q in failing else "ok", q, url) for q, url in goldens.items()]
    output.result([{"state": state, "q": q, "url": url} for state, q, url in rows])
    if shown := [row for row in rows if row[0] == "fails" or not output.quiet]:
        output.table(("", "search", "address"), shown)
    if failing:
        raise click.ClickException(f"{len(failing):,} of {len(goldens):,} fail.")


@golden.command(exit_codes=UNCHANGED)
@click.argument("q")
@click.argument("url")
@pass_tools
def add(tools: Tools, q: str, url: str) -> None:
    """Add the search Q, which must find the post at URL among the first three hits.

    \b
    blogsearch golden add "date format" https://blog.example.org/posts/date-format/
    """
    query = _query(q)
    live = require_live(tools.elastic, tools.settings.index)
    if find_broken(tools.elastic, live.name, tools.settings, {query: url}):
        raise click.ClickException(
            f"{url} is not among the first {FIRST} hits for {query!r}: see `blogsearch search`, or "
            "pin it with `blogsearch pins`."
        )
    open_golden(tools.elastic, tools.settings.index).change(
        lambda goldens: add_searches(goldens, {query: url})
    )
    tools.output.say(f"Added: {query} → {url}")
    tools.output.result({"q": query, "url": url})


@golden.command(exit_codes=UNCHANGED)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@pass_tools
def load(tools: Tools, file: Path) -> None:
    """Replace the golden searches with those in FILE, a CSV with a search and an address per line.

    They are stored even if they fail now; `blogsearch golden list` shows which do. To remove some,
    delete their lines from the output of `golden list --csv` and load the rest.

    \b
    blogsearch golden load golden.csv
    """
    goldens: dict[str, str] = {}

    def take(*cells: str) -> None:
        q, url = map(of_cell, cells)
        if "/" not in url:
            raise Invalid(
                f"{url!r} is not an address",
                "Example: date format,https://…/date-format/",
            )
        goldens.update({_query(q): url})

    read_csv(file, take, _HEADER)
    open_golden(tools.elastic, tools.settings.index).change(lambda _: add_searches({}, goldens))
    tools.output.say(f"{len(goldens):,} golden searches are stored.")
    tools.output.result({"golden": len(goldens)})


def _query(q: str) -> str:
    return SearchRequest.parse(MultiDict({"q": q})).q
