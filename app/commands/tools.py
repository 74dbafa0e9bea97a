"""What a command works with, and how its failures reach the person at the terminal."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import click
from elasticsearch import ApiError, Elasticsearch

from analyzers.rules import RuleErrors
from app.cache import AnswerCache, open_cache
from app.elastic import connect, translated
from app.errors import ServiceError, Unavailable
from app.settings import Settings, load_settings
from indexer.errors import IndexingError

_PATIENCE = 120.0  # seconds: a command may wait for what a visitor must not


class Tools:
    """The settings, the engine and the cache, each made when a command first asks for it.

    Made late so that `--help` works with settings that do not.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings

    @cached_property
    def settings(self) -> Settings:
        return self._settings or load_settings()

    @cached_property
    def elastic(self) -> Elasticsearch:
        return connect(self.settings, timeout=_PATIENCE)

    @cached_property
    def cache(self) -> AnswerCache:
        return open_cache(self.settings)


pass_tools = click.make_pass_decorator(Tools, ensure=True)


def _told(error: Exception) -> str:
    """The message, and Elasticsearch's own reason, which a visitor is not told.

    RuleErrors and the others have their reasons in their message already.
    """
    cause = error.__cause__
    if isinstance(error, ServiceError) and isinstance(cause, ApiError):
        body = cause.body if isinstance(cause.body, dict) else {}
        failure = body.get("error")
        reason = failure.get("reason") if isinstance(failure, dict) else None
        if reason and not isinstance(error, Unavailable):
            return f"{error}: {reason}"
    return str(error)


class CommandGroup(click.Group):
    """A group whose commands fail with one message on stderr, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with translated():
                return super().invoke(ctx)
        except (ServiceError, IndexingError, RuleErrors) as error:
            raise click.ClickException(_told(error)) from error
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params.get("traceback"):
                raise
            raise click.ClickException(
                f"{type(error).__name__}: {error}. This was not foreseen: `blogsearch --traceback "
                f"{ctx.invoked_subcommand} …` shows where, for a bug report."
            ) from error

    def list_commands(self, ctx: click.Context) -> Sequence[str]:  # type: ignore[override]
        """In the order of registration: the everyday commands first."""
        return list(self.commands)
