"""Every setting of the service, typed, with its default and a sentence on what it does.

The environment is read here and nowhere else. A name in the environment is `BLOGSEARCH_` and the
field name in capitals, except for what other tools call `ELASTICSEARCH_URL`,
`ELASTICSEARCH_API_KEY` and `REDIS_URL`. A secret may also be in a file, as Docker and Kubernetes
hand them over: `NAME_FILE` is its path.
"""

import logging
import os
import re
import ssl
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails

from app.errors import BadSettings
from app.site_file import NAME, read_site_file

log = logging.getLogger(__name__)

_DEVSTACK_PREFIX = "BLOGSEARCH_DEVSTACK_"
_SHORTEST_TOKEN = 16  # characters
# As a browser sends it: lower case, ASCII, without the scheme's usual port.
_ORIGIN = re.compile(
    r"(http://(?!.*:80$)|https://(?!.*:443$))([a-z0-9._-]+|\[[0-9a-f:]+\])(:[1-9]\d{0,4})?"
)
_LONGEST_SECRET = 65_536  # characters
_PATTERNS = {
    "index": "lower-case letters, digits, - and _, a letter or digit first, at most 80",
    "max_rejects": "a share such as `10%` or a number",
    "fetch_user_agent": "printable ASCII characters",
}
"""What a setting must be that has a pattern."""
_REPOSITORY = Path(__file__).resolve().parent.parent

SECRETS = (
    "elasticsearch_url",
    "elasticsearch_api_key",
    "redis_url",
    "cache_secret",
    "insights_token",
    "write_tokens",
)
"""The settings that are or contain a secret; each may be in a file that `NAME_FILE` names."""

_COMMON_NAMES = {
    "elasticsearch_url": "ELASTICSEARCH_URL",
    "elasticsearch_api_key": "ELASTICSEARCH_API_KEY",
    "redis_url": "REDIS_URL",
}


class Settings(BaseModel):
    """The settings of one process; frozen."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        # The defaults are valid; checking the serializer's imports the cache and Redis' client.
        validate_default=False,
    )

    # -- engines ---------------------------------------------------------------------------------
    elasticsearch_url: str = Field(
        "http://127.0.0.1:9200",
        repr=False,
        description="URL of Elasticsearch; several, separated by commas, for a cluster.",
    )
    elasticsearch_api_key: SecretStr = Field(
        SecretStr(""),
        description="API key for an Elasticsearch that needs one.",
    )
    elasticsearch_timeout: float = Field(
        5.0, gt=0, description="Seconds that one request of a search may take in Elasticsearch."
    )
    redis_url: str = Field(
        "redis://127.0.0.1:6379/0",
        repr=False,
        description="URL of Redis (`redis://`, `rediss://`, `unix://`, or through Sentinel "
        "`redis+sentinel://host:port,host:port/service/0`); empty: no cache.",
    )
    ca_file: str = Field(
        "",
        description="A file of certificates (PEM) that may sign those of Elasticsearch "
        "(`https://`) and Redis (`rediss://`); empty: the usual authorities.",
    )

    # -- index -----------------------------------------------------------------------------------
    index: str = Field(
        "blog",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$",
        description="The alias that is searched; its indices are called blog-000001 and so on.",
    )
    language: str = Field(
        "english",
        description="The language of the posts: stemming, stop words and typical typing errors; "
        "docs/languages.md lists the languages. A change needs a new index: `blogsearch synonyms "
        "load` without a file rebuilds it from its own posts.",
    )
    shards: int = Field(1, ge=1, le=64, description="Primary shards of a new index.")
    replicas: int = Field(0, ge=0, le=8, description="Replicas of each shard.")
    keep_generations: int = Field(
        1,
        ge=1,
        le=100,
        description="How many former generations are kept after a swap, for `rollback`; older ones "
        "are deleted.",
    )
    synonyms_dir: Path = Field(
        _REPOSITORY / "synonyms", description="The folder of *.synonyms rule files."
    )
    synonyms_without: str = Field(
        "",
        description="Rule files of that folder that are not used, separated by commas: "
        "`british-american, tech`.",
    )

    max_rejects: str = Field(
        "10%",
        pattern=r"^(\d+|\d+(\.\d+)?%)$",
        description="How much of a source `reindex` may reject, before it refuses to swap: a share "
        "of the posts such as `10%`, or a number.",
    )

    # -- searching -------------------------------------------------------------------------------
    strategy: Literal["blended", "fallback"] = Field(
        "blended",
        description="How a search is answered: `blended`, one boosted query, or `fallback`, a "
        "simpler algorithm of 2017, kept for comparison.",
    )
    max_computations: int = Field(
        8,
        ge=1,
        le=100,
        description="How many searches a worker process computes at a time. Others that are not in "
        "the cache get a 503 after a fifth of a second.",
    )
    recency: bool = Field(
        True,
        description="Whether newer posts rank a little above older ones if all else is equal: `on` "
        "or `off`.",
    )

    # -- cache -----------------------------------------------------------------------------------
    cache_serializer: str = Field(
        "bytes",
        description="How answers are kept in Redis: `bytes` (the finished JSON), `bytes+lz4`, "
        "`bytes+zlib`, `bytes+zstd` or `bytes+brotli`; docs/caching.md compares them.",
    )
    cache_ttl: float = Field(
        600.0, gt=0, le=2_592_000, description="Seconds a cached answer counts as fresh."
    )
    cache_ttl_empty: float = Field(
        60.0, gt=0, le=2_592_000, description="The same for an answer without hits."
    )
    cache_stale_ttl: float = Field(
        86_400.0,
        ge=0,
        le=2_592_000,
        description="Seconds an answer is kept beyond that, for when Elasticsearch is unavailable.",
    )
    cache_timeout: float = Field(
        0.25, gt=0, le=10, description="Seconds a search may spend on Redis, over all its commands."
    )
    cache_lock_wait: float = Field(
        3.0,
        gt=0,
        le=60,
        description="Seconds a search waits for another that computes the same answer.",
    )
    cache_secret: SecretStr = Field(
        SecretStr(""),
        description="A random text that signs cached answers, the same in every process; empty: "
        "the write tokens are used. Without either, anyone who can write to Redis can forge "
        "answers.",
    )
    cache_max_age: int = Field(
        0,
        ge=0,
        le=86_400,
        description="Seconds a browser or CDN may reuse an answer without asking the service; 0: "
        "it always asks.",
    )

    # -- insights --------------------------------------------------------------------------------
    insights_days: int = Field(
        30,
        ge=0,
        le=400,
        description="How many days the counts of searches are kept. They record what was searched "
        "for, not by whom; docs/insights.md. 0: nothing is counted, and `cache warm` has nothing "
        "to warm.",
    )
    insights_size: int = Field(
        1000,
        ge=10,
        le=100_000,
        description="How many different searches of a day are kept, the most frequent ones.",
    )
    insights_token: SecretStr = Field(
        SecretStr(""),
        description="The password for `/insights`, where synonyms can be loaded, too; empty: the "
        "page is closed.",
    )

    # -- writing ---------------------------------------------------------------------------------
    write_tokens: SecretStr = Field(
        SecretStr(""),
        description="Tokens that may write over HTTP, separated by commas, so that one can be "
        "added before another is removed; empty: writing over HTTP is closed.",
    )
    write_max_bytes: int = Field(
        10_000_000,
        ge=1_000,
        le=1_000_000_000,
        description="The largest body of a write, in bytes.",
    )

    # -- HTTP ------------------------------------------------------------------------------------
    cors_origins: str = Field(
        "*",
        description="The origins whose pages may read answers, separated by commas, such as "
        "`https://blog.example.org, https://www.example.org`; `*`: every origin, empty: only the "
        "service's own.",
    )
    rate_limit: str = Field(
        "",
        description="How many requests a client may send, such as `60/minute` or "
        "`10/second; 300/hour`; beyond that it gets a 429. Counted in Redis, without it in each "
        "process. Health checks, static files, `/docs` and writes do not count; suggestions count "
        "apart. Empty: no limit.",
    )
    trusted_proxies: str = Field(
        "",
        description="Addresses or networks of the proxies in front, separated by commas, such as "
        "`127.0.0.1, 10.0.0.0/8`. Their X-Forwarded-For and X-Forwarded-Proto are trusted, those "
        "of other clients are ignored.",
    )
    debug_search: Literal["open", "token"] = Field(
        "open",
        description="Who may use `debug-search`: `open`, everybody, or `token`, those who send a "
        "write token.",
    )
    operators_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="A second port on 127.0.0.1 for operators: `/metrics`, the details of "
        "`/__heartbeat__` and `debug-search` need no token there. 0: none.",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="How gunicorn and the service write their log: `text` or `json`."
    )
    log_requests: bool = Field(
        True,
        description="Whether every request has a line in the log, without its query: `on` or "
        "`off`.",
    )
    slow_search: float = Field(
        1.0,
        gt=0,
        description="Seconds after which a search is logged as slow, with its query.",
    )
    commit: str = Field(
        "", description="The commit this was built from, for `/__version__`; the image sets it."
    )

    # -- fetching --------------------------------------------------------------------------------
    fetch_user_agent: str = Field(
        "blogsearch/0.1.0",
        min_length=1,
        pattern=r"^[\x20-\x7e]+$",
        description="User-Agent of the indexer; add a URL that says who runs it: "
        "`blogsearch/0.1.0 (+https://example.org/bot)`.",
    )
    fetch_allow_private: bool = Field(
        False,
        description="Whether to fetch from private networks and from `file:` URLs too: `on` or "
        "`off`.",
    )
    fetch_timeout: float = Field(
        60.0,
        gt=0,
        description="Seconds that fetching one URL may take, with its redirects and retries.",
    )
    fetch_max_bytes: int = Field(
        20_000_000,
        ge=1_000,
        description="The largest feed, sitemap or page, in bytes after decompression.",
    )
    fetch_connections: int = Field(
        4, ge=1, le=16, description="How many pages of a sitemap are fetched at the same time."
    )
    fetch_store: str = Field(
        "~/.cache/blogsearch/pages",
        description="A folder that keeps fetched pages, so that unchanged ones are not sent again; "
        "it may be deleted at any time; empty: none.",
    )

    @field_validator("language")
    @classmethod
    def _known_language(cls, name: str) -> str:
        # Imported here: it imports the stemmers.
        from analyzers.languages import LANGUAGES

        if name not in LANGUAGES:
            raise ValueError(f"is not one of {', '.join(LANGUAGES)}")
        return name

    @field_validator("cache_serializer")
    @classmethod
    def _known_serializer(cls, name: str) -> str:
        # Imported here: the cache itself imports the settings.
        from app.cache.serializers import get_serializer

        return get_serializer(name).name

    @field_validator("ca_file")
    @classmethod
    def _readable_certificates(cls, name: str) -> str:
        if name:
            try:
                ssl.create_default_context(cafile=name)
            except OSError as error:  # ssl.SSLError is one
                raise ValueError(f"has no certificates that can be read: {error}") from None
        return name

    @field_validator("write_tokens", "insights_token")
    @classmethod
    def _long_tokens(cls, tokens: SecretStr) -> SecretStr:
        if any(len(token) < _SHORTEST_TOKEN for token in _listed(tokens.get_secret_value())):
            raise ValueError(
                f"each token needs at least {_SHORTEST_TOKEN} characters; `openssl rand -hex 32` "
                "prints one"
            )
        return tokens

    @field_validator("rate_limit")
    @classmethod
    def _known_limit(cls, limit: str) -> str:
        # Imported here: most installations set no limit.
        from limits import parse_many

        if limit:
            try:
                parse_many(limit)
            except ValueError:
                raise ValueError("is not a limit such as `60/minute`") from None
        return limit

    @field_validator("cors_origins")
    @classmethod
    def _valid_origins(cls, origins: str) -> str:
        for origin in _listed(origins):
            if not (origin == "*" or _ORIGIN.fullmatch(origin)):
                raise ValueError(
                    f"{origin} is not an origin: write scheme and host in lower case, a port other "
                    "than the usual one, and no path: https://blog.example.org"
                )
        return origins

    @field_validator("trusted_proxies")
    @classmethod
    def _known_networks(cls, proxies: str) -> str:
        for proxy in _listed(proxies):
            ip_network(proxy)  # its message names the address
        return proxies

    @property
    def allowed_origins(self) -> frozenset[str]:
        """The origins in `cors_origins`."""
        return frozenset(_listed(self.cors_origins))

    @property
    def trusted_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks in `trusted_proxies`."""
        return tuple(ip_network(proxy) for proxy in _listed(self.trusted_proxies))

    @property
    def signing_key(self) -> bytes:
        """The key that signs cached values; b"" without a secret."""
        secret = self.cache_secret.get_secret_value() or self.write_tokens.get_secret_value()
        return secret.encode()

    @property
    def accepted_tokens(self) -> tuple[str, ...]:
        """The tokens in `write_tokens`."""
        return tuple(_listed(self.write_tokens.get_secret_value()))

    @property
    def synonyms_left_out(self) -> frozenset[str]:
        """The names in `synonyms_without`."""
        return frozenset(_listed(self.synonyms_without))


def _listed(value: str) -> list[str]:
    """The parts of a value that are separated by commas."""
    return [part.strip() for part in value.split(",") if part.strip()]


def load_settings() -> Settings:
    """The settings of the environment, then of `blogsearch.toml`.

    Raises:
        BadSettings: with every setting that is invalid, its value and what it should be.
    """
    _warn_about_unknown_names()
    said = read_site_file().settings
    unknown = sorted(set(said) - set(Settings.model_fields))
    if unknown:
        hint = "docs/settings.md lists them; BLOGSEARCH_INDEX is `index` there."
        raise BadSettings(f"{NAME}: unknown settings {', '.join(unknown)}; {hint}")
    names = {field: environment_name(field) for field in Settings.model_fields}
    given = {field: os.environ[name] for field, name in names.items() if name in os.environ}
    values = said | given | _secrets_from_files()
    try:
        return Settings(**values)
    except ValidationError as error:
        complaints = [_complaint(problem) for problem in error.errors()]
        raise BadSettings(". ".join(complaints)) from None


def _secrets_from_files() -> dict[str, str]:
    """The secrets that are in files, without spaces and line breaks at their ends.

    Raises:
        BadSettings: a file cannot be read, or the variable itself is set too.
    """
    values = {}
    for field in SECRETS:
        name = environment_name(field)
        path = os.environ.get(f"{name}_FILE")
        if not path:
            continue
        if os.environ.get(name):
            raise BadSettings(f"{name} and {name}_FILE are both set; unset one of them.")
        try:
            with Path(path).open() as file:
                values[field] = file.read(_LONGEST_SECRET).strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise BadSettings(f"{name}_FILE: {path} cannot be read: {reason}.") from None
        if not values[field]:
            raise BadSettings(f"{name}_FILE: {path} is empty.")
    return values


def _warn_about_unknown_names() -> None:
    """A misspelt setting would be ignored; not an error, because it may be of another version."""
    known = {environment_name(field) for field in Settings.model_fields}
    known |= {f"{environment_name(field)}_FILE" for field in SECRETS}
    ours = {name for name in os.environ if name.startswith("BLOGSEARCH_")}
    for name in sorted(ours - known):
        if not name.startswith(_DEVSTACK_PREFIX):
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/settings.md lists them."
            log.warning("%s is not a setting and has no effect; %s", name, hint)


def environment_name(field: str) -> str:
    """The name of a field of `Settings` in the environment."""
    return _COMMON_NAMES.get(field, f"BLOGSEARCH_{field.upper()}")


def _complaint(problem: ErrorDetails) -> str:
    field = str(problem["loc"][0])
    pattern = problem["type"] == "string_pattern_mismatch"
    wrong = f"must be {_PATTERNS[field]}" if pattern else problem["msg"]
    shown = "" if field in SECRETS else f" (it is {problem['input']!r})"
    return f"{environment_name(field)}: {wrong}{shown}"
