"""The query that finds and scores posts, made of clauses. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from analyzers.languages import Language
from app.search import scoring
from app.search.filters import language_filter, page, post_filters
from app.search.highlighting import post_highlighting
from app.search.pins import NO_MATCH, MatchedPins
from app.search.query_parser import ParsedQuery
from app.search.request import SearchRequest
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What the query of a search is built from.

    `terms`: every term of the query in its order, with its variants. `required`: those that decide
    which posts match; `needed`: how many of them a post must have. `optional`: significant terms
    that posts need not have. `total`: the number of posts, 0 if that is not known. `recency`:
    whether newer posts score a little more.
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
    optional: tuple[Interpretation, ...] = ()

    @property
    def significant(self) -> tuple[Interpretation, ...]:
        """The terms of which is reported whether a post has them."""
        return self.required + self.optional


WORD = "word "
"""`WORD + key` names the clause that scores a term."""

HAS, IS = "has ", "is "
"""`HAS + key` names the clause that tells whether a post has a term; `IS + key + number` the one
that tells whether it has a certain variant of it."""

PHRASE = "phrase in "
"""`PHRASE + field` names the clauses that tell whether a post has the whole query side by side."""

_MATCHED = "matched"
"""The aggregation that counts the posts that match by their words, if there are pinned ones."""


def hits_search(plan: PlanInput) -> Json:
    """The posts that match, with highlights, and how many of them have all terms or the phrase."""
    request, debug = plan.request, plan.request.debug
    should: list[Json] = []
    if plan.terms:
        should += words_clauses(plan.terms, plan.total, debug=debug)
        should += all_words_clauses(plan.significant, plan.total, debug=debug)
        should += neighbour_clauses(plan.terms, debug=debug)
        should += phrase_clauses(plan.terms, debug=debug)
        should += language_clauses(plan, debug=debug)
    for one in plan.optional:
        should.append({"constant_score": {"filter": has_term(one, named=True), "boost": 0}})
    if plan.recency and request.sort == "relevance":
        should.append(recency_clause(debug=debug))
    has = [has_term(one, named=True) for one in plan.required]
    filters: list[Json] = [{"term": {"kind": "post"}}, *post_filters(request, plan.language)]
    if has:
        filters.append({"bool": {"should": has, "minimum_should_match": plan.needed}})
    query = bool_query(
        must=[quoted_clause(text, debug=debug) for text in plan.query.quoted],
        should=should,
        filter=filters,
        must_not=_excluded(plan),
    )
    body: Json = {
        "query": _pinned(query, plan) if plan.pins else query,
        **page(request),
        "_source": ["oid", "title", "url", "pub_date", "categories", "language"],
        "highlight": post_highlighting(plan.terms, plan.query.quoted),
    }
    counted = {_MATCHED: query} if plan.pins.first else {}
    if counted := counted | _counted(plan):
        body["aggs"] = {name: {"filter": clause} for name, clause in counted.items()}
    return body


def _counted(plan: PlanInput) -> dict[str, Json]:
    """What is counted besides the posts that match: those with all terms, if not all are needed,
    and those with a term that was split, as nobody knows yet whether any post has it.

    Those with the phrase only if the hits need not be the best posts. Otherwise the names of their
    clauses tell whether there is one; to look for it in every post takes longer.
    """
    counted: dict[str, Json] = {}
    if plan.needed < len(plan.significant):
        counted["all_words"] = {"bool": {"filter": [has_term(one) for one in plan.significant]}}
    for one in plan.required:
        if one.likeliest.kind == "split":
            counted[HAS + one.term.key] = has_term(one)
    text = phrase_text(plan.terms)
    if text and not best_first(plan):
        counted["phrase"] = phrase_in(["title.words", "text.words"], text)
    return counted


def best_first(plan: PlanInput) -> bool:
    """Whether the hits are the posts with the highest scores."""
    request = plan.request
    return request.page == 1 and request.sort == "relevance" and not plan.pins.first


def _excluded(plan: PlanInput) -> list[Json]:
    return [phrase_in(scoring.PHRASE_FIELDS, text) for text in plan.query.excluded]


def matching(plan: PlanInput) -> Json:
    """The posts that match before the filters, unscored."""
    has = [has_term(one) for one in plan.required]
    words = [phrase_in(scoring.QUOTED_FIELDS, text) for text in plan.query.quoted]
    if has:
        words.append({"bool": {"should": has, "minimum_should_match": plan.needed}})
    pins = plan.pins
    if pins.first and words:
        pinned: Json = {"terms": {"oid": list(pins.first)}}
        words = [any_of([bool_query(filter=words), pinned])]
    never: list[Json] = [{"terms": {"oid": list(pins.never)}}] if pins.never else []
    return bool_query(
        filter=[{"term": {"kind": "post"}}, *words],
        must_not=[*_excluded(plan), *never],
    )


def _pinned(query: Json, plan: PlanInput) -> Json:
    """The query with the pinned posts first, in their order, and without those that are hidden.

    Elasticsearch's own `pinned` query is a part of x-pack, which not every build has.
    """
    pins = plan.pins
    first = [
        {"constant_score": {"filter": {"term": {"oid": oid}}, "boost": pin_score(pins, oid)}}
        for oid in pins.first
    ]
    never: list[Json] = [{"terms": {"oid": list(pins.never)}}] if pins.never else []
    found = bool_query(
        should=[query, *first],
        filter=[{"term": {"kind": "post"}}, *post_filters(plan.request, plan.language)],
        must_not=[*_excluded(plan), *never],
    )
    found["bool"]["minimum_should_match"] = 1
    return found


def pin_score(pins: MatchedPins, oid: str) -> float:
    """What being pinned adds to the score of a post; 0 for other posts."""
    if oid not in pins.first:
        return 0.0
    return scoring.PINNED_SCORE * (len(pins.first) - pins.first.index(oid))


def count_matched(response: Mapping[str, Any]) -> int:
    """How many posts match by their words; pinned ones need not."""
    aggregation = response.get("aggregations", {}).get(_MATCHED)
    found = response["hits"]["total"]["value"] if aggregation is None else aggregation["doc_count"]
    return int(found)


def bool_query(**occurs: list[Json]) -> Json:
    """A `bool` query without its empty parts."""
    return {"bool": {occur: clauses for occur, clauses in occurs.items() if clauses}}


def any_of(clauses: Iterable[Json], name: str = "") -> Json:
    """At least one of the clauses; their scores add up."""
    return {"bool": {"should": list(clauses), "minimum_should_match": 1, **_named(name)}}


def _named(name: str) -> Json:
    return {"_name": name} if name else {}


def phrase_in(fields: Sequence[str], text: str, boost: float = 1.0) -> Json:
    """The words of the text side by side in any of the fields."""
    phrase = {"query": text, "type": "phrase", "fields": list(fields), "boost": boost}
    return {"multi_match": phrase}


def quoted_clause(text: str, *, debug: bool) -> Json:
    """A quoted phrase: exactly these words."""
    phrase = phrase_in(scoring.QUOTED_FIELDS, text, scoring.QUOTED_BOOST)
    return {"bool": {"must": [phrase], **_named(f'"{text}"' if debug else "")}}


# -- scoring ---------------------------------------------------------------------------------------


def best_fields(text: str, boost: float = 1.0, name: str = "") -> Json:
    """What the words of a text score: BM25 over all fields as one, stemmed and unstemmed, and once
    more in the title."""
    return any_of(
        [
            combined_fields(scoring.STEMMED_FIELDS, text, boost),
            combined_fields(scoring.UNSTEMMED_FIELDS, text, boost),
            match("title.forms", text, boost=boost * scoring.TITLE_BOOST),
        ],
        name,
    )


def combined_fields(fields: Sequence[str], text: str, boost: float) -> Json:
    """BM25 over several fields as if they were one."""
    return {"combined_fields": {"query": text, "fields": list(fields), "boost": boost}}


def match(field: str, text: str, **options: Any) -> Json:
    """A `match` query on one field."""
    return {"match": {field: {"query": text, **options}}}


def match_phrase(field: str, text: str, **options: Any) -> Json:
    """A `match_phrase` query on one field."""
    return {"match_phrase": {field: {"query": text, **options}}}


def words_clauses(terms: Sequence[Interpretation], total: int, *, debug: bool) -> list[Json]:
    """What single words score. Terms that stand for themselves only share one clause, unless each
    one's score is to be reported."""
    found: list[Json] = []
    only_light = all(one.term.light for one in terms)
    for light, boost in ((False, 1.0), (True, 1.0 if only_light else scoring.LIGHT_BOOST)):
        plain = [one for one in terms if one.as_typed and one.term.light == light]
        if debug:
            found += [best_fields(text, boost, name) for name, text in _plain_words(plain)]
        elif plain:
            found.append(best_fields(" ".join(one.term.text for one in plain), boost))
    for one in terms:
        if not one.as_typed:
            variants = [_variant(variant, one, total) for variant in one.variants]
            name = _named(WORD + one.term.key if debug else "")
            found.append({"dis_max": {"queries": variants, **name}})
    for text in dict.fromkeys(one.phrase for one in terms if one.phrase):
        words = combined_fields(scoring.CONTRACTED_FIELDS, text, scoring.CONTRACTED_BOOST)
        found.append(any_of([words], WORD + text if debug else ""))
    for text in compounds(terms):
        found.append(best_fields(text, scoring.COMPOUND_BOOST, WORD + text if debug else ""))
    return found


def compounds(terms: Iterable[Interpretation]) -> list[str]:
    """The words that posts write two terms as."""
    return list(dict.fromkeys(one.compound for one in terms if one.compound))


def _plain_words(terms: Sequence[Interpretation]) -> list[tuple[str, str]]:
    """Name and text of each word; the words that a synonym rule treats as one are one."""
    found: list[tuple[str, str]] = []
    for one in terms:
        if one.phrase and found and one.phrase == found[-1][1]:
            continue
        found.append((WORD + one.term.key, one.phrase or one.term.text))
    return found


def _variant(variant: TermVariant, of: Interpretation, total: int) -> Json:
    boost = relative_boost(variant, of, total)
    if variant.kind == "prefix":
        worth = boost * scoring.idf(variant.posts, total)
        return {"constant_score": {"filter": _prefix(variant), "boost": worth}}
    if variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text, boost)
    return best_fields(variant.text, boost)


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


def _prefix(variant: TermVariant) -> Json:
    return {"prefix": {"all.forms": {"value": variant.text}}}


def all_words_clauses(terms: Sequence[Interpretation], total: int, *, debug: bool) -> list[Json]:
    """What a post scores that has every term, and more if its title has them."""
    fields = [(field, boost, name) for field, (boost, name) in scoring.ALL_WORDS.items()]
    if len(terms) > 1:
        fields.append(scoring.INFLECTED_TITLE)
    return [
        {
            "bool": {
                "must": [_lookup(field, one, boost / len(terms), total) for one in terms],
                **_named(name if debug else ""),
            }
        }
        for field, boost, name in fields
        if terms
    ]


def language_clauses(plan: PlanInput, *, debug: bool) -> list[Json]:
    """What a post scores that has every term and is in the visitor's language."""
    prefer, terms = plan.request.prefer, plan.required
    if not prefer or not terms:
        return []
    boost = scoring.LANGUAGE_BOOST / len(terms)
    return [
        {
            "bool": {
                "must": [_lookup("all.forms", one, boost, plan.total) for one in terms],
                "filter": language_filter(prefer, plan.language),
                **_named("your language" if debug else ""),
            }
        }
    ]


def _lookup(field: str, one: Interpretation, boost: float, total: int) -> Json:
    """A term in a field that scores nothing but its inverse document frequency."""
    clauses: list[Json] = []
    for variant in one.variants:
        worth = boost * relative_boost(variant, one, total)
        if variant.kind == "prefix":
            prefix_field = "title.lookup" if field.startswith("title") else "all.forms"
            prefix = {"prefix": {prefix_field: {"value": variant.text}}}
            worth *= scoring.idf(variant.posts, total) * scoring.LOOKUP_SHARE
            clause: Json = {"constant_score": {"filter": prefix, "boost": worth}}
        elif variant.kind == "split" and field.startswith("title"):
            clause = phrase_in(["title.words"], variant.text, worth)
        elif variant.kind == "split":
            clause = phrase_in(scoring.PHRASE_FIELDS, variant.text, worth)
        else:
            clause = match(field, variant.text, operator="and", boost=worth)
        clauses.append(clause)
    if one.phrase:
        clauses.append(match(field, one.phrase, operator="and", boost=boost))
    if one.compound:
        clauses.append(match(field, one.compound, boost=boost))
    return clauses[0] if len(clauses) == 1 else {"dis_max": {"queries": clauses}}


def neighbour_clauses(terms: Sequence[Interpretation], *, debug: bool) -> list[Json]:
    """Neighbouring terms of the query that stand close together in the text. Two that say little
    (`why is my`) count nothing."""
    pairs = dict.fromkeys(
        (first.likeliest.text, second.likeliest.text)
        for first, second in pairwise(one for one in terms if not one.term.stop)
        if not (first.term.light and second.term.light)
    )
    return [
        match_phrase(
            "text.words",
            f"{first} {second}",
            slop=scoring.NEIGHBOURS_SLOP,
            boost=scoring.NEIGHBOURS_BOOST,
            **_named(f"{first} near {second}" if debug else ""),
        )
        for first, second in list(pairs)[: scoring.NEIGHBOUR_PAIRS]
    ]


def phrase_text(terms: Sequence[Interpretation]) -> str:
    """The whole query in its likeliest reading; "" if that is a single word."""
    return " ".join(one.likeliest.text for one in terms) if len(terms) > 1 else ""


def phrase_clauses(terms: Sequence[Interpretation], *, debug: bool) -> list[Json]:
    """The whole query side by side in the title or the text, as it is and in any inflection.

    Only the clauses of the query as it is have names: they tell whether a post has the phrase.
    """
    text = phrase_text(terms)
    if not text:
        return []
    as_it_is = [
        match_phrase(
            field,
            text,
            boost=scoring.PHRASE_BOOST,
            **_named(PHRASE + field.removesuffix(".words")),
        )
        for field in ("title.words", "text.words")
    ]
    inflected = [
        match_phrase(
            field,
            text,
            boost=scoring.INFLECTED_PHRASE_BOOST,
            **_named(f"{field}: the words side by side, inflected" if debug else ""),
        )
        for field in scoring.INFLECTED_PHRASE_FIELDS
    ]
    return as_it_is + inflected


def recency_clause(*, debug: bool) -> Json:
    """A little for newer posts: half of it is left after the pivot."""
    feature: Json = {"field": "pub_date", "origin": "now", "pivot": scoring.RECENCY_PIVOT}
    feature |= {"boost": scoring.RECENCY_BOOST, **_named("recency" if debug else "")}
    return {"distance_feature": feature}


# -- matching --------------------------------------------------------------------------------------


def has_term(one: Interpretation, *, named: bool = False) -> Json:
    """Whether a post has a term in any of its variants, unscored."""
    several = named and not one.as_typed
    clauses = [
        {"bool": {"filter": [_has(variant, one)], "_name": f"{IS}{one.term.key} {number}"}}
        if several
        else _has(variant, one)
        for number, variant in enumerate(one.variants)
    ]
    if one.phrase:
        clauses.append(_in_any_form(one.phrase))
    if one.compound:
        clauses.append(_in_any_form(one.compound))
    return any_of(clauses, HAS + one.term.key if named else "")


def _has(variant: TermVariant, one: Interpretation) -> Json:
    if variant.kind == "prefix":
        return _prefix(variant)
    if variant.kind == "typed" and len(one.term.pieces) > 1:  # by a synonym too: e-mail, email
        return phrase_in(scoring.COMPOUND_FIELDS, variant.text)
    if variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text)
    if one.term.stop:  # the stemmed field has none
        return match("all.forms", variant.text, operator="and")
    return _in_any_form(variant.text)


def _in_any_form(text: str) -> Json:
    """Posts with the words in any inflection or by a synonym. `all.words` has the words of a phrase
    that a synonym rule contracts to one, and camelCase words as a whole."""
    fields = ["all", "all.forms", "all.words"]
    return {"multi_match": {"query": text, "operator": "and", "fields": fields}}


def terms_needed(terms: int, request: SearchRequest) -> int:
    """How many terms a post must have: both of two, half of more; all where the order is by date,
    which would put posts with few of them first."""
    if terms < 3 or request.sort == "newest":
        return terms
    return math.ceil(terms / 2)
