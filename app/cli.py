"""The `blogsearch` command.

A subcommand's module is imported when the subcommand is used, so that `--help` and `search` do not
wait for the imports of other commands.
"""

import atexit
import gc
import importlib
import os
import signal
import sys

import click

from app.commands.tools import CommandGroup
from app.version import VERSION

# Command: the module that defines it, and its line in `blogsearch --help`.
_COMMANDS = {
    "reindex": ("indexing", "Build a new index from a source and make it live."),
    "rebuild": ("indexing", "Build the index again from its own posts, after an update."),
    "try": ("trying", "Show some posts of a source as they would be indexed."),
    "init": ("trying", "Write blogsearch.toml for the site in this folder."),
    "sync": ("indexing", "Make the live index equal to a source: add, change, remove."),
    "add": ("indexing", "Add posts of a source to the live index, or replace them."),
    "serve": ("serving", "Serve the search page and the API."),
    "search": ("search", "Search as a visitor would, without the cache."),
    "analyze": ("search", "Show how a text is analyzed: its tokens and synonym rules."),
    "synonyms": ("synonyms", "Check synonym rule files and make them live."),
    "pins": ("pins", "Load, list and remove pinned results."),
    "golden": ("golden", "List, check and change the searches that no build may break."),
    "popularity": ("popularity", "Set how much each post is read, from a CSV or opened hits."),
    "indices": ("indexing", "List the generations of the index."),
    "export": ("indexing", "Write the live posts to a file that `reindex` can read."),
    "rollback": ("indexing", "Go back to the generation before the live one."),
    "meaning": ("operations", "Print the commands that turn search by meaning on or off."),
    "fetch-model": ("operations", "Download the model that BLOGSEARCH_SEMANTIC needs, once."),
    "doctor": ("operations", "Check the engines, the index, the last sync and the synonym files."),
}


class LazyGroup(CommandGroup):
    """The group of all commands, which imports each when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"app.commands.{_COMMANDS[cmd_name][0]}")
        function = "try_" if cmd_name == "try" else cmd_name.replace("-", "_")
        command: click.Command = getattr(module, function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group("blogsearch", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="blogsearch")
@click.option("--traceback", is_flag=True, help="Show the traceback of an unexpected error.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="The file to read instead of blogsearch.toml in this folder or in /etc.",
)
def main(traceback: bool, config: str | None) -> None:
    """Index a blog and search it.

    \b
    blogsearch reindex posts.jsonl      build or rebuild the index
    blogsearch search pythn             search it
    blogsearch serve                    serve it on http://127.0.0.1:8000
    blogsearch doctor                   check the engines, the index and the settings

    ELASTICSEARCH_URL and REDIS_URL are the addresses of the engines. Other settings come from
    variables named BLOGSEARCH_… or from blogsearch.toml; docs/settings.md lists them.
    """
    if config:
        from app.settings import CONFIG

        os.environ[CONFIG] = config  # for the workers of `serve`, too


def run() -> None:
    """Run the command line of this process."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: its number would be given to a connection
            null = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(null, "r+", encoding="utf-8"))
    # Imported modules stay until the command exits: `search` takes a fifth less time if they are
    # not scanned for garbage.
    gc.set_threshold(200_000)
    # These end a command like Ctrl-C, so that it removes an unfinished index. SIGHUP comes from a
    # terminal that closes; `nohup` ignores it.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) != signal.SIG_IGN:
            signal.signal(ending, lambda number, frame: sys.exit(128 + number))
    atexit.register(gc.freeze)
    main()
