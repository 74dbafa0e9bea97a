"""Metrics for Prometheus, of requests and of the index.

They cover all worker processes together. With several processes, prometheus-client keeps them in
files in the folder PROMETHEUS_MULTIPROC_DIR, which gunicorn_config.py creates.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

from elasticsearch import ApiError, TransportError
from prometheus_client import (
    CollectorRegistry,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.index.health import COMMANDS
from app.index.last_runs import read_runs
from app.service import Service

METRICS = "blogsearch-metrics"
"""The key of the Metrics in `app.extensions`."""

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_TIMEOUT = 2.0  # seconds that reading the state of the index may take


class Metrics:
    """The metrics of answered requests."""

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

    def render(self, index: "IndexMetrics") -> bytes:
        """Return all metrics in the text format of Prometheus."""
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        own = CollectorRegistry()
        own.register(index)
        return generate_latest(registry) + generate_latest(own)


class IndexMetrics(Collector):
    """The availability of the engines and the state of the live index, read at each scrape.

    In a known outage no request is sent to Elasticsearch.
    """

    def __init__(self, service: Service) -> None:
        self._elastic = service.elastic.options(request_timeout=_TIMEOUT)
        self._available = service.admission.available
        self._cache = service.cache
        self._alias = service.settings.index

    def collect(self) -> Iterator[Metric]:
        engines = {"elasticsearch": self._available, "redis": self._cache.client.back_off.available}
        used = GaugeMetricFamily(
            "blogsearch_available", "1 if the engine is used, 0 in a known outage", None, ["engine"]
        )
        for engine, available in engines.items():
            used.add_metric([engine], available)
        yield used
        if self._available:
            with suppress(ApiError, TransportError):
                yield from self._runs()
                yield from self._posts()

    def _posts(self) -> Iterator[Metric]:
        posts = self._elastic.count(index=self._alias)
        if not posts["_shards"]["failed"]:
            yield GaugeMetricFamily("blogsearch_posts", "Posts in the live index", posts["count"])

    def _runs(self) -> Iterator[Metric]:
        """Yield the last run of each command, which is stored, as commands end before a scrape."""
        runs = read_runs(self._elastic, self._alias, COMMANDS)
        for name, text, value in (
            ("rejected_documents", "Posts and comments that the run rejected", "rejected"),
            ("succeeded", "1 if the run did what it should, 0 if it failed", "succeeded"),
            ("timestamp_seconds", "When the run ended", "ended"),
        ):
            gauges = GaugeMetricFamily(
                f"blogsearch_run_{name}", f"Last run: {text}", None, ["command"]
            )
            for run in runs:
                gauges.add_metric([run.command], getattr(run, value))
            yield gauges
