"""`blogsearch meaning on` and `off`: search by meaning in one step, and back."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click

from analyzers import meaning as models
from app.commands.operations import download_model
from app.commands.runs import after_build, rebuilt
from app.commands.tools import UNCHANGED, Tools, command, pass_tools
from app.golden import require_golden
from app.meaning import check_language
from app.settings import SITE_FILE, environment_name, read_site_file, site_file
from app.synonyms import index_settings
from indexer.generations import live as live_generation
from indexer.scan import count

_VARIABLE = environment_name("semantic")
_MODULES = ("numpy", "onnxruntime", "tokenizers")  # of the extra `semantic`
_LINE = re.compile(
    r"^[ \t]*semantic[ \t]*=[ \t\"']*(?:true|false|on|off|yes|no|[01])\b.*$", re.M | re.I
)
_TABLE = re.compile(r"^\[settings\].*$", re.MULTILINE)


@command(exit_codes=UNCHANGED)
@click.argument("state", type=click.Choice(["on", "off"]))
@click.option("--yes", is_flag=True, help="Do not ask first.")
@click.option("--force", is_flag=True, help="Also if a golden search breaks.")
@pass_tools
def meaning(tools: Tools, state: str, yes: bool, force: bool) -> None:
    """Let posts that are near to a question in meaning rank higher, whatever words they use.

    It says what that costs, and does all that it takes: packages, model, index, and the setting in
    blogsearch.toml. Searches go on meanwhile; restart the service then. Off, packages and model
    stay, for when it is turned on again.

    \b
    blogsearch meaning on
    blogsearch meaning off
    """
    output, settings = tools.output, replace(tools.index_settings, semantic=state == "on")
    file = _site_file(tools, state)
    if settings.semantic:
        check_language(settings)
        _prepare(tools, yes)
    wanted = require_golden(index_settings(settings), tools.elastic, settings, force=force)
    built = rebuilt(tools, wanted, "meaning")
    if file:
        text = file.read_text("utf-8") if file.exists() else ""
        file.write_text(with_setting(text, on=settings.semantic), "utf-8")
    output.say(f"semantic is {state}{f' in {file}' if file else ' already'}.")
    if built:
        after_build(tools, built)
    if built or file:
        output.say("Restart the service, or send it SIGHUP.")
    output.result({"semantic": state, "index": built.index if built else None})


def _prepare(tools: Tools, yes: bool) -> None:
    """Say what it costs, and install what is missing."""
    output = tools.output
    live = live_generation(tools.elastic, tools.settings.index)
    posts = count(tools.elastic, live.name)[0] if live else 0
    output.say(
        "It takes 69 MB of memory in each worker process, an index 1.2 times as large, and about "
        f"a second for 62 passages of 100 words; there are {posts:,} posts."
    )
    if not models.is_installed():
        output.say(f"The model is downloaded once: {models.ARCHIVE_MB} MB.")
    if missing := [name for name in _MODULES if not find_spec(name)]:
        output.say(f"These packages are installed: {', '.join(missing)}.")
    if not yes:
        click.confirm("Go on?", abort=True)
    if missing:
        _install_packages()
    if not models.is_installed():
        models.install(download_model(output))


def _site_file(tools: Tools, state: str) -> Path | None:
    """The file that the setting is written to; None if it is what is wanted already.

    Raises:
        click.ClickException: it cannot be written, or the environment says something else.
    """
    if tools.settings.semantic == (state == "on"):
        return None
    file = site_file() or Path(SITE_FILE)
    read_site_file()
    if _VARIABLE in os.environ:
        reason = f"{_VARIABLE} in the environment wins over {SITE_FILE}"
    elif not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
        reason = f"{file} cannot be written"
    else:
        return file
    raise click.ClickException(
        f"{reason}. Set {_VARIABLE}={state} in the environment, and run `blogsearch rebuild`."
    )


def with_setting(text: str, *, on: bool) -> str:
    """The text of a `blogsearch.toml` with the setting; all else stays as it is."""
    line = f"semantic = {'true' if on else 'false'}"
    if _LINE.search(text):
        return _LINE.sub(line, text)
    if _TABLE.search(text):
        return _TABLE.sub(rf"\g<0>\n{line}", text)
    return f"{text.rstrip()}\n\n[settings]\n{line}\n".lstrip()


def _install_packages() -> None:
    """Install the packages of the extra into the environment of this process.

    Raises:
        click.ClickException: there is neither pip nor uv, or it failed.
    """
    by_hand = f"Install into {sys.prefix}: {', '.join(_MODULES)}"
    if find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", *_MODULES]
    elif uv := shutil.which("uv"):
        command = [uv, "pip", "install", "--python", sys.executable, *_MODULES]
    else:
        raise click.ClickException(f"There is neither pip nor uv here. {by_hand}")
    if subprocess.run(command, check=False).returncode:  # noqa: S603 -- words of ours
        raise click.ClickException(f"The packages could not be installed, see above. {by_hand}")
