"""Suggests completed searches and titles while a visitor types. Pure, except `suggest`.

Elasticsearch finds the titles: of posts that have, for each typed word, a word that begins with it.
The searches are parts of these titles, so that each makes sense and finds at least that post.
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
_TITLES = 10  # posts per request
_SEARCHES = 3  # completed searches, before the titles
_FEW = 3  # with fewer posts that have all words as typed, misspellings are considered, too
_LETTERS_PER_ERROR = 4
_FUZZINESS = f"AUTO:{_LETTERS_PER_ERROR},{2 * _LETTERS_PER_ERROR}"
_IN_TITLE, _IN_POST, _MISSPELLED, _IN_ORDER = 1.0, 0.95, 0.01, 0.02
"""The score of a word by where it is found, and of all words in order. A post with a misspelled
word averages less than `_IN_POST` for each word, because there are at most `EXAMINED_TERMS`."""
# Text in a title that would make a phrase or an exclusion in a query.
_NO_SYNTAX = re.compile(rf"[{QUOTATION_MARKS}]|(?<![^\s{QUOTATION_MARKS}])-+")


class TitledPost(NamedTuple):
    """A post whose title may be suggested; `score` depends on where the words are."""

    title: str
    url: str
    score: float


def suggest(session: SearchSession, request: SuggestRequest, language: Language) -> SuggestAnswer:
    """Return the body of the answer.

    If no title has the words and few posts do, a second request also matches misspelled words.
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
    """Return the search for posts with all words as typed: in the title first, then anywhere, then,
    with `misspelled`, with misspelled words in the title."""
    terms = query.terms[:EXAMINED_TERMS]
    should: list[Query] = []
    if len(terms) > 1:
        words = " ".join(term.text for term in terms)
        in_order = {"title.forms": {"query": words, "analyzer": WORDS}}
        should.append(constant({"match_phrase_prefix": in_order}, _IN_ORDER))
    must = [_begins_like(term, term is terms[-1], misspelled=misspelled) for term in terms]
    if misspelled and len(terms) > 1 and len(terms[-1].folded) < PREFIX_MIN:
        should.append(must.pop())  # perhaps no word in a title begins with these one or two letters
    filters: list[Query] = [{"exists": {"field": "url"}}, *chosen]
    filters += [phrase_in(PHRASE_FIELDS, text) for text in query.quoted]
    return {
        "query": bool_query(
            must=must,
            should=should,
            filter=filters,
            must_not=[phrase_in(PHRASE_FIELDS, text) for text in query.excluded],
        ),
        # Not by oid, too: there are no pages, and it would take a fifth of the time.
        "sort": ["_score", NEWEST],
        "stored_fields": "_none_",
        "docvalue_fields": [_TITLE, "url"],
        "size": _TITLES,
        "track_total_hits": False,
    }


def _begins_like(term: QueryTerm, last: bool, *, misspelled: bool) -> Query:
    """Match posts with a word in the title that begins with the term or is a synonym of it, posts
    that have the term, and, with `misspelled`, titles with a word that begins almost like it. The
    last term may be unfinished."""
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
    """Return completed searches, then titles, at most `request.size`."""
    terms = query.terms[:EXAMINED_TERMS]
    typed_score = _IN_POST * len(terms)  # the least of posts with all words as typed, or begun so
    typed = [post for post in posts if post.score >= typed_score]
    if len(typed) >= _FEW or _any_title(typed, query):
        posts = typed
    searches: dict[str, None] = {}
    # Pairs of characters are no words to complete.
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
    """Return the shortest part of a title with the typed words, the last one completed, or None."""
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
    """Return the first words if they are the terms, with at most stop words between them."""
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
    """Whether a word is the term, begins with it if it is the last one, or, if the post does not
    have all terms as typed, may be its correct spelling."""
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
