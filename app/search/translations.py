"""Shows one hit for posts that are translations of each other: that in the visitor's language, if
it has all words that were found."""

from collections.abc import Collection, Sequence

from analyzers.languages import Language
from app.search.answer import Translation
from app.search.clauses import Query, bool_query, has_names, language_filter
from app.search.render import plain
from app.search.searches import KEY
from app.search.session import Body, EngineHit, SearchSession
from indexer.posts.normalise import TRANSLATED

_MOST = 1_000  # translations of all posts of a page


def with_translations(
    session: SearchSession,
    search: Body,
    hits: Sequence[EngineHit],
    prefer: str,
    *,
    pinned: Collection[str] = (),
    hidden: Sequence[Query] = (),
) -> list[EngineHit]:
    """Return the hits of a collapsed search with their `translations`; a hit is replaced by its
    translation in the language `prefer` if that has all words of the hit."""
    found = {hit["fields"][KEY][0]: hit for hit in hits}
    keys = [key for key in found if key.startswith(TRANSLATED)]
    if not keys:
        return list(hits)
    language = session.view.language
    others = [key for key in keys if not f"{_tag(found[key], language)}-".startswith(f"{prefer}-")]
    chosen = [{"terms": {KEY: others}}, *language_filter(prefer, language)]
    own = {name: part for name, part in search.items() if name != "aggs"}
    own |= {"query": bool_query(must=[search["query"]], filter=chosen), "from": 0}
    has_url = {"exists": {"field": "url"}}
    every: Body = {
        "query": bool_query(filter=[{"terms": {KEY: keys}}, has_url], must_not=list(hidden)),
        "size": _MOST,
        "sort": ["language", "oid"],
        "_source": [KEY, "title", "url", "language"],
    }
    bodies = [own | {"size": len(others)}, every] if prefer and others else [every]
    *preferred, all_of_them = session.send("translations", *bodies)
    for hit in preferred[0]["hits"]["hits"] if preferred else ():
        key = hit["fields"][KEY][0]
        words, own_words = (has_names(one.get("matched_queries", ())) for one in (found[key], hit))
        if found[key]["_id"] not in pinned and words <= own_words:
            found[key] = hit
    for other in all_of_them["hits"]["hits"]:
        source = other["_source"]
        hit = found[source[KEY]]
        if other["_id"] != hit["_id"]:
            named: Translation = {
                "language": _tag(other, language),
                "title": plain(source["title"]),
                "url": source["url"],
            }
            hit.setdefault("translations", []).append(named)
    return list(found.values())


def _tag(hit: EngineHit, language: Language) -> str:
    return hit["_source"].get("language", language.code)
