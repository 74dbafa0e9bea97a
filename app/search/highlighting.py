"""What is highlighted in titles, texts and comments. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.search.scoring import FRAGMENT_SIZE, FRAGMENTS, MAX_ANALYZED_OFFSET
from app.search.snippets import MARK, UNMARK
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]


def post_highlighting(terms: Sequence[Interpretation], quoted: Iterable[str]) -> Json:
    """The `highlight` part of a search for posts: the terms in every variant."""
    fields = ["title", "text", "code.forms", "comments"]
    if terms and all(one.term.stop for one in terms):  # the stemmed fields have no stop words
        fields = ["title.words", "text.words", "code.forms", "comments.words"]
    query = highlight_query(terms, quoted, fields)
    return highlight_fields(*fields, highlight_query=query)


def highlight_query(
    terms: Sequence[Interpretation], quoted: Iterable[str], fields: Sequence[str]
) -> Json:
    """Matches every variant of the terms in each of the fields. Words that say little are left out
    if there are others."""
    meant = [one for one in terms if not one.term.light] or list(terms)
    variants = [variant for one in meant for variant in one.variants]
    words = " ".join(one.text for one in variants if one.kind != "prefix" and _single(one))
    phrases = [one.text for one in variants if not _single(one)]
    phrases += [*dict.fromkeys(one.phrase for one in meant if one.phrase), *quoted]
    prefixes = [one.text for one in variants if one.kind == "prefix"]
    clauses: list[Json] = []
    for field in fields:
        if words:
            clauses.append({"match": {field: words}})
        clauses += [{"match_phrase": {field: text}} for text in phrases]
        clauses += [{"prefix": {field: text}} for text in prefixes]
    return {"bool": {"should": clauses}}


def highlight_fields(*names: str, **query: Any) -> Json:
    """The `highlight` part of a search: title, text and code whole, the others in fragments.

    `app.search.snippets` cuts the text and the code. The highlighter would look for the sentences
    of a whole text to find two, which took half of the time of a search.
    """
    of_field: dict[str, Json] = {
        "title": {"number_of_fragments": 0},
        "text": {"number_of_fragments": 0, "no_match_size": FRAGMENT_SIZE},
        "code": {"number_of_fragments": 0},
        # Only whether a comment matches is of interest.
        "comments": {"number_of_fragments": 1, "fragment_size": 20},
    }
    fields = {name: of_field.get(name.partition(".")[0], {}) for name in names}
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "fragment_size": FRAGMENT_SIZE,
        "number_of_fragments": FRAGMENTS,
        "order": "score",
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": fields,
        **query,
    }


def _single(variant: TermVariant) -> bool:
    return variant.text.isalnum()
