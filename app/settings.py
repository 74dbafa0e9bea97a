"""Every setting of the service, typed, with its default and a sentence on what it does.

The environment is read here and nowhere else. Names in the environment are the field names in
capitals behind `BLOGSEARCH_`, but for the two addresses, which go by the names that every tool
around these engines uses: `ELASTICSEARCH_URL` and `REDIS_URL`.
"""

import logging
import os
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import BadSettings

log = logging.getLogger(__name__)

_OF_DEVSTACK = "BLOGSEARCH_DEVSTACK_"
_REPOSITORY = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """The settings of one process; frozen, so that a running service cannot change its mind."""

    model_config = SettingsConfigDict(
        env_prefix="BLOGSEARCH_", frozen=True, extra="forbid", populate_by_name=True
    )

    # -- engines ---------------------------------------------------------------------------------
    elasticsearch_url: str = Field(
        "http://127.0.0.1:9200",
        validation_alias="ELASTICSEARCH_URL",
        description="Where Elasticsearch answers; several addresses separated by commas.",
    )
    elasticsearch_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias="ELASTICSEARCH_API_KEY",
        description="API key for an Elasticsearch that asks for one.",
    )
    elasticsearch_timeout: float = Field(
        5.0, gt=0, description="Seconds a search may wait for Elasticsearch."
    )
    redis_url: str = Field(
        "redis://127.0.0.1:6379/0",
        validation_alias="REDIS_URL",
        description="Where Redis answers (`redis://`, `rediss://`, `unix://`, or through Sentinel "
        "`redis+sentinel://host:port,host:port/service/0`); empty: no cache.",
    )

    # -- index -----------------------------------------------------------------------------------
    index: str = Field(
        "blog",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$",
        description="The alias searches go to; generations are called blog-000001 and so on.",
    )
    shards: int = Field(1, ge=1, le=64, description="Primary shards of a new generation.")
    replicas: int = Field(0, ge=0, le=8, description="Replicas of each shard.")
    keep_generations: int = Field(
        1,
        ge=1,
        le=100,
        description="How many generations stay beside the live one after a swap, for `rollback`; "
        "older ones are deleted.",
    )
    synonyms_dir: Path = Field(
        _REPOSITORY / "synonyms", description="The folder of *.synonyms rule files."
    )
    synonyms_without: str = Field(
        "",
        description="Rule files of that folder to leave out, separated by commas: "
        "`british-american, tech`.",
    )

    # -- searching -------------------------------------------------------------------------------
    strategy: Literal["blended", "fallback"] = Field(
        "blended",
        description="How a search is answered: `blended`, everything in one boosted query, or "
        "`fallback`, the algorithm of 2017.",
    )
    recency: bool = Field(
        True,
        description="Whether newer posts stand a little above older ones where all else is equal; "
        "`off` leaves the order untouched.",
    )

    # -- cache -----------------------------------------------------------------------------------
    cache_serializer: str = Field(
        "bytes",
        description="How answers are written to Redis: a format, or a format and a compressor as "
        "in `msgpack+zstd`; docs/caching.md lists and measures them.",
    )
    cache_ttl: float = Field(
        600.0, gt=0, le=2_592_000, description="Seconds a kept answer counts as fresh."
    )
    cache_ttl_empty: float = Field(
        60.0, gt=0, le=2_592_000, description="The same for an answer with nothing found."
    )
    cache_stale_ttl: float = Field(
        86_400.0,
        ge=0,
        le=2_592_000,
        description="Seconds an answer is kept beyond that, for when Elasticsearch is gone.",
    )
    cache_timeout: float = Field(
        0.25, gt=0, le=10, description="Seconds a search may spend on Redis, all in all."
    )
    cache_wait: float = Field(
        2.0,
        gt=0,
        le=60,
        description="Seconds a search waits for another that is computing the same answer.",
    )
    cache_max_age: int = Field(
        0,
        ge=0,
        le=86_400,
        description="Seconds a browser or CDN may use an answer without asking; 0: it always asks.",
    )
    cache_searches: int = Field(
        5000,
        ge=0,
        le=1_000_000,
        description="How many different searches a day are counted for `cache warm`; 0: none.",
    )

    # -- writing ---------------------------------------------------------------------------------
    write_tokens: SecretStr = Field(
        SecretStr(""),
        description="Tokens that may write over HTTP, separated by commas, so that one can be "
        "added before another is taken away; empty: writing over HTTP is closed.",
    )
    write_max_bytes: int = Field(
        10_000_000,
        ge=1_000,
        le=1_000_000_000,
        description="Bytes that the body of one write may have.",
    )

    # -- HTTP ------------------------------------------------------------------------------------
    cors_origin: str = Field(
        "*",
        description="The origin whose pages may read answers, such as https://blog.example.org; "
        "`*`: every page, empty: none but our own.",
    )
    commit: str = Field(
        "", description="The commit this was built from, for `/__version__`; the image sets it."
    )

    @field_validator("cache_serializer")
    @classmethod
    def _known_serializer(cls, name: str) -> str:
        # Imported here: the cache itself needs the settings.
        from app.cache.serializers import serializer_named

        return serializer_named(name).name

    @property
    def synonyms_left_out(self) -> frozenset[str]:
        """The names in `synonyms_without`."""
        names = (name.strip() for name in self.synonyms_without.split(","))
        return frozenset(name for name in names if name)

    # -- fetching --------------------------------------------------------------------------------
    fetch_user_agent: str = Field(
        "blogsearch/0.1.0",
        min_length=1,
        pattern=r"^[\x20-\x7e]+$",
        description="How the indexer presents itself to a blog's server; add an address where its "
        "keeper can read who asks: `blogsearch/0.1.0 (+https://example.org/bot)`.",
    )
    fetch_allow_private: bool = Field(
        False,
        description="Fetch from addresses inside the own network and from `file:` addresses too.",
    )
    fetch_timeout: float = Field(
        60.0, gt=0, description="Seconds one address may take, with its redirects and retries."
    )
    fetch_max_bytes: int = Field(
        20_000_000, ge=1_000, description="Bytes of one feed, sitemap or page, unpacked."
    )
    fetch_connections: int = Field(
        4, ge=1, le=16, description="Pages of a sitemap fetched at a time."
    )
    fetch_store: str = Field(
        "~/.cache/blogsearch/pages",
        description="A folder that keeps fetched pages, so that an unchanged one is not sent "
        "again; it may be deleted at any time; empty: none is kept.",
    )


def load_settings() -> Settings:
    """The settings as the environment has them.

    Raises:
        BadSettings: naming every setting that is wrong, its value and what it should be.
    """
    _warn_of_unknown_names()
    try:
        return Settings()
    except ValidationError as error:
        complaints = [_complaint(problem) for problem in error.errors()]
        raise BadSettings(". ".join(complaints)) from None


def _warn_of_unknown_names() -> None:
    """A misspelt setting would be ignored in silence; a warning, because it may be a newer one."""
    known = {environment_name(field) for field in Settings.model_fields}
    ours = {name for name in os.environ if name.startswith("BLOGSEARCH_")}
    for name in sorted(ours - known):
        if not name.startswith(_OF_DEVSTACK):
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/settings.md lists them."
            log.warning("%s is no setting and does nothing; %s", name, hint)


def environment_name(field: str) -> str:
    """The name of a field of `Settings` in the environment."""
    alias = Settings.model_fields[field].validation_alias
    return alias if isinstance(alias, str) else f"BLOGSEARCH_{field.upper()}"


def _complaint(problem: ErrorDetails) -> str:
    field = str(problem["loc"][0])
    name = environment_name(field) if field in Settings.model_fields else field
    if problem["type"] == "string_pattern_mismatch":
        taken = "takes lower-case letters, digits, - and _, a letter or digit first, 80 at most"
        return f"{name}: {taken} (it is {problem['input']!r})"
    secret = field in Settings.model_fields and Settings.model_fields[field].annotation is SecretStr
    return f"{name}: {problem['msg']}" + ("" if secret else f" (it is {problem['input']!r})")
