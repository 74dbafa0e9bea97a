"""Defines the documents of the index, and the body of a new one.

A post is one document that contains its comments. Stored texts are HTML-escaped plain text.
"""

from typing import Any

from elasticsearch.dsl import (
    Boolean,
    Date,
    Document,
    Float,
    Index,
    InnerDoc,
    Keyword,
    Long,
    MetaField,
    Nested,
    Object,
    Text,
)

from analyzers.chains import (
    EXACT,
    FORMS,
    PATH,
    PREFIXES,
    SPELLING,
    TEXT,
    UNDER,
    WORDS,
    analysis,
    analysis_digest,
    index_time,
)
from analyzers.languages import ENGLISH, Language
from analyzers.meaning import DIMENSIONS
from analyzers.rules.compile import Rules
from indexer import SCHEMA


def _text_field(analyzer: str, **options: Any) -> Text:
    """Return a text field with a different analyzer at index time."""
    return Text(analyzer=index_time(analyzer), search_analyzer=analyzer, **options)


def _lookup(analyzer: str, **options: Any) -> Text:
    """Return a field that only shows which posts have a term: a match scores the inverse document
    frequency of the term, and counting its posts reads no posting list."""
    return _text_field(analyzer, norms=False, index_options="docs", **options)


def _prose(*copy_to: str, **fields: Text | Keyword) -> Text:
    """Return a stemmed field; `forms` has the words as written, and the marks of synonyms."""
    return _text_field(
        TEXT,
        # With offsets, the highlighter need not analyze a long post again.
        index_options="offsets",
        fields={"forms": _text_field(FORMS), **fields},
        **({"copy_to": list(copy_to)} if copy_to else {}),
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


class BlogComment(InnerDoc):
    """A comment, which shows which comments match. `comment_texts` scores them, so that comments
    count neither as documents nor in the statistics of words."""

    oid = Keyword()
    author = Keyword(index=False)
    comment = _text_field(
        TEXT,
        index_options="offsets",
        fields={"forms": _text_field(FORMS)},
        # Copies are not copied further: each target has to be named.
        copy_to=["comment_texts", "all", "stems"],
    )
    pub_date = Date()
    over_http = Boolean()


class BlogItem(Document):
    """A post.

    `code` has its `<pre>` blocks, which are not in `text`; `all` has every term of the post once;
    `digest` is the digest of its source. `over_http`: `sync` does not remove it.
    """

    class Meta:
        dynamic = MetaField("strict")

    oid = Keyword()
    title = _prose(
        "all",
        "stems",
        lookup=_lookup(FORMS),
        prefixes=Text(analyzer=PREFIXES, search_analyzer=WORDS, norms=False, index_options="docs"),
        # The whole title as doc values: reading `_source` takes a third of a suggestion's time.
        keyword=Keyword(index=False),
        # The whole title without case, accents and punctuation.
        exact=Keyword(normalizer=EXACT, doc_values=False),
    )
    text = _prose("all")
    code = Text(
        index=False,
        fields={"forms": _text_field(FORMS, index_options="offsets")},
        copy_to=["all", "stems"],
    )
    # The line of each heading in `text` and `code`, its level, and its id on the page.
    headings = Object(
        properties={
            "text": _text_field(TEXT, norms=False),
            "line": Long(index=False, doc_values=False),
            "code_line": Long(index=False, doc_values=False),
            "level": Long(index=False, doc_values=False),
            "id": Keyword(index=False, doc_values=False),
        }
    )
    # The lines of `text` that end with a colon before code, each with the beginning of that code.
    announced = Keyword(index=False, doc_values=False)
    comments = Nested(BlogComment)
    # Filled from the comments; not stored.
    comment_texts = _prose()
    all = _lookup(FORMS)
    # Everything outside `text`, which is stemmed itself.
    stems = _lookup(TEXT)
    url = Keyword(index=False)
    image = Keyword(index=False, doc_values=False)
    # `under` and `path` have all beginnings of the address, with and without its host: for
    # `under=`.
    address = Keyword(
        fields={
            name: Text(analyzer=name, search_analyzer="keyword", norms=False, index_options="docs")
            for name in (UNDER, PATH)
        }
    )
    slug = Keyword()
    # The links of the post, and the texts of other posts' links to it: write/links.py.
    links = Keyword(index=False)
    link_texts = _text_field(TEXT, fields={"keyword": Keyword(index=False)})
    language = Keyword()
    # Shared with its translations; the oid of a post without any.
    translation_key = Keyword()
    pub_date = Date()
    # The day of `pub_date` in its own time zone, as the site shows it.
    day = Date(format="strict_date")
    modified = Date()
    categories = Keyword(copy_to=["all", "stems"])
    keywords = Keyword(copy_to=["all", "stems"])
    # How much it is read: `_popularity` in app/search/clauses.py.
    popularity = Float(index=False)
    digest = Keyword(index=False)
    over_http = Boolean()
    # Only stored, unless the index has a mapping for `passages.vector`.
    passages = Object(enabled=False)


def index_body(
    rules: Rules, shards: int, language: Language = ENGLISH, model: str = ""
) -> dict[str, Any]:
    """Return settings and mappings of a new index, to be filled with few refreshes and no replicas.

    Both cost time in every bulk request. Without any refresh, the last one takes longer than all.

    Args:
        model: the name of the model of the vectors of passages; "": they cannot be searched.
    """
    index = Index("blog")  # the caller sets the actual name
    index.document(BlogItem)
    index.settings(
        number_of_shards=shards,
        number_of_replicas=0,
        refresh_interval="5s",
        analysis=analysis(rules, language),
    )
    body: dict[str, Any] = index.to_dict()
    properties = body["mappings"]["properties"]
    # The words as written: for the term suggester.
    spelling = "all"
    if not language.folds_first:
        spelling = "all.spelling"
        properties["all"]["fields"] = {"spelling": _lookup(SPELLING).to_dict()}
    properties["spelling"] = {"type": "alias", "path": spelling}
    meta = {"rules": rules.digest, "language": language.name, "schema": SCHEMA}
    meta["analysis"] = analysis_digest(language)
    if model:
        meta["model"] = model
        properties["passages"] = _PASSAGES
        # A rebuild and a rollback copy whole documents, including vectors.
        body["settings"]["index.mapping.exclude_source_vectors"] = False
    body["mappings"]["_meta"] = {"blogsearch": meta}
    return body
