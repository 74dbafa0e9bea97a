"""What a process knows of an index besides its posts: its synonym rules, and the pinned results.

Every first request of a search also tells the name of the index behind the alias and the version of
the pinned results; what differs from what is known is read then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzers.chains import SYNONYMS
from analyzers.rules.compile import Phrases
from app.errors import OutdatedIndex
from app.search.pins import PinRule, PinStore
from app.search.session import SearchSession
from indexer import SCHEMA
from indexer.errors import other_schema

if TYPE_CHECKING:
    from analyzers.meaning import Model

Json = dict[str, Any]

_RULES = f"index.analysis.filter.{SYNONYMS}.synonyms"


@dataclass(frozen=True, slots=True)
class IndexRules:
    """The synonym rules of the index `name`: their digest, and the phrases that they contract.

    `model` names the model of the vectors of its passages, "" without vectors. `popularity` is that
    of a usual post, 0 if no post has one.
    """

    name: str = ""
    digest: str = ""
    phrases: Phrases = field(default_factory=Phrases)
    model: str = ""
    popularity: float = 0.0


class Known:
    """Shared by the searches of a process. Threads may replace its values at any time, so a search
    takes each of them once."""

    def __init__(self, store: PinStore | None = None, model: "Model | None" = None) -> None:
        self.model = model
        self.rules = IndexRules()
        self._store = store

    @property
    def pins(self) -> Sequence[PinRule]:
        """The pinned results as they were read last."""
        return self._store.current if self._store else ()

    def version_search(self) -> tuple[Json, Json] | None:
        """The header and body of a search for the version of the pinned results."""
        return self._store.version_search() if self._store else None

    def update(self, session: SearchSession, index: str, version: Json | None) -> bool:
        """Read what has changed; whether anything has.

        `index` is the name of the index that answered, `version` the response to `version_search`.

        Raises:
            OutdatedIndex: the index has the fields of another version.
        """
        changed = False
        store = self._store if self._store and version is not None else None
        # Written, too, when posts became popular: `PinStore.touch`.
        is_new = bool(store and version is not None and not store.is_current(version))
        if is_new or not self.rules.name or index not in ("", self.rules.name):
            rules = read_index_rules(session)
            changed = rules != self.rules
            self.rules = rules
        if is_new and store:
            session.read("pins", store.read)
            changed = True
        return changed


def read_index_rules(session: SearchSession) -> IndexRules:
    """The rules of the index that a session searches.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    nothing: Json = {}
    bodies: Json = session.read(
        "rules",
        lambda: session.client.indices.get(
            index=session.index,
            features=["mappings", "settings"],
            filter_path=["*.mappings._meta.blogsearch", f"*.settings.{_RULES}"],
        ),
    ).body
    name, body = next(iter(bodies.items()), ("", nothing))
    meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    if meta.get("schema") != SCHEMA:
        raise OutdatedIndex(str(other_schema(meta.get("schema"))))
    filters = body.get("settings", {}).get("index", {}).get("analysis", {}).get("filter", {})
    lines = filters.get(SYNONYMS, {}).get("synonyms", [])
    phrases = Phrases.of([lines] if isinstance(lines, str) else lines)
    popularity = _usual_popularity(session)
    return IndexRules(name, meta.get("rules", ""), phrases, meta.get("model", ""), popularity)


def _usual_popularity(session: SearchSession) -> float:
    """The median of the posts that have one; 0 if none has."""
    usual: Json = {"percentiles": {"field": "popularity", "percents": [50], "keyed": False}}
    above: Json = {"filter": {"range": {"popularity": {"gt": 0}}}, "aggs": {"usual": usual}}
    response = session.read(
        "popularity",
        lambda: session.client.search(
            index=session.index, size=0, track_total_hits=False, aggs={"above": above}
        ),
    ).body
    return float(response["aggregations"]["above"]["usual"]["values"][0]["value"] or 0.0)
