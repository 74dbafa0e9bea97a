"""Options that several indexing commands share, and what they mean."""

import functools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from analyzers.rules import read_rules
from app.commands.sources import Reading
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.build.builder import IndexSettings
from indexer.ingest import MaxRejects
from indexer.sources import KINDS, SourceOptions


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds SOURCE… and the options about reading; the command gets `reading: Reading`."""

    @click.argument("specs", metavar="SOURCE...", nargs=-1, required=True)
    @click.option(
        "--source",
        "kind",
        type=click.Choice(sorted(KINDS)),
        help="What the sources are, when they are not recognised rightly.",
    )
    @click.option("--drafts", is_flag=True, help="Take drafts in, too.")
    @click.option("--future", is_flag=True, help="Take posts with a date in the future in, too.")
    @click.option(
        "--url-template",
        default="",
        metavar="TEMPLATE",
        help="Addresses of Markdown posts, such as /{year}/{month}/{slug}/.",
    )
    @click.option("--site", default="", metavar="URL", help="The address of the blog's front page.")
    @functools.wraps(command)
    def wrapped(
        *args: Any,
        specs: tuple[str, ...],
        kind: str | None,
        drafts: bool,
        future: bool,
        url_template: str,
        site: str,
        **rest: Any,
    ) -> Any:
        options = SourceOptions(drafts=drafts, future=future, url_template=url_template, site=site)
        return command(*args, reading=Reading(specs, kind, options), **rest)

    return wrapped


rejects_option = click.option(
    "--rejects",
    "rejects_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write every reject there as JSON Lines: source, line, oid, reason, remedy.",
)


class AllowanceType(click.ParamType[MaxRejects]):
    """`0.5%`, a share of the lines, or a number of lines."""

    name = "allowance"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> MaxRejects:
        if isinstance(value, MaxRejects):
            return value
        text = str(value).strip()
        try:
            if text.endswith("%"):
                share = float(text[:-1]) / 100
                if not 0 <= share <= 1:
                    raise ValueError(text)
                return MaxRejects(share=share)
            number = int(text)
            if number < 0:
                raise ValueError(text)
            return MaxRejects(number=number)
        except ValueError:
            self.fail(
                f"{text!r} is neither a share such as 0.5% nor a number such as 3", param, ctx
            )


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that it removes what it built."""

    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def shape_of(settings: Settings) -> IndexSettings:
    """What the settings say about a new generation.

    Raises:
        RuleErrors: a rule file that cannot be used.
    """
    rules = read_rules(SynonymFolder.of(settings).used())
    return IndexSettings(rules, shards=settings.shards, replicas=settings.replicas)
