"""What a process knows of an index besides its posts: synonym phrases, pinned results, and how many
posts have the words of former searches.

Nothing is read in advance. Every first request of a search also tells the name of the index behind
the alias, its last change, and the version of the pinned results; what differs from what is known
is read then, once for each generation of the index and each change of the pinned results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzers.chains import SYNONYMS
from analyzers.rules.compile import Phrases
from app.errors import OutdatedIndex
from app.search.first_request import (
    NOTHING,
    FirstResponse,
    State,
    examined_terms,
    tokens_to_correct,
    written,
)
from app.search.pins import NO_PINS, Pins
from app.search.query_builder import Plan
from app.search.session import SearchSession
from app.search.spelling import TermStats
from indexer import SCHEMA
from indexer.errors import other_schema

if TYPE_CHECKING:
    from analyzers.meaning import Model
    from app.pins import PinStore

Json = dict[str, Any]

_MOST_WORDS = 2000
"""Words that are remembered: some megabytes. Usual searches of a day have fewer."""

_RULES = f"index.analysis.filter.{SYNONYMS}.synonyms"


@dataclass(frozen=True, slots=True)
class IndexRules:
    """The synonym rules of the index `name`: their digest, and the phrases that they contract.

    `model`: names the model of the vectors of its passages; "" without vectors.
    """

    name: str = ""
    digest: str = ""
    phrases: Phrases = field(default_factory=Phrases)
    model: str = ""


class Words:
    """What first requests have told of words; it holds as long as the index is in this state.

    A misspelled word is corrected by it without a request, and the suggester, which takes most of
    the time of a lookup, gets each word once.
    """

    def __init__(self, state: State = NOTHING.state) -> None:
        self.state = state
        self._stats: dict[str, TermStats] = {}
        self._options: dict[tuple[str, int], Sequence[Json]] = {}  # by word and errors

    def recall(self, typed: Plan) -> FirstResponse:
        """What is remembered of the terms of a query; `NOTHING` if that is nothing."""
        terms = examined_terms(typed)
        texts = {term.key: written(term, typed.query) for term in terms}
        stats = {key: self._stats[text] for key, text in texts.items() if text in self._stats}
        tokens = tokens_to_correct(terms)
        options = {
            token: self._options[token, errors]
            for token, errors in tokens.items()
            if (token, errors) in self._options
        }
        if not stats and not options:
            return NOTHING
        index, total, last_change = self.state
        return FirstResponse(NOTHING.hits, {}, stats, options, total, index, last_change)

    def remember(self, typed: Plan, first: FirstResponse) -> None:
        """Remember the response to the first request for a query. Of several shards the greatest
        number of a write does not tell every change, so nothing is."""
        if first.shards > 1:
            return
        if len(self._stats) > _MOST_WORDS:
            self._stats, self._options = {}, {}
        terms = examined_terms(typed)
        for term in terms:
            if term.key in first.stats:
                self._stats[written(term, typed.query)] = first.stats[term.key]
        for token, errors in tokens_to_correct(terms).items():
            if token in first.options:
                self._options[token, errors] = first.options[token]


class Known:
    """Shared by the searches of a process. Threads may replace its values at any time, so a search
    takes each of them once."""

    def __init__(self, store: "PinStore | None" = None, model: "Model | None" = None) -> None:
        self.model = model
        self.rules = IndexRules()
        self.words = Words()
        self._store = store

    @property
    def pins(self) -> Pins:
        """The pinned results as they were read last."""
        return self._store.current if self._store else NO_PINS

    def version_search(self) -> tuple[Json, Json] | None:
        """The header and body of a search for the version of the pinned results."""
        return self._store.version_search() if self._store else None

    def update(self, session: SearchSession, index: str, version: Json | None) -> bool:
        """Read what has changed; whether anything has.

        Args:
            index: the name of the index that answered, "" if it has no documents.
            version: the response to `version_search`.

        Raises:
            OutdatedIndex: the index has the fields of another version.
        """
        changed = False
        if index != self.rules.name or not index:
            rules = read_index_rules(session)
            changed = rules != self.rules
            self.rules = rules
        if self._store and version is not None and not self._store.is_current(version):
            session.read("pins", self._store.read)
            changed = True
        return changed


def read_index_rules(session: SearchSession) -> IndexRules:
    """The rules of the index that a session searches.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    bodies = session.read("rules", lambda: _index_body(session))
    for name, body in (bodies or {"": {}}).items():
        meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
        if meta.get("schema") != SCHEMA:
            raise OutdatedIndex(str(other_schema(meta.get("schema"))))
        filters = body.get("settings", {}).get("index", {}).get("analysis", {}).get("filter", {})
        lines = filters.get(SYNONYMS, {}).get("synonyms", [])
        compiled = [lines] if isinstance(lines, str) else lines
        return IndexRules(name, meta.get("rules", ""), Phrases.of(compiled), meta.get("model", ""))
    return IndexRules()


def _index_body(session: SearchSession) -> Mapping[str, Any]:
    response = session.client.indices.get(
        index=session.index,
        features=["mappings", "settings"],
        filter_path=["*.mappings._meta.blogsearch", f"*.settings.{_RULES}"],
    )
    body: Mapping[str, Any] = response.body
    return body
