"""The head of a Markdown post: YAML, TOML or JSON, and the text behind it."""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

_FENCES = {"---": "yaml", "+++": "toml", ";;;": "json"}
_TOML_LINE = re.compile(r"line (\d+)")


class BadFrontMatter(ValueError):
    """A head that cannot be read; `line` counts from 1 in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Parted:
    """A file's head and the rest; `fields` is None where there is no head at all."""

    fields: dict[str, Any] | None
    text: str


class _PlainLoader(yaml.SafeLoader):
    """YAML without its guesses: every word stays a string but true, false and null.

    YAML 1.1 makes `NO` false, `1:30` ninety, and a day that no calendar has an error; which of
    them is a date is for `indexer.dates` to say.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # as in PyYAML


_PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_PlainLoader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])


def parted(content: str) -> Parted:
    """The head and the text of a file.

    `---` YAML (`---json`, `---toml`: Eleventy), `+++` TOML (Hugo, Zola), or a JSON object at the
    very beginning (Hugo). `---` may also be a line across the page, with plain words behind it.

    Raises:
        BadFrontMatter: a head that does not end, or is none of these.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    if re.match(r"\{\s*[\"}]", content):
        return _json_object(content)
    first, _, rest = content.partition("\n")
    fence = first[:3]
    if fence not in _FENCES or not re.fullmatch(r"\w*\s*", first[3:]):
        return Parted(None, content)
    language = first[3:].strip().lower() or _FENCES[fence]
    also = r"|\.\.\." if fence == "---" else ""  # YAML's other end
    closing = rf"^(?:{re.escape(fence)}{also})[ \t]*$"
    end = re.search(closing, rest, re.MULTILINE)
    if end is None:
        if not re.match(r"[\w\"'-]+\s*[:=]", rest):
            return Parted(None, content)
        raise BadFrontMatter(f"the front matter has no {fence} at its end", 1)
    fields = _parsed(rest[: end.start()], language)
    if fields is None:
        fields = {}
    if isinstance(fields, str):
        return Parted(None, content)
    if not isinstance(fields, dict):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", 2)
    return Parted({str(name): value for name, value in fields.items()}, rest[end.end() :])


def parsed_config(content: str, language: str) -> dict[str, Any]:
    """A generator's configuration file; empty where it cannot be read, for it is only a hint."""
    try:
        found = _parsed(content, {"yml": "yaml"}.get(language, language))
    except BadFrontMatter:
        return {}
    return found if isinstance(found, dict) else {}


def _parsed(text: str, language: str) -> Any:
    try:
        if language in ("yaml", "yml"):
            return yaml.load(text, _PlainLoader)  # noqa: S506  # a SafeLoader
        if language == "toml":
            return tomllib.loads(text)
        if language == "json":
            return json.loads(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise BadFrontMatter(f"no YAML: {error.problem or error.context}", line) from None
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        raise BadFrontMatter(f"no TOML: {error}", int(found[1]) + 1 if found else 1) from None
    except json.JSONDecodeError as error:
        raise BadFrontMatter(f"no JSON: {error.msg}", error.lineno + 1) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFrontMatter(f"no {language.upper()}: {error}", 1) from None
    raise BadFrontMatter(f"front matter in {language!r} cannot be read", 1)


def _json_object(content: str) -> Parted:
    try:
        fields, end = json.JSONDecoder().raw_decode(content)
    except json.JSONDecodeError as error:
        raise BadFrontMatter(f"no JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise BadFrontMatter("no JSON: nested too deep", 1) from None
    return Parted(fields, content[end:])
