"""Makes rule files live: checked, built into a new index, swapped in, and only then stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

OnSwap = Callable[[], None]
"""Called when an index with other rules is live: earlier answers are stale."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a load or a removal.

    Args:
        built: None when nothing was built: the check failed, there is no index yet, or the live
            index has these rules and this language already.
        added, gone: rules that the live index has now and had before, as they take effect: followed
            over several lines. Empty if nothing was built.
        kept: the files whose former content is kept beside them.
        checked: of what was loaded; nothing was done if its `rules` are None.
    """

    built: Built | None = None
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    checked: CheckResult | None = None

    @property
    def words(self) -> list[str]:
        """The terms of the rules that were added or are gone."""
        return list(dict.fromkeys(terms_of([*self.added, *self.gone])))


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
            return Loaded(checked=checked)
        loaded = _build(settings, client, lock, checked.rules, on_progress, on_swap)
        try:
            replaced = folder.install(copies)
        except FolderNotWritable as error:
            if loaded.built is None:
                raise
            # The swap is kept: undoing it takes another build on a machine that has a problem.
            raise BlogsearchError(
                f"{loaded.built.index} is live with the new rules, but: {error.message} "
                "Copy the files into the folder yourself, or the next build will not have them."
            ) from error
    return replace(loaded, checked=checked, kept=tuple(replaced))


def remove(
    settings: Settings,
    client: Elasticsearch,
    names: Sequence[str],
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> Loaded:
    """Make an index without these files live, and put them away.

    Raises:
        NotFound, FolderNotWritable, RuleErrors: before anything is built.
        indexer.errors.IndexingError: from the build.
    """
    folder = SynonymFolder.of(settings)
    with Lock(client, settings.index, f"synonyms remove {' '.join(names)}") as lock:
        removed = folder.named(names)
        folder.check_writable()
        remaining = RuleFiles([path for path in folder.used() if path not in removed])
        loaded = _build(settings, client, lock, remaining, on_progress, on_swap)
        folder.put_away(removed)
    return replace(loaded, kept=tuple(removed))


def _build(
    settings: Settings,
    client: Elasticsearch,
    lock: Lock,
    rules: Rules,
    on_progress: OnProgress,
    on_swap: OnSwap,
) -> Loaded:
    live = live_generation(client, settings.index)
    wanted = index_settings(settings, rules)
    if live is None or is_current(live, wanted):
        return Loaded()
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
    on_swap()
    added = tuple(rule for rule in now if rule not in before)
    gone = tuple(rule for rule in before if rule not in now)
    return Loaded(built, added, gone)


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
