"""The query that finds and scores posts, made of clauses. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from analyzers.bigrams import is_thai
from analyzers.languages import Language
from app.search import scoring
from app.search.filters import language_filter, page, post_filters
from app.search.highlighting import (
    highlight_queries,
    highlighting,
    long_beginnings,
    post_highlighting,
)
from app.search.pins import NO_MATCH, MatchedPins
from app.search.query_parser import ParsedQuery
from app.search.request import DEFAULT_SIZE, SearchRequest
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the query of a search is built from.

    `terms`: every term of the query in its order, with its variants. `required`: the significant
    ones, of which a post must have `needed`. `total`: the number of posts, 0 if that is not known.
    `recency`: whether newer posts score a little more. `vector`: the meaning of the query, empty if
    it does not count. `explained`: whether the score of each part is to be reported.
    """

    request: SearchRequest
    query: ParsedQuery
    terms: tuple[Interpretation, ...]
    required: tuple[Interpretation, ...]
    needed: int
    total: int
    recency: bool
    language: Language
    pins: MatchedPins = NO_MATCH
    vector: tuple[float, ...] = ()
    explained: bool = False

    @property
    def share(self) -> float:
        """What counts the form as typed and neighbours: 1 for few words, less for more of them."""
        words = sum(term.term.is_word for term in self.terms)
        return round(min(1.0, scoring.FEW_WORDS / max(words, 1)), 4)

    @property
    def is_large(self) -> bool:
        """Whether the hits cost so much that they are asked for once, when it is known what the
        terms stand for."""
        pieces = sum(len(term.term.pieces) for term in self.terms)
        return pieces * self.request.size > scoring.LARGE_PAGE

    @property
    def most(self) -> int:
        """More than half of the significant terms of the query."""
        terms = len(self.query.examined)
        return terms // 2 + 1 if terms else 0


WORD = "word "
"""`WORD + key` names the clause that scores a term."""

HAS, IS = "has ", "is "
"""`HAS + key` names the clause that tells whether a post has a term; `IS + key + number` the one
that tells whether it has a certain variant of it."""

PHRASE = "phrase in "
"""`PHRASE + field` names the clauses that tell whether a post has the whole query side by side."""

MEANING = "meaning"
"""The name of the clause that scores nearness in meaning."""

COMMENTS = "comments"
"""The inner hits of a post: its comments that match."""

ANY, MOST, ALL, BY_WORDS = "some words", "most words", "all words", "by words"
"""The aggregations of `counts`."""

_HEADINGS = [f"headings.{name}" for name in ("line", "code_line", "level", "id")]
_EVERY: Json = {"match_all": {}}


def hits_search(plan: Plan, *, refined: bool = True) -> Json:
    """One page of the posts that match, with highlights.

    Every post that matches is scored by its words. What only orders the best of them (neighbours,
    phrases, all words, language, date) is asked of the first `RESCORED` posts.

    Args:
        refined: without it, the first posts in the order of their words, without highlights: half
            of the cost.
    """
    named = [has_term(term, named=True) for term in plan.required]
    has = [_constant(clause, 0) for clause in named]
    by_relevance = plan.request.sort == "relevance"
    query = bool_query(
        must=[_quoted(text, plan) for text in plan.query.quoted],
        should=[
            *words_clauses(plan),
            *([] if by_relevance else has),
            *([_matching_comments(plan)] if refined else []),
        ],
        filter=[_EVERY, *post_filters(plan.request, plan.language), *_has_terms(plan, plan.needed)],
        must_not=_excluded(plan),
    )
    body: Json = {
        "query": _pinned(query, plan) if plan.pins else query,
        **(page(plan.request) if refined else {"size": DEFAULT_SIZE}),
        "track_total_hits": False,
        "_source": [
            "oid",
            "title",
            "url",
            "pub_date",
            "categories",
            "language",
            "image",
            *_HEADINGS,
        ],
    }
    if refined:
        body["highlight"] = post_highlighting(plan.terms, plan.query.quoted)
    if by_relevance:
        body |= _rescored((best_clauses(plan) if refined else []) + has)
    return body


def _matching_comments(plan: Plan) -> Json:
    """Adds nothing to the score of a post: the comments that match come with it."""
    field = "comments.comment"
    query = highlight_queries(plan.terms, plan.query.quoted, [field])[field]
    query["bool"]["should"] += begin_in(f"{field}.words", plan.terms)
    inner_hits = {
        "name": COMMENTS,
        "size": scoring.COMMENTS,
        "_source": ["comments.oid", "comments.author", "comments.pub_date"],
        "highlight": highlighting(plan.terms, plan.query.quoted, [field]),
    }
    nested = {"path": "comments", "query": query, "score_mode": "none", "inner_hits": inner_hits}
    return {"nested": {**nested, "boost": 0}}


def scores_search(plan: Plan, ids: Sequence[str]) -> Json:
    """What each part of the query adds to the scores of these posts, by the names of the parts; the
    texts and vectors of the posts if meaning counts."""
    plan = replace(plan, explained=True)
    quoted = [_quoted(text, plan) for text in plan.query.quoted]
    body: Json = {
        "query": bool_query(
            filter=[{"ids": {"values": list(ids)}}], should=quoted + words_clauses(plan)
        ),
        "size": len(ids),
        "track_total_hits": False,
        "_source": ["title", "text", "passages"] if plan.vector else False,
    }
    is_last_rescored = plan.request.page * plan.request.size <= scoring.RESCORED
    if plan.request.sort == "relevance" and is_last_rescored:
        body |= _rescored(best_clauses(plan))
    return body


def _rescored(clauses: list[Json]) -> Json:
    """What is asked of the best posts only."""
    rescore = {"rescore_query": bool_query(should=clauses), "score_mode": "total"}
    return {"rescore": {"window_size": scoring.RESCORED, "query": rescore}} if clauses else {}


def counts(plan: Plan) -> Json:
    """Aggregations that count the posts that match.

    `ANY`: all of them; `MOST`: with more than half of the words; `ALL`: with every word;
    `BY_WORDS`: not only because they are pinned. A count that is equal to that of fewer words is
    left out.
    `HAS + key`: those with a term that was split, as nobody knows yet whether any post has it.
    """
    number, most = len(plan.required), plan.most
    by_words = replace(plan, pins=plan.pins.only_never())
    counted = {ANY: matching(plan)}
    if plan.pins.first:
        counted[BY_WORDS] = matching(by_words)
    if plan.needed < most <= number:
        counted[MOST] = matching(by_words, most)
    if max(plan.needed, most) < number == len(plan.query.examined):
        counted[ALL] = matching(by_words, number)
    for term in plan.required:
        if term.likeliest.kind == "split":
            counted[HAS + term.term.key] = has_term(term)
    chosen = post_filters(plan.request, plan.language)
    return {
        name: {"filter": bool_query(filter=[query, *chosen])} for name, query in counted.items()
    }


def counts_search(plan: Plan) -> Json:
    """The counts alone."""
    return {"size": 0, "track_total_hits": False, "aggs": counts(plan)}


def matching(plan: Plan, needed: int = 0) -> Json:
    """The posts that match, without the filters and scores; with `needed`, those of them that have
    so many of the words."""
    words = [phrase_in(scoring.QUOTED_FIELDS, text) for text in plan.query.quoted]
    words += _has_terms(plan, needed or plan.needed)
    if plan.pins.first and words:
        pinned: Json = {"terms": {"oid": list(plan.pins.first)}}
        words = [any_of([bool_query(filter=words), pinned])]
    return bool_query(filter=[_EVERY, *words], must_not=[*_excluded(plan), *_hidden(plan)])


def _has_terms(plan: Plan, needed: int) -> list[Json]:
    if not plan.required:
        return []
    has = [has_term(term) for term in plan.required]
    return [{"bool": {"should": has, "minimum_should_match": needed}}]


def _excluded(plan: Plan) -> list[Json]:
    return [phrase_in(scoring.PHRASE_FIELDS, text) for text in plan.query.excluded]


def _hidden(plan: Plan) -> list[Json]:
    return [{"terms": {"oid": list(plan.pins.never)}}] if plan.pins.never else []


def _pinned(query: Json, plan: Plan) -> Json:
    """The query with the pinned posts first, in their order, and without those that are hidden.

    Elasticsearch's own `pinned` query is a part of x-pack, which not every build has.
    """
    pins = plan.pins
    first = [_constant({"term": {"oid": oid}}, pin_score(pins, oid)) for oid in pins.first]
    either = any_of([query, *first])
    either["bool"] |= {
        "filter": [_EVERY, *post_filters(plan.request, plan.language)],
        "must_not": [*_excluded(plan), *_hidden(plan)],
    }
    return either


def pin_score(pins: MatchedPins, oid: str) -> float:
    """What being pinned adds to the score of a post; 0 for other posts."""
    if oid not in pins.first:
        return 0.0
    return scoring.PINNED_SCORE * (len(pins.first) - pins.first.index(oid))


def bool_query(**occurs: list[Json]) -> Json:
    """A `bool` query without its empty parts."""
    return {"bool": {occur: clauses for occur, clauses in occurs.items() if clauses}}


def any_of(clauses: Iterable[Json], name: str = "") -> Json:
    """At least one of the clauses; their scores add up."""
    named = {"_name": name} if name else {}
    return {"bool": {"should": list(clauses), "minimum_should_match": 1, **named}}


def _constant(query: Json, score: float, **named: str) -> Json:
    """The query with the same score for every match."""
    return {"constant_score": {"filter": query, "boost": score, **named}}


def phrase_in(fields: Sequence[str], text: str, boost: float = 1.0) -> Json:
    """The words of the text side by side in any of the fields; in one without positions a single
    token."""
    phrase = {"query": text, "type": "phrase", "fields": list(fields), "boost": boost}
    phrase["lenient"] = True  # otherwise several tokens are an error there
    return {"multi_match": phrase}


def combined_fields(fields: Sequence[str], text: str, boost: float = 1.0) -> Json:
    """BM25 over several fields as if they were one."""
    return {"combined_fields": {"query": text, "fields": list(fields), "boost": boost}}


def match(field: str, text: str, **options: Any) -> Json:
    """A `match` query on one field."""
    return {"match": {field: {"query": text, **options}}}


def match_phrase(field: str, text: str, **options: Any) -> Json:
    """A `match_phrase` query on one field."""
    return {"match_phrase": {field: {"query": text, **options}}}


# -- scoring: every post that matches --------------------------------------------------------------


def _explained(plan: Plan, name: str) -> Json:
    """The name of a clause whose score is to be reported; nothing unless an explanation is wanted,
    as each name costs time."""
    return {"_name": name} if plan.explained else {}


def _quoted(text: str, plan: Plan) -> Json:
    """A quoted phrase: exactly these words."""
    phrase = phrase_in(scoring.QUOTED_FIELDS, text, scoring.QUOTED_BOOST)
    return {"bool": {"must": [phrase], **_explained(plan, f'"{text}"')}}


def words_clauses(plan: Plan) -> list[Json]:
    """What single words score. Terms that stand for themselves only share one clause, unless the
    score of each is to be reported."""
    clauses: list[Json] = []
    significant = sum(not term.term.light for term in plan.terms)
    boosts = {False: 1.0}
    if significant <= scoring.WORDS_BESIDE_LIGHT:
        boosts[True] = scoring.LIGHT_BOOST if significant else 1.0
    for light, boost in boosts.items():
        plain = [term for term in plan.terms if term.as_typed and term.term.light == light]
        if plan.explained:
            clauses += [best_fields(text, plan, boost, name) for name, text in _plain_words(plain)]
        elif plain:
            clauses.append(best_fields(" ".join(term.term.text for term in plain), plan, boost))
    for term in plan.terms:
        if not term.as_typed:
            variants = [_variant(variant, term, plan) for variant in term.variants]
            explained = _explained(plan, WORD + term.term.key)
            clauses.append(best_of(variants, **explained))
    for text in dict.fromkeys(term.phrase for term in plan.terms if term.phrase):
        words = combined_fields(scoring.CONTRACTED_FIELDS, text)
        clauses.append({"bool": {"must": [words], **_explained(plan, WORD + text)}})
    for text in compounds(plan.terms):
        name = WORD + text if plan.explained else ""
        clauses.append(best_fields(text, plan, scoring.COMPOUND_BOOST, name))
    return clauses


def best_fields(text: str, plan: Plan, boost: float = 1.0, name: str = "") -> Json:
    """What the words of a text score: BM25 over all fields as one, stemmed and unstemmed, and once
    more in the title."""
    # The stemmed field has no stop words.
    only_stop_words = all(term.term.stop for term in plan.terms)
    title = "title.forms" if only_stop_words else "title"
    return any_of(
        [
            combined_fields(scoring.STEMMED_FIELDS, text, boost),
            combined_fields(scoring.UNSTEMMED_FIELDS, text, boost * plan.share),
            match(title, text, boost=boost * scoring.TITLE_BOOST),
        ],
        name,
    )


def compounds(terms: Iterable[Interpretation]) -> list[str]:
    """The words that posts write two terms as."""
    return list(dict.fromkeys(term.compound for term in terms if term.compound))


def _plain_words(terms: Sequence[Interpretation]) -> list[tuple[str, str]]:
    """Name and text of each word; the words that a synonym rule treats as one are one."""
    words: list[tuple[str, str]] = []
    for term in terms:
        if term.phrase and words and term.phrase == words[-1][1]:
            continue
        words.append((WORD + term.term.key, term.phrase or term.term.text))
    return words


def _variant(variant: TermVariant, of: Interpretation, plan: Plan) -> Json:
    if variant.kind == "begun":
        in_title = _constant(_begins_in_title(of), scoring.BEGUN_IN_TITLE)
        in_post = _constant(_begins(of), scoring.BEGUN)
        return best_of([best_fields(variant.text, plan), in_title, in_post])
    boost = relative_boost(variant, of, plan.total)
    if variant.kind == "prefix":
        worth = boost * scoring.idf(variant.posts, plan.total)
        return _constant(_prefix(variant), worth)
    if variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text, boost)
    return best_fields(variant.text, plan, boost)


def relative_boost(variant: TermVariant, of: Interpretation, total: int) -> float:
    """The weight of a variant, without the advantage that BM25 gives to a rarer word.

    Only the word as typed gives its rarity to the others. If another spelling is the likeliest, a
    more frequent word would score too much, most of all in titles: that ratio is of all texts.
    `typo_first` on blogs .981 without this, .986 with it.
    """
    likeliest = of.likeliest
    if not (variant.posts and likeliest.posts and total):
        return round(variant.weight, 4)
    ratio = scoring.idf(likeliest.posts, total) / scoring.idf(variant.posts, total)
    if likeliest.kind != "typed":
        ratio = min(ratio, 1.0)
    return round(variant.weight * ratio, 4)


# -- scoring: the best posts -----------------------------------------------------------------------


def best_clauses(plan: Plan) -> list[Json]:
    """What only orders posts that match well by their words."""
    clauses = all_words_clauses(plan)
    clauses += neighbour_clauses(plan)
    clauses += phrase_clauses(plan)
    clauses += heading_clauses(plan)
    clauses += title_clauses(plan)
    if plan.vector:
        clauses.append(_meaning(plan))
    if plan.terms and plan.terms[-1].begun:
        clauses.append(_title_so_far(plan))
    if plan.recency:
        clauses.append(_recency(plan))
    return clauses


def _title_so_far(plan: Plan) -> Json:
    """Titles that have every word of a query that is being typed: which one is first does not
    depend on how far the last word is typed."""
    has = [match("title.words", term.likeliest.text, operator="and") for term in plan.terms[:-1]]
    in_title = bool_query(filter=[*has, _begins_in_title(plan.terms[-1])])
    named = _explained(plan, "title so far")
    return _constant(in_title, scoring.BEGUN_IN_TITLE, **named)


def all_words_clauses(plan: Plan) -> list[Json]:
    """What a post scores that has every significant term, more if its title has them, and a little
    more if it is in the visitor's language: the less the more terms there are, as to have all of
    many is no surprise where each of them has scored."""
    terms = plan.required
    if not terms:
        return []
    fields = list(scoring.ALL_WORDS.items())
    if len(terms) > 1:
        fields.append(scoring.INFLECTED_TITLE)
    if plan.request.prefer:
        fields.append(("all.forms", "your language"))
    share = 1 / len(terms) / max(1, sum(not term.term.continues for term in terms))
    clauses: list[Json] = []
    for field, name in fields:
        in_language = name == "your language"
        boost = scoring.ALL_IN_TITLE_BOOST if field.startswith("title") else 1.0
        words = [_lookup(field, term, boost * share, plan.total) for term in terms]
        chosen = language_filter(plan.request.prefer, plan.language) if in_language else []
        query = bool_query(must=words, filter=chosen)
        query["bool"] |= _explained(plan, name)
        clauses.append(query)
    return clauses


def _lookup(field: str, term: Interpretation, boost: float, total: int) -> Json:
    """A term in a field that scores nothing but its inverse document frequency."""
    clauses: list[Json] = []
    for variant in term.variants:
        if variant.kind == "begun":
            in_title = field.startswith("title")
            begins = _begins_in_title(term) if in_title else _begins(term)
            clauses.append(_constant(begins, boost * scoring.BEGUN))
        worth = boost * relative_boost(variant, term, total)
        if variant.kind == "prefix":
            prefix_field = "title.lookup" if field.startswith("title") else "all.forms"
            prefix = {"prefix": {prefix_field: {"value": variant.text}}}
            worth *= scoring.idf(variant.posts, total) * scoring.LOOKUP_SHARE
            clause = _constant(prefix, worth)
        elif variant.kind == "split" and field.startswith("title"):
            clause = phrase_in(["title.words"], variant.text, worth)
        elif variant.kind == "split":
            clause = phrase_in(scoring.PHRASE_FIELDS, variant.text, worth)
        else:
            clause = match(field, variant.text, operator="and", boost=worth)
        clauses.append(clause)
    if term.phrase:
        clauses.append(match(field, term.phrase, operator="and", boost=boost))
    if term.compound:
        clauses.append(match(field, term.compound, boost=boost))
    return best_of(clauses)


def neighbour_clauses(plan: Plan) -> list[Json]:
    """Neighbouring terms of the query that stand close together in the text. Two that say little
    (`why is my`) count nothing."""
    pairs = dict.fromkeys(
        readings(pair)
        for pair in pairwise(term for term in plan.terms if not term.term.stop)
        if not (pair[0].term.light and pair[1].term.light) and not pair[1].term.continues
    )
    options = {"slop": scoring.NEIGHBOURS_SLOP, "boost": scoring.ADJACENT_BOOST * plan.share}
    return [
        best_of(
            [match_phrase("text.words", text, **options) for text in texts],
            **_explained(plan, texts[0].replace(" ", " near ")),
        )
        for texts in list(pairs)[: scoring.NEIGHBOUR_PAIRS]
    ]


def readings(terms: Sequence[Interpretation]) -> tuple[str, ...]:
    """What several terms may stand for as a text: their likeliest variants first, then with one of
    them in another variant, or with two in the one word that posts write them as.

    The posts decide: the reading whose words stand together in them scores.
    """
    likeliest = [term.likeliest.text for term in terms]
    alternatives = [
        [*likeliest[:place], variant.text, *likeliest[place + 1 :]]
        for place, term in enumerate(terms)
        for variant in term.variants[1:]
        if variant.kind in ("typed", "spelling", "split")
    ]
    as_compounds = (term.compound or term.likeliest.text for term in terms)
    alternatives.append([text for text, _ in groupby(as_compounds)])
    return tuple(dict.fromkeys(" ".join(texts) for texts in (likeliest, *alternatives)))


def best_of(clauses: Sequence[Json], **named: str) -> Json:
    """What the best of the clauses scores."""
    if len(clauses) == 1 and not named:
        return clauses[0]
    return {"dis_max": {"queries": list(clauses), **named}}


def phrase_clauses(plan: Plan) -> list[Json]:
    """The whole query side by side in the title or the text, as it is or in any inflection. Their
    names tell whether a post has it."""
    if len(plan.terms) < 2:
        return []
    # A long text side by side is rare, and so is another reading of it.
    texts = readings(plan.terms)[: None if plan.share == 1 else 1]
    clauses: list[Json] = []
    for field in ("title", "text"):
        # The stemmed field has no stop words: `the who` would be any text with who.
        inflected = [field] if sum(not term.term.stop for term in plan.terms) > 1 else []
        phrases = [
            phrase_in([*inflected, f"{field}.words"], text, scoring.ADJACENT_BOOST)
            for text in texts
        ]
        if plan.terms[-1].begun:
            # Its own score would be the sum over all words that begin like that.
            in_title = field == "title"
            words: Json = {"query": texts[0]}
            if in_title:  # few enough to compare them all
                words["max_expansions"] = scoring.BEGUN_EXPANSIONS
            begun: Json = {"match_phrase_prefix": {f"{field}.words": words}}
            phrases.append(_constant(begun, scoring.BEGUN_IN_TITLE if in_title else scoring.BEGUN))
        clauses.append(best_of(phrases, _name=PHRASE + field))
    return clauses


def heading_clauses(plan: Plan) -> list[Json]:
    """Several words of the query close together in a heading, without those that say little."""
    terms = [term for term in plan.terms if not term.term.light] or plan.terms
    if len(terms) < 2:
        return []
    texts = readings(terms)[: None if plan.share == 1 else 1]
    options = {"slop": scoring.NEIGHBOURS_SLOP, "boost": scoring.HEADING_BOOST}
    clauses = [match_phrase("headings.text", text, **options) for text in texts]
    if terms[-1].begun:
        begun: Json = {"match_phrase_prefix": {"headings.text": {"query": texts[0]}}}
        clauses.append(_constant(begun, scoring.BEGUN_IN_TITLE))
    return [best_of(clauses, **_explained(plan, "heading"))]


def title_clauses(plan: Plan) -> list[Json]:
    """Titles, and links to a post, that have most of the words of the query, in any inflection: a
    text that has a whole query by chance does not come before a post that is about it."""
    words = [term.likeliest.text for term in plan.terms if not term.term.light]
    if len(words) < 2:
        return []
    return [
        match(
            field,
            " ".join(words),
            minimum_should_match=scoring.MOST_WORDS,
            boost=boost,
            **_explained(plan, f"most words in {name}"),
        )
        for field, boost, name in (
            ("title", scoring.MOST_IN_TITLE_BOOST, "the title"),
            ("link_texts", scoring.MOST_IN_LINKS_BOOST, "links to it"),
        )
    ]


def _meaning(plan: Plan) -> Json:
    """How near the nearest passage of a post is to the query in meaning: `meaning.similarity`.

    Of bits, `dotProduct` adds up the numbers of the query where the bit is 1.
    """
    script = {
        "source": "Math.max(0, 2 * dotProduct(params.query, 'passages.vector') - params.sum)",
        "params": {"query": list(plan.vector), "sum": sum(plan.vector)},
    }
    nested: Json = {
        "path": "passages",
        "query": {"script_score": {"query": {"match_all": {}}, "script": script}},
        "score_mode": "max",
        "boost": scoring.MEANING_BOOST * len(plan.required),
    }
    return {"nested": nested | _explained(plan, MEANING)}


def _recency(plan: Plan) -> Json:
    """A little for newer posts: half of it is left after the pivot."""
    feature: Json = {"field": "pub_date", "origin": "now", "pivot": scoring.RECENCY_PIVOT}
    feature |= {"boost": scoring.RECENCY_BOOST, **_explained(plan, "recency")}
    return {"distance_feature": feature}


# -- matching --------------------------------------------------------------------------------------


def has_term(term: Interpretation, *, named: bool = False) -> Json:
    """Whether a post has a term in any of its variants, unscored."""
    several = named and not term.as_typed
    clauses = [
        {"bool": {"filter": [_has(variant, term)], "_name": f"{IS}{term.term.key} {number}"}}
        if several
        else _has(variant, term)
        for number, variant in enumerate(term.variants)
    ]
    if term.phrase:
        clauses.append(_in_any_form(term.phrase))
    if term.compound:
        clauses.append(_in_any_form(term.compound))
    return any_of(clauses, HAS + term.term.key if named else "")


def _has(variant: TermVariant, term: Interpretation) -> Json:
    if variant.kind == "begun":
        return any_of([_in_any_form(variant.text), _begins_in_title(term), _begins(term)])
    if variant.kind == "prefix":
        return _prefix(variant)
    if variant.kind == "typed" and len(term.term.pieces) > 1:  # by a synonym too: e-mail, email
        return phrase_in(scoring.COMPOUND_FIELDS, variant.text)
    if variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text)
    if term.term.stop:  # the stemmed field has none
        return match("all.forms", variant.text, operator="and")
    return _in_any_form(variant.text)


def begin_in(field: str, terms: Iterable[Interpretation]) -> list[Json]:
    """Texts with a word that begins like one of the terms."""
    return [{"prefix": {field: {"value": text}}} for text in long_beginnings(terms)]


def _prefix(variant: TermVariant) -> Json:
    return {"prefix": {"all.forms": {"value": variant.text}}}


def _begins_in_title(term: Interpretation) -> Json:
    """Titles with a word that begins with the term."""
    return match("title.prefixes", term.term.text, operator="and")


def _begins(term: Interpretation) -> Json:
    """Posts with a word that begins with the term; the word itself if it is short, as a few letters
    begin too many words."""
    if len(term.term.folded) < scoring.PREFIX_MIN:
        return match("all.forms", term.term.text, operator="and")
    return {"prefix": {"all.forms": {"value": term.term.folded}}}


def _in_any_form(text: str) -> Json:
    """Posts with the words in any inflection or by a synonym. `all.words` has the words of a phrase
    that a synonym rule contracts to one, and camelCase words as a whole. Only the index knows the
    words of a Thai text: any of them is enough."""
    fields = ["all", "all.forms", "all.words"]
    operator = "or" if is_thai(text) else "and"
    return {"multi_match": {"query": text, "operator": operator, "fields": fields}}


def terms_needed(terms: int, request: SearchRequest) -> int:
    """How many terms a post must have: any of them; all where the order is by date, which would put
    posts with few of them first."""
    return terms if request.sort == "newest" else min(terms, 1)
