"""`blogsearch doctor`: check the engines, the index and the settings."""

import json
import sys
from contextlib import suppress
from dataclasses import replace

import click
import redis
from rich.table import Table
from rich.text import Text

from analyzers.rules import RuleErrors, read_rules
from app.cache import AnswerCache
from app.commands.output import console, table_or_json
from app.commands.tools import Tools, pass_tools
from app.elastic import connect, translated
from app.errors import BlogsearchError, FolderNotReadable, without_password
from app.health import Check, checks, last_run
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.errors import Damaged
from indexer.generations import check_writable

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command()
@table_or_json
@pass_tools
def doctor(tools: Tools, form: str) -> None:
    """Check the engines, the index, the last sync and the synonym files, and say what to do.

    The exit code is 1 when searches cannot be answered, 0 otherwise.

    \b
    blogsearch doctor
    blogsearch doctor --format json
    """
    with connect(tools.settings) as elastic:  # as the service waits, and not as a command does
        seen = checks(elastic, tools.cache, tools.settings)
        runs = last_run(elastic, tools.settings.index)
    seen = [_with_url(_with_reason(check, tools.cache), tools.settings) for check in seen]
    seen = [_with_damage(check, tools) for check in seen]
    results = [*seen, runs, _synonyms(tools)]
    if form == "json":
        report = {check.name: check.report() for check in results}
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_table(results)
    if any(check.status == "error" for check in results):
        sys.exit(1)


def _print_table(results: list[Check]) -> None:
    table = Table("", "", "seen", "what to do", box=None, pad_edge=False, show_header=False)
    for check in results:
        state = Text(check.status, style=_COLOURS[check.status])
        table.add_row(check.name, state, check.seen, check.remedy)
    console().print(table)


def _with_reason(check: Check, cache: AnswerCache) -> Check:
    """With the reason why Redis cannot be used, which a service does not wait for."""
    if check.name != "redis" or check.status == "ok" or cache.client.redis is None:
        return check
    try:
        cache.client.redis.ping()
    except (redis.AuthenticationError, redis.ResponseError) as error:
        remedy = "Correct the user and password in REDIS_URL, percent-encoded."
        return replace(check, seen=f"denies access: {error}", remedy=remedy)
    except redis.TimeoutError:
        return replace(check, seen="does not answer in time")
    except redis.ConnectionError as error:
        if "refused" in str(error):
            remedy = (
                "Searches work, but are not cached. Start Redis (`docker compose up -d redis`, or "
                "`make services`), or correct REDIS_URL."
            )
            return replace(check, seen="no program answers", remedy=remedy)
        # After " : " Sentinel's error has the representation of its clients.
        reason = str(error).partition(" : ")[0]
        return replace(check, seen=f"does not answer: {reason}")
    except redis.RedisError as error:
        remedy = "Correct REDIS_URL: another program may answer there."
        return replace(check, seen=f"does not answer as Redis does: {error}", remedy=remedy)
    return check


def _with_damage(check: Check, tools: Tools) -> Check:
    """With why the live index cannot be read, for which `/__heartbeat__` has no time."""
    if check.name == "index" and check.status == "error":
        with suppress(BlogsearchError):
            try:
                with translated():
                    check_writable(tools.elastic, tools.settings.index)
            except Damaged as error:
                return replace(check, seen=error.message, remedy=error.remedy)
    return check


def _with_url(check: Check, settings: Settings) -> Check:
    """With the URL that failed, which `/__heartbeat__` does not show."""
    if check.status == "ok" or check.name not in {"elasticsearch", "redis"}:
        return check
    # REDIS_URL is one URL; a comma in it separates hosts, or is a part of the password.
    of_elasticsearch = check.name == "elasticsearch"
    urls = settings.elasticsearch_url.split(",") if of_elasticsearch else [settings.redis_url]
    return replace(check, seen=f"{check.seen} ({', '.join(map(without_password, urls))})")


def _synonyms(tools: Tools) -> Check:
    """Whether the rule files are valid and the live index was built with them."""
    settings = tools.settings
    try:
        folder = SynonymFolder.of(settings)
        files = folder.used()
        rules = read_rules(files)
    except FolderNotReadable as error:
        return Check("synonyms", "warning", "no rules", error.message)
    except RuleErrors as error:
        return Check("synonyms", "warning", str(error), "Run `blogsearch synonyms check`.")
    seen = f"{len(rules.rules):,} rules in {len(files)} file(s) of {settings.synonyms_dir}"
    if unknown := ", ".join(folder.unknown()):
        return Check(
            "synonyms",
            "warning",
            f"{seen}; BLOGSEARCH_SYNONYMS_WITHOUT names {unknown}, which does not exist",
            "Correct the setting; the files are "
            f"{', '.join(path.stem for path in folder.all()) or 'none'}.",
        )
    try:
        with translated():
            mappings = tools.elastic.indices.get_mapping(index=settings.index)
    except BlogsearchError:
        return Check("synonyms", "ok", seen)
    built_with = {
        mapping["mappings"].get("_meta", {}).get("blogsearch", {}).get("rules")
        for mapping in mappings.values()
    }
    if built_with != {rules.digest}:
        return Check(
            "synonyms",
            "warning",
            f"{seen}; the live index was built with other rules",
            "Run `blogsearch rebuild` to build it from its own posts with these.",
        )
    return Check("synonyms", "ok", seen)
