"""The `blended` strategy: one request with everything, and a second where a word looks wrong."""

from collections.abc import Mapping
from typing import Any

from app.search.clauses import Sought
from app.search.plan import Wanted
from app.search.spelling import Known, Reading, read
from app.search.words import Query, Word

Json = dict[str, Any]

AS_TYPED = Reading(1.0, (), "as typed")


def known_words(query: Query, response: Json) -> dict[int, Known]:
    """What the index knows of each word, by its place in the query."""
    try:
        buckets = response["aggregations"]["index"]["known"]["buckets"]
    except KeyError:
        return {}
    return {
        word.at: Known(
            *(buckets[f"{word.at} {kind}"]["doc_count"] for kind in ("words", "forms", "stems"))
        )
        for word in query.words
        if not word.stop
    }


def options_of(response: Json) -> dict[str, list[Json]]:
    """The suggester's options for each word."""
    entries = response.get("suggest", {}).get("alternatives", [])
    return {entry["text"]: entry["options"] for entry in entries}


def readings(query: Query, response: Json) -> dict[int, Reading]:
    """How each word is read, by its place."""
    known, options = known_words(query, response), options_of(response)
    return {
        word.at: read(word.token, known[word.at], options.get(word.token, []))
        if word.mendable and word.at in known
        else AS_TYPED
        for word in query.words
    }


def sought(query: Query, found: Mapping[int, Reading], *, typos: bool) -> tuple[Sought, ...]:
    """Every word in all its readings; only the last word may be the beginning of one."""
    last = query.words[-1].at if query.words else -1
    return tuple(
        Sought.of(
            word,
            found.get(word.at, AS_TYPED),
            prefix=typos and not word.stop and _may_be_beginning(word, last, found),
        )
        for word in query.words
    )


def _may_be_beginning(word: Word, last: int, found: Mapping[int, Reading]) -> bool:
    return word.at == last or found.get(word.at, AS_TYPED).typed_weight < 1


def second_needed(wanted: Wanted, found: Mapping[int, Reading], response: Json) -> bool:
    """Whether anything could be better: a word has alternatives, or no post has all words."""
    if any(reading.alternatives for reading in found.values()):
        return True
    nothing = not response["hits"]["total"]["value"]
    return nothing and len(wanted.required) > 1
