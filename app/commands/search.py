"""`blogsearch search` and `analyze`: search as a visitor would, and show how text is analyzed."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from app.commands.tools import Output, Tools, command, pass_tools

if TYPE_CHECKING:
    from app.search.answer import SearchAnswer

_INDENT = " " * 20


@command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    *("-p", "--parameter", "parameters"),
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of `GET /search`, such as sort=newest, size=50 or category=linux.",
)
@click.option("--debug", is_flag=True, help="Also print how the answer was computed, as JSON.")
@pass_tools
def search(tools: Tools, query: tuple[str, ...], parameters: tuple[str, ...], debug: bool) -> None:
    """Search as a visitor would, without the cache.

    \b
    blogsearch search pythn
    blogsearch search date format -p sort=newest -p category=linux -p since=2020-01-01
    blogsearch search '"exactly this"' -p typos=off --json
    """
    # Imported here, so that `blogsearch search --help` does not wait for them. Not `app.service`:
    # its cache imports Redis' client, which takes half as long as Elasticsearch's.
    from werkzeug.datastructures import MultiDict

    from app.engines.meaning import open_model
    from app.errors import BadRequest
    from app.search.blended import search as run_search
    from app.search.request import SearchRequest
    from app.search.view import open_session

    given = MultiDict({"q": " ".join(query)})
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        given.add(name, value)
    if debug:
        given["debug-search"] = ""
    try:
        request = SearchRequest.parse(given)
    except BadRequest as error:
        raise click.UsageError(error.message) from None
    settings = tools.settings
    session = open_session(tools.elastic, settings.index)
    answer = run_search(session, request, settings, open_model(settings))
    tools.output.result({**answer.body, "debug": answer.debug} if debug else answer.body)
    _print_hits(answer.body, tools.output)
    if debug and not tools.output.as_json:
        Output(as_json=True).result(answer.debug)


def _print_hits(body: "SearchAnswer", output: Output) -> None:
    """Print two lines for each hit: score, date and title, then the URL and the oid."""
    count = body["count"]
    summary = f"{count:,} {'post' if count == 1 else 'posts'} found for {body['q']!r}"
    if "corrected" in body:
        summary += f", corrected to {body['corrected']['to']!r}"
    output.say(summary)
    for hit in body["hits"]:
        score = "" if hit["score"] is None else hit["score"]
        day = (hit["pub_date"] or "")[:10]
        output.show(f"{score:>8}  {day:10}  {hit['title']}")
        output.show(f"{_INDENT}{hit['url'] or '–'}  (oid {hit['oid']})")


@command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--analyzer",
    default="blog_text",
    show_default=True,
    help="blog_text: stemmed, with synonyms; blog_forms: with synonyms, not stemmed; blog_words: "
    "as typed, accents folded; blog_spelling: as typed. blog_text_index and so on: for posts.",
)
@pass_tools
def analyze(tools: Tools, text: tuple[str, ...], analyzer: str) -> None:
    """Show the tokens of a text after each step of an analyzer of the live index.

    ⟦ and ⟧ enclose what the next character filter replaces. The synonym rules that applied are
    listed below, with file and line.

    \b
    blogsearch analyze "Going to the Postgres centre"
    blogsearch analyze --analyzer blog_words "Node.js"
    blogsearch analyze --analyzer blog_text_index "an introduction to machine learning"
    """
    from analyzers.chains import MARKS, SYNONYMS, UNSTEMMED_SYNONYMS, index_time
    from analyzers.languages import language_of
    from analyzers.signs import readable
    from app.index.synonyms import explain_rules, rules_in_use
    from indexer.store.generations import require_live

    live = require_live(tools.elastic, tools.settings.index)
    detail = tools.elastic.indices.analyze(
        index=live.name, analyzer=analyzer, text=" ".join(text), explain=True
    )["detail"]
    shown = str.maketrans(MARKS, "⟦⟧")  # the noncharacters have no glyph
    # The output of a character filter is shown as one token.
    steps = [
        (step["name"], [text.translate(shown) for text in step["filtered_text"]])
        for step in detail.get("charfilters", [])
    ]
    tokenizer = [detail["tokenizer"]] if "tokenizer" in detail else []
    for step in [*tokenizer, *detail.get("tokenfilters", [])]:
        steps.append((step["name"], [token["token"] for token in step["tokens"]]))
    synonyms: dict[str, Any] = {"rules": []}
    for (_, tokens), (name, _) in pairwise(steps):
        filters = (SYNONYMS, UNSTEMMED_SYNONYMS)
        if name in (*filters, *map(index_time, filters)) and tokens:
            words = [readable(token) or token for token in tokens]
            language = language_of(live.language)
            rules = rules_in_use(live.rules or "", tools.settings, language)
            synonyms = explain_rules(words, rules, language)
    output = tools.output
    output.result({"steps": dict(steps), **synonyms})
    output.table(("step", "tokens"), [(name, " | ".join(tokens)) for name, tokens in steps])
    for match in synonyms["rules"]:
        shown_tokens = " | ".join(match["tokens"])
        for rule in match["rules"]:
            place = f"{rule['file']}:{rule['line']}"
            output.show(f"{match['words']} → {shown_tokens}: {place}: {rule['rule']}")
    if note := synonyms.get("note"):
        output.show(f"Synonyms: {note}.")
