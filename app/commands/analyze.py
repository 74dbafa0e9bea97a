"""`blogsearch analyze`: the tokens of a text after each step, and the synonym rules behind them."""

import json
from typing import Any

import click
from rich.table import Table

from analyzers.chains import CODE, FORMS, MARKS, SPELLING, SYNONYMS, TEXT, WORDS, readable
from app.commands.output import console, table_or_json
from app.commands.tools import Tools, pass_tools
from app.search.synonyms import applied
from indexer.generations import require_live

Json = dict[str, Any]

_SHOWN = str.maketrans(MARKS, "⟦⟧")  # the noncharacters have no glyph


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--analyzer",
    type=click.Choice([TEXT, FORMS, WORDS, SPELLING, CODE]),
    default=TEXT,
    show_default=True,
    help="blog_text: stemmed, with synonyms; blog_forms: with synonyms, not stemmed; blog_words: "
    "as typed, accents folded; blog_spelling: as typed; blog_code: code blocks.",
)
@table_or_json
@pass_tools
def analyze(tools: Tools, text: tuple[str, ...], analyzer: str, form: str) -> None:
    """Show the tokens of a text after each step of an analyzer of the live index.

    ⟦ and ⟧ enclose what the next character filter replaces. Below are the synonym rules that made
    tokens, with file and line.

    \b
    blogsearch analyze "Going to the Postgres centre"
    blogsearch analyze --analyzer blog_words "Node.js"
    """
    live = require_live(tools.elastic, tools.settings.index)
    detail = tools.elastic.indices.analyze(
        index=live.name, analyzer=analyzer, text=" ".join(text), explain=True
    )["detail"]
    steps = _steps(detail)
    tokens = _tokens_before_synonyms(steps)
    synonyms = applied(tokens, live.rules or "", tools.settings) if tokens else {"rules": []}
    if form == "json":
        click.echo(json.dumps({"steps": steps, "synonyms": synonyms}, indent=2, ensure_ascii=False))
        return
    table = Table("step", "tokens", box=None, pad_edge=False)
    for step in steps:
        table.add_row(step["step"], " | ".join(step["tokens"]))
    console().print(table)
    for match in synonyms["rules"]:
        shown = " | ".join(match["tokens"])
        for rule in match["rules"]:
            click.echo(f"{match['words']} → {shown}: {rule['file']}:{rule['line']}: {rule['rule']}")
    if note := synonyms.get("note"):
        click.echo(f"Synonyms: {note}.")


def _steps(detail: Json) -> list[Json]:
    """Name and tokens of every step in order; the text that a char filter makes is one token."""
    steps = [
        {"step": step["name"], "tokens": [text.translate(_SHOWN) for text in step["filtered_text"]]}
        for step in detail.get("charfilters", [])
    ]
    tokenizer = [detail["tokenizer"]] if "tokenizer" in detail else []
    for step in [*tokenizer, *detail.get("tokenfilters", [])]:
        steps.append({"step": step["name"], "tokens": [token["token"] for token in step["tokens"]]})
    return steps


def _tokens_before_synonyms(steps: list[Json]) -> list[str]:
    """The tokens that the synonym filter gets; none for an analyzer without it."""
    names = [step["step"] for step in steps]
    if SYNONYMS not in names:
        return []
    tokens = steps[names.index(SYNONYMS) - 1]["tokens"]
    return [readable(token) or token for token in tokens]
