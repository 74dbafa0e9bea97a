"""Reads from Elasticsearch what is known of an index: one frozen value for each generation.

    view = read_view(client, "blog")
    view.pins, view.phrases, view.languages

A generation consists of the UUID of the index, the version of the pinned results, the languages of
the posts, and for each shard the number of the last write and the figures: the number of posts that
searches see, and the sum of their sequence numbers. docs/caching.md says why no two states of an
index have the same generation. All searches use the same preference, so that the shard copy that
reported the figures also answers the search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

from analyzers.chains import SYNONYMS
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import Phrases
from app.engines.elastic import NO_INDEX, ONE_COPY, responses_of
from app.engines.stored_texts import StoredDocument, Version, texts_of, version
from app.errors import NoIndex
from app.search.pins import PINS, PinRule, parse
from app.search.session import FIGURES, Body, SearchSession, read_figures, shard_headers
from indexer import SCHEMA
from indexer.errors import other_schema
from indexer.posts.normalise import TRANSLATED
from indexer.store.state import state_index

_PARTS = 4  # of a generation
_MOST_LANGUAGES = 100  # distinguished in one index
_COMPARED = 1_000  # translation keys of a shard, to find out whether two posts share one
_SYNONYMS = f"index.analysis.filter.{SYNONYMS}.synonyms"


@dataclass(frozen=True, slots=True)
class IndexView:
    """One generation of an index.

    `generation` is its value in Redis; `figures` identify it in responses to searches
    (`app.search.session`). `name` and `uuid` identify the index; `rules` is the digest of its
    synonym rules, `phrases` are the phrases they contract, `language` is the language of its
    analyzers. `model` is the model of its passages' vectors, "" without vectors. `languages` has
    the languages of all posts; posts that name none are in that of the index. `popularity` is that
    of a usual post, 0 if no post has one.
    """

    generation: bytes
    figures: str
    shards: int
    posts: int
    languages: frozenset[str]
    popularity: float
    has_comments: bool
    has_translations: bool = False
    pins: Sequence[PinRule] = ()
    pins_version: Version | None = None
    name: str = ""
    uuid: str = ""
    schema: int | None = SCHEMA
    rules: str = ""
    phrases: Phrases = field(default_factory=Phrases)
    language: Language = ENGLISH
    model: str = ""

    @property
    def names(self) -> set[str]:
        """The names of the indices that contain posts."""
        return set(self.figures.partition(" ")[0].split(",")) - {""}

    def check_schema(self) -> None:
        """Check that the index has the fields of this version.

        Raises:
            OutdatedIndex: it has the fields of another version.
        """
        if self.schema != SCHEMA:
            raise other_schema(self.schema)


# -- generations -----------------------------------------------------------------------------------


def _encode(
    figures: str, indices: Sequence[str], pins: Version | None, languages: frozenset[str]
) -> bytes:
    parts = [figures, " ".join(indices), f"pins:{pins}", ",".join(sorted(languages))]
    return "|".join(parts).encode()


def _part(generation: bytes, number: int) -> str:
    """Return a part of a generation; "" if another program or version wrote it."""
    parts = generation.decode(errors="replace").split("|")
    return parts[number] if len(parts) == _PARTS else ""


def languages_of(generation: bytes) -> frozenset[str]:
    return frozenset(_part(generation, 3).split(",")) - {""}


def _indices_of(generation: bytes) -> list[str]:
    """Return `uuid:number,…` of each index behind the alias, usually one; a number per shard."""
    return _part(generation, 1).split()


def _pins_search(alias: str) -> list[Body]:
    """Return a search for the pinned results; without a state index it finds nothing."""
    header = {"index": state_index(alias), "preference": ONE_COPY, "ignore_unavailable": True}
    return [header, {"query": {"ids": {"values": [PINS]}}, "seq_no_primary_term": True}]


# -- reading ---------------------------------------------------------------------------------------

_FACTS: Body = {
    **FIGURES,
    "aggs": {
        **FIGURES["aggs"],
        "named": {"terms": {"field": "language", "size": _MOST_LANGUAGES}},
        "unnamed": {"missing": {"field": "language"}},
        "popular": {
            "filter": {"range": {"popularity": {"gt": 0}}},
            "aggs": {
                "usual": {"percentiles": {"field": "popularity", "percents": [50], "keyed": False}}
            },
        },
        "comments": {"nested": {"path": "comments"}},
        "translated": {
            "terms": {
                "field": "translation_key",
                "include": f"{TRANSLATED}.*",
                "size": 1,
                "shard_size": _COMPARED,
                "min_doc_count": 2,
            }
        },
    },
}


def read_view(
    client: Elasticsearch,
    index: str,
    former: IndexView | None = None,
    alias: str = "",
) -> IndexView:
    """Read the present view of an index by three requests, by two if `former` is of the same index.
    The pinned results are those of `alias`, if the index has another name.

    Exceptions of the client pass through.

    Raises:
        NoIndex: there is no such index.
    """
    while True:
        indices = _read_indices(client, index)
        try:
            view = _read(client, index, list(indices.values()), former, alias or index)
        except NotFoundError:  # deleted after a swap
            continue
        # Otherwise the alias was swapped in between.
        if view.names <= indices.keys() and view.name in indices:
            return view


def open_session(client: Elasticsearch, index: str, alias: str = "") -> SearchSession:
    """Open a session with the present view of the index; the pinned results are those of `alias`,
    if the index has another name.

    Raises:
        NoIndex, OutdatedIndex: there is no such index, or it has the fields of another version.
    """
    view = read_view(client, index, alias=alias)
    view.check_schema()
    return SearchSession(client, index, view)


def follow(
    client: Elasticsearch, index: str, generation: bytes, former: IndexView
) -> IndexView | None:
    """Read the view of a generation that another process has found, by one request; None if the
    index now has another generation. Exceptions of the client pass through."""
    indices = _indices_of(generation)
    if not indices:
        return None
    view = _read(client, index, indices, former, index)
    # The settings may be those of another index, if the alias was swapped after they were read.
    is_whole = view.generation == generation and indices[0].startswith(f"{view.uuid}:")
    return view if is_whole else None


def _read_indices(client: Elasticsearch, index: str) -> dict[str, str]:
    """Return, by index name, the UUID and each shard's greatest sequence number, refreshed or not.

    Raises:
        NoIndex: there is none.
        ApiError: no shard is available.
    """
    try:
        stats = client.indices.stats(
            index=index,
            metric="docs",
            level="shards",
            filter_path="indices.*.uuid,indices.*.shards.*.seq_no.max_seq_no",
        )
        if not stats.get("indices"):
            client.search(index=index, size=0)  # fails: the shards have not started, or are lost
    except NotFoundError:
        raise NoIndex(NO_INDEX) from None
    indices = {}
    for name, found in sorted(stats.get("indices", {}).items()):
        shards = [copies for _, copies in sorted(found["shards"].items())]
        numbers = [max(copy["seq_no"]["max_seq_no"] for copy in copies) for copies in shards]
        indices[name] = f"{found['uuid']}:{','.join(map(str, numbers))}"
    if not indices:
        raise NoIndex(NO_INDEX)
    return indices


def _read(
    client: Elasticsearch,
    index: str,
    indices: Sequence[str],
    former: IndexView | None,
    alias: str,
) -> IndexView:
    if former and indices[0].startswith(f"{former.uuid}:"):
        same = ("name", "uuid", "schema", "rules", "phrases", "language", "model")
        settings = {name: getattr(former, name) for name in same}
    else:
        settings = _read_settings(client, index)
    language: Language = settings["language"]
    shards = max(written.count(",") + 1 for written in indices)
    headers = shard_headers(index, shards)
    searches = [(header, FIGURES) for header in headers] if shards > 1 else []
    searches.append(({**headers[0], "preference": ONE_COPY}, _FACTS))
    lines = [line for search in searches for line in search]
    response = client.msearch(searches=[*lines, *_pins_search(alias)])
    *parts, pins = responses_of(response)
    stored: StoredDocument = next(iter(pins["hits"]["hits"]), StoredDocument())
    facts = parts.pop() if shards > 1 else parts[0]
    counts = facts["aggregations"]
    languages = {bucket["key"] for bucket in counts["named"]["buckets"]}
    if counts["unnamed"]["doc_count"]:
        languages.add(language.code)
    tags, figures = frozenset(languages), read_figures([part["aggregations"] for part in parts])
    view = IndexView(
        generation=_encode(figures, indices, version(stored), tags),
        figures=figures,
        shards=shards,
        posts=counts["numbers"]["count"],
        languages=tags,
        popularity=counts["popular"]["usual"]["values"][0]["value"] or 0.0,
        has_comments=bool(counts["comments"]["doc_count"]),
        has_translations=bool(counts["translated"]["buckets"]),
        **settings,
    )
    if former and (former.pins_version, former.language) == (version(stored), language):
        return replace(view, pins=former.pins, pins_version=former.pins_version)
    rules = tuple(parse(texts_of(stored), language)[0])
    return replace(view, pins=rules, pins_version=version(stored))


def _read_settings(client: Elasticsearch, index: str) -> dict[str, Any]:
    """Read the fields of a view that do not change during the life of the index."""
    body = client.indices.get(
        index=index,
        features=["mappings", "settings"],
        filter_path=[
            "*.mappings._meta.blogsearch",
            "*.settings.index.uuid",
            f"*.settings.{_SYNONYMS}",
        ],
    ).body
    name, found = next(iter(body.items()))
    meta = found.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    language = LANGUAGES.get(meta.get("language", ""), ENGLISH)
    settings = found["settings"]["index"]
    lines = settings.get("analysis", {}).get("filter", {}).get(SYNONYMS, {}).get("synonyms", [])
    return {
        "name": name,
        "uuid": settings["uuid"],
        "schema": meta.get("schema"),
        "rules": meta.get("rules", ""),
        "phrases": Phrases.of([lines] if isinstance(lines, str) else lines, language),
        "language": language,
        "model": meta.get("model", ""),
    }
