"""Fetching over HTTP: time limits, size limits, retries, public addresses only, robots.txt."""

from indexer.fetch.fetcher import Fetcher
from indexer.fetch.robots import Robots
from indexer.fetch.types import AddressRefused, Fetched, FetchFailed, FetchOptions, check_url, shown

__all__ = [
    "AddressRefused",
    "FetchFailed",
    "FetchOptions",
    "Fetched",
    "Fetcher",
    "Robots",
    "check_url",
    "shown",
]
