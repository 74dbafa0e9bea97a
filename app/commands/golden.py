"""`blogsearch golden`: searches that no build may break."""

from collections.abc import Sequence

import click
from werkzeug.datastructures import MultiDict

from app.commands.tools import UNCHANGED, CommandGroup, Tools, pass_tools
from app.golden import FIRST, Golden, added, broken, change, read
from app.search.request import SearchRequest
from indexer.generations import require_live


@click.group(cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def golden(ctx: click.Context) -> None:
    """List the golden searches, and check them on the live index.

    A build that breaks one does not go live without --force.

    \b
    blogsearch golden
    blogsearch golden add "date format" https://blog.example.org/posts/date-format/
    blogsearch golden remove "date format"
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.ensure_object(Tools))


@golden.command("list", exit_codes={1: "a search does not find its post"})
@pass_tools
def list_golden(tools: Tools) -> None:
    """List the golden searches, and check them on the live index.

    \b
    blogsearch golden list --json
    """
    _list(tools)


def _list(tools: Tools) -> None:
    alias, output = tools.settings.index, tools.output
    live = require_live(tools.elastic, alias)
    goldens = read(tools.elastic, alias)
    failing = broken(tools.elastic, live.name, tools.settings, goldens)
    rows = [("fails" if one in failing else "ok", one.q, one.url) for one in goldens]
    output.result([{"state": state, "q": q, "url": url} for state, q, url in rows])
    output.table(("", "search", "address"), rows)
    if failing:
        raise click.ClickException(f"{len(failing):,} of {len(goldens):,} fail.")


@golden.command(exit_codes=UNCHANGED)
@click.argument("q")
@click.argument("url")
@pass_tools
def add(tools: Tools, q: str, url: str) -> None:
    """Add the search Q, which finds the post at URL among the first three.

    \b
    blogsearch golden add "date format" https://blog.example.org/posts/date-format/
    """
    new = Golden(_query(q), url)
    live = require_live(tools.elastic, tools.settings.index)
    if broken(tools.elastic, live.name, tools.settings, [new]):
        raise click.ClickException(
            f"{url} is not among the first {FIRST} hits for {new.q!r}: see `blogsearch search`, or "
            "pin it with `blogsearch pins`."
        )
    change(tools.elastic, tools.settings.index, lambda goldens: added(goldens, new))
    tools.output.say(f"Added: {new}")
    tools.output.result({"q": new.q, "url": new.url})


@golden.command(exit_codes=UNCHANGED)
@click.argument("q")
@pass_tools
def remove(tools: Tools, q: str) -> None:
    """Remove the search Q.

    \b
    blogsearch golden remove "date format"
    """
    query = _query(q)

    def without(goldens: Sequence[Golden]) -> list[Golden]:
        left = [one for one in goldens if one.q != query]
        if len(left) == len(goldens):
            raise click.ClickException(f"{query!r} is not a golden search.")
        return left

    change(tools.elastic, tools.settings.index, without)
    tools.output.say(f"Removed: {query}")
    tools.output.result({"q": query})


def _query(q: str) -> str:
    return SearchRequest.parse(MultiDict({"q": q})).q
