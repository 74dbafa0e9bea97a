"""`blogsearch doctor`, `searches` and `cache`: for those who run the service."""

import dataclasses
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import click
import redis
from elasticsearch import Elasticsearch
from rich.text import Text

from analyzers.rules.compile import RuleErrors, read_rules
from app import site_file
from app.cache.answer_cache import Stats
from app.commands.tools import (
    CommandGroup,
    F,
    Tools,
    json_option,
    number_option,
    pass_tools,
    print_json,
    print_table,
)
from app.elastic import connect, translated
from app.errors import BlogsearchError, FolderNotReadable, without_password
from app.health import Check, checks, last_run
from app.insights.counts import Report
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.errors import Damaged
from indexer.generations import Generation, list_generations, require_writable
from indexer.generations import live as live_generation
from indexer.records import quantity

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


# -- doctor ------------------------------------------------------------------------------------


@click.command()
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print only what is not ok.")
@pass_tools
def doctor(tools: Tools, as_json: bool, quiet: bool) -> None:
    """Check the engines, the index, the last sync and the synonym files, and say what to do.

    The exit code is 1 when searches cannot be answered, 0 otherwise.

    \b
    blogsearch doctor
    blogsearch doctor --json
    blogsearch doctor --quiet     for cron: silent while all is well
    """
    settings = _settings_read(tools.settings)
    with connect(tools.settings) as elastic:  # as the service waits, and not as a command does
        seen = checks(elastic, tools.cache, tools.settings)
        runs = last_run(elastic, tools.settings.index)
        explained = [_explained(check, tools, elastic) for check in seen]
        results = [settings, *explained, runs, _synonyms(tools.settings, elastic)]
    shown = [check for check in results if not (quiet and check.status == "ok")]
    if as_json:
        print_json({check.name: check.report() for check in shown})
    elif shown:
        rows = [
            (check.name, Text(check.status, _COLOURS[check.status]), check.seen, check.remedy)
            for check in shown
        ]
        print_table(("", "", "", ""), rows)
    if any(check.status == "error" for check in results):
        sys.exit(1)


def _settings_read(settings: Settings) -> Check:
    """Where the settings are from; a `doctor` in another folder may look at another index."""
    file = site_file.found()
    read = file.absolute() if file else f"no {site_file.NAME} here, no {site_file.HOST}"
    return Check("settings", "ok", f"{read}; the index is {settings.index!r}")


def _explained(check: Check, tools: Tools, elastic: Elasticsearch) -> Check:
    """With what `/__heartbeat__` has no time to find out, or does not show: reasons and URLs."""
    if check.status == "ok":
        return check
    if check.name == "index":
        index = tools.settings.index
        return _with_damage(check, elastic, index) if check.status == "error" else check
    # REDIS_URL is one URL; a comma in it separates hosts, or is a part of the password.
    urls = [tools.settings.redis_url]
    if check.name == "redis":
        check = _with_reason(check, tools.cache.client.redis)
    else:
        urls = tools.settings.elasticsearch_url.split(",")
    return replace(check, seen=f"{check.seen} ({', '.join(map(without_password, urls))})")


def _with_reason(check: Check, connection: "redis.Redis | None") -> Check:
    """With the reason why Redis cannot be used."""
    try:
        if connection:
            connection.ping()
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
        return replace(check, seen=f"does not answer: {error}")
    except redis.RedisError as error:
        remedy = "Correct REDIS_URL: another program may answer there."
        return replace(check, seen=f"does not answer as Redis does: {error}", remedy=remedy)
    return check


def _with_damage(check: Check, elastic: Elasticsearch, alias: str) -> Check:
    """With why the live index cannot be read."""
    try:
        with translated():
            require_writable(elastic, alias)
    except Damaged as error:
        return replace(check, seen=error.message, remedy=error.remedy)
    except BlogsearchError:
        return check
    return check


def _synonyms(settings: Settings, elastic: Elasticsearch) -> Check:
    """Whether the rule files are valid and the live index was built with them."""
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
        seen = f"{seen}; BLOGSEARCH_SYNONYMS_WITHOUT names {unknown}, which does not exist"
        files_there = ", ".join(path.stem for path in folder.all()) or "none"
        remedy = f"Correct the setting; the files are {files_there}."
        return Check("synonyms", "warning", seen, remedy)
    try:
        with translated():
            live = live_generation(elastic, settings.index)
    except BlogsearchError:
        live = None
    if live and live.rules != rules.digest:
        seen = f"{seen}; the live index was built with other rules"
        remedy = "Run `blogsearch rebuild` to build it from its own posts with these."
        if later := _rolled_back_from(elastic, settings.index, live, rules.digest):
            remedy = (
                f"Somebody rolled back from {later}, which has these: `blogsearch rollback` "
                "returns to it, `blogsearch rebuild --force` builds another."
            )
        return Check("synonyms", "warning", seen, remedy)
    return Check("synonyms", "ok", seen)


def _rolled_back_from(elastic: Elasticsearch, alias: str, live: Generation, rules: str) -> str:
    """A later generation with these rules; `rebuild` would undo the rollback, and refuses."""
    try:
        with translated():
            generations = list_generations(elastic, alias)
    except BlogsearchError:
        return ""
    later = (one.name for one in generations if one.number > live.number and one.rules == rules)
    return next(later, "")


# -- searches ----------------------------------------------------------------------------------

_days = number_option("--days", 7, 1, 400, "How many days, today included.")
_limit = number_option("--limit", 20, 1, 1000, "How many searches to list.")


def _options(command: F) -> F:
    return _days(_limit(json_option(command)))


@click.group(cls=CommandGroup)
def searches() -> None:
    """Show what people search for.

    \b
    blogsearch searches top       the most frequent searches
    blogsearch searches nothing   those that found nothing, and what was tried next
    blogsearch searches partly    those of which no post has all words
    blogsearch searches erase Q   delete a search from the counts

    A search is counted a minute after it happened; programs, and visitors who send `DNT: 1` or
    `Sec-GPC: 1`, are not. docs/insights.md says what is stored.

    Exit code 0: done; 1: the counts cannot be read; 2: invalid command line.
    """


@searches.command()
@_options
@pass_tools
def top(tools: Tools, days: int, limit: int, as_json: bool) -> None:
    """List the most frequent searches, and how often a hit was opened.

    \b
    blogsearch searches top
    blogsearch searches top --days 30 --limit 100 --json
    """
    report = _report(tools, days)
    rows = [
        {"times": row.times, "query": row.query, "opened": row.opened}
        for row in report.searched[:limit]
    ]
    _print(report, rows, as_json)


@searches.command()
@_options
@pass_tools
def nothing(tools: Tools, days: int, limit: int, as_json: bool) -> None:
    """List the searches that found nothing, and what the same visitor tried next with success.

    The two may be a synonym rule: `k8s => kubernetes`.

    \b
    blogsearch searches nothing
    blogsearch searches nothing --days 30
    """
    report = _report(tools, days)
    rows = [
        {
            "times": row.nothing,
            "query": row.query,
            "then": [query for query, _ in row.then.most_common(3)],
        }
        for row in report.found_nothing()[:limit]
    ]
    _print(report, rows, as_json)


@searches.command()
@_options
@pass_tools
def partly(tools: Tools, days: int, limit: int, as_json: bool) -> None:
    """List the searches of which no post has all words: what the blog may lack.

    \b
    blogsearch searches partly
    """
    report = _report(tools, days)
    rows = [{"times": row.partly, "query": row.query} for row in report.found_partly()[:limit]]
    _print(report, rows, as_json)


@searches.command("erase")
@click.argument("query", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete everything that was counted.")
@click.confirmation_option("--yes", prompt="This cannot be undone. Go on?", help="Do not ask.")
@pass_tools
def erase_searches(tools: Tools, query: str | None, everything: bool) -> None:
    """Delete a search, in any case of letters, from the counts of all days.

    \b
    blogsearch searches erase "my name"
    blogsearch searches erase --all
    """
    if bool(query) == everything:
        raise click.UsageError("Give either a query or --all.")
    days = tools.service.counts.erase(query)
    click.echo(f"Deleted from the counts of {quantity(days, 'day')}.")


def _report(tools: Tools, days: int) -> Report:
    """The counted searches.

    Raises:
        click.ClickException: nothing is counted.
        Unavailable: Elasticsearch does not answer.
    """
    if not tools.settings.insights_days:
        raise click.ClickException(
            "Searches are not counted, because BLOGSEARCH_INSIGHTS_DAYS is 0."
        )
    return tools.service.counts.report(days)


def _print(report: Report, rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        total = report.total
        counted = {
            "searches": total.searches,
            "nothing": total.nothing,
            "partly": total.partly,
            "cached": total.cached,
        }
        print_json({**counted, "queries": rows})
        return
    if not rows:
        click.echo("No searches were counted in this time.")
        return
    print_table(list(rows[0]), [[*map(_cell, row.values())] for row in rows])


def _cell(value: str | float | Iterable[str]) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(value)


# -- cache -------------------------------------------------------------------------------------


@click.group(cls=CommandGroup)
def cache() -> None:
    """Show, clear and warm the cache of answers in Redis.

    \b
    blogsearch cache stats     hit rate, memory, sizes, most frequent queries
    blogsearch cache warm      compute the answers to the most frequent queries
    blogsearch cache clear     delete all cached answers
    """


@cache.command()
@number_option("--popular", 10, 0, None, "How many queries to list.")
@json_option
@pass_tools
def stats(tools: Tools, popular: int, as_json: bool) -> None:
    """Show how often the cache had the answer, and how much memory it takes.

    \b
    blogsearch cache stats
    blogsearch cache stats --popular 50 --json
    """
    tools.require_redis()
    figures = tools.cache.stats()
    week = tools.service.counts.report(7).total
    share = week.cached / week.searches if week.searches else None
    frequent = tools.service.counts.popular(popular)
    if as_json:
        listed = [(request.key(), count) for request, count in frequent]
        print_json({**dataclasses.asdict(figures), "popular": listed, "hit_rate": share})
        return
    _print_figures(figures, share)
    if frequent:
        rows = []
        for request, count in frequent:
            chosen = (f"{name}={value}" for name, value in request.parameters() if name != "q")
            rows.append((f"{count:.1f}", " ".join([request.q, *chosen])))
        print_table(("times", "query"), rows)


@cache.command()
@click.confirmation_option(prompt="Delete all cached answers?", help="Do not ask for confirmation.")
@pass_tools
def clear(tools: Tools) -> None:
    """Delete all cached answers; the next searches are answered by Elasticsearch.

    Not needed after a change: a swap, a changed document and new synonym rules make older answers
    stale.

    \b
    blogsearch cache clear --yes
    """
    tools.require_redis()
    deleted = tools.cache.clear()
    if deleted is None:
        raise click.ClickException(
            "Redis failed before all answers were deleted. Run the command again."
        )
    click.echo(f"{deleted} answers deleted.")


@cache.command()
@number_option("--at-most", 100, 0, None, "How many queries to answer.")
@pass_tools
def warm(tools: Tools, at_most: int) -> None:
    """Compute and cache the answers to the most frequent queries of the last week.

    `blogsearch reindex` does the same after a swap.

    \b
    blogsearch cache warm
    blogsearch cache warm --at-most 1000
    """
    tools.require_redis()
    warmed = tools.service.warm(at_most=at_most)
    click.echo(f"{warmed.answered} queries answered.")
    if warmed.failed:
        raise click.ClickException(
            f"{warmed.failed} queries could not be answered; `blogsearch doctor` may say why."
        )


def _print_figures(figures: Stats, share: float | None) -> None:
    rate = "-" if share is None else f"{share:.1%}"
    median, largest = (_bytes(figures.sizes.get(name, 0)) for name in ("median", "largest"))
    answers = f"{figures.sizes.get('count', 0)}, {_bytes(figures.sizes.get('total', 0))}"
    limit = figures.memory.get("maxmemory")
    used = _bytes(figures.memory.get("used_memory", 0))
    rows = (
        ("generation", figures.generation or "none yet"),
        ("hit rate", rate),
        ("answers", answers),
        ("sizes", f"median {median}, largest {largest}"),
        ("Redis in all", f"{used} of {_bytes(limit) if limit else 'no limit'}"),
    )
    print_table(("", ""), rows)


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
