"""Makes rule files live: checked, built into a new index, swapped in, and only then stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from analyzers.chains import SYNONYMS, index_time
from analyzers.languages import LANGUAGES
from analyzers.lint import CheckResult, check
from analyzers.rules.compile import RuleFiles, Rules, in_effect, terms_of
from app.errors import BlogsearchError, FolderNotWritable
from app.meaning import open_model
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.build.builder import Built, IndexSettings, is_current, rebuild
from indexer.generations import live as live_generation
from indexer.lock import Lock
from indexer.records import OnProgress

OnSwap = Callable[[Built], None]
"""Called when an index with other rules is live: earlier answers are stale."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between the rules that were live and those that are; nothing without an index
    before. Rules are as they take effect: followed over several lines."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The terms of these rules."""
        return list(dict.fromkeys(terms_of([*self.added, *self.gone])))


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a load.

    `built` is None when nothing was built: the check failed (`checked.rules` is None), there is no
    index yet, or the live index has these rules and this language already. `replaced` are the
    files of the folder that had another content, which is kept beside them.
    """

    checked: CheckResult
    built: Built | None = None
    changes: Changes = Changes()
    replaced: tuple[Path, ...] = ()


def index_settings(settings: Settings, rules: Rules | None = None) -> IndexSettings:
    """The settings of a new generation, with the rules of the folder if no others are given.

    Those of the folder are compiled when it is created.
    """
    if rules is None:
        rules = RuleFiles(SynonymFolder.of(settings).used())
    language, model = LANGUAGES[settings.language], open_model(settings)
    return IndexSettings(rules, settings.shards, settings.replicas, language, model)


def load(
    settings: Settings,
    client: Elasticsearch,
    files: Sequence[Path],
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> Loaded:
    """Check files, make an index with them live and store them in the folder.

    Without files, the files of the folder go live. A failed check or build changes nothing.

    Raises:
        BadRequest, FolderNotWritable: before anything is built.
        indexer.errors.IndexingError: from the build.
    """
    folder = SynonymFolder.of(settings)
    purpose = f"synonyms load {' '.join(path.name for path in files)}".strip()
    with Lock(client, settings.index, purpose) as lock, folder.staged(files) as copies:
        checked = check(copies or folder.used(), folder.used(), folder.language)
        if checked.rules is None:
            return Loaded(checked)
        built, changes = _build(settings, client, lock, checked.rules, on_progress, on_swap)
        try:
            replaced = folder.install(copies)
        except FolderNotWritable as error:
            if built is None:
                raise
            # The swap is kept: undoing it takes another build on a machine that has a problem.
            raise BlogsearchError(
                f"{built.index} is live with the new rules, but: {error.message} "
                "Copy the files into the folder yourself, or the next build will not have them."
            ) from error
    return Loaded(checked, built, changes, tuple(replaced))


def remove(
    settings: Settings,
    client: Elasticsearch,
    names: Sequence[str],
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> tuple[Built | None, Changes, list[Path]]:
    """Make an index without these files live, and put them away; returns the files, too.

    Raises:
        NotFound, FolderNotWritable, RuleErrors: before anything is built.
        indexer.errors.IndexingError: from the build.
    """
    folder = SynonymFolder.of(settings)
    with Lock(client, settings.index, f"synonyms remove {' '.join(names)}") as lock:
        removed = folder.named(names)
        folder.check_writable()
        remaining = RuleFiles([path for path in folder.used() if path not in removed])
        built, changes = _build(settings, client, lock, remaining, on_progress, on_swap)
        folder.put_away(removed)
    return built, changes, removed


def _build(
    settings: Settings,
    client: Elasticsearch,
    lock: Lock,
    rules: Rules,
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> tuple[Built | None, Changes]:
    live = live_generation(client, settings.index)
    wanted = index_settings(settings, rules)
    if live is None or is_current(live, wanted):
        return None, Changes()
    before, now = _live_rules(client, live.name), in_effect(rules.lines, rules.post_lines)
    try:
        built = rebuild(client, lock, settings.index, wanted, on_progress)
    except BadRequestError as error:
        if "synonym" not in str(error):
            raise
        raise BlogsearchError(
            f"Elasticsearch rejects a rule: {_innermost(error.body)}. Nothing was changed.",
            "Remove the rule with these words, or write it with letters and digits.",
        ) from error
    on_swap(built)
    added = tuple(rule for rule in now if rule not in before)
    gone = tuple(rule for rule in before if rule not in now)
    return built, Changes(added, gone)


def _live_rules(client: Elasticsearch, index: str) -> dict[str, None]:
    path = "index.analysis.filter"
    response = client.indices.get_settings(index=index, name=f"{path}.*", flat_settings=True)
    settings = response[index]["settings"]

    def lines(name: str) -> list[str]:
        value = settings.get(f"{path}.{name}.synonyms", [])
        return "\n".join([value] if isinstance(value, str) else value).splitlines()

    return in_effect(lines(SYNONYMS), lines(index_time(SYNONYMS)))


def _innermost(body: Any) -> str:
    """The last of the reasons that Elasticsearch nests."""
    cause = body.get("error", {}) if isinstance(body, dict) else {}
    while "caused_by" in cause:
        cause = cause["caused_by"]
    return str(cause.get("reason", body))
