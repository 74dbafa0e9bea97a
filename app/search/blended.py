"""The `blended` strategy: one request with everything, and a second where a word looks wrong."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.search import relevance
from app.search.clauses import Sought
from app.search.execute import Conversation
from app.search.explain import explain
from app.search.known import KNOWN_KINDS, words_to_ask_about
from app.search.outcome import Outcome
from app.search.plan import Wanted, first_plan, second_plan
from app.search.render import concrete_index
from app.search.request import SearchRequest
from app.search.spelling import Known, Reading, read
from app.search.synonyms import together
from app.search.words import Query, Word, apart, joined, understand
from app.settings import Settings

Json = dict[str, Any]

AS_TYPED = Reading(1.0, (), "as typed")


def answer(
    conversation: Conversation, request: SearchRequest, settings: Settings
) -> tuple[Json, Json, str]:
    """The answer's body, its explanation, and the index that answered."""
    query = understand(request.q)
    words = together(sought(query, {}, {}, typos=request.typos), settings)
    wanted = Wanted(request, query, words, settings.recency)
    if not (query.words or query.quoted or query.out):
        outcome = Outcome(wanted, {}, {}, None)
        return outcome.body(), explain(outcome, {}, conversation, settings), ""
    first = conversation.ask("search", first_plan(wanted), scores=request.debug)
    known = known_words(query, first)
    meant = reworded(query, known)
    found = readings(meant, known, options_of(first))
    outcome = Outcome(wanted, found, first, None)
    if second_needed(wanted, meant, found, first):
        words = together(sought(meant, found, known, typos=request.typos), settings)
        wanted = wanted.read_as(meant, words)
        second = conversation.ask("mended", second_plan(wanted), scores=request.debug)
        outcome = Outcome(wanted, found, first, second)
    index = concrete_index(outcome.response, first)
    return outcome.body(), explain(outcome, known, conversation, settings), index


def known_words(query: Query, response: Json) -> dict[str, Known]:
    """What the index knows of each word that was asked about, by its place."""
    try:
        buckets = response["aggregations"]["index"]["known"]["buckets"]
    except KeyError:
        return {}
    return {
        word.at: Known(*(buckets[f"{word.at} {kind}"]["doc_count"] for kind in KNOWN_KINDS))
        for word in words_to_ask_about(query)
    }


def options_of(response: Json) -> dict[str, list[Json]]:
    """The suggester's options for each word."""
    entries = response.get("suggest", {}).get("alternatives", [])
    return {entry["text"]: entry["options"] for entry in entries}


def reworded(query: Query, known: Mapping[str, Known]) -> Query:
    """The query with words written as one where only that is known, and glued ones taken apart."""
    words: list[Word] = []
    left = list(query.words)
    while left:
        word = left.pop(0)
        together = joined(word, left[0]) if left else None
        if together and _only_together(word, left[0], together, known):
            left.pop(0)
            words.append(together)
        elif word.at in known and not known[word.at].anywhere:
            words.extend(apart(word) or (word,))
        else:
            words.append(word)
    return replace(query, words=tuple(words))


def _only_together(one: Word, other: Word, both: Word, known: Mapping[str, Known]) -> bool:
    if both.at not in known or not known[both.at].words:
        return False
    return not (known[one.at].anywhere and known[other.at].anywhere)


def readings(
    query: Query, known: Mapping[str, Known], options: Mapping[str, list[Json]]
) -> dict[str, Reading]:
    """How each word is read, by its place."""
    found = {
        word.at: read(word.token, known[word.at], options.get(word.token, []))
        if word.mendable and word.at in known and "+" not in word.at
        else AS_TYPED
        for word in query.words
    }
    doubtful = sum(bool(reading.alternatives) for reading in found.values())
    most = relevance.SPELLINGS // doubtful if doubtful else 0
    return {at: reading.cut(most) for at, reading in found.items()}


def sought(
    query: Query,
    found: Mapping[str, Reading],
    known: Mapping[str, Known],
    *,
    typos: bool,
) -> tuple[Sought, ...]:
    """Every word in all its readings. Only the last may be the beginning of a word, as when one is
    still typing, and such as stand nowhere: in the middle of a query they would match too much."""
    last = query.words[-1].at if query.words else ""

    def beginning(word: Word) -> bool:
        unknown = word.at in known and not known[word.at].anywhere
        return typos and not word.stop and (word.at == last or unknown)

    return tuple(
        Sought.of(
            word,
            found.get(word.at, AS_TYPED),
            prefix=beginning(word),
            begins=word.at not in known or bool(known[word.at].begins),
            unknown=word.at in known and not known[word.at].anywhere,
        )
        for word in query.words
    )


def second_needed(
    wanted: Wanted, meant: Query, found: Mapping[str, Reading], response: Json
) -> bool:
    """Whether anything could be better: a word has alternatives, or no post has all words."""
    if meant != wanted.query or any(reading.alternatives for reading in found.values()):
        return True
    nothing = not response["hits"]["total"]["value"]
    return nothing and len(wanted.required) > 1
