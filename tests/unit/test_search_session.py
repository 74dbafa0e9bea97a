"""A session that gets responses which a healthy Elasticsearch does not send."""

from typing import Any

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig, ObjectApiResponse
from elasticsearch import ApiError

from app.search.session import SearchSession

META = ApiResponseMeta(200, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))
# As Elasticsearch 9.4 answers when a node is killed between two phases of a search.
REASON = {"type": "node_disconnected_exception", "reason": "disconnected"}
NODE_LOST = {
    "error": {"type": "search_phase_execution_exception", "root_cause": [REASON]},
    "status": 502,
}
FOUND = {"hits": {"hits": []}, "timed_out": False, "status": 200}


class Client:
    def __init__(self, *responses: list[dict[str, Any]]) -> None:
        self.responses = list(responses)

    def msearch(self, **_: Any) -> ObjectApiResponse[Any]:
        return ObjectApiResponse(body={"took": 1, "responses": self.responses.pop(0)}, meta=META)


def send(client: Any) -> list[dict[str, Any]]:
    return SearchSession(client, "posts").send("first", {"size": 10}, {"size": 0})


def test_searches_that_lost_a_node_are_sent_again() -> None:
    assert send(Client([FOUND, NODE_LOST], [FOUND, FOUND])) == [FOUND, FOUND]


def test_they_are_sent_again_once() -> None:
    client = Client([FOUND, NODE_LOST], [NODE_LOST, FOUND], [FOUND, FOUND])
    with pytest.raises(ApiError, match="search_phase_execution_exception"):
        send(client)
    assert len(client.responses) == 1


def test_a_full_queue_is_no_reason_to_send_them_again() -> None:
    client = Client([FOUND, {"error": {"type": "rejected"}, "status": 429}], [FOUND, FOUND])
    with pytest.raises(ApiError):
        send(client)
    assert len(client.responses) == 1
