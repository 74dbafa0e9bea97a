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
        RawPost(Origin("s", 4), "b", "B", "x"),
    ]
    reported: list[Progress] = []
    options = IngestOptions(on_progress=reported.append, fraction_read=lambda: 0.5)
    ingest = Ingest(rejects.append, options)
    operations = [index_operation(document) for document in ingest.documents(raws)]
    assert [operation.oid for operation in operations] == ["a", "b"]
    assert (ingest.entries, ingest.rejected, ingest.rejects) == (4, 2, 2)
    assert "s:1" in rejects[1].reason
    ingest.record_outcomes([Outcome(operations[0], 201, "created")])
    assert reported == [Progress("reading", 1, 0.25, 2)]
    assert ingest.accepted.posts == 1


def test_an_entry_is_rejected_once_whatever_of_it_was_refused() -> None:
    comments = (RawComment("1", "One"), RawComment("2", "Two"), RawComment("3", ""))
    raws = [
        RawPost(Origin("s", 1), "a", "A", "x", comments=comments),
        RawPost(Origin("s", 2), "b", "B", "x"),
    ]
    refusal = Refusal("no", "")
    ingest = Ingest(lambda reject: None)
    operations = [index_operation(document) for document in ingest.documents(raws)]
    ingest.record_outcomes(
        Outcome(operation, 400, "refused", refusal)
        for operation in operations
        if operation.oid == "a"
    )
    assert (ingest.entries, ingest.rejected, ingest.rejects) == (2, 1, 2)


def test_entries_without_an_oid_count_one_by_one_whatever_their_origin() -> None:
    """In an export of WordPress their origin is made of the oid that they lack."""
    comments = (RawComment("1", "One"), RawComment("2", ""))
    raws = [RawPost(Origin("export post "), "", "A", "x", comments=comments) for _ in range(3)]
    ingest = Ingest(lambda reject: None)
    assert not list(ingest.documents(raws))
    assert (ingest.entries, ingest.rejected) == (3, 3)


@pytest.mark.parametrize(
    ("limit", "rejected", "lines", "passes"),
    [
        (MaxRejects(), 20, 200, True),
        (MaxRejects(), 20, 199, False),
        (MaxRejects(), 0, 0, True),
        (MaxRejects(share=0.0), 1, 10, False),
        (MaxRejects(share=1.0), 10, 10, True),
        (MaxRejects(number=3), 3, 3, True),
        (MaxRejects(number=3), 4, 1_000_000, False),
        (MaxRejects(number=0), 0, 5, True),
    ],
)
def test_max_rejects(limit: MaxRejects, rejected: int, lines: int, passes: bool) -> None:
    if passes:
        limit.check(rejected, lines)
        return
    with pytest.raises(TooManyRejects, match=f"{rejected} of {lines:,}"):
        limit.check(rejected, lines)
