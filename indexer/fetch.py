"""Fetching over HTTP."""

from collections.abc import MutableMapping
from dataclasses import dataclass

Validators = MutableMapping[str, tuple[str, str]]
"""Address → (ETag, Last-Modified) of the last answer; either may be empty."""


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch."""

    allow_private: bool = False
    user_agent: str = "blogsearch"
    timeout: float = 60.0
    max_bytes: int = 10_000_000
