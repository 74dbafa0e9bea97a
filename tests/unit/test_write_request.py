"""Parsing a write request, before anything is sent to Elasticsearch."""

import io
from typing import Any

import pytest
from flask import Flask, Request, request
from gunicorn.http.errors import ParseException

from app.errors import (
    BadRequest,
    NotFound,
    TooLarge,
    Unavailable,
    Unprocessable,
)
from app.views.documents import comment_items, describe_refusal, failure, post_items
from app.views.write_request import MAX_BYTES, MAX_DOCUMENTS, read_entries
from indexer.posts.records import Post
from indexer.runs.refusals import Refusal


class TestItems:
    def test_results_name_the_document(self) -> None:
        (item,) = post_items([{"oid": "p", "title": "T", "comments": [{"oid": "c"}]}])
        result = item.result(None, is_new=False)
        assert (result["oid"], result["status"]) == ("p", 422)
        assert "comment c:" in result["reason"]
        assert result["remedy"]

    @pytest.mark.parametrize("entry", [None, 1, "x", [], {"oid": "x"}, {"title": "x"}])
    def test_an_invalid_entry_is_rejected(self, entry: Any) -> None:
        for (item,) in (post_items([entry]), comment_items("p", [entry])):
            assert item.result(None, is_new=False)["status"] == 422

    def test_a_field_of_another_name_gets_a_note(self) -> None:
        (post,) = post_items([{"oid": "p", "title": "T", "category": "x", "shelf": 1}])
        note = post.names["note"]
        assert "no field 'category': did you mean 'categories'?" in note
        assert "no field 'shelf': it is ignored." in note
        (comment,) = comment_items("p", [{"oid": "c", "comment": "x", "auther": "Ann"}])
        assert "did you mean 'author'?" in comment.names["note"]
        (post,) = post_items([{"oid": "p", "title": "T"} | {f"x{n}": 1 for n in range(1_000)}])
        assert post.names["note"].count("no field") == 20

    @pytest.mark.parametrize("said", [{"draft": True}, {"status": "pending"}, {"private": 1}])
    def test_what_says_that_it_is_not_public_is_refused(self, said: dict[str, Any]) -> None:
        post, comment = {"oid": "p", "title": "T"}, {"oid": "c", "comment": "x"}
        for (item,) in (post_items([{**post, **said}]), comment_items("p", [{**comment, **said}])):
            result = item.result(None, is_new=False)
            assert (result["status"], result["oid"]) in ((422, "p"), (422, "c"))
            assert f"`{next(iter(said))}`" in result["reason"]
            assert "delete it" in result["remedy"]
        (item,) = post_items([{**post, "draft": False, "comments": [comment, {**comment, **said}]}])
        assert isinstance(item.content, Post)
        assert len(item.content.comments) == 1
        assert item.names["note"] == "comments that are not public are left out: 1"

    @pytest.mark.parametrize(
        ("statuses", "kind"),
        [
            ([400], BadRequest),
            ([404], NotFound),
            ([503, 503], Unavailable),
            ([422], Unprocessable),
            ([400, 422], Unprocessable),
        ],
    )
    def test_one_error_if_nothing_was_accepted(self, statuses: list[int], kind: type) -> None:
        results = [
            describe_refusal({"oid": "p"}, "refused", Refusal("Why", "What to do.", status))
            for status in statuses
        ]
        error = failure(results)
        assert type(error) is kind
        assert "Why. What to do." in error.message
        assert error.details == results


def seen(path: str = "/documents", **rest: Any) -> Request:
    """The request as a view gets it."""
    with Flask("test").test_request_context(path, method="POST", **rest):
        return request._get_current_object()  # type: ignore[attr-defined,no-any-return]


class TestBodies:
    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            (b'{"oid": ', "application/json"),
            (b"", "application/json"),
            (b"[]", "application/json"),
            (b"oid=1", "application/x-www-form-urlencoded"),
            (b"[" * 5000, "application/json"),
            (b"[" * 1000 + b"]" * 1000, "application/json"),
        ],
    )
    def test_an_invalid_body_is_refused(self, data: bytes, kind: str) -> None:
        with pytest.raises(BadRequest):
            read_entries(seen(data=data, content_type=kind))

    @pytest.mark.parametrize("error", [None, OSError("cut"), ParseException("no chunk")])
    def test_an_incomplete_body_is_refused(self, error: Exception | None) -> None:
        class Cut(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                if error:
                    raise error
                return super().read(size)

        overrides = {"wsgi.input": Cut(b"17    "), "CONTENT_LENGTH": "7"}
        with pytest.raises(BadRequest, match="incomplete"):
            read_entries(seen(content_type="application/json", environ_overrides=overrides))

    def test_the_size_limit_is_inclusive(self) -> None:
        body = b" " * (MAX_BYTES - 2) + b"17"
        read_entries(seen(data=body, content_type="application/json"))
        with pytest.raises(TooLarge, match="10,000,000 bytes"):
            read_entries(seen(data=b" " + body, content_type="application/json"))

    def test_a_chunked_body_above_the_limit_is_not_truncated(self) -> None:
        sent = seen(
            input_stream=io.BytesIO(b"17" + b" " * (MAX_BYTES - 1)),
            content_type="application/json",
            headers={"Transfer-Encoding": "chunked"},
            environ_overrides={"wsgi.input_terminated": True},
        )
        with pytest.raises(TooLarge):
            read_entries(sent)

    @pytest.mark.parametrize(
        "at_the_limit",
        [[{}] * MAX_DOCUMENTS, [{"comments": [{}] * (MAX_DOCUMENTS - 1)}]],
        ids=["posts", "comments"],
    )
    def test_the_number_of_posts_and_comments_is_limited(self, at_the_limit: list[Any]) -> None:
        assert len(read_entries(seen(json=at_the_limit))) == len(at_the_limit)
        with pytest.raises(TooLarge, match="in parts"):
            read_entries(seen(json=[*at_the_limit, {}]))
