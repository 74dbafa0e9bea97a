"""What request 1 asks the index about the words that were typed. Pure."""

from collections.abc import Sequence

from app.search import relevance
from app.search.clauses import EXACT_FIELDS, Clause, begins, either, match_any
from app.search.words import Query, Word, apart, joined

KNOWN_KINDS = ("words", "forms", "stems", "titles", "begins")
"""What is counted of each word, see `app.search.spelling.Known`."""


def words_to_ask_about(query: Query) -> list[Word]:
    """Words the index is asked about: those typed, pieces of a glued one, neighbours as one."""
    found: list[Word] = []
    for word in query.words:
        found += [one for one in (word, *apart(word)) if not one.stop]
    for one, other in zip(query.words, query.words[1:], strict=False):
        if one.mendable and other.mendable:
            found.append(joined(one, other))
    return found


def known_filters(words: Sequence[Word]) -> dict[str, Clause]:
    """Per word: as typed, in either spelling, in any inflection, in a title."""
    found: dict[str, Clause] = {}
    for word in words:
        glued = len(word.pieces) > 1
        fields = {
            "words": list(EXACT_FIELDS),
            "forms": ["title.forms", "text.forms", "comment.forms", "code.forms"],
            "stems": ["title", "text", "comment"],
            "titles": ["title.words"],
        }
        for kind, names in fields.items():
            found[f"{word.at} {kind}"] = match_any(names, word.text)
        if not glued:
            # No phrase, even of what the tokenizer cuts unforeseen: this field has no positions.
            every = {"query": word.text, "operator": "and"}
            found[f"{word.at} words"] = {"match": {"spelling": every}}
        found[f"{word.at} begins"] = either(
            begins(field, word.token) for field in relevance.PREFIX_GAINS
        )
    return found
