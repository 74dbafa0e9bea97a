"""Finds posts similar to a given one: `GET /similar?url=…`, or `oid=`.

    similar(session, SimilarRequest("https://blog.example.org/posts/a/"))

One request searches for the post at the address, for posts similar to it, and for the words of the
address. The last are the answer if no post has the address: a 404 page can suggest them.
Elasticsearch reads the words of the post from the index by its oid. If the oid is neither the
address nor its path, only the response reveals it; then a second request finds similar posts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from app.errors import BadRequest
from app.search.answer import SimilarAnswer
from app.search.clauses import (
    Query,
    any_of,
    bool_query,
    constant,
    match,
    nearest_passage,
    under_filter,
)
from app.search.render import plain
from app.search.request import UNDER, parse_parameters, printable, whole_number
from app.search.searches import COLLAPSED, KEY
from app.search.session import Body, SearchSession
from indexer.posts.addresses import MAX_URL, address_of, slug_of
from indexer.posts.normalise import MAX_OID

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

    from analyzers.meaning import Model

_POSTS, _MOST_POSTS = 5, 10
_TERMS, _TEXT = 50, 0.15
"""The number of words of the text, the rarest in the blog, and their weight against the words of
the title. Share of the Go blog's posts linked to each other that are among the first five: 0.481
with 25 words alone, 0.538 with 50, 0.552 with the words of the title."""
_LINKED = 10.0
"""The score of a post that links to the given one."""
_LONGEST_PREFIX = 1000  # characters; Elasticsearch rejects a longer one
_MEANING = 12.0
_WORDS_OF_PATH = 20
_WORD = re.compile(r"[^\W_]*[^\W\d_][^\W_]*")  # not a number
_SOURCE = ["oid", "title", "url", "pub_date", "categories", "language"]
_TEXTS = ("title", "text", "code")


SIMILAR_PARAMETERS = (
    printable(
        "url",
        MAX_URL,
        "The address of the post, or its path on the site. Either this or `oid`.",
    ),
    printable("oid", MAX_OID, "The oid of the post."),
    whole_number("size", 1, _MOST_POSTS, _POSTS, "The maximum number of posts."),
    UNDER,
)


@dataclass(frozen=True, slots=True)
class SimilarRequest:
    """A request for posts similar to the one with this address or oid; one of them is given."""

    url: str = ""
    oid: str = ""
    size: int = _POSTS
    under: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "SimilarRequest":
        """Read the parameters.

        Raises:
            BadRequest: as `SearchRequest.parse` does, or there is not one of `url` and `oid`.
        """
        values = parse_parameters(args, SIMILAR_PARAMETERS, "similar posts")
        if ("url" in values) == ("oid" in values):
            raise BadRequest("Give either url, the address of a post, or oid.")
        return cls(**values)

    @property
    def address(self) -> str:
        """The address without scheme, tracking parameters and fragment; "" without an address."""
        return address_of(self.url.partition("#")[0])

    @property
    def path(self) -> str:
        return self.address.partition("/")[2]

    def key(self) -> str:
        """Return a text that is equal for all requests with the same answer."""
        rest = [("oid", self.oid), ("size", self.size), ("under", self.under)]
        return urlencode([("similar", self.address), *rest])


def similar(
    session: SearchSession, request: SimilarRequest, model: "Model | None" = None
) -> SimilarAnswer:
    """Return the body of the answer; `model` is for semantic search, if on.

    Exceptions of the Elasticsearch client pass through; `app.engines.elastic.translate_errors` maps
    them.
    """
    oids = [request.oid] if request.oid else [request.path or "index", request.url]
    if model and model.name != session.view.model:
        model = None
    # One of them may be the given post's translation.
    also = {**COLLAPSED, "size": request.size + 1} if session.view.has_translations else {}
    post, alike, by_path = session.send(
        "similar",
        {"query": _itself(request, oids), "size": 1, "_source": ["oid", KEY]},
        _alike(request, oids, model) | also,
        _by_path(request) | also,
    )
    found = [hit["_source"] for hit in post["hits"]["hits"]]
    if not found:
        alike = by_path
    elif found[0]["oid"] not in oids:
        (alike,) = session.send("similar", _alike(request, [found[0]["oid"]], model) | also)
    keys = [source[KEY] for source in found]
    sources = [hit["_source"] for hit in alike["hits"]["hits"]]
    posts: Any = [
        {**source, "title": plain(source["title"])}
        for source in sources
        if source.pop(KEY) not in keys
    ]
    return {"known": bool(found), "posts": posts[: request.size]}


def _itself(request: SimilarRequest, oids: list[str]) -> Query:
    """Match the post at the address, or else with one of these oids."""
    clauses = [constant({"terms": {"oid": oids}}, 1)]
    if request.address:  # a blog may be indexed without its host: `/posts/a`
        addresses = [request.address, f"/{request.path}"]
        clauses.append(constant({"terms": {"address": addresses}}, 2))
    return any_of(clauses)


def stored_post(session: SearchSession, name: str) -> Mapping[str, Any]:
    """Return the post with this oid or address, with plain texts; {} if there is none."""
    query, source = _itself(SimilarRequest(url=name), [name]), [*_SOURCE, *_TEXTS, "headings"]
    (found,) = session.send("post", {"query": query, "size": 1, "_source": source})
    for hit in found["hits"]["hits"]:
        post: Mapping[str, Any] = hit["_source"]
        return {**post, **{name: plain(post.get(name)) for name in _TEXTS}}
    return {}


def _alike(request: SimilarRequest, oids: list[str], model: "Model | None") -> Body:
    """Return the search for posts with the rarest words, the categories, or the words of the
    address of the given one (usually those of its title), links to it, or a similar meaning."""
    text = _words(request)
    clauses = [
        _more_like(oids, ["text", "headings.text"], max_query_terms=_TERMS, boost=_TEXT),
        _more_like(oids, ["categories"], min_doc_freq=1),
    ]
    if text:
        clauses += [match("text", text), match("title", text)]
    link = f"{slug_of(request.address)}\n{request.address}\n"
    if request.address and len(link) <= _LONGEST_PREFIX:
        clauses.append(constant({"prefix": {"links": link}}, _LINKED))
    if text and model:
        clauses.append(nearest_passage(model.vector(text), _MEANING))
    return _page(request, bool_query(must=[any_of(clauses)], must_not=[_itself(request, oids)]))


def _more_like(oids: list[str], fields: list[str], **options: Any) -> Query:
    like = [{"_id": oid} for oid in oids]
    any_word = {"min_term_freq": 1, "min_doc_freq": 2, "minimum_should_match": 1, "boost_terms": 1}
    return {"more_like_this": {"fields": fields, "like": like, **any_word, **options}}


def _by_path(request: SimilarRequest) -> Body:
    """Return the search for posts with words of the address, also misspelled; titles weigh most."""
    text = _words(request)
    if not text:
        return _page(request, {"match_none": {}})
    return _page(
        request,
        any_of(
            [
                match("title.forms", text, boost=4),
                match("title.forms", text, fuzziness="AUTO"),
                match("text", text),
            ]
        ),
    )


def _words(request: SimilarRequest) -> str:
    """Return the words of the path (which has no .html) or of the oid, without numbers."""
    return " ".join(_WORD.findall(request.path or request.oid)[:_WORDS_OF_PATH])


def _page(request: SimilarRequest, query: Query) -> Body:
    chosen = bool_query(must=[query], filter=under_filter(request.under))
    source = [*_SOURCE, KEY]
    return {"query": chosen, "size": request.size, "track_total_hits": False, "_source": source}
