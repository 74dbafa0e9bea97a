"""Fetching over HTTP: time limits, size limits, retries, public addresses only, robots.txt."""

from indexer.fetch.fetcher import Fetcher, check_url
from indexer.fetch.page_store import PageStore
from indexer.fetch.robots import Robots
from indexer.fetch.types import AddressRefused, Fetched, FetchFailed, FetchOptions, shown

__all__ = [
    "AddressRefused",
    "FetchFailed",
    "FetchOptions",
    "Fetched",
    "Fetcher",
    "PageStore",
    "Robots",
    "check_url",
    "shown",
]
