"""`blogsearch search`, what a visitor would be answered, and `blogsearch categories`."""

import json
from typing import TYPE_CHECKING, Any, cast

import click

from app.commands.output import table_or_json
from app.commands.tools import Tools, pass_tools

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

    from app.search.answer import Facet, SearchAnswer

_INDENT = " " * 20
_MAX_CATEGORIES = 1_000


class _Parameters(dict[str, list[str]]):
    """Parameters as SearchRequest reads them, without importing werkzeug."""

    def getlist(self, name: str) -> list[str]:
        return self.get(name, [])


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--page", metavar="NUMBER", help="The page of hits, 1 to 50 (default 1).")
@click.option("--size", metavar="NUMBER", help="Hits on a page, 1 to 50 (default 10).")
@click.option("--sort", type=click.Choice(["relevance", "newest"]), help="The order of the hits.")
@click.option(
    "--category",
    multiple=True,
    metavar="NAME",
    help="Only posts of this category; several: of any of them.",
)
@click.option("--since", metavar="DAY", help="Only posts from this day on: 2026-01-31.")
@click.option("--until", metavar="DAY", help="Only posts up to this day, included.")
@click.option(
    "--year", multiple=True, metavar="YEAR", help="Only posts of this year; several: of any."
)
@click.option("--lang", metavar="CODE", help="Only posts in this language: de.")
@click.option("--typos", type=click.Choice(["on", "off"]), help="off: exactly what was typed.")
@click.option("--facets", type=click.Choice(["on", "off"]), help="on: count by category and year.")
@click.option("--typing", type=click.Choice(["on", "off"]), help="on: the last word is unfinished.")
@click.option(
    "--debug",
    "debug_search",
    is_flag=True,
    help="Also print how the answer came about, as JSON.",
)
@table_or_json
@pass_tools
def search(
    tools: Tools, /, query: tuple[str, ...], debug_search: bool, form: str, **options: Any
) -> None:
    """Search as a visitor would; the cache is left out.

    The options are the parameters of `GET /search`.

    \b
    blogsearch search pythn
    blogsearch search date format --sort newest --category linux --since 2020-01-01
    blogsearch search '"exactly this"' --typos off --format json
    """
    # Imported here, so that `blogsearch search --help` does not wait for them. Not the service: its
    # cache imports Redis' client, which takes half as long as that of Elasticsearch.
    from analyzers.languages import LANGUAGES
    from app.errors import BadRequest
    from app.meaning import open_model
    from app.pins.store import PinStore
    from app.search import search as run_search
    from app.search.known import Known
    from app.search.request import SearchRequest

    parameters = _Parameters({"q": [" ".join(query)]})
    for name, value in options.items():
        if value:
            parameters[name] = [value] if isinstance(value, str) else list(value)
    if debug_search:
        parameters["debug-search"] = [""]
    try:
        request = SearchRequest.parse(cast("MultiDict[str, str]", parameters))
    except BadRequest as error:
        # Its message goes on to list the parameters of a URL.
        complaints = [
            f"{complaint['parameter']} {complaint['message']}" for complaint in error.details
        ]
        raise click.UsageError(f"{'; '.join(complaints)}.") from None
    settings = tools.settings
    pins = PinStore(tools.elastic, settings.index, LANGUAGES[settings.language])
    known = Known(pins, open_model(settings))
    answer = run_search(tools.elastic, settings.index, request, settings, known)
    if form == "json":
        whole = {**answer.body, "debug": answer.debug} if debug_search else answer.body
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    _print_hits(answer.body)
    if debug_search:
        click.echo(json.dumps(answer.debug, indent=2, ensure_ascii=False))


def _print_hits(body: "SearchAnswer") -> None:
    """Two lines for each hit: score, date and title, then the whole URL and the oid."""
    count = body["count"]
    summary = f"{count:,} {'post' if count == 1 else 'posts'} found for {body['q']!r}"
    if "corrected" in body:
        summary += f", corrected to {body['corrected']['to']!r}"
    click.echo(summary)
    for hit in body["hits"]:
        score = "" if hit["score"] is None else hit["score"]
        day = (hit["pub_date"] or "")[:10]
        click.echo(f"{score:>8}  {day:10}  {hit['title']}")
        click.echo(f"{_INDENT}{hit['url'] or '–'}  (oid {hit['oid']})")
    for name, counts in body.get("facets", {}).items():
        listed = ", ".join(
            f"{facet['value']} {facet['count']}" for facet in cast("list[Facet]", counts)
        )
        click.echo(f"{name}: {listed or 'none'}")


@click.command()
@table_or_json
@pass_tools
def categories(tools: Tools, form: str) -> None:
    """List the categories of the posts, for `search --category`, the most frequent first.

    \b
    blogsearch categories
    """
    response = tools.elastic.search(
        index=tools.settings.index,
        size=0,
        query={"term": {"kind": "post"}},
        aggs={"categories": {"terms": {"field": "categories", "size": _MAX_CATEGORIES}}},
        allow_partial_search_results=False,
    )
    buckets = response["aggregations"]["categories"]["buckets"]
    counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    if form == "json":
        click.echo(json.dumps(counts, indent=2, ensure_ascii=False))
        return
    for category, count in counts.items():
        click.echo(f"{count:>8,}  {category}")
    if not counts:
        click.echo("No post has a category.")
