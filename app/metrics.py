"""Figures for Prometheus, of all worker processes together.

With several processes prometheus-client keeps the figures in files, in the folder that
PROMETHEUS_MULTIPROC_DIR names; gunicorn_config.py makes one.
"""

import os
from collections.abc import Iterator

from elasticsearch import ApiError, Elasticsearch, TransportError
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.cache import AnswerCache
from app.health import COMMANDS
from indexer.state import read_runs

METRICS = "blogsearch-metrics"
"""Where the Metrics are in `app.extensions`."""

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_TIMEOUT = 2.0  # seconds that reading the state of the index may take


class Metrics:
    """What is counted while requests are answered."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "blogsearch_request_seconds",
            "Time to answer a request, by endpoint and outcome: the cache state, `ok`, or the "
            "status of an error",
            ["endpoint", "outcome"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.computations = Histogram(
            "blogsearch_computation_seconds",
            "Time of a search in Elasticsearch, by outcome: `ok` or the code of an error",
            ["outcome"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.engine_requests = Counter(
            "blogsearch_engine_requests",
            "Requests of searches to Elasticsearch",
            registry=self._registry,
        )
        self.documents = Counter(
            "blogsearch_documents",
            "Posts and comments sent over HTTP, by result: `accepted` or `rejected`",
            ["result"],
            registry=self._registry,
        )
        for result in ("accepted", "rejected"):
            self.documents.labels(result)  # present from the start, for alerts

    def render(self, index: "IndexMetrics") -> bytes:
        """The text format of Prometheus."""
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        own = CollectorRegistry()
        own.register(index)
        return generate_latest(registry) + generate_latest(own)


class IndexMetrics(Collector):
    """Which engines are used, and the state of the live index, read when Prometheus asks.

    When Elasticsearch is known not to be `available`, it is sent no request.
    """

    def __init__(
        self, elastic: Elasticsearch, cache: AnswerCache, alias: str, *, available: bool = True
    ) -> None:
        self._elastic = elastic.options(request_timeout=_TIMEOUT)
        self._available = available
        self._cache = cache
        self._alias = alias

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        generation = self._cache.generation()
        info = GaugeMetricFamily(
            "blogsearch_generation_info",
            "The current generation of the cache",
            labels=["index", "rules"],
        )
        index, _, rest = generation.partition(" ")
        info.add_metric([index, rest.partition(" ")[0]], 1 if generation else 0)
        yield info
        available = GaugeMetricFamily(
            "blogsearch_available",
            "1 if the engine is used, 0 in a known outage",
            labels=["engine"],
        )
        available.add_metric(["elasticsearch"], self._available)
        available.add_metric(["redis"], self._cache.client.back_off.available)
        yield available
        if not self._available:
            return
        try:
            yield from self._runs()
            yield from self._posts()
        except (ApiError, TransportError):
            return

    def _posts(self) -> Iterator[Metric]:
        response = self._elastic.search(
            index=self._alias,
            size=0,
            track_total_hits=True,
            query={"term": {"kind": "post"}},
            aggs={"newest": {"max": {"field": "pub_date"}}},
            allow_partial_search_results=False,
        ).body
        yield GaugeMetricFamily(
            "blogsearch_posts", "Posts in the live index", value=response["hits"]["total"]["value"]
        )
        newest = response["aggregations"]["newest"]["value"]
        if newest is not None:
            yield GaugeMetricFamily(
                "blogsearch_newest_post_timestamp_seconds",
                "Date of the newest post",
                value=newest / 1000,
            )

    def _runs(self) -> Iterator[Metric]:
        """The last run of each command, which stores it because it ends before a scrape."""
        runs = read_runs(self._elastic, self._alias, COMMANDS)
        rejected = GaugeMetricFamily(
            "blogsearch_run_rejected_documents",
            "Posts and comments that the last run of a command rejected",
            labels=["command"],
        )
        succeeded = GaugeMetricFamily(
            "blogsearch_run_succeeded",
            "1 if the last run of a command did what it should, 0 if it failed",
            labels=["command"],
        )
        ended = GaugeMetricFamily(
            "blogsearch_run_timestamp_seconds",
            "When the last run of a command ended",
            labels=["command"],
        )
        for run in runs:
            rejected.add_metric([run.command], run.rejected)
            succeeded.add_metric([run.command], run.succeeded)
            ended.add_metric([run.command], run.ended)
        yield from (rejected, succeeded, ended)
