"""BlogItem and BlogComment: every field and its analyzer, and the body of a new index.

Both live in one index, joined: a comment is a child of its post, so that a search can take it as
evidence for the post. Stored texts are HTML-escaped plain text; html_strip decodes them.
"""

from typing import Any

from elasticsearch.dsl import (
    Date,
    Document,
    Join,
    Keyword,
    Mapping,
    Text,
)

from analyzers.chains import CODE, FORMS, TEXT, WORDS, analysis
from analyzers.rules import RuleSet

SCHEMA = 1
"""Counts up when documents or mappings change so that an older index cannot answer a search."""

RELATION = Join(relations={"post": "comment"})


def _spelling() -> Text:
    """Every word of a document once, as it was written: one suggester asks for all fields.

    Neither positions nor norms: only whether a document has a word is ever asked.
    """
    return Text(analyzer=WORDS, norms=False, index_options="docs")


def _prose() -> Text:
    """A stemmed field with its unstemmed twins.

    `words` is for what was typed and nothing else; `forms` knows the synonyms too.
    """
    return Text(
        analyzer=TEXT,
        # With offsets in the index a snippet is cut without analysing a long post again.
        index_options="offsets",
        fields={
            "words": Text(analyzer=WORDS, index_options="offsets"),
            "forms": Text(analyzer=FORMS),
        },
        copy_to="spelling",
    )


class BlogItem(Document):
    """A post. `code` holds its `<pre>` blocks, which `text` leaves out, and is not stemmed."""

    kind = RELATION
    oid = Keyword()
    title = _prose()
    text = _prose()
    code = Text(
        analyzer=CODE,
        search_analyzer=WORDS,
        fields={"forms": Text(analyzer=FORMS)},
        copy_to="spelling",
    )
    spelling = _spelling()
    url = Keyword(index=False)
    pub_date = Date()
    modified = Date()
    categories = Keyword()
    keywords = Keyword(fields={"text": Text(analyzer=TEXT)})
    digest = Keyword(index=False)


class BlogComment(Document):
    """A comment on a post, `post_oid`; it has the routing of its post."""

    kind = RELATION
    oid = Keyword()
    post_oid = Keyword()
    author = Keyword(index=False)
    comment = _prose()
    spelling = _spelling()
    pub_date = Date()
    digest = Keyword(index=False)


def mapping() -> dict[str, Any]:
    """The mapping of both documents in one; unknown fields are refused, not guessed at."""
    both = Mapping()
    both.update(BlogItem._doc_type.mapping)
    both.update(BlogComment._doc_type.mapping)
    body: dict[str, Any] = both.to_dict()
    return {"dynamic": "strict", **body}


def index_body(rules: RuleSet, *, shards: int, replicas: int) -> dict[str, Any]:
    """Settings and mappings of a new index; `_meta.blogsearch` tells which rules are in it."""
    return {
        "settings": {
            "number_of_shards": shards,
            "number_of_replicas": replicas,
            "analysis": analysis(rules),
        },
        "mappings": {
            **mapping(),
            "_meta": {"blogsearch": {"rules": rules.digest, "schema": SCHEMA}},
        },
    }
