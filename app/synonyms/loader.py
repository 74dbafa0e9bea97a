"""New rules go live: checked, built beside the live index, swapped in, and only then kept."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elasticsearch import Elasticsearch

from analyzers.lint.check import Report, check
from analyzers.rules import RuleSet, read_rules
from app.cache import AnswerCache
from app.errors import ServiceError
from app.settings import Settings
from app.synonyms.counts import counter
from app.synonyms.folder import FolderNotWritable, SynonymFolder
from indexer.build.builder import Built, IndexSettings
from indexer.build.rebuild import rebuild_locked
from indexer.generations import live as live_generation
from indexer.lock import Lock
from indexer.progress import OnProgress, ignore_progress

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of it.

    `built` is None when nothing had to be built: the check failed (`report.rules` is None), there
    is no index yet, or the live one has these rules already.
    """

    report: Report
    built: Built | None
    replaced: tuple[str, ...] = ()
    """Names of files that were in the folder already, with other words in them."""


class Loader:
    """Loads and removes rule files. One process at a time: it holds the lock of the index."""

    def __init__(
        self,
        settings: Settings,
        client: Elasticsearch,
        cache: AnswerCache,
        progressing: OnProgress = ignore_progress,
    ) -> None:
        self._settings = settings
        self._client = client
        self._cache = cache
        self._progressing = progressing
        self._folder = SynonymFolder.of(settings)

    def load(self, files: Sequence[Path]) -> Loaded:
        """Checks files, makes an index with them live and puts them into the folder.

        Without files, what is in the folder goes live. A file that fails the check, and a build
        that fails, change nothing.

        Raises:
            BadRequest, FolderNotWritable: before anything is built.
            indexer.errors.IndexingError: as `indexer.rebuild` does.
        """
        alias = self._settings.index
        purpose = f"synonyms load {' '.join(path.name for path in files)}".strip()
        with Lock(self._client, alias, purpose) as lock, self._folder.staged(files) as copies:
            report = self.check(copies or self._folder.used(), self._folder.used())
            if report.rules is None:
                return Loaded(report, None)
            built = self._go_live(lock, report.rules)
            replaced = self._folder.differing(copies)
            self._keep(copies, built)
        return Loaded(report, built, replaced)

    def remove(self, names: Sequence[str]) -> Built | None:
        """Makes an index without these files live, and deletes them.

        Returns:
            None when nothing had to be built.

        Raises:
            NotFound, FolderNotWritable, RuleErrors: before anything is built.
            indexer.errors.IndexingError: as `indexer.rebuild` does.
        """
        alias = self._settings.index
        with Lock(self._client, alias, f"synonyms remove {' '.join(names)}") as lock:
            doomed = self._folder.named(names)
            self._folder.check_writable()
            left = [path for path in self._folder.used() if path not in doomed]
            built = self._go_live(lock, read_rules(left))
            self._folder.delete(doomed)
        return built

    def check(self, files: Sequence[Path], others: Sequence[Path]) -> Report:
        """Checks files as `analyzers.lint.check` does, with the words of the live index."""
        live = live_generation(self._client, self._settings.index)
        count = counter(self._client, live.name) if live else None
        return check(self._client, files, others, count)

    def _go_live(self, lock: Lock, rules: RuleSet) -> Built | None:
        live = live_generation(self._client, self._settings.index)
        if live is None or live.rules == rules.digest:
            return None
        shape = IndexSettings(rules, self._settings.shards, self._settings.replicas)
        built = rebuild_locked(self._client, lock, self._settings.index, shape, self._progressing)
        # At once, whatever becomes of the files: the index has swapped.
        if not self._cache.new_generation(built.index, built.rules) and self._cache.configured:
            log.warning("Redis could not be updated: older answers may be served until they expire")
        return built

    def _keep(self, copies: Sequence[Path], built: Built | None) -> None:
        try:
            self._folder.install(copies)
        except FolderNotWritable as error:
            if built is None:
                raise
            # The swap stands; going back would cost another build on a machine in trouble.
            raise ServiceError(
                f"{built.index} is live with the new rules, but: {error.message} "
                "Copy the files there yourself, or the next build will be without them."
            ) from error
