"""Finds the rule files in use, explains their rules, and stores files in the synonyms folder.

A replaced file stays beside the new one as `NAME.synonyms.old`.
"""

import filecmp
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from analyzers.chains import SYNONYMS, index_time
from analyzers.languages import ENGLISH, Language, language_of
from analyzers.rules.compile import RuleErrors, Rules, in_effect
from analyzers.rules.parse import rule_files
from app.engines.meaning import open_model
from app.errors import FolderUnusable
from app.settings import Settings
from indexer.runs.build import IndexSettings
from indexer.store.generations import live as live_generation

_OLD = ".old"


def used_files(settings: Settings) -> list[Path]:
    """Return the rule files for the language of the index, in the order in which they are read.

    Raises:
        FolderUnusable: it cannot be read; otherwise an index without rules would be built silently.
    """
    with _folder_errors(settings.synonyms_dir, "read"):
        os.scandir(settings.synonyms_dir).close()
    return rule_files(settings.synonyms_dir, language_of(settings.language).name)


def with_language(settings: Settings, client: Elasticsearch) -> Settings:
    """Return the settings; if they name no language, with that of the live index or English."""
    if settings.language:
        return settings
    live = live_generation(client, settings.index)
    return replace(settings, language=live.language if live else ENGLISH.name)


def index_settings(settings: Settings, rules: Rules | None = None) -> IndexSettings:
    """Return the settings of a new generation, by default with the rules of the folder."""
    rules = rules or Rules(used_files(settings))
    language, model = language_of(settings.language), open_model(settings)
    return IndexSettings(rules, settings.shards, settings.replicas, language, model)


def rules_in_use(digest: str, settings: Settings, language: Language) -> Rules | str:
    """Return the rules of the folder if they have the `digest` of those in the index; otherwise
    why the rules of the index cannot be explained."""
    try:
        files = rule_files(settings.synonyms_dir, language.name)
        rules = _rules(tuple((path, path.stat().st_mtime_ns) for path in files))
        if rules.digest == digest and rules.compiled:
            return rules
    except (RuleErrors, OSError) as error:
        return f"the rule files cannot be read: {error}"[:300]
    note = "the index was built with other rules than the folder has now; "
    return f"{note}`blogsearch rebuild` applies them"


def explain_rules(tokens: Sequence[str], rules: Rules | str, language: Language) -> dict[str, Any]:
    """Return, for `debug-search`, the rules that apply to lower-case tokens, or a `note`."""
    if isinstance(rules, str):
        return {"rules": [], "note": rules}
    made = [
        {
            "words": " ".join(tokens[start:end]),
            "tokens": list(group.tokens),
            "rules": [
                {"file": rule.file, "line": rule.line, "rule": str(rule)} for rule in group.rules
            ],
        }
        for start, end, group in rules.explain(tokens, language)
    ]
    return {"rules": made}


@lru_cache(maxsize=2)
def _rules(files: tuple[tuple[Path, int], ...]) -> Rules:
    """Compile the rules of files, once for each version of a file: there may be thousands."""
    return Rules(path for path, _ in files)


def live_rules(client: Elasticsearch, index: str) -> dict[str, None]:
    """Return the rules that take effect in an index."""
    settings = client.indices.get_settings(index=index)[index]["settings"]
    filters = settings["index"]["analysis"]["filter"]
    lines, post_lines = (
        "".join(filters[name].get("synonyms", [])[:1]).splitlines()
        for name in (SYNONYMS, index_time(SYNONYMS))
    )
    return in_effect(lines, post_lines)


# -- the folder --------------------------------------------------------------------------------


@contextmanager
def _folder_errors(folder: Path, what: str) -> Iterator[None]:
    """Turn errors of the operating system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise FolderUnusable(
            f"The synonyms folder {folder} cannot be {what}: {error.strerror or error}.",
            "Check its permissions, or set BLOGSEARCH_SYNONYMS_DIR to a folder of your own, or to "
            "an empty one for no synonyms.",
        ) from None


def check_writable(folder: Path) -> None:
    """Check that files can be put into the folder, and that upgrades do not replace them.

    Raises:
        FolderUnusable: one of these fails.
    """
    if "site-packages" in folder.parts:
        raise FolderUnusable(
            f"The synonyms folder {folder} is part of the installed package: an upgrade replaces "
            f"it. Copy it to a folder of your own (`cp -r {folder} synonyms`), and set "
            "BLOGSEARCH_SYNONYMS_DIR to that folder."
        )
    with _folder_errors(folder, "changed"):
        tempfile.TemporaryFile(dir=folder).close()


def store(folder: Path, files: Sequence[Path]) -> list[str]:
    """Copy files into the folder, and return the commands that undo it."""
    undo = []
    with _folder_errors(folder, "changed"):
        for file in files:
            place, partial = folder / file.name, folder / f".{file.name}"
            if not place.exists():
                undo.append(f"rm {place}")
            elif filecmp.cmp(file, place, shallow=False):
                continue
            else:
                shutil.copyfile(place, f"{place}{_OLD}")
                undo.append(f"mv {place}{_OLD} {place}")
            shutil.copyfile(file, partial)  # no reader sees an incomplete file
            partial.replace(place)
    return [*undo, "blogsearch rebuild"]
