"""`blogsearch analyze`: how text becomes tokens, step by step."""

import json
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from app.commands.output import console
from app.commands.tools import Tools, pass_tools


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--analyzer", default="blog_text", show_default=True, help="An analyzer of the live index."
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def analyze(tools: Tools, text: tuple[str, ...], analyzer: str, form: str) -> None:
    """Show the tokens after each step of the analysis chain, on the live index.

    \b
    blogsearch analyze "Going to the Postgres centre"
    blogsearch analyze --analyzer blog_words "Node.js"
    """
    detail = tools.elastic.indices.analyze(
        index=tools.settings.index, analyzer=analyzer, text=" ".join(text), explain=True
    )["detail"]
    steps = _steps(detail)
    if form == "json":
        click.echo(json.dumps(steps, indent=2, ensure_ascii=False))
        return
    table = Table("step", "tokens", box=None, pad_edge=False)
    for step in steps:
        table.add_row(step["step"], escape(" | ".join(step["tokens"])))
    console().print(table)


def _steps(detail: dict[str, Any]) -> list[dict[str, Any]]:
    """Name and tokens of every step, in the order they are run; a char filter's text is one."""
    steps = [
        {"step": step["name"], "tokens": list(step["filtered_text"])}
        for step in detail.get("charfilters", [])
    ]
    tokenizer = [detail["tokenizer"]] if "tokenizer" in detail else []
    for step in [*tokenizer, *detail.get("tokenfilters", [])]:
        steps.append({"step": step["name"], "tokens": [token["token"] for token in step["tokens"]]})
    return steps
