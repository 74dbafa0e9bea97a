"""Makes rule files live: checked, built into a new index, swapped in, and only then stored."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from elasticsearch import Elasticsearch

from analyzers.languages import LANGUAGES
from analyzers.lint import CheckResult, PostCounts, check
from analyzers.rules.compile import RuleFiles, Rules
from app.cache import AnswerCache
from app.errors import BlogsearchError, FolderNotWritable
from app.meaning import open_model
from app.settings import Settings
from app.synonyms.folder import SynonymFolder
from indexer.build.builder import Built, IndexSettings, is_current, rebuild
from indexer.generations import live as live_generation
from indexer.lock import Lock
from indexer.records import OnProgress, ignore_progress

log = logging.getLogger(__name__)

_BATCH = 500  # words per request


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a load.

    `built` is None when nothing was built: the check failed (`checked.rules` is None), there is no
    index yet, or the live index has these rules and this language already. `replaced` are the
    names of files whose content in the folder has changed.
    """

    checked: CheckResult
    built: Built | None
    replaced: tuple[str, ...] = ()


def index_settings(settings: Settings, rules: Rules | None = None) -> IndexSettings:
    """The settings of a new generation, with the rules of the folder if no others are given.

    Those of the folder are compiled when it is created.
    """
    if rules is None:
        rules = RuleFiles(SynonymFolder.of(settings).used())
    language, model = LANGUAGES[settings.language], open_model(settings)
    return IndexSettings(rules, settings.shards, settings.replicas, language, model)


class Loader:
    """Loads and removes rule files, one process at a time: it holds the lock of the index."""

    def __init__(
        self,
        settings: Settings,
        client: Elasticsearch,
        cache: AnswerCache,
        on_progress: OnProgress = ignore_progress,
    ) -> None:
        self._settings = settings
        self._client = client
        self._cache = cache
        self._on_progress = on_progress
        self._folder = SynonymFolder.of(settings)

    def load(self, files: Sequence[Path]) -> Loaded:
        """Checks files, makes an index with them live and stores them in the folder.

        Without files, the files of the folder go live. A failed check or build changes nothing.

        Raises:
            BadRequest, FolderNotWritable: before anything is built.
            indexer.errors.IndexingError: from the build.
        """
        alias = self._settings.index
        purpose = f"synonyms load {' '.join(path.name for path in files)}".strip()
        with Lock(self._client, alias, purpose) as lock, self._folder.staged(files) as copies:
            checked = self.check(copies or self._folder.used(), self._folder.used())
            if checked.rules is None:
                return Loaded(checked, None)
            built = self._build(lock, checked.rules)
            replaced = self._folder.differing(copies)
            self._install(copies, built)
        return Loaded(checked, built, replaced)

    def remove(self, names: Sequence[str]) -> Built | None:
        """Makes an index without these files live, and deletes them.

        Returns:
            None when nothing had to be built.

        Raises:
            NotFound, FolderNotWritable, RuleErrors: before anything is built.
            indexer.errors.IndexingError: from the build.
        """
        alias = self._settings.index
        with Lock(self._client, alias, f"synonyms remove {' '.join(names)}") as lock:
            removed = self._folder.named(names)
            self._folder.check_writable()
            remaining = [path for path in self._folder.used() if path not in removed]
            built = self._build(lock, RuleFiles(remaining))
            self._folder.delete(removed)
        return built

    def check(self, files: Sequence[Path], in_use: Sequence[Path]) -> CheckResult:
        """Checks files as `analyzers.lint` does, with the number of live posts that have a word."""
        live = live_generation(self._client, self._settings.index)
        count = partial(count_posts, self._client, live.name) if live else None
        return check(
            self._client, files, in_use, count, language=LANGUAGES[self._settings.language]
        )

    def _build(self, lock: Lock, rules: Rules) -> Built | None:
        live = live_generation(self._client, self._settings.index)
        wanted = index_settings(self._settings, rules)
        if live is None or is_current(live, wanted):
            return None
        built = rebuild(self._client, lock, self._settings.index, wanted, self._on_progress)
        # Before the files are installed, which may fail: the index has been swapped.
        if not self._cache.new_generation(built.index, built.rules):
            log.warning("Redis could not be updated: older answers may be served until they expire")
        return built

    def _install(self, copies: Sequence[Path], built: Built | None) -> None:
        try:
            self._folder.install(copies)
        except FolderNotWritable as error:
            if built is None:
                raise
            # The swap is kept: undoing it takes another build on a machine that has a problem.
            raise BlogsearchError(
                f"{built.index} is live with the new rules, but: {error.message} "
                "Copy the files into the folder yourself, or the next build will not have them."
            ) from error


def count_posts(client: Elasticsearch, index: str, words: Sequence[str]) -> PostCounts:
    """How many posts of an index there are, and how many have each word, as it was written."""
    with_word: dict[str, int] = {}
    total = 0
    for start in range(0, len(words), _BATCH):
        batch = words[start : start + _BATCH]
        response = client.search(
            index=index,
            size=0,
            track_total_hits=True,
            query={"term": {"kind": "post"}},
            aggs={"words": {"filters": {"filters": [_having(word) for word in batch]}}},
            allow_partial_search_results=False,
        )
        total = response["hits"]["total"]["value"]
        buckets = response["aggregations"]["words"]["buckets"]
        with_word |= {
            word: bucket["doc_count"] for word, bucket in zip(batch, buckets, strict=True)
        }
    return PostCounts(total, with_word)


def _having(word: str) -> dict[str, object]:
    fields = ["title.words", "text.words"]
    return {"multi_match": {"query": word, "fields": fields, "type": "phrase"}}
