"""Suggestions while a visitor types: completed searches and titles. Pure, except `suggest`.

The titles come from Elasticsearch: posts that have a word that begins like each typed one. The
searches are parts of these titles, so that each of them makes sense and finds at least that post.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from analyzers.chains import WORDS
from analyzers.languages import LANGUAGES, Language
from analyzers.signs import is_unspaced
from app.search.answer import SuggestAnswer, Suggestion
from app.search.clauses import (
    Query,
    bool_query,
    constant,
    language_filter,
    match,
    phrase_in,
    under_filter,
)
from app.search.query_parser import (
    EXAMINED_TERMS,
    QUOTATION_MARKS,
    ParsedQuery,
    QueryTerm,
    parse_query,
)
from app.search.render import plain
from app.search.request import SuggestRequest
from app.search.scoring import PHRASE_FIELDS, PREFIX_MIN
from app.search.searches import NEWEST
from app.search.session import Body, Response, SearchSession
from app.search.spelling import edit_costs

_TITLE = "title.keyword"
_TITLES = 10  # posts that are requested
_SEARCHES = 3  # completed searches, before the titles
_FEW = 3  # posts with all words as typed; if fewer, misspellings are considered too
_LETTERS_PER_ERROR = 4
_FUZZINESS = f"AUTO:{_LETTERS_PER_ERROR},{2 * _LETTERS_PER_ERROR}"
_IN_TITLE, _IN_POST, _MISSPELLED, _IN_ORDER = 1.0, 0.95, 0.01, 0.02
"""What a word scores by where it is found, and all of them in order. A post with a misspelled word
scores less than `_IN_POST` for each word, as there are at most `EXAMINED_TERMS`."""
# What would be a phrase or an exclusion in a query.
_NO_SYNTAX = re.compile(rf"[{QUOTATION_MARKS}]|(?<![^\s{QUOTATION_MARKS}])-+")


class TitledPost(NamedTuple):
    """A post whose title may be suggested; `score` says where the words are."""

    title: str
    url: str
    score: float


def suggest(session: SearchSession, request: SuggestRequest, language: Language) -> SuggestAnswer:
    """The body of the answer.

    One request is sent if a title has the words; else a second one, for misspelled words.
    Exceptions of the Elasticsearch client pass through; `app.engines.elastic.translate_errors` maps
    them.
    """
    query = parse_query(request.q, language)
    if not query.terms and not query.quoted:
        return {"suggestions": []}
    chosen = language_filter(request.lang, language) + under_filter(request.under)
    posts = _titled_posts(session.send("titles", titles_search(query, chosen))[0])
    if len(posts) < _FEW and not _any_title(posts, query):
        misspelled = titles_search(query, chosen, misspelled=True)
        posts = _titled_posts(session.send("misspelled", misspelled)[0])
    return {"suggestions": suggestions(request, query, posts, language)}


# -- searches --------------------------------------------------------------------------------------


def titles_search(query: ParsedQuery, chosen: Sequence[Query], *, misspelled: bool = False) -> Body:
    """Posts with all words as typed in the title first, then anywhere, then, if asked for, with
    misspelled ones in the title."""
    terms = query.terms[:EXAMINED_TERMS]
    should: list[Query] = []
    if len(terms) > 1:
        words = " ".join(term.text for term in terms)
        in_order = {"title.forms": {"query": words, "analyzer": WORDS}}
        should.append(constant({"match_phrase_prefix": in_order}, _IN_ORDER))
    must = [_begins_like(term, term is terms[-1], misspelled=misspelled) for term in terms]
    if misspelled and len(terms) > 1 and len(terms[-1].folded) < PREFIX_MIN:
        should.append(must.pop())  # one or two letters, with which no word in a title begins
    filters: list[Query] = [{"exists": {"field": "url"}}, *chosen]
    filters += [phrase_in(PHRASE_FIELDS, text) for text in query.quoted]
    return {
        "query": bool_query(
            must=must,
            should=should,
            filter=filters,
            must_not=[phrase_in(PHRASE_FIELDS, text) for text in query.excluded],
        ),
        # Not by oid as well: there are no pages, and it takes a fifth of the time.
        "sort": ["_score", NEWEST],
        "stored_fields": "_none_",
        "docvalue_fields": [_TITLE, "url"],
        "size": _TITLES,
        "track_total_hits": False,
    }


def _begins_like(term: QueryTerm, last: bool, *, misspelled: bool) -> Query:
    """A word of the title begins like the term or is a synonym of it, the post has the term, or, if
    misspelled, a word of the title begins approximately like it. The last term need not be typed to
    its end."""
    clauses = [
        constant(match("title.prefixes", term.text, operator="and"), _IN_TITLE),
        constant(match("title.lookup", term.text, operator="and"), _IN_TITLE),  # by a synonym
        constant(match("all", term.text, operator="and"), _IN_POST),
    ]
    if last and len(term.folded) >= PREFIX_MIN and len(term.pieces) == 1:
        clauses.append(constant({"prefix": {"all": {"value": term.folded}}}, _IN_POST))
    if misspelled and len(term.folded) >= _LETTERS_PER_ERROR:
        about = match("title.prefixes", term.text, operator="and", fuzziness=_FUZZINESS)
        clauses.append(constant(about, _MISSPELLED))
    return {"dis_max": {"queries": clauses}}


def _titled_posts(response: Response) -> list[TitledPost]:
    return [
        TitledPost(plain(hit["fields"][_TITLE][0]), hit["fields"]["url"][0], hit["_score"] or 0)
        for hit in response["hits"]["hits"]
    ]


# -- completions -----------------------------------------------------------------------------------


def _any_title(posts: Sequence[TitledPost], query: ParsedQuery) -> bool:
    """Whether a title has all words as typed, or words that begin with them."""
    score = _IN_TITLE * min(len(query.terms), EXAMINED_TERMS)
    return any(post.score >= score for post in posts)


def suggestions(
    request: SuggestRequest, query: ParsedQuery, posts: Sequence[TitledPost], language: Language
) -> list[Suggestion]:
    """Completed searches, then titles, `request.size` at most."""
    terms = query.terms[:EXAMINED_TERMS]
    typed_score = _IN_POST * len(terms)  # of posts that have all words as typed, or begun so
    typed = [post for post in posts if post.score >= typed_score]
    if len(typed) >= _FEW or _any_title(typed, query):
        posts = typed
    searches: dict[str, None] = {}
    # Pairs of characters make no word that could be completed.
    if not (query.quoted or query.excluded or any(is_unspaced(term.text) for term in terms)):
        for post in posts:
            text = _complete(terms, post.title, language, typed=post.score >= typed_score)
            if text:
                searches[text] = None
        searches.pop(" ".join(term.text.lower() for term in terms), None)
    listed: list[Suggestion] = [
        {"text": text, "kind": "search"} for text in list(searches)[:_SEARCHES]
    ]
    listed += [{"text": post.title, "kind": "post", "url": post.url} for post in posts]
    return listed[: request.size]


def _complete(
    terms: Sequence[QueryTerm], title: str, language: Language, *, typed: bool
) -> str | None:
    """The shortest part of a title that says the typed words, the last one completed; None if none
    does."""
    words = _words(title, language.name)
    parts = [_part(terms, words[start:], language, typed=typed) for start in range(len(words))]
    texts = [
        " ".join(word.token if "'" in word.text else word.text.lower() for word in part)
        for part in parts
        if part
    ]
    return min(texts, key=len, default=None)


def _part(
    terms: Sequence[QueryTerm], words: Sequence[QueryTerm], language: Language, *, typed: bool
) -> Sequence[QueryTerm]:
    """The first words, if they are the terms side by side or with stop words between them."""
    place = 0
    for term in terms:
        last = term is terms[-1]
        for word in words[place:]:
            place += 1
            if _says(word, term, language, last=last, typed=typed):
                break
            if place == 1 or not word.stop:
                return ()
        else:
            return ()
    return words[:place]


def _says(word: QueryTerm, term: QueryTerm, language: Language, *, last: bool, typed: bool) -> bool:
    """Whether a word is the term, begins with the last one or, if no title has the terms as they
    were typed, is the right spelling of it."""
    if word.folded == term.folded:
        return True
    if last and not word.stop and word.folded.startswith(term.folded):
        return True
    most = min(len(term.folded) // _LETTERS_PER_ERROR, 2)
    if typed or not most:
        return False
    costs = edit_costs(term.folded, word.folded, language)
    return (min(costs) if last else costs[-1]) <= most


# Parsing takes 20 µs a word: ten titles would take as long as Elasticsearch.
@lru_cache(maxsize=2048)
def _words(title: str, language: str) -> tuple[QueryTerm, ...]:
    return parse_query(_NO_SYNTAX.sub(" ", title), LANGUAGES[language]).terms
