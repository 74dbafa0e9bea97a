"""Reading a source: what is counted, and when too much was rejected."""

import pytest

from indexer.bulk import Outcome, index_operation
from indexer.errors import TooManyRejects
from indexer.ingest import Ingest, IngestOptions, MaxRejects
from indexer.records import Origin, Progress, RawComment, RawPost, Reject
from indexer.refusals import Refusal


def test_counts_of_lines_documents_and_the_fraction_done() -> None:
    rejects: list[Reject] = []
    raws = [
        RawPost(Origin("s", 1), "a", "A", "x"),
        Reject(Origin("s", 2), None, "not JSON", "…"),
        RawPost(Origin("s", 3), "a", "Again", "x"),
        RawPost(Origin("s", 4), "b", "B", "x", comments=(RawComment("1", "One"),)),
    ]
    reported: list[Progress] = []
    options = IngestOptions(on_progress=reported.append, fraction_read=lambda: 0.5)
    ingest = Ingest(rejects.append, options)
    operations = [index_operation(document) for document in ingest.documents(raws)]
    assert [operation.oid for operation in operations] == ["a", "b"]
    assert (ingest.entries, ingest.rejected, ingest.rejects) == (4, 2, 2)
    assert "s:1" in rejects[1].reason
    ingest.record_outcomes([Outcome(operations[1], "created")])
    assert reported == [Progress("reading", 1, 0.25, 2)]
    assert (ingest.accepted.posts, ingest.accepted.comments) == (1, 1)


def test_an_entry_is_rejected_once_whatever_of_it_was_refused() -> None:
    comments = (RawComment("1", "One"), RawComment("2", ""), RawComment("3", ""))
    raws = [
        RawPost(Origin("s", 1), "a", "A", "x", comments=comments),
        RawPost(Origin("s", 2), "b", "B", "x"),
        # In an export of WordPress their origin is made of the oid that they lack.
        RawPost(Origin("export post "), "", "A", "x"),
        RawPost(Origin("export post "), "", "A", "x"),
    ]
    ingest = Ingest(lambda reject: None)
    operations = [index_operation(document) for document in ingest.documents(raws)]
    refused = [Outcome(operation, "refused", Refusal("no", "")) for operation in operations]
    ingest.record_outcomes(refused[:1])
    assert (ingest.entries, ingest.rejected, ingest.rejects) == (4, 3, 5)
    assert ingest.kept == {"a"}


def test_unchanged_posts_are_left_out_and_count_as_read() -> None:
    post = RawPost(Origin("s", 1), 7, "A", "x", comments=(RawComment("1", "One"),))
    (made,) = Ingest(pytest.fail).documents([post])
    ingest = Ingest(pytest.fail, stored={"7": made.source["digest"]})
    assert list(ingest.documents([post])) == []
    assert (ingest.unchanged, ingest.read.keys(), ingest.has_comments) == (1, {"7"}, True)


@pytest.mark.parametrize(
    ("limit", "rejected", "wholly", "posts", "passes"),
    [
        (MaxRejects(), 20, 20, 200, True),
        (MaxRejects(), 20, 20, 199, False),
        (MaxRejects(), 0, 0, 0, True),
        (MaxRejects(), 1, 1, 6, True),
        (MaxRejects(), 3, 3, 6, True),
        (MaxRejects(), 3, 3, 5, False),
        (MaxRejects(), 3, 0, 3, True),
        (MaxRejects.parse("0%"), 1, 1, 10, False),
        (MaxRejects.parse("100%"), 10, 10, 10, True),
        (MaxRejects.parse("3"), 3, 3, 3, True),
        (MaxRejects.parse("3"), 4, 4, 1_000_000, False),
        (MaxRejects.parse("0"), 0, 0, 5, True),
    ],
)
def test_max_rejects(
    limit: MaxRejects, rejected: int, wholly: int, posts: int, passes: bool
) -> None:
    if passes:
        limit.check(rejected, wholly, posts)
        return
    with pytest.raises(TooManyRejects, match=f"{rejected} of {posts:,}"):
        limit.check(rejected, wholly, posts)


@pytest.mark.parametrize("text", ["", "x", "-1", "101%", "-1%", "1.5"])
def test_what_is_neither_a_share_nor_a_number(text: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        MaxRejects.parse(text)
