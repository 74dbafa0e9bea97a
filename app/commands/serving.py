"""`blogsearch serve`: run the service under gunicorn."""

import errno
import gc
import logging
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.commands.tools import Tools, command, pass_tools

if TYPE_CHECKING:
    from flask import Flask

CONFIG = Path(__file__).resolve().parent.parent / "http" / "gunicorn_config.py"


def _check_free(address: object, port: int) -> None:
    """Check that gunicorn can listen on an address; it would itself try five times before it fails.

    Raises:
        click.ClickException: another program listens there.
    """
    if not isinstance(address, tuple) or {"GUNICORN_FD", "LISTEN_PID"} & os.environ.keys():
        return  # a Unix socket, or one that another process has opened
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            remedy = "correct --bind of GUNICORN_CMD_ARGS"
            if address == ("127.0.0.1", port):
                remedy = (
                    f"use another port: `PORT={max(port + 1, 1024)} blogsearch serve`, or --port"
                )
            if error.errno == errno.EADDRINUSE:
                remedy = f"Stop the program that uses the port, or {remedy}"
            raise click.ClickException(
                f"Cannot listen on {address[0]}:{address[1]}: {error.strerror}. "
                f"{remedy[0].upper()}{remedy[1:]}."
            ) from None


@command()
@click.option(
    "--port",
    envvar="PORT",
    show_envvar=True,
    type=click.IntRange(1, 65_535),
    default=8000,
    show_default=True,
    help="The port on 127.0.0.1 to listen on.",
)
@click.option(
    "--workers",
    envvar="WEB_CONCURRENCY",
    show_envvar=True,
    type=click.IntRange(1, 1_000),
    help="The number of worker processes. [default: the number of cores, from 2 to 8]",
)
@pass_tools
def serve(tools: Tools, port: int, workers: int | None) -> None:
    """Serve the search page and the API with gunicorn.

    GUNICORN_CMD_ARGS may contain any option of gunicorn, such as --bind=0.0.0.0:8000 to listen on
    every address. At SIGHUP it reads the settings again and replaces the workers one by one. --json
    prints the port and the number of workers first; --quiet logs only warnings and errors.

    \b
    blogsearch serve
    blogsearch serve --port 8080 --workers 4
    """
    gc.set_threshold(700, 10, 10)  # Python's default again, which `app.cli.run` has changed
    os.environ["PORT"] = str(port)
    # gunicorn reads WEB_CONCURRENCY when it is imported.
    os.environ.pop("WEB_CONCURRENCY", None)
    if workers:
        os.environ["WEB_CONCURRENCY"] = str(workers)
    from gunicorn.app.base import Application  # type: ignore[import-untyped]

    class Server(Application):  # type: ignore[misc]
        """gunicorn without its command line, and without the current folder in Python's path, as
        that folder may have another module `app`."""

        def load_config(self) -> None:
            self.load_config_from_file(str(CONFIG))
            arguments = self.cfg.parser().parse_args(self.cfg.get_cmd_args_from_env())
            for name, value in vars(arguments).items():
                if value is not None and name != "args":
                    self.cfg.set(name, value)

        def load(self) -> "Flask":
            from app import create_app

            return create_app()

    server: Any = Server()
    for address in () if server.cfg.check_config else server.cfg.address:
        _check_free(address, port)
    tools.output.result({"port": port, "workers": server.cfg.workers})
    if tools.output.quiet:
        logging.disable(logging.INFO)
    server.run()
