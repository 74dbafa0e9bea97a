"""The documents BlogItem and BlogComment, and the body of a new index.

Both are in one index with a join field: a comment is a child of its post, so that a matching
comment can raise its post. Stored texts are HTML-escaped plain text, which the analysis decodes.
"""

from typing import Any

from elasticsearch.dsl import (
    Boolean,
    Date,
    Document,
    Index,
    Join,
    Keyword,
    Long,
    MetaField,
    Object,
    Text,
)

from analyzers.chains import FORMS, PREFIXES, SPELLING, TEXT, WORDS, analysis, index_time
from analyzers.languages import ENGLISH, Language
from analyzers.meaning import DIMENSIONS
from analyzers.rules.compile import Rules
from indexer import SCHEMA

RELATION = Join(relations={"post": "comment"})


def _analyzed(analyzer: str, **options: Any) -> Text:
    """A text field whose analyzer differs at index time."""
    return Text(analyzer=index_time(analyzer), search_analyzer=analyzer, **options)


def _lookup(analyzer: str, **options: Any) -> Text:
    """A field that tells which posts have a term, and nothing else.

    Neither positions nor norms: a match scores the inverse document frequency of the term, and
    counting its posts reads no posting list.
    """
    return _analyzed(analyzer, norms=False, index_options="docs", **options)


def _prose(**fields: Text | Keyword) -> Text:
    """A stemmed field with its unstemmed sub-fields.

    `words` has the words as typed, for phrases; `forms` also has their synonyms, for scores.
    """
    return _analyzed(
        TEXT,
        # Offsets let the highlighter work without analyzing a long post again.
        index_options="offsets",
        fields={
            "words": _analyzed(WORDS),
            "forms": _analyzed(FORMS, index_options="freqs"),
            **fields,
        },
        copy_to="all",
    )


# Not indexed for `knn`: the vectors only order posts that match by their words.
_PASSAGES = {
    "type": "nested",
    "properties": {
        "digest": {"type": "keyword", "index": False, "doc_values": False},
        "vector": {
            "type": "dense_vector",
            "dims": DIMENSIONS,
            "element_type": "bit",
            "index": False,
        },
    },
}


class BlogItem(Document):
    """A post. `code` has its `<pre>` blocks, which are not in `text`, and is stemmed only in `all`.

    `comments` has the texts of its comments; write/comments.py updates it, and explains
    `content_version` and `content_seq_no`. `all` has every term of the post once.
    """

    class Meta:
        dynamic = MetaField("strict")

    kind = RELATION
    oid = Keyword()
    title = _prose(
        lookup=_lookup(FORMS),
        prefixes=Text(analyzer=PREFIXES, search_analyzer=WORDS, norms=False, index_options="docs"),
        # The whole title as doc values: reading `_source` takes a third of a suggestion's time.
        keyword=Keyword(index=False),
    )
    text = _prose()
    code = Text(
        index=False, fields={"forms": _analyzed(FORMS, index_options="offsets")}, copy_to="all"
    )
    # Where each heading is in `text` and `code`, its level, and the id that its page gives it.
    headings = Object(
        properties={
            "text": _analyzed(TEXT, norms=False),
            "line": Long(index=False, doc_values=False),
            "code_line": Long(index=False, doc_values=False),
            "level": Long(index=False, doc_values=False),
            "id": Keyword(index=False, doc_values=False),
        }
    )
    comments = _prose()
    all = _lookup(
        TEXT,
        fields={
            "forms": _lookup(FORMS),
            # As written, for the term suggester.
            "words": _analyzed(SPELLING, norms=False, index_options="docs"),
        },
    )
    url = Keyword(index=False)
    image = Keyword(index=False, doc_values=False)
    address = Keyword()
    slug = Keyword()
    # The links of the post, and the texts of those of other posts that lead to it: write/links.py.
    links = Keyword()
    link_texts = _analyzed(TEXT, fields={"keyword": Keyword(index=False)})
    language = Keyword()
    pub_date = Date()
    # The day of `pub_date` in its own time zone, as the site shows it.
    day = Date(format="strict_date")
    modified = Date()
    categories = Keyword()
    keywords = Keyword(copy_to="all")
    digest = Keyword(index=False)
    raw_digest = Keyword(index=False)
    content_version = Long(index=False, doc_values=False)
    content_seq_no = Long(index=False, doc_values=False)
    # Stored and nothing else, unless the index is made for `passages.vector`.
    passages = Object(enabled=False)


class BlogComment(Document):
    """A comment on the post `post_oid`, with the routing of that post.

    `over_http` if it was written over HTTP: then `sync` does not remove it.
    """

    class Meta:
        dynamic = MetaField("strict")

    kind = RELATION
    oid = Keyword()
    post_oid = Keyword()
    author = Keyword(index=False)
    comment = _analyzed(
        TEXT,
        index_options="offsets",
        fields={"words": _analyzed(WORDS)},
    )
    pub_date = Date()
    digest = Keyword(index=False)
    raw_digest = Keyword(index=False)
    over_http = Boolean(index=False)


def index_body(
    rules: Rules,
    *,
    shards: int,
    replicas: int,
    language: Language = ENGLISH,
    model: str = "",
) -> dict[str, Any]:
    """Settings and mappings of a new index.

    `_meta.blogsearch` identifies its rules, language and schema, and the model of the vectors of
    passages.

    Args:
        model: the name of that model; "": they cannot be searched.
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
    if model:
        meta["model"] = model
        body["mappings"]["properties"]["passages"] = _PASSAGES
        # A rebuild and a rollback copy documents with all that they have.
        body["settings"]["index.mapping.exclude_source_vectors"] = False
    body["mappings"]["_meta"] = {"blogsearch": meta}
    return body
