"""Reading a source: what is counted, and when too much was rejected."""

from contextlib import nullcontext
from uuid import UUID

import pytest
from msgspec.structs import replace

from indexer.errors import AllAlike, NotBuilt
from indexer.posts.records import Origin, Post, RawComment, RawPost, Reject
from indexer.runs.ingest import Alike, Ingest, IngestOptions
from indexer.runs.refusals import Refusal
from tests.writing import no_reject


def test_an_entry_is_rejected_once_whatever_of_it_was_refused() -> None:
    comments = (RawComment("1", "One"), RawComment("2", ""), RawComment("3", ""))
    raws = [
        RawPost(Origin("s", 1), "a", "A", "x", comments=comments),
        RawPost(Origin("s", 2), "b", "B", "x"),
        # In an export of WordPress their origin is made of the oid that they lack.
        RawPost(Origin("export post "), "", "A", "x"),
        RawPost(Origin("export post "), "", "A", "x"),
    ]
    rejects: list[Reject] = []
    ingest = Ingest(rejects.append, IngestOptions())
    first, _ = ingest.posts(raws)
    ingest.refuse(first.oid, Refusal("no", ""))
    assert (ingest.entries, ingest.rejected, len(rejects)) == (4, 3, 5)
    assert ingest.kept == {"a"}


def test_unchanged_posts_are_left_out_and_count_as_read() -> None:
    post = RawPost(Origin("s", 1), 7, "A", "x", comments=(RawComment("1", "One"),))
    (made,) = Ingest(no_reject, IngestOptions()).posts([post])
    ingest = Ingest(no_reject, IngestOptions(), stored={"7": made.digest})
    assert list(ingest.posts([post])) == []
    assert (ingest.unchanged, set(ingest.read), ingest.has_comments) == (1, {"7"}, True)


def test_a_page_that_stands_in_for_a_closed_api_replaces_no_post_that_came_by_it() -> None:
    by_api = RawPost(Origin("a"), "a", "A", "x", entry=b"1")
    by_page = RawPost(Origin("b"), "b", "B", "x")
    stored = {
        made.oid: made.digest
        for made in Ingest(no_reject, IngestOptions()).posts([by_api, by_page])
    }
    ingest = Ingest(no_reject, IngestOptions(), stored)
    pages = [RawPost(Origin(oid), oid, "T", "other", stands_in=True) for oid in "abc"]
    assert [made.oid for made in ingest.posts(pages)] == ["b", "c"]


@pytest.mark.parametrize(
    ("rejected", "wholly", "posts", "passes"),
    [
        (20, 20, 200, True),
        (20, 20, 199, False),
        (0, 0, 0, True),
        (3, 3, 6, True),
        (3, 3, 5, False),
        (3, 0, 3, True),
        (4, 0, 39, False),
    ],
)
def test_too_many_rejects(rejected: int, wholly: int, posts: int, passes: bool) -> None:
    ingest = Ingest(lambda _: None, IngestOptions())
    items: list[Reject | RawPost] = []
    for number in range(posts):
        origin, comments = Origin("s", number), (RawComment("1", ""),) * (number < rejected)
        reject = Reject(origin, None, "", "")
        post = RawPost(origin, number, "A", "x", comments=comments)
        items.append(reject if number < wholly else post)
    list(ingest.posts(items))
    with nullcontext() if passes else pytest.raises(NotBuilt):
        ingest.check_rejects()


def _post(oid: str, text: str) -> Post:
    url, title = f"https://a.example/{oid}/", f"Post {oid}"
    return Post(oid=oid, title=title, text=text, code="", url=url, categories=(), keywords=())


@pytest.mark.parametrize(
    ("texts", "indexed", "passes"),
    [
        (["Log in"] * 5, 19, False),
        (["Log in"] * 5, 20, True),  # a quarter
        (["Log in"] * 4, 4, True),  # fewer than five
        ([""] * 5, 5, False),
        (["One", "Two", "Three", "Four", "Five"], 5, True),
        (["Log in"] * 2 + ["Error"] * 2 + [""], 5, False),  # several faults
        ([f"Error at 12:0{number}, ray 8f{number}" for number in range(5)], 5, False),
        (
            [f"Wait. Ray ID: {ray}" for ray in ("7d2aef", "f8a3bc", "c0ffee1", "aa1b", "9e")],
            5,
            False,
        ),
        ([f"Error {UUID(int=seed << 60)}" for seed in (7, 99, 12345, 2**40, 2**60)], 5, False),
        ([f"Refused: #18.{part}.{part}c.a1" for part in ("5a", "6b", "7c", "8d", "9e")], 5, False),
        ([f"令和{number}年{chr(0x4E00 + number)}月の記事" for number in range(5)], 5, True),
        ([f"It took {number} ms" for number in ("1\u202f234", 5, 67, 8, 9)], 5, False),
        ([f"Post oid-{number}: error at /oid-{number}" for number in range(5)], 5, False),
    ],
)
def test_many_posts_with_the_same_text_or_none_are_refused(
    texts: list[str], indexed: int, passes: bool
) -> None:
    alike = Alike(indexed)
    posts = [_post(f"oid-{number}", text) for number, text in enumerate(texts)]
    for one in posts:
        alike.add(one)

    def stored(oids: list[str]) -> list[Post]:
        return [_post(oid, f"A text about {chr(97 + at)}") for at, oid in enumerate(oids)]

    with nullcontext() if passes else pytest.raises(AllAlike, match="oid-0"):
        alike.check(stored)
    # Those that had the same text before are no loss.
    alike.check(lambda oids: [one for one in posts if one.oid in oids])


def test_many_posts_with_the_same_title_are_refused() -> None:
    alike = Alike(5)
    for one in "abcde":
        alike.add(replace(_post(one, f"For sale: {one * 9}"), title="a.example"))
    with pytest.raises(AllAlike, match="title"):
        alike.check(lambda oids: [_post(oid, f"For sale: {oid * 9}") for oid in oids])


@pytest.mark.parametrize(("same", "passes"), [(10_000, True), (15_000, False)])
def test_of_many_posts_some_are_compared(same: int, passes: bool) -> None:
    alike = Alike(50_001)
    for number in range(same):
        alike.add(_post(f"{number}", "Log in"))
    with nullcontext() if passes else pytest.raises(AllAlike):
        alike.check(lambda oids: (_post(oid, f"Text {chr(97 + int(oid))}") for oid in oids))
