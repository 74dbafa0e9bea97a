"""Adds the vectors of passages to posts; only changed passages are computed.

"passages": [{"digest": "0c54…", "vector": "9e2f…"}]
"""

import html
from collections.abc import Iterable, Iterator

from elasticsearch import Elasticsearch
from msgspec.structs import replace

from analyzers.meaning import Model, digest, passages
from indexer.posts.records import PassageVector, Post, batches
from indexer.store.scan import read_of_the_index

_BATCH = 50  # posts whose passages are computed at once, on all cores


def with_passages(
    posts: Iterable[Post],
    model: Model | None,
    client: Elasticsearch,
    stored_in: str | None = None,
) -> Iterator[Post]:
    """Yield the posts with the vectors of their passages; without a model, unchanged.

    Vectors that posts have in the index `stored_in` are not computed again.
    """
    if model is None:
        yield from posts
        return
    for batch in batches(posts, _BATCH):
        oids = [post.oid for post in batch]
        stored = read_of_the_index(client, stored_in, oids, "passages") if stored_in else []
        vectors = {
            passage.digest: passage.vector
            for post in [*batch, *stored]
            for passage in post.passages
        }
        texts = {digest(text): text for post in batch for text in _texts(post)}
        missing = texts.keys() - vectors.keys()
        computed = model.bits_of([texts[name] for name in missing])
        vectors |= dict(zip(missing, computed, strict=True))
        for post in batch:
            names = map(digest, _texts(post))
            found = tuple(PassageVector(digest=name, vector=vectors[name]) for name in names)
            yield replace(post, passages=found)


def _texts(post: Post) -> Iterator[str]:
    title, text = map(html.unescape, (post.title, post.text))
    yield from (whole for _, whole in passages(title, text))
