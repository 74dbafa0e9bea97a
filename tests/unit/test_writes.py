"""What a write over HTTP is taken for, before anything is sent to Elasticsearch."""

import io
from typing import Any

import orjson
import pytest
from flask import Flask, Request, request
from pydantic import SecretStr

from app.errors import BadRequest, Conflict, NotFound, TooLarge, Unauthorized, Unavailable
from app.settings import Settings
from app.views.slots import Unprocessable, comment_slots, failure, post_slots
from app.views.writing import authorize, entries, wants_waiting
from indexer.write.put import Written

MS_2024_05_02 = 1_714_608_000_000


def post(**fields: Any) -> list[tuple[int | None, Any]]:
    return [(None, {"oid": "p", "title": "T", "text": "x", **fields})]


class TestVersions:
    def test_a_post_without_modified_is_the_newest(self) -> None:
        (slot,) = post_slots(post(pub_date="2020-01-01"))
        assert slot.write is not None
        assert slot.write.newest

    def test_a_post_with_modified_is_as_old_as_that_with_its_comments(self) -> None:
        comments = [{"oid": "c", "comment": "x", "pub_date": "2020-01-01"}]
        slots = post_slots(post(modified="2024-05-02", comments=comments))
        written = [slot.write for slot in slots if slot.write]
        assert [one.document.version for one in written] == [MS_2024_05_02] * 2
        assert not any(one.newest for one in written)

    def test_a_comment_likewise(self) -> None:
        plain, dated = comment_slots(
            "p",
            [
                (None, {"oid": "c", "comment": "x", "pub_date": "2020-01-01"}),
                (None, {"oid": "d", "comment": "x", "modified": "2024-05-02T00:00:00Z"}),
            ],
        )
        assert plain.write is not None
        assert plain.write.newest
        assert dated.write is not None
        assert (dated.write.newest, dated.write.document.version) == (False, MS_2024_05_02)


class TestSlots:
    def test_name_what_was_sent(self) -> None:
        slots = post_slots([(4, {"oid": "p", "title": "T", "comments": [{"oid": "c"}]})])
        assert dict(slots[0].names) == {"kind": "post", "oid": "p", "line": 4}
        result = slots[1].result(None)
        assert (result["oid"], result["status"], result["line"]) == ("p/c", 422, 4)
        assert result["reason"]
        assert result["remedy"]

    @pytest.mark.parametrize("entry", [None, 1, "x", [], {"oid": "x"}, {"title": "x"}])
    def test_of_nonsense_are_rejects(self, entry: Any) -> None:
        (slot,) = post_slots([(None, entry)])
        assert slot.write is None
        (slot,) = comment_slots("p", [(None, entry)])
        assert slot.write is None

    @pytest.mark.parametrize(
        ("statuses", "kind"),
        [
            ([409], Conflict),
            ([404], NotFound),
            ([503, 503], Unavailable),
            ([422], Unprocessable),
            ([409, 422], Unprocessable),
        ],
    )
    def test_make_one_error_when_nothing_was_taken(self, statuses: list[int], kind: type) -> None:
        (slot,) = post_slots(post())
        results = [slot.result(Written("post:p", s, "x", "Why", "What to do.")) for s in statuses]
        error = failure(results)
        assert type(error) is kind
        assert "Why. What to do." in error.message
        assert error.details == results


def seen(path: str = "/documents", **rest: Any) -> Request:
    """The request as the application sees it."""
    with Flask("test").test_request_context(path, method="POST", **rest):
        return request._get_current_object()  # type: ignore[attr-defined,no-any-return]


def with_tokens(tokens: str) -> Settings:
    return Settings(write_tokens=SecretStr(tokens), write_max_bytes=1_000)  # type: ignore[call-arg]


class TestTokens:
    @pytest.mark.parametrize("tokens", ["old,new", " new ", "a, ,new,"])
    def test_any_of_several(self, tokens: str) -> None:
        authorize(seen(headers={"Authorization": "Bearer new"}), with_tokens(tokens))

    @pytest.mark.parametrize("sent", ["", "ne", "new,old", "old,new", ",", "new\xff"])
    def test_no_other(self, sent: str) -> None:
        with pytest.raises(Unauthorized):
            authorize(seen(headers={"Authorization": f"Bearer {sent}"}), with_tokens("old,new"))


class TestBodies:
    def test_json_ndjson_and_arrays(self) -> None:
        settings = with_tokens("t")
        assert entries(seen(json={"a": 1}), settings) == [(None, {"a": 1})]
        assert entries(seen(json=[1, 2]), settings) == [(None, 1), (None, 2)]
        lines = b'{"a":1}\r\n\n[2]'
        found = entries(seen(data=lines, content_type="application/x-ndjson"), settings)
        assert found == [(1, {"a": 1}), (3, [2])]

    def test_a_charset_is_no_other_type(self) -> None:
        body = orjson.dumps({"a": "ä"})
        sent = seen(data=body, content_type="application/json; charset=utf-8")
        assert entries(sent, with_tokens("t")) == [(None, {"a": "ä"})]

    def test_of_just_the_size(self) -> None:
        settings = with_tokens("t")
        entries(seen(data=b" " * 998 + b"17", content_type="application/json"), settings)
        with pytest.raises(TooLarge, match="BLOGSEARCH_WRITE_MAX_BYTES"):
            entries(seen(data=b" " * 999 + b"17", content_type="application/json"), settings)

    @pytest.mark.parametrize("size", [1_001, 1_002, 50_000])
    def test_a_chunked_one_that_is_too_large_is_not_cut_off_in_silence(self, size: int) -> None:
        body = (b"17\n" * size)[:size]
        sent = seen(
            input_stream=io.BytesIO(body),
            content_type="application/x-ndjson",
            headers={"Transfer-Encoding": "chunked"},
            environ_overrides={"wsgi.input_terminated": True},
        )
        assert sent.content_length is None
        with pytest.raises(TooLarge):
            entries(sent, with_tokens("t"))

    def test_the_place_of_a_mistake(self) -> None:
        with pytest.raises(BadRequest) as caught:
            entries(seen(data=b'{"a":\n1,}', content_type="application/json"), with_tokens("t"))
        assert caught.value.details[0]["line"] == 2


class TestParameters:
    @pytest.mark.parametrize(
        ("query", "waits"), [("", True), ("?refresh=wait_for", True), ("?refresh=false", False)]
    )
    def test_known(self, query: str, waits: bool) -> None:
        assert wants_waiting(seen(f"/documents{query}")) is waits

    @pytest.mark.parametrize(
        "query", ["?refresh=true", "?refresh=", "?refresh=false&refresh=false", "?x=1&refresh=no"]
    )
    def test_unknown(self, query: str) -> None:
        with pytest.raises(BadRequest) as caught:
            wants_waiting(seen(f"/documents{query}"))
        assert len(caught.value.details) == query.count("=") - query.count("&refresh=false")
