"""How many posts of the live index have a word, for judging rules that change frequent words."""

from collections.abc import Sequence

from elasticsearch import Elasticsearch

from analyzers.lint.check import Count, Frequencies

_BATCH = 500  # words in one request
_FIELDS = ["title.words", "text.words"]  # as they were written: no rules, no stemming


def counter(client: Elasticsearch, index: str) -> Count:
    """A function that counts, for every given word, the posts of an index that have it."""

    def count(words: Sequence[str]) -> Frequencies:
        posts: dict[str, int] = {}
        total = 0
        for start in range(0, max(len(words), 1), _BATCH):
            batch = words[start : start + _BATCH]
            found, total = _count(client, index, batch)
            posts |= found
        return Frequencies(total, posts)

    return count


def _count(client: Elasticsearch, index: str, words: Sequence[str]) -> tuple[dict[str, int], int]:
    answer = client.search(
        index=index,
        size=0,
        track_total_hits=True,
        query={"term": {"kind": "post"}},
        aggs={"words": {"filters": {"filters": [_having(word) for word in words]}}},
    )
    buckets = answer["aggregations"]["words"]["buckets"]
    found = {word: bucket["doc_count"] for word, bucket in zip(words, buckets, strict=True)}
    return found, answer["hits"]["total"]["value"]


def _having(word: str) -> dict[str, object]:
    return {"multi_match": {"query": word, "fields": _FIELDS, "type": "phrase"}}
