"""Builds every clause of a search: those that match posts, and those that score them. Pure.

A post matches if it has one of the significant words. Every post that matches scores by

    words           BM25 of each word over title, text, code and comments, and in the title again
    similar words   a little for words that resemble a rare one
    whole title     far more than by all others, if its title is the query
    pinned          even more, if a pin rule names it

and the best 200 on each shard also by

    all words       that the post, or its title, has all of them
    whole number    5.0 where it is not the beginning of 5.0.1
    neighbours      pairs of words that stand close together
    phrase          the whole query side by side in the title or the text
    heading         several words close together in one heading
    title, links    most of the words in the title, and in the texts of links to the post
    meaning         how near its nearest passage is, with BLOGSEARCH_SEMANTIC
    title so far    titles with all words of a query that is being typed
    recency         a little for newer posts
    popularity      a little for posts that are read more, if the posts have numbers for it

`app.search.scoring` has the numbers.
"""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from operator import itemgetter
from typing import Any

from analyzers.chains import SPELLING, WORDS
from analyzers.languages import Language
from analyzers.signs import is_thai
from app.search import scoring
from app.search.pins import MatchedPins
from app.search.plan import Plan
from app.search.query_parser import QueryTerm
from app.search.request import SearchRequest
from app.search.spelling import Interpretation, TermVariant

Query = dict[str, Any]
"""A query of Elasticsearch: `{"match": {"title": "cron"}}`. For two words the classes of
`elasticsearch.dsl` take 0.3 ms; building the same dicts takes 0.1."""
Clause = tuple[str, Query]
"""A part of the score: its name in `debug-search`, and its query."""

PHRASE = "phrase in "
"""`PHRASE + field` is the name of the clause that matches the whole query as a phrase."""
_HAS = "has "
COMMENTS = "comments"
"""The name of a post's inner hits, its matching comments."""


# -- queries of Elasticsearch ----------------------------------------------------------------------


def bool_query(**occurs: list[Query]) -> Query:
    """Return a `bool` query without its empty parts."""
    return {"bool": dict(filter(itemgetter(1), occurs.items()))}


def any_of(clauses: Iterable[Query]) -> Query:
    """Match at least one of the clauses, and add up their scores."""
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def best_of(clauses: Sequence[Query]) -> Query:
    """Match at least one of the clauses, with the score of the best."""
    return clauses[0] if len(clauses) == 1 else {"dis_max": {"queries": list(clauses)}}


def name_query(name: str, query: Query) -> Query:
    """Return the query with a name, which its hits have in `matched_queries`."""
    return {"bool": {"should": [query], "minimum_should_match": 1, "_name": name}}


def constant(query: Query, score: float) -> Query:
    """Return the query with the same score for every match."""
    return {"constant_score": {"filter": query, "boost": score}}


def match(field: str, text: str, **options: Any) -> Query:
    return {"match": {field: {"query": text, **options}}}


def match_in(fields: Sequence[str], text: str, **options: Any) -> Query:
    """Match a text in any of the fields, with the score of the best."""
    return {"multi_match": {"query": text, "fields": list(fields), **options}}


def match_phrase(field: str, text: str, **options: Any) -> Query:
    return {"match_phrase": {field: {"query": text, **options}}}


def phrase_in(
    fields: Sequence[str], text: str, boost: float = 1.0, analyzer: str | None = WORDS
) -> Query:
    """Match the text as a phrase in any of the fields; analyzer None: the one of each field."""
    phrase = {"query": text, "type": "phrase", "fields": list(fields), "boost": boost}
    if analyzer:
        phrase["analyzer"] = analyzer
    phrase["lenient"] = True  # several tokens are an error for a field without positions
    return {"multi_match": phrase}


def _split_phrase(variant: TermVariant, boost: float = 1.0, *, in_title: bool = False) -> Query:
    """Match the two words of a split variant as a phrase."""
    inflected = variant.kind == "split"
    fields = scoring.INFLECTED_PHRASE_FIELDS if inflected else scoring.PHRASE_FIELDS
    within = fields[: 1 if in_title else None]
    return phrase_in(within, variant.text, boost, None if inflected else WORDS)


def _combined_fields(fields: Sequence[str], text: str, boost: float = 1.0) -> Query:
    return {"combined_fields": {"query": text, "fields": list(fields), "boost": boost}}


# -- names of clauses, listed in a hit's `matched_queries` -----------------------------------------


def has_name(term: QueryTerm) -> str:
    """Return the name of the clause that matches a term."""
    return f"{_HAS}{term.key}"


def variant_name(term: QueryTerm, number: int) -> str:
    """Return the name of the clause that matches this variant of a term."""
    return f"is {term.key} {number}"


def has_names(names: Iterable[str]) -> set[str]:
    """Return the names that come from `has_name`."""
    return {name for name in names if name.startswith(_HAS)}


# -- scoring: every post that matches --------------------------------------------------------------


def words_clauses(plan: Plan, *, one_by_one: bool = False) -> list[Clause]:
    """Return the clauses for words and similar words.

    Words without other variants share one clause, unless the score of each is wanted.
    """
    clauses: list[Clause] = []
    boosts = {False: 1.0}
    if len(plan.significant) <= scoring.WORDS_BESIDE_LIGHT:
        boosts[True] = scoring.LIGHT_BOOST if plan.significant else 1.0
    for light, boost in boosts.items():
        plain = [term for term in plan.terms if term.as_typed and term.typed.light == light]
        if one_by_one:
            # Words that a synonym rule contracts share a clause.
            texts = list(dict.fromkeys(term.phrase or term.typed.text for term in plain))
        else:
            texts = [" ".join([term.typed.text for term in plain])] if plain else []
        # For a single word, titles with another word of its stem would rank above texts with it.
        twice = len(plan.required) > 1
        clauses += [(text, _best_fields(text, plan, boost, title_twice=twice)) for text in texts]
    for term in plan.terms:
        if not term.as_typed:
            variants = [_variant(variant, term, plan) for variant in term.variants]
            clauses.append((term.typed.text, best_of(variants)))
        if term.similar:
            similar = [_best_fields(word.text, plan, scoring.SIMILAR) for word in term.similar]
            clauses.append(("a similar word", best_of(similar)))
    for text in dict.fromkeys(term.phrase for term in plan.terms if term.phrase):
        apart = [_combined_fields(scoring.UNSTEMMED_FIELDS, word) for word in text.split()]
        clauses.append((f"{text} as typed", any_of(apart)))
    return clauses


def _best_fields(text: str, plan: Plan, boost: float = 1.0, *, title_twice: bool = True) -> Query:
    """Score the words of a text by BM25 over all fields as one, stemmed and unstemmed, and again in
    the title."""
    # The stemmed field has no stop words.
    title = "title" if plan.without_stop_words else "title.forms"
    clauses = [
        _combined_fields(scoring.STEMMED_FIELDS, text, boost),
        _combined_fields(scoring.UNSTEMMED_FIELDS, text, boost * plan.share),
    ]
    if title_twice:
        clauses.append(match(title, text, boost=boost * scoring.TITLE_BOOST))
    return any_of(clauses)


def _variant(variant: TermVariant, of: Interpretation, plan: Plan) -> Query:
    if variant.kind == "begun":
        in_title = constant(_begins_in_title(of), scoring.BEGUN_IN_TITLE)
        in_post = constant(_begins(of), scoring.BEGUN)
        return best_of([_best_fields(variant.text, plan), in_title, in_post])
    if variant.kind == "prefix":
        return constant(_begins(of), variant.weight * scoring.BEGUN)
    if variant.is_split:
        return _split_phrase(variant, variant.weight)
    return _best_fields(variant.text, plan, round(variant.weight, 4))


def quoted_clauses(plan: Plan) -> list[Clause]:
    """Return a clause for each quoted phrase: exactly these words."""
    return [
        (f'"{text}"', phrase_in(scoring.QUOTED_FIELDS, text, scoring.QUOTED_BOOST))
        for text in plan.query.quoted
    ]


def whole_title(plan: Plan) -> list[Clause]:
    """Match titles that equal the query, quotation marks included; those with the same signs and
    accents score more. With exclusions only these match: `-home security` is not "Home
    security"."""
    stored = escape(plan.request.q.strip(), quote=False)
    typed: Query = {"term": {"title.keyword": {"value": stored, "case_insensitive": True}}}
    as_typed = constant(typed, scoring.TITLE_AS_TYPED)
    if not plan.texts:
        return [("title as typed", as_typed)] if stored else []
    titles: Query = {"terms": {"title.exact": list(plan.texts)}}
    if plan.query.excluded:
        return [("whole title", constant(bool_query(filter=[titles, typed]), scoring.WHOLE_TITLE))]
    # The field as typed is not indexed, so it is only asked where the whole title matches.
    whole = constant(titles, scoring.WHOLE_TITLE)
    return [("whole title", bool_query(must=[whole], should=[as_typed]))]


def pinned_clauses(pins: MatchedPins) -> list[Query]:
    """Match the pinned posts, scored by their order. Elasticsearch's own `pinned` query is part of
    x-pack, which not every build has."""
    return [constant({"term": {"oid": oid}}, pin_score(pins, oid)) for oid in pins.first]


def pin_score(pins: MatchedPins, oid: str) -> float:
    """Return the score of a post for being pinned; 0 for other posts."""
    if oid not in pins.first:
        return 0.0
    return scoring.PINNED_SCORE * (len(pins.first) - pins.first.index(oid))


# -- scoring: the best posts -----------------------------------------------------------------------


def best_clauses(plan: Plan) -> list[Clause]:
    """Return the clauses that rescore the posts which match best by their words."""
    return [
        *_all_words(plan),
        *_numbers(plan),
        *_neighbours(plan),
        *_phrase(plan),
        *_heading(plan),
        *_title_and_links(plan),
        *_meaning(plan),
        *_title_so_far(plan),
        *_recency(plan),
        *_popularity(plan),
    ]


def _all_words(plan: Plan) -> list[Clause]:
    """Boost posts that have every significant term, most in the title, and a little in the
    visitor's language. The boost falls with the number of terms, because each has scored."""
    # Perhaps no post has the two words of a split.
    terms = [term for term in plan.required if not term.likeliest.is_split] or plan.required
    if not terms:
        return []
    share = 1 / len(terms) / max(1, sum(not term.typed.continues for term in terms))

    def every(field: str, boost: float = 1.0, **options: Any) -> Query:
        return bool_query(must=[_look_up(field, term, share * boost, **options) for term in terms])

    def every_own(field: str, boost: float) -> Query:
        return bool_query(must=[_own(field, term, plan, share * boost) for term in terms])

    in_title, typed = scoring.ALL_IN_TITLE_BOOST, 1.0
    if any(term.begun for term in terms) or len(terms) > scoring.FEW_OWN_WORDS:
        clauses = [("all words in the title", every("title.lookup", in_title))]
        if len(terms) > 1:
            clauses.append(("all words in the title, in any form", every("title", in_title)))
        clauses.append(("all words", every("all")))
    elif len(terms) == 1:
        clauses = [
            ("all words in the title", every("title.lookup", in_title)),
            ("all words, inflected", _own_alone(terms[0], plan)),
        ]
        if _has_one_form(terms[0], plan):
            typed += scoring.ALONE
        else:
            clauses.append(("all words", every("all", scoring.ALONE)))
    else:
        clauses = [
            ("all words in the title, as typed", every("title.forms", in_title, analyzer=WORDS)),
            ("all words in the title, inflected", every_own("title", in_title * 3 / 4)),
            ("all words in the title, in any form", every("title", in_title / 2)),
            ("all words", every_own("text", 1.0)),
        ]
    clauses.append(("all words as typed", every("spelling", typed, analyzer=SPELLING)))
    if plan.request.prefer:
        chosen = language_filter(plan.request.prefer, plan.language)
        in_language = bool_query(must=[every("all")], filter=chosen)
        clauses.append(("your language", in_language))
    return clauses


def _own_alone(term: Interpretation, plan: Plan) -> Query:
    """Rank posts with the only term of a query, or an inflection of it, above its synonyms, and
    those above other words of its stem."""
    if not all(_is_word(variant, term) for variant in term.variants):
        return _look_up("all", term, 1.0)
    boosts = [round(scoring.INFLECTED_ALONE * variant.weight, 4) for variant in term.variants]
    own = [_own_forms("text", variant, plan) for variant in term.variants]
    return best_of(list(map(constant, own, boosts)))


def _has_one_form(term: Interpretation, plan: Plan) -> bool:
    """Whether posts can have the word only as typed: no synonym rule contains it, accents are
    ignored, and it has only letters."""
    is_ruled = bool(term.phrase) or term.typed.token in plan.phrases.spellings
    is_plain = plan.language.folds_first and term.typed.token.isalpha()
    return is_plain and term.as_typed and not is_ruled


def _own(field: str, term: Interpretation, plan: Plan, boost: float) -> Query:
    """Match posts with the term or an inflection, in the title or anywhere; score its rarity."""
    if not all(_is_word(variant, term) for variant in term.variants):
        return _look_up("title.lookup" if field == "title" else "all", term, boost)
    fields = ["title"] if field == "title" else scoring.IN_ANY_FORM
    return best_of(
        [
            bool_query(
                must=[match_in(fields, variant.text, boost=round(boost * variant.weight, 4))],
                filter=[_own_forms(field, variant, plan)],
            )
            for variant in term.variants
        ]
    )


def _own_forms(field: str, variant: TermVariant, plan: Plan) -> Query:
    """Match a word in every spelling that a rule contracts to one (colour, color), and the
    inflections of each."""
    word = plan.language.written(variant.text)
    spellings = {word, *plan.phrases.spellings.get(word, ())}
    words = {form for one in spellings for form in plan.language.inflections(one)}
    if field == "title":
        words = set(map(plan.language.fold, words))
    return {"terms": {"title.forms" if field == "title" else "spelling": sorted(words)}}


def _is_word(variant: TermVariant, term: Interpretation) -> bool:
    """Whether the variant is a single word that is indexed as written."""
    is_word = variant.is_word and len(term.typed.pieces) == 1
    return is_word and variant.text.isalnum() and not (term.typed.stop or is_thai(variant.text))


def _look_up(field: str, term: Interpretation, boost: float, **options: Any) -> Query:
    """Match a term in a field without frequencies and norms; a match scores its rarity."""
    in_title = field.startswith("title")
    clauses: list[Query] = []
    for variant in term.variants:
        weight = round(boost * variant.weight, 4)
        if variant.is_beginning:
            begins = _begins_in_title(term) if in_title else _begins(term)
            clauses.append(constant(begins, weight * scoring.BEGUN))
        if variant.is_split:
            clauses.append(_split_phrase(variant, weight, in_title=in_title))
        elif variant.kind != "prefix":
            clauses.append(match(field, variant.text, operator="and", boost=weight, **options))
    if term.phrase:
        clauses.append(match(field, term.phrase, operator="and", boost=boost, **options))
    return best_of(clauses)


def _numbers(plan: Plan) -> list[Clause]:
    """The numbers of the query where a post has them whole: the index has the beginnings of a
    longer one (5 and 5.0 of 5.0.1) as tokens, too."""
    clauses: list[Clause] = []
    for term in plan.required:
        number = term.typed.token
        if number.isascii() and number.replace(".", "").isdigit():
            longer = {"prefix": {"prefix": f"{number}.", "analyzer": "keyword"}}
            whole = {"match": {"query": number, "filter": {"not_contained_by": longer}}}
            boosts = {"title": scoring.WHOLE_NUMBER_IN_TITLE, "text": scoring.WHOLE_NUMBER}
            has = [constant({"intervals": {f"{f}.forms": whole}}, boosts[f]) for f in boosts]
            clauses.append((f"{number} as a whole number", best_of(has)))
    return clauses


def _neighbours(plan: Plan) -> list[Clause]:
    """Match neighbouring terms of the query that are close together in the text, except two light
    ones (`why is my`)."""
    pairs = dict.fromkeys(
        readings(pair)
        for pair in pairwise(plan.without_stop_words)
        if not (pair[0].typed.light and pair[1].typed.light) and not pair[1].typed.continues
    )
    boost = scoring.ADJACENT_BOOST * plan.share
    options = {"slop": scoring.NEIGHBOURS_SLOP, "boost": boost, "analyzer": WORDS}
    return [
        (
            texts[0].replace(" ", " near "),
            best_of([match_phrase("text.forms", text, **options) for text in texts]),
        )
        for texts in list(pairs)[: scoring.NEIGHBOUR_PAIRS]
    ]


def readings(terms: Sequence[Interpretation]) -> tuple[str, ...]:
    """Return the texts that several terms may stand for: their likeliest variants first, then one
    term at a time in another variant. The posts decide which text scores."""
    likeliest = [term.likeliest.text for term in terms]
    alternatives = [
        [*likeliest[:place], variant.text, *likeliest[place + 1 :]]
        for place, term in enumerate(terms)
        for variant in term.variants[1:]
        if variant.is_word or variant.is_split
    ]
    return tuple(dict.fromkeys(" ".join(texts) for texts in (likeliest, *alternatives)))


def _likeliest(terms: Sequence[Interpretation]) -> str:
    return " ".join([term.likeliest.text for term in terms])


def _phrase(plan: Plan) -> list[Clause]:
    """Match the whole query as a phrase, as typed or in any inflection."""
    if len(plan.terms) < 2:
        return []
    text = _likeliest(plan.terms)
    clauses: list[Clause] = []
    for field in ("title", "text"):
        phrases = [phrase_in([f"{field}.forms"], text, scoring.ADJACENT_BOOST)]
        # The stemmed field has no stop words: `the who` would be any text with who.
        if len(plan.without_stop_words) > 1:
            phrases.append(match_phrase(field, text, boost=scoring.ADJACENT_BOOST))
        if plan.terms[-1].begun:
            # Unless constant, the score would be the sum over all words with this prefix.
            in_title = field == "title"
            words: dict[str, Any] = {"query": text, "analyzer": WORDS}
            if in_title:  # few enough to compare them all
                words["max_expansions"] = scoring.BEGUN_EXPANSIONS
            begun: Query = {"match_phrase_prefix": {f"{field}.forms": words}}
            phrases.append(constant(begun, scoring.BEGUN_IN_TITLE if in_title else scoring.BEGUN))
        clauses.append((PHRASE + field, best_of(phrases)))
    return clauses


def _heading(plan: Plan) -> list[Clause]:
    """Match the significant words close together in one heading."""
    terms = plan.significant or plan.terms
    if len(terms) < 2:
        return []
    text = _likeliest(terms)
    options = {"slop": scoring.NEIGHBOURS_SLOP, "boost": scoring.HEADING_BOOST}
    clauses = [match_phrase("headings.text", text, **options)]
    if terms[-1].begun:
        begun: Query = {"match_phrase_prefix": {"headings.text": {"query": text}}}
        clauses.append(constant(begun, scoring.BEGUN_IN_TITLE))
    return [("heading", best_of(clauses))]


def _title_and_links(plan: Plan) -> list[Clause]:
    """Match most of the words in the title or in links to the post, so that posts about the query
    rank above posts that only mention it."""
    if len(plan.significant) < 2:
        return []
    most = {"minimum_should_match": scoring.MOST_WORDS}
    text = _likeliest(plan.significant)
    in_title = match("title", text, **most, boost=scoring.MOST_IN_TITLE_BOOST)
    in_links = match("link_texts", text, **most, boost=scoring.MOST_IN_LINKS_BOOST)
    return [("most words in the title", in_title), ("most words in links to it", in_links)]


def _meaning(plan: Plan) -> list[Clause]:
    """Score the similarity of the nearest passage to the query."""
    if not plan.vector:
        return []
    return [("meaning", nearest_passage(plan.vector, scoring.MEANING_BOOST * len(plan.required)))]


def nearest_passage(vector: Sequence[float], boost: float) -> Query:
    """Score the nearest passage of a post by about the cosine of the angle. On bits, `dotProduct`
    adds up the numbers of the query's vector where the bit is 1; the others count negatively."""
    script = {
        "source": "Math.max(0, 2 * dotProduct(params.query, 'passages.vector') - params.sum)",
        "params": {"query": list(vector), "sum": sum(vector)},
    }
    nested: dict[str, Any] = {
        "path": "passages",
        "query": {"script_score": {"query": {"match_all": {}}, "script": script}},
        "score_mode": "max",
        "boost": boost,
    }
    return {"nested": nested}


def _title_so_far(plan: Plan) -> list[Clause]:
    """Match titles with all words typed so far. The score is constant, so that the order stays the
    same while the last word is typed."""
    if not plan.terms or not plan.terms[-1].begun:
        return []
    options = {"operator": "and", "analyzer": WORDS}
    has = [match("title.forms", term.likeliest.text, **options) for term in plan.terms[:-1]]
    in_title = bool_query(filter=[*has, _begins_in_title(plan.terms[-1])])
    return [("title so far", constant(in_title, scoring.BEGUN_IN_TITLE))]


def _recency(plan: Plan) -> list[Clause]:
    """Score newer posts a little; at the age of the pivot, half of it is left."""
    if not plan.recency:
        return []
    feature: dict[str, Any] = {"field": "pub_date", "origin": "now", "pivot": scoring.RECENCY_PIVOT}
    return [("recency", {"distance_feature": {**feature, "boost": scoring.RECENCY_BOOST}})]


def _popularity(plan: Plan) -> list[Clause]:
    """Score the logarithm of a post's popularity relative to a usual one, at most
    `POPULARITY_BOOST`, at ten times as much. Posts without a number score 0."""
    if not plan.popularity:
        return []
    value = {"field": "popularity", "factor": 1 / plan.popularity, "modifier": "log1p"}
    score: dict[str, Any] = {"field_value_factor": {**value, "missing": 0}, "max_boost": 1}
    everything = {"query": {"match_all": {}}, "boost_mode": "multiply"}
    boost = scoring.POPULARITY_BOOST
    return [("popularity", {"function_score": {**everything, **score, "boost": boost}})]


# -- matching --------------------------------------------------------------------------------------


def has_terms(
    plan: Plan, needed: int, *, similar: bool = False, named: bool = False
) -> list[Query]:
    """Match posts with at least `needed` of the significant terms. With `similar`, a similar word
    counts, too. With `named`, hits report which terms they have, and in which variants."""
    if not plan.required:
        return []
    has = [has_term(term, similar=similar, named=named) for term in plan.required]
    matching: Query = {"should": has, "minimum_should_match": needed}
    # Elasticsearch requires one clause of a `bool` query with nothing but `should`, even with 0.
    return [{"bool": matching if needed else {**matching, "must": {"match_all": {}}}}]


def has_term(term: Interpretation, *, similar: bool = False, named: bool = False) -> Query:
    """Match posts that have a term in any of its variants."""
    clauses = [_has(variant, term) for variant in term.variants]
    if named and not term.as_typed:
        names = [variant_name(term.typed, number) for number in range(len(clauses))]
        clauses = list(map(name_query, names, clauses))
    if term.phrase:
        clauses.append(_in_any_form(term.phrase))
    has = name_query(has_name(term.typed), any_of(clauses)) if named else any_of(clauses)
    likes = [_in_any_form(word.text) for word in term.similar] if similar else []
    return any_of([has, *likes]) if likes else has


def excluded_clauses(plan: Plan) -> list[Query]:
    words = [phrase_in(scoring.PHRASE_FIELDS, text) for text in plan.query.excluded]
    return words + _in_categories(plan.query.other_categories)


def _in_categories(names: Sequence[str]) -> list[Query]:
    return [{"term": {"categories": {"value": name, "case_insensitive": True}}} for name in names]


def operator_filters(plan: Plan) -> list[Query]:
    """Return the filters for `in:title` (all words in the title, in any variant), for `category:`
    (any of the names, in either case), and for requests without comments."""
    filters: list[Query] = []
    if plan.query.in_title:
        filters += [_in_title(term) for term in plan.required]
        filters += [phrase_in(["title.forms"], text) for text in plan.query.quoted]
    if plan.query.categories:
        filters.append(any_of(_in_categories(plan.query.categories)))
    if not plan.request.comments:
        filters += _outside_comments(plan)
    return filters


def _outside_comments(plan: Plan) -> list[Query]:
    """Match posts that have every quoted phrase, or else at least one word, outside of comments."""
    filters = [phrase_in(scoring.BLOG_PHRASE_FIELDS, text) for text in plan.query.quoted]
    words = [variant.text for term in plan.required for variant in term.variants]
    begun = [term.typed.folded for term in plan.required if term.may_go_on]
    clauses = [match_in(scoring.BLOG_FIELDS, " ".join(words))]
    clauses += [{"prefix": {f: text}} for text in begun for f in scoring.BLOG_FIELDS if "." in f]
    return [any_of(clauses)] if words and not filters else filters


def _in_title(term: Interpretation) -> Query:
    clauses = [match("title.lookup", variant.text, operator="and") for variant in term.variants]
    clauses += [match("title", variant.text, operator="and") for variant in term.variants]
    if term.phrase:
        clauses.append(match("title", term.phrase, operator="and"))
    if term.may_go_on:
        clauses.append(_begins_in_title(term))
    return any_of(clauses)


def hidden_clauses(plan: Plan) -> list[Query]:
    """Match the posts that a pin rule hides."""
    return [{"terms": {"oid": list(plan.pins.never)}}] if plan.pins.never else []


def _has(variant: TermVariant, term: Interpretation) -> Query:
    if variant.kind == "begun":
        return any_of([_in_any_form(variant.text), _begins_in_title(term), _begins(term)])
    if variant.kind == "prefix":
        return _begins(term)
    if variant.kind == "typed" and len(term.typed.pieces) > 1:  # by a synonym too: e-mail, email
        return phrase_in(scoring.COMPOUND_FIELDS, variant.text, analyzer=None)
    if variant.is_split:
        return _split_phrase(variant)
    if term.typed.stop:  # the stemmed field has none
        return match("all", variant.text, operator="and")
    return _in_any_form(variant.text)


def _in_any_form(text: str) -> Query:
    """Match posts with all words, in any inflection or by a synonym. `all` has whole camelCase
    words. Only the index can split a Thai text into words, so any of them is enough."""
    fields = [*scoring.IN_ANY_FORM, "all"]
    return match_in(fields, text, operator="or" if is_thai(text) else "and")


def _begins_in_title(term: Interpretation) -> Query:
    return match("title.prefixes", term.typed.text, operator="and")


def _begins(term: Interpretation) -> Query:
    """Match posts with a word that begins with the term; if it is short, with the term itself,
    because too many words begin with a few letters."""
    if len(term.typed.folded) < scoring.PREFIX_MIN:
        return match("all", term.typed.text, operator="and")
    return {"prefix": {"all": {"value": term.typed.folded}}}


# -- filters that a visitor chose ------------------------------------------------------------------


def post_filters(request: SearchRequest, language: Language) -> list[Query]:
    """Return the filters on category, language, address, days (inclusive) and years.

    Args:
        language: the language of the index.
    """
    chosen = language_filter(request.lang, language) + under_filter(request.under)
    return category_filter(request) + chosen + day_filters(request)


def category_filter(request: SearchRequest) -> list[Query]:
    return [{"terms": {"categories": list(request.categories)}}] if request.categories else []


def day_filters(request: SearchRequest) -> list[Query]:
    days: dict[str, str] = {}
    if request.since:
        days["gte"] = request.since.isoformat()
    if request.until:
        days["lte"] = request.until.isoformat()
    filters: list[Query] = [{"range": {"day": days}}] if days else []
    if request.years:
        years: list[Query] = [
            {"range": {"day": {"gte": f"{year}-01-01", "lte": f"{year}-12-31"}}}
            for year in request.years
        ]
        filters.append({"bool": {"should": years}})
    return filters


def under_filter(under: str) -> list[Query]:
    """Return a filter on the address of posts, none for "": `/docs` and `blog.example.org/docs`
    match posts there and below, but not `/docs-old`.

    A whole address also matches, by its path, posts that were indexed without a host.
    """
    if not under:
        return []
    field = "address.path" if under.startswith("/") else "address.under"
    return [{"terms": {field: [under, f"/{under.partition('/')[2]}"]}}]


def language_filter(lang: str, language: Language) -> list[Query]:
    """Return a filter on the language of posts, none for ""; `pt` also matches `pt-br`.

    A post that names no language is in `language`, the language of the index.
    """
    if not lang:
        return []
    clauses: list[Query] = [{"term": {"language": lang}}, {"prefix": {"language": f"{lang}-"}}]
    if lang == language.code:
        clauses.append({"bool": {"must_not": {"exists": {"field": "language"}}}})
    return [{"bool": {"should": clauses}}]
