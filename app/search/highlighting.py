"""What is highlighted in titles, texts and comments. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.search.render import MARK, UNMARK
from app.search.scoring import FRAGMENT_SIZE, MAX_ANALYZED_OFFSET
from app.search.spelling import Interpretation, TermVariant

Json = dict[str, Any]


def post_highlighting(terms: Sequence[Interpretation], quoted: Sequence[str]) -> Json:
    """The `highlight` part of a search for posts: the terms in every variant.

    Each field has a query of its own. The highlighter looks for every clause of a query in each
    field of each hit: one query for all fields took a seventh of the CPU time of a search.
    """
    fields = ["title", "text", "code.forms", "comments"]
    if terms and all(one.term.stop for one in terms):  # the stemmed fields have no stop words
        fields = ["title.words", "text.words", "code.forms", "comments.words"]
    found = highlight_fields(*fields, prefixes=has_prefix(terms))
    for name, query in highlight_queries(terms, quoted, fields).items():
        found["fields"][name]["highlight_query"] = query
    return found


def has_prefix(terms: Iterable[Interpretation]) -> bool:
    """Whether a term may be the beginning of a longer word."""
    return any(variant.kind in ("prefix", "begun") for one in terms for variant in one.variants)


def highlight_queries(
    terms: Sequence[Interpretation], quoted: Sequence[str], fields: Sequence[str]
) -> dict[str, Json]:
    """For each field a query that matches every variant of the terms. Words that say little are
    left out if there are others."""
    meant = [one for one in terms if not one.term.light] or list(terms)
    variants = [variant for one in meant for variant in one.variants if variant.kind != "character"]
    single = [one.text for one in variants if one.kind != "prefix" and _single(one)]
    words = [" ".join([*single, *dict.fromkeys(one.compound for one in meant if one.compound)])]
    # By themselves too: together they are the single word of the synonym rule.
    words += [one.term.text for one in meant if one.phrase]
    phrases = [one.text for one in variants if not _single(one)]
    phrases += [*dict.fromkeys(one.phrase for one in meant if one.phrase), *quoted]
    prefixes = [one.text for one in variants if one.kind == "prefix"]
    prefixes += [one.term.folded for one in meant if one.begun]
    found: dict[str, Json] = {}
    for field in fields:
        clauses: list[Json] = [{"match": {field: text}} for text in words if text]
        clauses += [{"match_phrase": {field: text}} for text in phrases]
        clauses += [{"prefix": {_unstemmed(field): text}} for text in prefixes]
        found[field] = {"bool": {"should": clauses}}
    return found


def _unstemmed(field: str) -> str:
    """The field of whole words: no stem begins with `governme`."""
    return field if "." in field else f"{field}.words"


def highlight_fields(*names: str, prefixes: bool = False) -> Json:
    """The `highlight` part of a search: all of them whole.

    With `prefixes`, matches in the unstemmed fields are marked too.
    `app.search.render` cuts them. The highlighter would look for the sentences
    of a whole text to find two, which took half of the time of a search.
    """
    of_field: dict[str, Json] = {
        "title": {"number_of_fragments": 0},
        "text": {"number_of_fragments": 0, "no_match_size": MAX_ANALYZED_OFFSET},
        "code": {"number_of_fragments": 0},
        "comment": {"number_of_fragments": 0},
        # Only whether a comment matches is of interest.
        "comments": {"number_of_fragments": 1, "fragment_size": 20},
    }
    fields = {name: of_field.get(name.partition(".")[0], {}) for name in names}
    if prefixes:
        for name, field in fields.items():
            field["matched_fields"] = list(dict.fromkeys((name, _unstemmed(name))))
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "fragment_size": FRAGMENT_SIZE,
        "number_of_fragments": 1,
        "order": "score",
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": fields,
    }


def _single(variant: TermVariant) -> bool:
    return variant.text.isalnum()
