"""Define and read the settings of the service, with types, defaults and descriptions.

No other module reads them. The environment variable of a field is `BLOGSEARCH_` and the field's
name in capitals, except for three names that other tools use too: `ELASTICSEARCH_URL`,
`ELASTICSEARCH_API_KEY` and `REDIS_URL`. A secret may also be in a file, as Docker and Kubernetes
provide them: `NAME_FILE` is its path.

A file can contain settings and the usual arguments of commands: the file of `--config` or
BLOGSEARCH_CONFIG, else `blogsearch.toml` in the folder in which a command is started, else
`/etc/blogsearch.toml`. The environment and command line options override it.

`python -m scripts.reference` writes docs/settings.md from this module.
"""

import logging
import os
import re
import ssl
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from app.errors import BadSettings
from app.http.rate_limit import parse_limit

SITE_FILE = "blogsearch.toml"
HOST_FILE = Path("/etc") / SITE_FILE
CONFIG = "BLOGSEARCH_CONFIG"

log = logging.getLogger(__name__)

_DEVSTACK_PREFIX = "BLOGSEARCH_DEVSTACK_"
_SHORTEST_TOKEN = 16  # characters
# As a browser sends it: lower case, ASCII, without the scheme's usual port.
_ORIGIN = re.compile(
    r"(http://(?!.*:80$)|https://(?!.*:443$))([a-z0-9._-]+|\[[0-9a-f:]+\])(:[1-9]\d{0,4})?"
)
_INDEX = re.compile(
    r"[a-z0-9][a-z0-9_-]{0,79}(?<!-previous)(?<!-state)(?<!-building)(?<!-unfinished)(?<!-[0-9]{6})"
)
_SYNONYMS = Path(__file__).resolve().parent.parent / "synonyms"
_SWITCHES = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}

_EXPECTED = re.compile(r"Expected `(?P<kind>\w+)`(?:, got `\w+`)?(?P<limit>.*)")
_KINDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "on or off",
    "array": 'a list, such as ["public"]',
    "object": "a table, such as [settings]",
}
"""The types that msgspec's messages name, in our words."""

_COMMON_NAMES = {
    "elasticsearch_url": "ELASTICSEARCH_URL",
    "elasticsearch_api_key": "ELASTICSEARCH_API_KEY",
    "redis_url": "REDIS_URL",
}


def _setting(
    default: object,
    description: str,
    *,
    secret: bool = False,
    check: Callable[[Any], object] | None = None,
    convert: Callable[[Any], object] | None = None,
    section: str = "",
) -> Any:
    """A field of `Settings`.

    Args:
        secret: the value is left out of the repr, and may be in a file.
        check: raises ValueError, with the reason, for a value that the type alone does not exclude.
        convert: the same, and returns the value to store.
        section: the heading in docs/settings.md; only on the section's first setting.
    """
    metadata = {"description": description, "secret": secret, "check": check, "section": section}
    metadata["convert"] = convert
    return field(default=default, repr=not secret, metadata=metadata)


def _split(value: str) -> list[str]:
    """Split a value at its commas."""
    return [part.strip() for part in value.split(",") if part.strip()]


def _check_index(name: str) -> None:
    if not _INDEX.fullmatch(name):
        raise ValueError(
            "must have at most 80 lower-case letters, digits, - and _, begin with a letter or "
            "digit, and not end like an index of another alias, such as -state or -000001"
        )


def _language_name(name: str) -> str:
    # Imported here: it imports the stemmers.
    from analyzers.languages import LANGUAGES, language_named

    language = language_named(name)
    if name and not language:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}, or a tag such as pt-BR")
    return language.name if language else ""


def _check_certificates(name: str) -> None:
    if name:
        try:
            ssl.create_default_context(cafile=name)
        except OSError as error:  # such as ssl.SSLError
            raise ValueError(f"contains no readable certificates: {error}") from None


def _check_header(text: str) -> None:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be printable ASCII characters: it is sent in a header")


def is_path_prefix(path: str) -> bool:
    """Whether `path` is like `/find`: no browser reads it as a host, or resolves dots in it."""
    return re.fullmatch(r"(?:/(?!\.)[\w.~-]+){1,9}", path, re.ASCII) is not None and len(path) < 100


def _check_prefix(path: str) -> None:
    if path and not is_path_prefix(path):
        raise ValueError("must be a path such as /find, without a slash at its end")


def _check_token(token: str) -> None:
    _check_header(token)
    if 0 < len(token) < _SHORTEST_TOKEN:
        raise ValueError(
            f"a token needs at least {_SHORTEST_TOKEN} characters; "
            "`openssl rand -hex 32` prints one"
        )


def _check_tokens(tokens: str) -> None:
    for token in _split(tokens):
        _check_token(token)


def _check_origins(origins: str) -> None:
    for origin in _split(origins):
        if not (origin == "*" or _ORIGIN.fullmatch(origin)):
            raise ValueError(
                f"{origin} is not an origin: write scheme and host in lower case, a port other "
                "than the usual one, and no path: https://blog.example.org"
            )


def _check_style(name: str) -> None:
    if name:
        try:
            Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot be read: {error}") from None


def _networks(proxies: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(map(ip_network, _split(proxies)))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process.

    The constructor does not check the values; `parse_settings` does.
    """

    elasticsearch_url: str = _setting(
        "http://127.0.0.1:9200",
        "The URL of Elasticsearch; for a cluster, several URLs separated by commas.",
        secret=True,
        section="Engines",
    )
    elasticsearch_api_key: str = _setting(
        "", "The API key, if Elasticsearch needs one.", secret=True, check=_check_header
    )
    elasticsearch_timeout: Annotated[float, Meta(gt=0, le=600)] = _setting(
        5.0, "The time limit for one request of a search to Elasticsearch, in seconds."
    )
    redis_url: str = _setting(
        "redis://127.0.0.1:6379/0",
        "The URL of Redis (`redis://`, `rediss://` or `unix://`); empty: no cache.",
        secret=True,
    )
    ca_file: str = _setting(
        "",
        "A PEM file of the certificate authorities to trust for Elasticsearch (`https://`) and "
        "Redis (`rediss://`); empty: the usual authorities.",
        check=_check_certificates,
    )
    index: str = _setting(
        "blog",
        "The alias that is searched; its indices are named `blog-000001` and so on.",
        check=_check_index,
        section="Index",
    )
    language: str = _setting(
        "",
        "The language of the posts, such as `german`, `de` or `pt-BR`; docs/languages.md lists "
        "them. Empty: the language of most posts when `reindex` builds the index. A change takes "
        "effect with `blogsearch rebuild`, which builds a new index.",
        convert=_language_name,
    )
    shards: Annotated[int, Meta(ge=1, le=64)] = _setting(1, "Primary shards of a new index.")
    replicas: Annotated[int, Meta(ge=0, le=8)] = _setting(0, "Replicas of each shard.")
    synonyms_dir: Path = _setting(  # noqa: RUF009 - a path is immutable
        _SYNONYMS, "The folder with the `*.synonyms` rule files."
    )
    strategy: Literal["blended", "fallback"] = _setting(
        "blended",
        "The search algorithm: `blended`, or `fallback`, a simpler one of 2017.",
        section="Searching",
    )
    max_computations: Annotated[int, Meta(ge=1, le=100)] = _setting(
        8,
        "How many searches a process computes at a time; further ones get a 503 unless cached.",
    )
    recency: bool = _setting(
        True,
        "Whether newer posts rank a little above older ones that match as well: `on` or `off`.",
    )
    semantic: bool = _setting(
        False,
        "Whether posts whose meaning is close to the question rank higher: `on` or `off`. "
        "`blogsearch meaning on` prints the commands that it needs.",
    )
    cache_ttl: Annotated[float, Meta(gt=0, le=2_592_000)] = _setting(
        600.0,
        "How long a cached answer counts as fresh, in seconds; without hits, at most a minute.",
        section="Cache",
    )
    cache_timeout: Annotated[float, Meta(gt=0, le=10)] = _setting(
        0.25, "The time limit for a command to Redis, in seconds."
    )
    insights_days: Annotated[int, Meta(ge=0, le=400)] = _setting(
        30,
        "How many days the counts of searches are kept (docs/insights.md); 0: no counting.",
        section="Insights",
    )
    ping_url: str = _setting(
        "",
        "The URL that `blogsearch sync` pings, as healthchecks.io expects: with `/start` when it "
        "begins, unchanged after a success, with `/fail` and the reason after a failure.",
        secret=True,
    )
    insights_token: str = _setting(
        "",
        "The password of `/insights`; empty: nobody can open the page.",
        secret=True,
        check=_check_token,
    )
    text_fragments: bool = _setting(
        True,
        "Whether the link of a hit has a text fragment (`#:~:text=…`), so that the browser scrolls "
        "to the words of the excerpt and marks them: `on` or `off`.",
        section="Search page",
    )
    site_name: Annotated[str, Meta(min_length=1)] = _setting(
        "Search the blog",
        "The name of the search page, in its heading and at the end of its title.",
    )
    site_url: Annotated[str, Meta(pattern=r"^(https?://[^/\s]\S*)?$")] = _setting(
        "",
        "The home page of the blog, such as `https://blog.example.org/`: the search page links to "
        "it, and the indexer's User-Agent contains it; empty: neither.",
    )
    site_style: str = _setting(
        "",
        "A CSS file that changes the look of the search page; docs/embedding.md lists the "
        "variables. Empty: none.",
        check=_check_style,
    )
    cors_origins: str = _setting(
        "*",
        "The origins whose pages may read answers (CORS), separated by commas, such as "
        "`https://blog.example.org`; `*`: every origin; empty: only the service's own.",
        check=_check_origins,
        section="HTTP",
    )
    write_tokens: str = _setting(
        "",
        "The tokens that allow writing over HTTP, separated by commas; empty: no writing.",
        secret=True,
        check=_check_tokens,
    )
    metrics_token: str = _setting(
        "",
        "A token for `/metrics`, so that monitoring does not need a write token.",
        secret=True,
        check=_check_token,
    )
    rate_limit: str = _setting(
        "300/minute",
        "The number of requests that a client may send per `second`, `minute`, `hour` or `day`; "
        "further ones get a 429. docs/reliability.md says which requests count. Empty: no limit.",
        check=parse_limit,
    )
    trusted_proxies: str = _setting(
        "",
        "The addresses or networks of the proxies whose X-Forwarded-For, -Proto and -Prefix are "
        "trusted, separated by commas, such as `127.0.0.1, 10.0.0.0/8`.",
        check=_networks,
    )
    path_prefix: str = _setting(
        "",
        "The path at which visitors reach the service, such as `/find`, if no trusted proxy sends "
        "X-Forwarded-Prefix.",
        check=_check_prefix,
    )
    debug_search: Literal["open", "token"] = _setting(
        "open",
        "Who may use `debug-search`: `open` (everybody) or `token` (requests with a write token).",
    )
    mcp_fetch: bool = _setting(
        True,
        "Whether assistants may read whole posts with `POST /mcp`: `on` or `off`. Choose `off` if "
        "the index has texts that the blog does not show.",
    )
    fetch_allow_private: bool = _setting(
        False, "Whether the indexer may fetch from private networks: `on` or `off`."
    )

    @property
    def allowed_origins(self) -> frozenset[str]:
        """The origins in `cors_origins`."""
        return frozenset(_split(self.cors_origins))

    @property
    def trusted_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks in `trusted_proxies`."""
        return _networks(self.trusted_proxies)

    @property
    def accepted_tokens(self) -> tuple[str, ...]:
        """The tokens in `write_tokens`."""
        return tuple(_split(self.write_tokens))


NAMES = tuple(setting.name for setting in fields(Settings))
SECRETS = tuple(setting.name for setting in fields(Settings) if setting.metadata["secret"])
"""The settings that are or contain a secret; each may be in the file named by `NAME_FILE`."""


class SiteFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `blogsearch.toml`; every field is optional."""

    sources: tuple[str, ...] = ()
    kind: str = ""
    site: str = ""
    language: str = ""
    content: str = ""
    title: str = ""
    date: str = ""
    tags: str = ""
    drafts: bool = False
    future: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    url_template: str = ""
    settings: dict[str, Any] = {}


def site_file() -> Path | None:
    """Return the path of the `blogsearch.toml` to read, or None."""
    if named := os.environ.get(CONFIG):
        return Path(named)
    return next((path for path in (Path(SITE_FILE), HOST_FILE) if os.path.lexists(path)), None)


def read_site_file(path: Path | None = None) -> SiteFile:
    """Read `path`, or else the file of `site_file()`; without one, return the defaults.

    Raises:
        BadSettings: it cannot be read, or has an unknown name or a value of the wrong type.
    """
    path = path or site_file()
    if path is None:
        return SiteFile()
    try:
        return msgspec.toml.decode(path.read_text("utf-8-sig"), type=SiteFile)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise BadSettings(
            f"{path} cannot be read: {_readable(str(error))}. docs/sources.md lists what it may "
            "contain."
        ) from None


def load_settings() -> Settings:
    """Read the settings from the environment and from `blogsearch.toml`.

    Raises:
        BadSettings: with every setting that is invalid, its value and what it should be.
    """
    _warn_about_unknown_names()
    given = {name: _from_environment(name) for name in NAMES}
    environment = {name: value for name, value in given.items() if value is not None}
    return parse_settings(environment, read_site_file().settings)


_process_settings: Settings | None = None


def process_settings(*, reload: bool = False) -> Settings:
    """Return the settings of this process and of its forks.

    gunicorn's main process reloads them at its start and at each SIGHUP, so that all workers have
    the same. If the new ones are invalid, the former ones stay in use.

    Raises:
        BadSettings: they are invalid, and there are no former ones.
    """
    global _process_settings
    if not reload:
        return _process_settings or load_settings()
    try:
        _process_settings = load_settings()
    except BadSettings as error:
        if _process_settings is None:
            raise
        log.error("The settings are invalid; the former ones stay in use. %s", error)
    return _process_settings


def parse_settings(
    environment: Mapping[str, object], file: Mapping[str, object] | None = None
) -> Settings:
    """Check and convert these values; the environment overrides the file.

    Args:
        environment: the values by the name of the field, not of the variable.
        file: the settings in `blogsearch.toml`.

    Raises:
        BadSettings: with every setting that is invalid, its value and what it should be.
    """
    known = {setting.name: setting for setting in fields(Settings)}
    converted: dict[str, Any] = {}
    complaints: list[str] = []
    for name, value in {**(file or {}), **environment}.items():
        where = environment_name(name) if name in environment else f"{site_file()}, {name}"
        if name not in known:
            complaints.append(f"{where}: unknown setting{_did_you_mean(name, known)}")
            continue
        if value == "" and name in environment and known[name].type not in (str, Path):
            continue  # `${NAME:-}` in a compose file: the default
        setting = known[name].metadata
        try:
            converted[name] = _convert(value, known[name].type)
            if setting["check"]:
                setting["check"](converted[name])
            if setting["convert"]:
                converted[name] = setting["convert"](converted[name])
        except (ValueError, msgspec.ValidationError) as error:
            shown = "" if setting["secret"] else f" (it is {value!r})"
            complaints.append(f"{where}: {_readable(str(error))}{shown}")
    if complaints:
        raise BadSettings(". ".join(complaints))
    return Settings(**converted)


def _convert(value: object, type_: Any) -> Any:
    """Convert a value to this type.

    Raises:
        ValueError, msgspec.ValidationError: it is of another type or out of bounds.
    """
    if isinstance(value, str):
        value.encode()  # fails for bytes of the environment that are not UTF-8
        value = value.strip()
    if type_ is bool:
        value = _SWITCHES.get(str(value).lower(), value)
    if get_origin(type_) is Literal and value not in get_args(type_):
        raise ValueError(f"must be one of {', '.join(get_args(type_))}")
    if type_ is Path:
        return Path(msgspec.convert(value, Annotated[str, Meta(min_length=1)]))
    return msgspec.convert(value, type_, strict=False)


def _readable(message: str) -> str:
    """Reword a message of msgspec for users, with the place in blogsearch.toml first."""
    message, _, place = message.partition(" - at `$.")
    message = message.replace("Object contains unknown field", "unknown name")
    found = _EXPECTED.match(message)
    if found:
        name, limit = _KINDS.get(found["kind"], found["kind"]), found["limit"].strip()
        bounds = {">=": "at least ", "<=": "at most ", ">": "more than ", "<": "less than "}
        for sign, words in bounds.items():
            limit = re.sub(rf"^{sign} *(?=\d)", words, limit).removesuffix(".0")
        message = f"must be {name}{f', {limit}' if limit else ''}"
        if "length" in limit:
            message = "must not be empty"
        elif "regex" in limit:
            message = "must be a URL such as https://blog.example.org/, or empty"
    return f"{place.rstrip('`')} {message}" if place else message


def _from_environment(name: str) -> str | None:
    """Return the value of a setting's variable, or the content of its file if it is a secret.

    Raises:
        BadSettings: the file cannot be read, or is empty.
    """
    variable = environment_name(name)
    path = os.environ.get(f"{variable}_FILE")
    if name not in SECRETS or not path or os.environ.get(variable):
        return os.environ.get(variable)
    try:
        secret = Path(path).read_text("utf-8-sig").strip()
        if not secret:
            raise ValueError("it is empty")
    except (OSError, ValueError) as error:
        raise BadSettings(f"{variable}_FILE: {path} cannot be read: {error}.") from None
    return secret


def _warn_about_unknown_names() -> None:
    """Warn about names that are no settings. No error: another version may have them."""
    known = {environment_name(name) for name in NAMES} | {CONFIG}
    known |= {f"{environment_name(name)}_FILE" for name in SECRETS}
    ours = {name for name in os.environ if name.startswith("BLOGSEARCH_")}
    for name in sorted(ours - known):
        if not name.startswith(_DEVSTACK_PREFIX):
            hint = _did_you_mean(name, known)
            log.warning("%s is not a setting and has no effect%s", name, hint)


def _did_you_mean(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else "; docs/settings.md lists them"


def environment_name(name: str) -> str:
    """Return the environment variable of a field of `Settings`."""
    return _COMMON_NAMES.get(name, f"BLOGSEARCH_{name.upper()}")
