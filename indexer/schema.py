"""The documents BlogItem and BlogComment, and the body of a new index.

Both are in one index with a join field: a comment is a child of its post, so that a matching
comment can raise its post. Stored texts are HTML-escaped plain text; html_strip decodes them.
"""

from typing import Any

from elasticsearch.dsl import Date, Document, Index, Join, Keyword, MetaField, Text

from analyzers.chains import CODE, FORMS, SPELLING, TEXT, WORDS, analysis
from analyzers.languages import ENGLISH, Language
from analyzers.rules import RuleSet

SCHEMA = 2
"""Increased when documents or mappings change so that an older index cannot answer a search."""

RELATION = Join(relations={"post": "comment"})


def _spelling() -> Text:
    """Every word of a document as written, so that one suggester covers all fields.

    No positions or norms: the suggester only needs to know whether a document has a word.
    """
    return Text(analyzer=SPELLING, norms=False, index_options="docs")


def _prose() -> Text:
    """A stemmed field with two unstemmed subfields.

    `words` has the words as written; `forms` has their synonyms too.
    """
    return Text(
        analyzer=TEXT,
        # With offsets in the index, highlighting does not analyse a long post again.
        index_options="offsets",
        fields={
            "words": Text(analyzer=WORDS, index_options="offsets"),
            "forms": Text(analyzer=FORMS),
        },
        copy_to="spelling",
    )


class BlogItem(Document):
    """A post. `code` has its `<pre>` blocks, which are not in `text`, and is not stemmed."""

    class Meta:
        dynamic = MetaField("strict")

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
    address = Keyword()
    language = Keyword()
    pub_date = Date()
    modified = Date()
    categories = Keyword()
    keywords = Keyword(fields={"text": Text(analyzer=TEXT)})
    digest = Keyword(index=False)


class BlogComment(Document):
    """A comment on the post `post_oid`, with the routing of that post."""

    class Meta:
        dynamic = MetaField("strict")

    kind = RELATION
    oid = Keyword()
    post_oid = Keyword()
    author = Keyword(index=False)
    comment = _prose()
    spelling = _spelling()
    pub_date = Date()
    digest = Keyword(index=False)


def index_body(
    rules: RuleSet, *, shards: int, replicas: int, language: Language = ENGLISH
) -> dict[str, Any]:
    """Settings and mappings of a new index.

    `_meta.blogsearch` identifies its rules, language and schema.
    """
    index = Index("blog")  # `generations.create` gives the index its own name
    index.document(BlogItem)
    index.document(BlogComment)
    index.settings(
        number_of_shards=shards,
        number_of_replicas=replicas,
        analysis=analysis(rules, language),
    )
    body: dict[str, Any] = index.to_dict()
    meta = {"rules": rules.digest, "language": language.name, "schema": SCHEMA}
    body["mappings"]["_meta"] = {"blogsearch": meta}
    return body
