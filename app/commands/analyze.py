"""`blogsearch analyze`: how text becomes tokens, step by step, and by which synonym rules."""

import json
from typing import Any

import click
from rich.table import Table

from analyzers.chains import readable
from app.commands.output import console
from app.commands.tools import Tools, pass_tools
from app.search.execute import Conversation
from app.search.synonyms import applied

Json = dict[str, Any]

_SYNONYMS = "blog_synonyms"


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--analyzer",
    type=click.Choice(["blog_text", "blog_forms", "blog_words", "blog_code"]),
    default="blog_text",
    show_default=True,
    help="Which chain: prose, prose unstemmed, words as written, code.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def analyze(tools: Tools, text: tuple[str, ...], analyzer: str, form: str) -> None:
    """Show the tokens after each step of the analysis chain, on the live index.

    Below them stand the synonym rules that made tokens, with file and line.

    \b
    blogsearch analyze "Going to the Postgres centre"
    blogsearch analyze --analyzer blog_words "Node.js"
    """
    detail = tools.elastic.indices.analyze(
        index=tools.settings.index, analyzer=analyzer, text=" ".join(text), explain=True
    )["detail"]
    steps = _steps(detail)
    synonyms = _synonyms(tools, steps)
    if form == "json":
        click.echo(json.dumps({"steps": steps, "synonyms": synonyms}, indent=2, ensure_ascii=False))
        return
    table = Table("step", "tokens", box=None, pad_edge=False)
    for step in steps:
        table.add_row(step["step"], " | ".join(step["tokens"]))
    console().print(table)
    for one in synonyms["rules"]:
        made = " | ".join(one["tokens"])
        for rule in one["rules"]:
            click.echo(f"{one['words']} → {made}: {rule['file']}:{rule['line']}: {rule['rule']}")
    if note := synonyms.get("note"):
        click.echo(f"Synonyms: {note}.")


def _steps(detail: Json) -> list[Json]:
    """Name and tokens of every step, in the order they are run; a char filter's text is one."""
    steps = [
        {"step": step["name"], "tokens": list(step["filtered_text"])}
        for step in detail.get("charfilters", [])
    ]
    tokenizer = [detail["tokenizer"]] if "tokenizer" in detail else []
    for step in [*tokenizer, *detail.get("tokenfilters", [])]:
        steps.append({"step": step["name"], "tokens": [token["token"] for token in step["tokens"]]})
    return steps


def _synonyms(tools: Tools, steps: list[Json]) -> Json:
    """The rules that changed the tokens which came to the synonym filter; none in other chains."""
    names = [step["step"] for step in steps]
    if _SYNONYMS not in names:
        return {"rules": []}
    came = steps[names.index(_SYNONYMS) - 1]["tokens"]
    conversation = Conversation(tools.elastic, tools.settings.index)
    tokens = [readable(token) or token for token in came]
    return applied(tokens, conversation.rules_digest(), tools.settings)
