"""Suggestions while a visitor types: completed searches and titles. Pure but for `suggest`.

The titles come from Elasticsearch: posts that have a word that begins like each typed one. The
searches are made of the words of these posts, so that each of them finds at least that post.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from elasticsearch import Elasticsearch

from analyzers.bigrams import is_unspaced
from analyzers.languages import LANGUAGES, Language
from analyzers.symbols import readable
from app.search.answer import SuggestAnswer, Suggestion
from app.search.clauses import bool_query, match, phrase_in
from app.search.filters import NEWEST, language_filter
from app.search.known import Known
from app.search.pins import NO_PINS, Pins, words_of
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
from app.search.session import SearchSession
from app.search.spelling import as_typed
from app.settings import Settings
from indexer.normalise import address_of

Json = dict[str, Any]

_TITLE = "title.keyword"
_TITLES = 10  # posts that are requested
_SEARCHES = 3  # completed searches, before the titles
_NEAR = 6  # words, in which a completed word follows the one before it
_FEW = 3  # posts with all words as typed; if fewer, misspellings are considered too
_LETTERS_PER_ERROR = 4
_FUZZINESS = f"AUTO:{_LETTERS_PER_ERROR},{2 * _LETTERS_PER_ERROR}"
_IN_TITLE, _IN_POST, _MISSPELLED, _IN_ORDER = 1.0, 0.95, 0.01, 0.02
"""What a word scores by where it is found, and all of them in order. A post with a misspelled word
scores less than `_IN_POST` for each word, as there are at most `EXAMINED_TERMS`."""
# What would be a phrase or an exclusion in a query.
_NO_SYNTAX = re.compile(rf"[{QUOTATION_MARKS}]|(?<![^\s{QUOTATION_MARKS}])-+")
_READ_POSTS, _READ_CHARS = 3, 200_000  # whose texts are looked through, and how far
_TITLES_KEPT, _WORDS_KEPT = 2_048, 8_192  # titles whose words are kept, and words that are parsed


class TitledPost(NamedTuple):
    """A post whose title may be suggested, and the index that has it.

    `title` is plain text. `score` tells where the words are. `texts` are plain text too, and only
    there if they are needed.
    """

    oid: str
    title: str
    url: str
    score: float
    index_name: str
    texts: tuple[str, ...] = ()


def suggest(
    client: Elasticsearch,
    index: str,
    request: SuggestRequest,
    settings: Settings,
    known: Known | None = None,
) -> tuple[SuggestAnswer, str]:
    """The body of the answer, and the index that answered, "" if no post was found.

    One request is sent if a title has the words; else a second one, for misspelled words and those
    that only texts have.
    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    language = LANGUAGES[settings.language]
    query = parse_query(request.q, language)
    if not query.terms and not query.quoted:
        return {"suggestions": []}, ""
    session, known = SearchSession(client, index, settings.elasticsearch_timeout), known or Known()
    in_language = language_filter(request.lang, language)
    titles = titles_search(query, in_language)
    (response,), version = session.send_with(known.version_search(), "titles", titles)
    hits = response["hits"]["hits"]
    index_name = hits[0]["_index"] if hits else ""
    known.update(session, index_name, version)
    posts = _titled_posts(hits)
    correction = ""
    if not _any_title(posts, query):
        posts, correction = _more(session, query, in_language, posts)
    today = datetime.now(UTC).date()
    suggested = suggestions(request, query, posts, language, correction, known.pins, today)
    return {"suggestions": suggested}, index_name or (posts[0].index_name if posts else "")


def _titled_posts(hits: Sequence[Json]) -> list[TitledPost]:
    return [
        TitledPost(
            oid=hit["fields"]["oid"][0],
            title=plain(hit["fields"][_TITLE][0]),
            url=hit["fields"]["url"][0],
            score=hit["_score"],
            index_name=hit["_index"],
        )
        for hit in hits
    ]


def _more(
    session: SearchSession,
    query: ParsedQuery,
    in_language: list[Json],
    posts: list[TitledPost],
) -> tuple[list[TitledPost], str]:
    """The posts for words that no title has, and a correction, from one request.

    `posts` have all words as typed. If they are few, posts with misspelled ones are added. Some
    have `texts`, for the word that the last one begins.
    """
    misspelled = titles_search(query, in_language, misspelled=True)
    searches = {
        "titles": misspelled if len(posts) < _FEW else None,
        "texts": texts_search(query, [post.url for post in posts[:_READ_POSTS]]),
        "correction": None if posts else correction_search(query, in_language),
    }
    sent = {name: body for name, body in searches.items() if body}
    if not sent:
        return posts, ""
    responses = dict(zip(sent, session.send("more", *sent.values()), strict=True))
    if "titles" in responses:
        posts = _titled_posts(responses["titles"]["hits"]["hits"])
    if "texts" in responses:
        texts = {hit["fields"]["url"][0]: _texts(hit) for hit in responses["texts"]["hits"]["hits"]}
        posts = [post._replace(texts=texts.get(post.url, ())) for post in posts]
    return posts, "" if posts else _correction(responses.get("correction", {}))


def _texts(hit: Json) -> tuple[str, ...]:
    """The fields of a post that have text; that of its comments is a list."""
    return tuple(
        plain(text)
        for value in hit["_source"].values()
        for text in ([value] if isinstance(value, str) else [each["comment"] for each in value])
    )


def titles_search(
    query: ParsedQuery,
    in_language: Sequence[Json],
    *,
    misspelled: bool = False,
) -> Json:
    """Posts whose titles are suggested: with all words as typed in the title first, then with all
    words as typed anywhere, then, if asked for, with misspelled ones in the title.

    Args:
        in_language: the filters on the language of posts.
    """
    terms = query.terms[:EXAMINED_TERMS]
    should: list[Json] = []
    if len(terms) > 1:
        words = " ".join(term.text for term in terms)
        should.append(_scores({"match_phrase_prefix": {"title.words": words}}, _IN_ORDER))
    must = [_begins_like(term, term is terms[-1], misspelled=misspelled) for term in terms]
    if misspelled and len(terms) > 1 and len(terms[-1].folded) < PREFIX_MIN:
        should.append(must.pop())  # one or two letters, with which no word in a title begins
    filters: list[Json] = [{"exists": {"field": "url"}}, *in_language]
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
        "docvalue_fields": [_TITLE, "url", "oid"],
        "size": _TITLES,
        "track_total_hits": False,
    }


def _begins_like(term: QueryTerm, last: bool, *, misspelled: bool) -> Json:
    """A word of the title begins like the term or is a synonym of it, the post has the term, or, if
    misspelled, a word of the title begins approximately like it. The last term need not be typed to
    its end."""
    clauses = [
        _scores(match("title.prefixes", term.text, operator="and"), _IN_TITLE),
        _scores(match("title.lookup", term.text, operator="and"), _IN_TITLE),  # by a synonym
        _scores(match("all.forms", term.text, operator="and"), _IN_POST),
    ]
    if last and _may_be_unfinished(term):
        clauses.append(_scores({"prefix": {"all.forms": {"value": term.folded}}}, _IN_POST))
    if misspelled and len(term.folded) >= _LETTERS_PER_ERROR:
        about = match("title.prefixes", term.text, operator="and", fuzziness=_FUZZINESS)
        clauses.append(_scores(about, _MISSPELLED))
    return {"dis_max": {"queries": clauses}}


def _may_be_unfinished(term: QueryTerm) -> bool:
    return len(term.folded) >= PREFIX_MIN and len(term.pieces) == 1


def correction_search(query: ParsedQuery, in_language: Sequence[Json]) -> Json | None:
    """Another spelling of a single word, from all texts.

    None for several words, of which nobody would know whether a post has them together, and for
    posts of one language, as the word may be one of another.
    """
    only = query.terms[0] if len(query.terms) == 1 else None
    if not only or not only.correctable or query.quoted or query.excluded or in_language:
        return None
    options = {"field": "all.words", "suggest_mode": "missing", "prefix_length": 0, "size": 1}
    suggester = {"spelling": {"text": only.token, "term": options}}
    return {"size": 0, "track_total_hits": False, "suggest": suggester}


def texts_search(query: ParsedQuery, urls: Sequence[str]) -> Json | None:
    """The texts of the posts with these URLs; None if the last term cannot be unfinished.

    To have Elasticsearch mark the words that it begins would take ten times as long: the fields of
    whole words are analysed again for that.
    """
    last = query.terms[-1] if query.terms else None
    if not urls or not last or not _may_be_unfinished(last):
        return None
    return {
        "query": {"terms": {"address": [address_of(url) for url in urls]}},
        "_source": ["text", "comments.comment", "code"],
        "docvalue_fields": ["url"],
        "track_total_hits": False,
    }


def _scores(query: Json, score: float) -> Json:
    """The query with the same score for every match."""
    return {"constant_score": {"filter": query, "boost": score}}


def _any_title(posts: Sequence[TitledPost], query: ParsedQuery) -> bool:
    """Whether a title has all words as typed, or words that begin with them."""
    score = _IN_TITLE * min(len(query.terms), EXAMINED_TERMS)
    return any(post.score >= score for post in posts)


def _correction(response: Json) -> str:
    """The best spelling that the term suggester has for a single word; "" for none."""
    for entry in response.get("suggest", {}).get("spelling", []):
        for option in entry.get("options", []):
            return readable(option["text"]) or ""
    return ""


def suggestions(
    request: SuggestRequest,
    query: ParsedQuery,
    posts: Sequence[TitledPost],
    language: Language,
    correction: str = "",
    pins: Pins = NO_PINS,
    today: date = date.min,
) -> list[Suggestion]:
    """Completed searches, then titles, `request.size` at most.

    `correction` is searched for if no post has a word to complete the typed ones with. A search is
    left out if rules of `pins` remove all posts that it is known to find.
    """
    terms = query.terms[:EXAMINED_TERMS]
    typed_score = _IN_POST * len(terms)  # of posts that have all words as typed, or begun so
    typed = [post for post in posts if post.score >= typed_score]
    if len(typed) >= _FEW or _any_title(typed, query):
        posts = typed
    searches: list[str] = []
    # Pairs of characters make no word that could be completed.
    if not (query.quoted or query.excluded or any(is_unspaced(term.text) for term in terms)):
        left_out = {" ".join(term.text.lower() for term in terms)}
        for post in posts:
            if len(searches) == _SEARCHES:
                break
            text = _completed(terms, post, language, typed=post.score >= typed_score)
            if not text or text in left_out or post.oid in _never(text, language, pins, today):
                continue
            searches.append(text)
            left_out.add(text)
        if correction and not searches and not _never(correction, language, pins, today):
            searches.append(correction)
    listed: list[Suggestion] = [{"text": text, "kind": "search"} for text in searches]
    listed += [{"text": post.title, "kind": "post", "url": post.url} for post in posts]
    return listed[: request.size]


def _never(text: str, language: Language, pins: Pins, today: date) -> Sequence[str]:
    """The oids of the posts that a search never finds by the rules of `pins`."""
    if not pins:
        return ()
    query = parse_query(text, language)
    words = words_of([as_typed(term) for term in query.terms], query, language)
    return pins.match(words, today).never


def _completed(
    terms: Sequence[QueryTerm], post: TitledPost, language: Language, *, typed: bool
) -> str | None:
    """The typed terms, each completed or corrected to a word of the title, the last also to a word
    of the texts.

    None if the post lacks a term; a whole word may stand elsewhere in the post. The last word
    follows the word before it, at once if that says little (`how to m`).
    """
    words = _words(post.title, language.name)
    completed = []
    before, near = "", 0
    for term in terms:
        last = term is terms[-1]
        following = _following(words, before, near) if last else words
        word = None if term.stop and not last else _word_of(term, following, typed=typed)
        if not word and last and post.texts:
            word = _word_of_texts(post.texts, before, near, term, language)
        before, near = (word or term).folded, 1 if term.light else _NEAR
        if word:
            completed.append(word.token if "'" in word.text else word.text.lower())
        elif typed and not last:
            completed.append(term.text.lower())
        else:
            return None
    return " ".join(completed)


def _following(words: Sequence[QueryTerm], before: str, near: int) -> Sequence[QueryTerm]:
    """The next `near` words after `before`. If that is not among them: all, or none for 1."""
    if not before:
        return words
    places = [place for place, word in enumerate(words) if word.folded == before]
    if places:
        return words[places[0] + 1 :][:near]
    return () if near == 1 else words


# Parsing takes 20 µs a word: ten titles would take as long as Elasticsearch.
@lru_cache(maxsize=_TITLES_KEPT)
def _words(title: str, language: str) -> tuple[QueryTerm, ...]:
    parts = _NO_SYNTAX.sub(" ", title).split()
    return tuple(word for part in parts for word in _parsed(part, language))


@lru_cache(maxsize=_WORDS_KEPT)
def _parsed(part: str, language: str) -> tuple[QueryTerm, ...]:
    return parse_query(part, LANGUAGES[language]).terms


def _word_of_texts(
    texts: Sequence[str], before: str, near: int, term: QueryTerm, language: Language
) -> QueryTerm | None:
    """The word that the texts have most often of those that begin like the term: of the next `near`
    ones after `before`, else of all, but not for 1."""
    pattern = _words_with(term.folded[0])
    read = [text[:_READ_CHARS].replace("’", "'") for text in texts]
    if before:
        follows = _words_after(before, near)
        following = [match[1] for text in read for match in follows.finditer(text)]
        word = _likeliest(pattern, following, term, language)
        if word or near == 1:
            return word
    return _likeliest(pattern, read, term, language)


def _likeliest(
    pattern: re.Pattern[str], texts: Iterable[str], term: QueryTerm, language: Language
) -> QueryTerm | None:
    words = Counter(word for text in texts for word in pattern.findall(text))
    begun = Counter[str]()
    for word, times in words.items():
        if language.token(word).startswith(term.folded):
            begun[word.lower()] += times
    likeliest = sorted(begun, key=lambda word: (-begun[word], len(word)))
    completions = (_word_of(term, _words(word, language.name), typed=True) for word in likeliest)
    return next(filter(None, completions), None)


@lru_cache(maxsize=128)
def _words_after(word: str, number: int) -> re.Pattern[str]:
    """The next words after a word in a text, up to the end of the sentence."""
    return re.compile(
        rf"(?<![^\W_])(?i:{re.escape(word)})(?![^\W_])((?:[^\w.!?\n]+[\w']+){{1,{number}}})"
    )


@lru_cache(maxsize=128)
def _words_with(letter: str) -> re.Pattern[str]:
    """Words whose token may begin with a letter: only accents and elisions (d'où) change the first
    letter of a word."""
    first = re.escape(letter + letter.upper())
    begins = rf"(?:[{first}]|[^\W_\x00-\x7f]|[^\W_]++'[^\W_])"
    return re.compile(rf"(?<![^\W_]){begins}[^\W_]*(?:'[^\W_]+)*")


def _word_of(term: QueryTerm, words: Sequence[QueryTerm], *, typed: bool) -> QueryTerm | None:
    """The word that is the term, else begins with it, else begins with something like it."""
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
