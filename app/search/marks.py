"""What is marked in a snippet, and the comments that speak for their post. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.search import relevance
from app.search.clauses import Clause, Sought, Spelling, begins, either, match
from app.search.filters import highlight_fields

_POST_FIELDS = ("title", "text", "code.forms")
_COMMENT_FIELDS = ("comment",)


def marks(sought: Sequence[Sought], quoted: Iterable[str]) -> dict[str, Any]:
    """The highlighting of posts: words in the reading that a post has, and words that begin so."""
    quoted = list(quoted)
    query = _marked(sought, quoted, _POST_FIELDS)
    exact = bool(quoted) or any(one.unstemmed for one in _spellings(sought))
    return highlight_fields("title", "text", "code", exact=exact, highlight_query=query)


def evidence(sought: Sequence[Sought], quoted: Iterable[str]) -> Clause | None:
    """Comments with any of the words: fetched with their post, counted elsewhere."""
    meant = [one for one in sought if not one.word.stop] or list(sought)
    quoted = list(quoted)
    if not meant and not quoted:
        return None
    query = _marked(meant, quoted, _COMMENT_FIELDS)
    return {
        "has_child": {
            "type": "comment",
            "query": query,
            "score_mode": "max",
            "boost": 0,
            "inner_hits": {
                "name": "comments",
                "size": relevance.COMMENTS,
                "_source": ["oid", "author", "pub_date"],
                "highlight": highlight_fields("comment", exact=bool(quoted)),
            },
        }
    }


def _marked(sought: Iterable[Sought], quoted: Iterable[str], fields: Sequence[str]) -> Clause:
    found: list[Clause] = []
    for spelling in _spellings(sought):
        found += [match(_exactly(field, spelling.unstemmed), spelling.text) for field in fields]
        found += [begins(field, spelling.text) for field in fields if _grown(field, spelling)]
    for text in quoted:
        found += [match(_exactly(field, True), text) for field in fields]
    return either(found)


def _grown(field: str, spelling: Spelling) -> bool:
    return spelling.prefix and (field == "title" or spelling.mark_prefix)


def _exactly(field: str, unstemmed: bool) -> str:
    return f"{field}.words" if unstemmed and "." not in field else field


def _spellings(sought: Iterable[Sought]) -> list[Spelling]:
    return [spelling for one in sought for spelling in one.ways]
