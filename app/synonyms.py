"""The rule files in use, and how they go live: checked, built into an index, swapped in, and then
stored in the folder. A former file stays beside the new one as `NAME.synonyms.old`."""

import filecmp
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers.chains import SYNONYMS, index_time
from analyzers.errors import Finding
from analyzers.languages import LANGUAGES
from analyzers.rules.compile import RuleErrors, Rules, check, in_effect
from analyzers.rules.parse import SUFFIX, rule_files
from app.errors import BadRequest, BlogsearchError, FolderUnusable, NotFound
from app.meaning import open_model
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, is_current, rebuild
from indexer.generations import live as live_generation
from indexer.lock import Lock
from indexer.records import OnProgress

OLD = ".old"

OnSwap = Callable[[], None]
"""Called when an index with other rules is live: earlier answers are stale."""
Gate = Callable[[IndexSettings], IndexSettings]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a load or a removal."""

    built: Built | None = None  # None: an error was found, there is no index, or it has these rules
    added: tuple[str, ...] = ()  # rules that the live index has now, as they take effect
    gone: tuple[str, ...] = ()  # and those that it had
    kept: tuple[Path, ...] = ()  # files whose former content is kept beside them
    findings: tuple[Finding, ...] = ()


def used_files(settings: Settings) -> list[Path]:
    """The files in use, in the order in which they are read.

    Raises:
        FolderUnusable: otherwise an index without rules would be built silently.
    """
    _check_readable(settings.synonyms_dir)
    return rule_files(settings.synonyms_dir, settings.synonyms_left_out, settings.language)


def all_files(settings: Settings) -> list[Path]:
    """The files in use, those that are left out and those for other languages."""
    _check_readable(settings.synonyms_dir)
    return rule_files(settings.synonyms_dir)


def index_settings(settings: Settings, rules: Rules | None = None) -> IndexSettings:
    """The settings of a new generation, with the rules of the folder if no others are given."""
    rules = rules or Rules(used_files(settings))
    language, model = LANGUAGES[settings.language], open_model(settings)
    return IndexSettings(rules, settings.shards, settings.replicas, language, model)


def applied(tokens: Sequence[str], digest: str, settings: Settings) -> Json:
    """The rules at work in the lower-case tokens of a query, for `debug-search`.

    `note` instead where the folder's rules are not the index's, which have this digest: nothing
    certain can be said then.
    """
    try:
        files = rule_files(settings.synonyms_dir, settings.synonyms_left_out, settings.language)
        rules = _rules(tuple((path, path.stat().st_mtime_ns) for path in files))
        if rules.digest != digest:
            note = "the index was built with other rules than the folder has now; "
            return {"rules": [], "note": f"{note}`blogsearch synonyms load` applies them"}
        made = [
            {
                "words": " ".join(tokens[start:end]),
                "tokens": list(group.tokens),
                "rules": [
                    {"file": rule.file, "line": rule.line, "rule": str(rule)}
                    for rule in group.rules
                ],
            }
            for start, end, group in rules.explain(tokens)
        ]
    except (RuleErrors, OSError) as error:
        return {"rules": [], "note": f"the rule files cannot be read: {error}"[:300]}
    return {"rules": made}


@lru_cache(maxsize=2)
def _rules(files: tuple[tuple[Path, int], ...]) -> Rules:
    """Thousands of rules are compiled once, and again when a file changes."""
    return Rules(path for path, _ in files)


def load(
    settings: Settings,
    client: Elasticsearch,
    files: Sequence[Path],
    on_progress: OnProgress,
    on_swap: OnSwap,
    gate: Gate = lambda wanted: wanted,
) -> Loaded:
    """Check files, make an index with them live and store them in the folder.

    Without files, the files of the folder go live. A failed check or build changes nothing.

    Args:
        gate: gives the settings of the build a check that may keep the live index.
    """
    left_out = {name.removesuffix(SUFFIX) for name in settings.synonyms_left_out}
    if without := sorted(left_out & {path.stem for path in files}):
        raise BadRequest(
            f"{', '.join(without)} is left out by BLOGSEARCH_SYNONYMS_WITHOUT; "
            "remove it from that setting first."
        )
    purpose = f"synonyms load {' '.join(path.name for path in files)}".strip()
    with Lock(client, settings.index, purpose) as lock:
        used = used_files(settings)
        rules, found = check(files or used, used, LANGUAGES[settings.language])
        if any(finding.severity == "error" for finding in found):
            return Loaded(findings=tuple(found))
        if files:
            _check_writable(settings.synonyms_dir)
        loaded = _build(settings, client, lock, rules, on_progress, on_swap, gate)
        kept = _store(settings.synonyms_dir, files)
    return replace(loaded, findings=tuple(found), kept=tuple(kept))


def remove(
    settings: Settings,
    client: Elasticsearch,
    names: Sequence[str],
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> Loaded:
    """Make an index without these files live, and put them away."""
    with Lock(client, settings.index, f"synonyms remove {' '.join(names)}") as lock:
        wanted = {name.removesuffix(SUFFIX) for name in names}
        there = all_files(settings)
        if missing := wanted - {path.stem for path in there}:
            raise NotFound(
                f"No rule file {', '.join(sorted(missing))} in {settings.synonyms_dir}; "
                f"the folder has {', '.join(path.stem for path in there) or 'none'}."
            )
        _check_writable(settings.synonyms_dir)
        remaining = Rules(path for path in used_files(settings) if path.stem not in wanted)
        loaded = _build(settings, client, lock, remaining, on_progress, on_swap)
        removed = [path for path in there if path.stem in wanted]
        with _folder_errors(settings.synonyms_dir, "changed"):
            for path in removed:
                path.replace(f"{path}{OLD}")
    return replace(loaded, kept=tuple(removed))


@contextmanager
def _folder_errors(folder: Path, what: str) -> Iterator[None]:
    """Turn errors of the system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise FolderUnusable(
            f"The synonyms folder {folder} cannot be {what}: {error.strerror or error}.",
            "Check its permissions, or set BLOGSEARCH_SYNONYMS_DIR to a folder of your own; to use "
            "no synonyms, to an empty one.",
        ) from None


def _check_readable(folder: Path) -> None:
    with _folder_errors(folder, "read"):
        os.scandir(folder).close()


def _check_writable(folder: Path) -> None:
    if "site-packages" in folder.parts:
        raise FolderUnusable(
            f"The synonyms folder {folder} is a part of the installed package: an upgrade "
            f"replaces it. Copy it to a folder of your own (`cp -r {folder} synonyms`), and "
            "set BLOGSEARCH_SYNONYMS_DIR to that folder."
        )
    with _folder_errors(folder, "changed"):
        tempfile.TemporaryFile(dir=folder).close()


def _store(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Copy files into the folder; returns those that had another content."""
    replaced = []
    with _folder_errors(folder, "changed"):
        for file in files:
            place, partial = folder / file.name, folder / f".{file.name}"
            if place.is_file():
                if filecmp.cmp(file, place, shallow=False):
                    continue
                shutil.copyfile(place, f"{place}{OLD}")
                replaced.append(place)
            shutil.copyfile(file, partial)  # no reader sees an incomplete file
            partial.replace(place)
    return replaced


def _build(
    settings: Settings,
    client: Elasticsearch,
    lock: Lock,
    rules: Rules,
    on_progress: OnProgress,
    on_swap: OnSwap,
    gate: Gate = lambda wanted: wanted,
) -> Loaded:
    live = live_generation(client, settings.index)
    wanted = gate(index_settings(settings, rules))
    if live is None or is_current(live, wanted):
        return Loaded()
    before = _live_rules(client, live.name)
    now = in_effect(rules.compiled.lines, rules.compiled.post_lines)
    try:
        built = rebuild(client, lock, settings.index, wanted, on_progress)
    except BadRequestError as error:
        if "synonym" not in str(error):
            raise
        cause = error.body["error"]
        while "caused_by" in cause:
            cause = cause["caused_by"]
        raise BlogsearchError(
            f"Elasticsearch rejects a rule: {cause['reason']}. Nothing was changed.",
            "Remove the rule with these words, or write it with letters and digits.",
        ) from error
    on_swap()
    added = tuple(rule for rule in now if rule not in before)
    gone = tuple(rule for rule in before if rule not in now)
    return Loaded(built, added, gone)


def _live_rules(client: Elasticsearch, index: str) -> dict[str, None]:
    settings = client.indices.get_settings(index=index)[index]["settings"]
    filters = settings["index"]["analysis"]["filter"]
    lines, post_lines = (
        "\n".join(filters[name].get("synonyms", [])).splitlines()
        for name in (SYNONYMS, index_time(SYNONYMS))
    )
    return in_effect(lines, post_lines)
