"""What commands share: settings, clients, and how their errors are printed.

The cache, the engine's client and the settings are imported when they are used: `--help` must not
wait for them.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from app.cache import AnswerCache
    from app.service import Service
    from app.settings import Settings

_TIMEOUT = 120.0  # seconds: a command may wait longer for Elasticsearch than a visitor


class Tools:
    """The settings, the engine and the cache, each made when a command first uses it.

    Not earlier, so that `--help` works when the settings are invalid.
    """

    def __init__(self, settings: "Settings | None" = None) -> None:
        self._settings = settings

    @cached_property
    def settings(self) -> "Settings":
        from app.settings import load_settings

        return self._settings or load_settings()

    @cached_property
    def elastic(self) -> "Elasticsearch":
        from app.elastic import connect

        return connect(self.settings, timeout=_TIMEOUT, waits=True)

    @cached_property
    def cache(self) -> "AnswerCache":
        from app.cache import open_cache

        return open_cache(self.settings)

    @cached_property
    def service(self) -> "Service":
        from app.service import Service

        return Service(self.settings, self.elastic, self.cache)

    def require_redis(self) -> None:
        """Check that there is a Redis.

        Raises:
            click.ClickException: there is none, or it does not answer.
        """
        from app.errors import without_password

        if not self.settings.redis_url:
            raise click.ClickException("There is no Redis, because REDIS_URL is empty.")
        if self.cache.ping() is None:
            raise click.ClickException(
                f"Redis does not answer at {without_password(self.settings.redis_url)}. "
                "Start it, or check REDIS_URL."
            )


pass_tools = click.make_pass_decorator(Tools, ensure=True)


def _message(error: Exception) -> str | None:
    """What to print for an error of the tree in `app.errors`; None for any other.

    Elasticsearch's own reason is added where the message leaves it out for visitors.
    """
    from elasticsearch import ApiError

    from app.elastic import translated
    from app.errors import BlogsearchError

    try:
        with translated():
            raise error
    except BlogsearchError as known:
        cause = known.__cause__
        if type(known) is BlogsearchError and isinstance(cause, ApiError):
            return f"{known.message} ({cause})"
        return str(known)
    except Exception:  # noqa: BLE001 - any other error, unchanged
        return None


class CommandGroup(click.Group):
    """A group whose commands fail with one message on stderr, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except Exception as error:
            if (message := _message(error)) is not None:
                raise click.ClickException(message) from error
            for note in getattr(error, "__notes__", ()):  # what was read when it occurred
                click.echo(note, err=True)
            if ctx.find_root().params.get("traceback"):
                raise
            blogsearch = ctx.find_root().command_path
            words = ctx.command_path.removeprefix(blogsearch) + f" {ctx.invoked_subcommand}"
            raise click.ClickException(
                f"{type(error).__name__}: {error}. This is unexpected: run `{blogsearch} "
                f"--traceback{words} …` and report the traceback as a bug."
            ) from error

    def list_commands(self, ctx: click.Context) -> Sequence[str]:  # type: ignore[override]
        """In the order of registration: the everyday commands first."""
        return list(self.commands)
