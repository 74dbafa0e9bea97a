"""`blogsearch search`: what a visitor would be answered."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from app.commands.tools import Tools, pass_tools

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict


class _Parameters(dict[str, str]):
    """Parameters that are given once each, without importing werkzeug."""

    def getlist(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--page", default=1, show_default=True, help="Which page of hits.")
@click.option("--size", default=10, show_default=True, help="Hits on a page.")
@click.option("--debug", is_flag=True, help="Also print how the answer came about, as JSON.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def search(
    tools: Tools, query: tuple[str, ...], page: int, size: int, debug: bool, form: str
) -> None:
    """Search as a visitor would; the cache is left out.

    \b
    blogsearch search pythn
    blogsearch search date format --debug
    blogsearch search '"exactly this"' --size 3 --format json
    """
    # Imported here, so that `blogsearch search --help` does not wait for them.
    from app.errors import BadRequest
    from app.search import search as run_search
    from app.search.request import SearchRequest

    parameters = _Parameters({"q": " ".join(query), "page": str(page), "size": str(size)})
    if debug:
        parameters["debug-search"] = ""
    try:
        request = SearchRequest.parse(cast("MultiDict[str, str]", parameters))
    except BadRequest as error:
        # Its message goes on to list the parameters of an address.
        complaints = [f"{found['parameter']} {found['message']}" for found in error.details]
        raise click.ClickException(f"{'; '.join(complaints)}.") from None
    answer = run_search(
        tools.elastic, tools.settings.index, request, tools.settings, tools.service.pins.current()
    )
    if form == "json":
        whole = {**answer.body, "debug": answer.debug} if debug else answer.body
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    _print_table(answer.body)
    if debug:
        click.echo(json.dumps(answer.debug, indent=2, ensure_ascii=False))


def _print_table(body: Mapping[str, Any]) -> None:
    from rich.table import Table

    from app.commands.output import console

    hits = body["hits"]
    out = console()
    found = f"{body['count']} found for {body['q']!r}"
    if corrected := body.get("corrected"):
        found += f", taken for {corrected['to']!r}"
    out.print(found)
    table = Table("score", "title", "date", "address", box=None, pad_edge=False)
    for hit in hits:
        score = "" if hit["score"] is None else f"{hit['score']:.2f}"
        day = (hit.get("pub_date") or "")[:10]
        table.add_row(score, hit["title"], day, hit.get("url") or hit["oid"])
    if hits:
        out.print(table)
