"""Suggestions while a visitor types: completed searches and titles. One request, then pure.

The titles come from Elasticsearch: posts that have a word that begins like each typed one. The
searches are made of the words of these titles, so that each of them finds at least that post.
"""

import re
from collections.abc import Sequence
from typing import Any

from elasticsearch import Elasticsearch

from analyzers.languages import LANGUAGES, Language
from app.search.answer_types import SuggestAnswer, Suggestion
from app.search.filters import NEWEST, language_filter
from app.search.query_builder import bool_query, match, phrase_in
from app.search.query_parser import EXAMINED_TERMS, ParsedQuery, QueryTerm, parse_query
from app.search.render import plain
from app.search.request import SuggestRequest
from app.search.scoring import PHRASE_FIELDS, PREFIX_MIN
from app.settings import Settings

Json = dict[str, Any]

_TITLES = 10  # posts that are requested
_SEARCHES = 3  # completed searches, before the titles
_FEW = 3  # posts with all words as typed; if fewer, misspellings are considered too
_LETTERS_PER_ERROR = 4
_FUZZINESS = f"AUTO:{_LETTERS_PER_ERROR},{2 * _LETTERS_PER_ERROR}"
_IN_TITLE, _IN_POST, _MISSPELLED, _IN_ORDER = 1.0, 0.95, 0.01, 0.02
"""What a word scores by where it is found, and all of them in order. A post with a misspelled word
scores less than `_IN_POST` for each word, as there are at most `EXAMINED_TERMS`."""
_NO_SYNTAX = re.compile(r'"|(?<!\S)-')  # what would be a phrase or an exclusion in a query


def suggest(
    client: Elasticsearch, index: str, request: SuggestRequest, settings: Settings
) -> tuple[SuggestAnswer, str]:
    """The body of the answer, and the index that answered, "" if there is no suggestion.

    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.
    """
    language = LANGUAGES[settings.language]
    query = parse_query(request.q, language)
    if not query.terms and not query.quoted:
        return {"suggestions": []}, ""
    body = titles_search(query, request.lang)
    response = client.search(index=index, body=body, allow_partial_search_results=False)
    hits = response["hits"]["hits"]
    found = suggestions(request, query, hits, language)
    return {"suggestions": found}, hits[0]["_index"] if hits else ""


def titles_search(query: ParsedQuery, lang: str) -> Json:
    """Posts whose titles are suggested: with all words as typed in the title first, then with all
    words as typed anywhere, then with misspelled ones in the title."""
    terms = query.terms[:EXAMINED_TERMS]
    should: list[Json] = []
    if len(terms) > 1:
        words = " ".join(term.text for term in terms)
        should.append(_scores({"match_phrase_prefix": {"title.words": words}}, _IN_ORDER))
    filters: list[Json] = [{"term": {"kind": "post"}}, {"exists": {"field": "url"}}]
    filters += language_filter(lang)
    filters += [phrase_in(PHRASE_FIELDS, text) for text in query.quoted]
    return {
        "query": bool_query(
            must=[_begins_like(term, last=term is terms[-1]) for term in terms],
            should=should,
            filter=filters,
            must_not=[phrase_in(PHRASE_FIELDS, text) for text in query.excluded],
        ),
        "sort": ["_score", NEWEST, "oid"],
        "_source": ["oid", "title", "url"],
        "size": _TITLES,
        "track_total_hits": False,
    }


def _begins_like(term: QueryTerm, *, last: bool) -> Json:
    """A word of the title begins like the term, the post has the term, or a word of the title
    begins about like it. The last term need not be typed to its end."""
    in_post = match("all.forms", term.text, operator="and")
    if last and len(term.folded) >= PREFIX_MIN and len(term.pieces) == 1:
        prefix: Json = {"prefix": {"all.forms": {"value": term.folded}}}
        in_post = {"bool": {"should": [in_post, prefix]}}
    clauses = [
        _scores(match("title.prefixes", term.text, operator="and"), _IN_TITLE),
        _scores(in_post, _IN_POST),
    ]
    if len(term.folded) >= _LETTERS_PER_ERROR:
        misspelled = match("title.prefixes", term.text, operator="and", fuzziness=_FUZZINESS)
        clauses.append(_scores(misspelled, _MISSPELLED))
    return {"dis_max": {"queries": clauses}}


def _scores(query: Json, score: float) -> Json:
    """The query with the same score for every match."""
    return {"constant_score": {"filter": query, "boost": score}}


def suggestions(
    request: SuggestRequest, query: ParsedQuery, hits: Sequence[Json], language: Language
) -> list[Suggestion]:
    """Completed searches, then titles, `request.size` at most."""
    terms = query.terms[:EXAMINED_TERMS]
    typed = [hit for hit in hits if hit["_score"] >= _IN_POST * len(terms)]
    in_title = [hit for hit in hits if hit["_score"] >= _IN_TITLE * len(terms)]
    if in_title or len(typed) >= _FEW:
        hits = typed
    titles = [plain(hit["_source"]["title"]) for hit in hits]
    searches: dict[str, None] = {}
    if not (query.quoted or query.excluded):
        completed = [
            _completed(terms, title, language, typed=hit in typed)
            for hit, title in zip(hits, titles, strict=True)
        ]
        searches = dict.fromkeys(filter(None, completed))
        searches.pop(" ".join(term.text.lower() for term in terms), None)
    found: list[Suggestion] = [
        {"text": text, "kind": "search"} for text in list(searches)[:_SEARCHES]
    ]
    for hit, title in zip(hits, titles, strict=True):
        found.append({"text": title, "kind": "post", "url": hit["_source"]["url"]})
    return found[: request.size]


def _completed(
    terms: Sequence[QueryTerm], title: str, language: Language, *, typed: bool
) -> str | None:
    """The typed terms with each one completed or corrected to a word of the title.

    None if the title does not have one of them; a whole word may stand elsewhere in the post.
    """
    words = parse_query(_NO_SYNTAX.sub(" ", title), language).terms
    found = []
    for term in terms:
        last = term is terms[-1]
        word = None if term.stop and not last else _word_of_title(term, words, typed=typed)
        if word:
            found.append(word.token if "'" in word.text else word.text.lower())
        elif typed and not last:
            found.append(term.text.lower())
        else:
            return None
    return " ".join(found)


def _word_of_title(term: QueryTerm, words: Sequence[QueryTerm], *, typed: bool) -> QueryTerm | None:
    """The word that is the term, else one that begins like it, else about like it."""
    beginning = [
        word
        for word in words
        if word.folded.startswith(term.folded) and (word.folded == term.folded or not word.stop)
    ]
    if beginning:
        return min(beginning, key=lambda word: len(word.folded))
    if typed:
        return None
    errors = {word: prefix_distance(term.folded, word.folded) for word in words}
    nearest = min(errors, key=lambda word: (errors[word], len(word.folded)), default=None)
    most = min(len(term.folded) // _LETTERS_PER_ERROR, 2)
    return nearest if nearest and errors[nearest] <= most else None


def prefix_distance(typed: str, word: str) -> int:
    """The errors in `typed` as a beginning of `word`: letters replaced, added, left out or swapped
    (the optimal string alignment distance to the nearest beginning)."""
    before: list[int] = []
    row = list(range(len(word) + 1))
    for i, letter in enumerate(typed, 1):
        last, row = row, [i]
        for j, wanted in enumerate(word, 1):
            best = min(last[j - 1] + (letter != wanted), last[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == word[j - 2] and typed[i - 2] == wanted:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before = last
    return min(row)


def relaxed(q: str, language: Language) -> list[str]:
    """Searches that ask for less than one that found nothing: without quotes and exclusions, then
    each word alone."""
    query = parse_query(q, language)
    plain_words = [*query.quoted, *(term.text for term in query.terms)]
    words = [term.text for term in parse_query(" ".join(plain_words), language).significant]
    found = [" ".join(plain_words), *sorted(words, key=len, reverse=True)]
    return list(dict.fromkeys(filter(None, found)))
