"""The `blogsearch` command."""

import importlib.metadata

import click

from app.commands.analyze import analyze
from app.commands.cache import cache
from app.commands.doctor import doctor
from app.commands.indexing import add, indices, prune, reindex, rollback, sync
from app.commands.search import search
from app.commands.synonyms import synonyms
from app.commands.tools import CommandGroup


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(importlib.metadata.version("blogsearch"), prog_name="blogsearch")
@click.option("--traceback", is_flag=True, help="Show where an unforeseen failure came from.")
def main(traceback: bool) -> None:
    """Index a blog and search it.

    \b
    blogsearch reindex posts.jsonl      build the index, or build it anew
    blogsearch search pythn             ask it
    blogsearch doctor                   what runs, what does not, what to do

    Where the engines are is read from ELASTICSEARCH_URL and REDIS_URL, every other setting from
    BLOGSEARCH_…; docs/settings.md lists them.
    """


for command in (reindex, add, sync, search, analyze, synonyms, cache, indices, rollback, prune):
    main.add_command(command)
main.add_command(doctor)
