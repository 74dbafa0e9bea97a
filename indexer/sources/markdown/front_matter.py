"""Front matter: the YAML, TOML or JSON at the beginning of a post, and the text behind it."""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

from indexer.normalise import oid_of_reject

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 100
_MAX_NODES = 100_000

_FENCES = {"---": "yaml", "+++": "toml", ";;;": "json"}
_JS_VALUE = re.compile(
    r"""(?m)^[ \t]*(?:(?:export )?(?:const|let|var) )?["']?(\w+)["']?\s*[:=]\s*"""
    r"""(?:"([^"\n]*)"|'([^'\n]*)'|`([^`$\n]*)`|(true|false)\b|(\[[^][]*\]))"""
)
"""Plain strings, booleans and lists of strings in front matter that is JavaScript (`---js`)."""
_OID = re.compile(r"""\boid["']?[ \t]*[:=]""", re.IGNORECASE)
_OID_LINE = re.compile(r"""(?:oid|[ \t]*["']oid["'])[ \t]*([:=])(.*)""", re.IGNORECASE)
_TOML_LINE = re.compile(r"line (\d+)")


class BadFrontMatter(ValueError):
    """Front matter that cannot be parsed; `line` counts from 1 in the file, `head` is its text."""

    def __init__(self, reason: str, line: int, head: str = "") -> None:
        super().__init__(reason)
        self.line = line
        self.head = head


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file's front matter and text; `fields` is None where there is no front matter."""

    fields: dict[str, Any] | None
    text: str


class _PlainLoader(_Loader):  # type: ignore[misc]  # one of two classes
    """YAML in which every scalar stays a string, except true, false and null.

    YAML 1.1 makes `NO` false, `1:30` ninety, and a day that does not exist an error. What is a
    date is decided in `indexer.dates`.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


_PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_PlainLoader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])


class _ConfigLoader(_PlainLoader):
    """The same, with unknown tags read as null: MkDocs has `!!python/name:…` and `!ENV`."""


_ConfigLoader.add_constructor(None, lambda loader, node: None)


def _yaml(text: str, loader: type[_PlainLoader]) -> Any:
    """A YAML document, refused if it is nested too deep or expands too much.

    libyaml crashes on deep nesting, and a few hundred bytes of nested anchors may stand for
    gigabytes; both show in the events, before anything is built.
    """
    sizes: dict[str, int] = {}  # anchor → nodes that it stands for
    open_nodes: list[tuple[str | None, int]] = []  # anchors, and the count where they began
    count = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent):
            # An alias inside its own anchor makes a value that contains itself.
            count += sizes.get(event.anchor or "", _MAX_NODES + 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, count))
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = count - before
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            if event.anchor:
                sizes[event.anchor] = 1 + len(event.value) // 100
        if len(open_nodes) > _MAX_DEPTH or count > _MAX_NODES:
            raise ValueError("nested too deep, or too many aliases")
    return yaml.load(text, loader)  # noqa: S506  # a SafeLoader


def split_front_matter(content: str) -> FrontMatter:
    """The front matter and the text of a file.

    `---` YAML (`---json`, `---toml`, `---js`: Eleventy), `+++` TOML (Hugo, Zola), or a JSON object
    at the very beginning (Hugo). `---` may also be a horizontal rule with plain words after it.

    Raises:
        BadFrontMatter: it does not end, or cannot be parsed.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    blank = re.match(r"(?:[ \t]*\n)*", content)
    if blank and content.startswith(("+++", "---"), blank.end()):
        # Zola and Hugo accept blank lines before front matter.
        try:
            found = _split(content[blank.end() :])
        except BadFrontMatter as error:
            line = error.line + blank[0].count("\n")
            raise BadFrontMatter(str(error), line, error.head) from None
        return found if found.fields is not None else FrontMatter(None, content)
    return _split(content)


def _split(content: str) -> FrontMatter:
    if re.match(r"\{\s*[\"}]", content):
        return _json_object(content)
    first, _, rest = content.partition("\n")
    fence = first[:3]
    if fence not in _FENCES or not re.fullmatch(r"\w*\s*", first[3:]):
        return FrontMatter(None, content)
    language = first[3:].strip().lower() or _FENCES[fence]
    also = r"|\.\.\." if fence == "---" else ""  # YAML's other end
    closing = rf"^(?:{re.escape(fence)}{also})[ \t]*$"
    end = re.search(closing, rest, re.MULTILINE)
    if end is None:
        if not re.match(r"[\w\"'-]+\s*[:=]", rest):
            return FrontMatter(None, content)
        head = re.split(r"\n[ \t]*\n", rest, maxsplit=1)[0]
        raise BadFrontMatter(f"the front matter has no {fence} at its end", 1, head)
    try:
        fields = _parsed(rest[: end.start()], language)
    except BadFrontMatter as error:
        error.head = rest[: end.start()]
        raise
    if fields is None:
        fields = {}
    if isinstance(fields, str):
        return FrontMatter(None, content)
    if not isinstance(fields, dict):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", 2)
    return FrontMatter({str(name): value for name, value in fields.items()}, rest[end.end() :])


def parse_config(text: str) -> Any:
    """A configuration file in YAML, whatever tags it has.

    Raises:
        BadFrontMatter: it cannot be parsed.
    """
    return _parsed(text, "config")


def _parsed(text: str, language: str) -> Any:
    try:
        if language in ("yaml", "yml", "config"):
            return _yaml(text, _ConfigLoader if language == "config" else _PlainLoader)
        if language == "toml":
            return tomllib.loads(text)
        if language == "json":
            # Hexo writes `;;;` around the members of an object, without braces.
            return json.loads(text if text.lstrip().startswith("{") else f"{{{text}}}")
        if language in ("js", "javascript") and (values := javascript_fields(text)):
            return values
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise BadFrontMatter(f"invalid YAML: {error.problem or error.context}", line) from None
    except tomllib.TOMLDecodeError as error:
        where = _TOML_LINE.search(str(error))
        raise BadFrontMatter(f"invalid TOML: {error}", int(where[1]) + 1 if where else 1) from None
    except json.JSONDecodeError as error:
        raise BadFrontMatter(f"invalid JSON: {error.msg}", error.lineno + 1) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFrontMatter(f"invalid {language.upper()}: {error}", 1) from None
    raise BadFrontMatter(f"front matter in {language!r} cannot be read", 1)


def javascript_fields(text: str) -> dict[str, Any]:
    """The plain strings, booleans and lists of strings that JavaScript gives names to."""
    return {name: _js_value(*value) for name, *value in _JS_VALUE.findall(text)}


def _js_value(double: str, single: str, template: str, boolean: str, items: str) -> Any:
    if items:
        return [first or second for first, second in re.findall(r""""([^"]*)"|'([^']*)'""", items)]
    return boolean == "true" if boolean else double or single or template


def _json_object(content: str) -> FrontMatter:
    try:
        fields, end = json.JSONDecoder().raw_decode(content)
    except json.JSONDecodeError as error:
        raise BadFrontMatter(f"invalid JSON: {error.msg}", error.lineno, content) from None
    except RecursionError:
        raise BadFrontMatter("invalid JSON: nested too deep", 1, content) from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise BadFrontMatter(f"invalid JSON: {error}", 1, content) from None
    return FrontMatter(fields, content[end:])


def oid_in_broken(head: str, path: str) -> str | None:
    """The oid of a post whose front matter cannot be parsed: its own, else that of its `path`.

    None if it may have one of its own that cannot be read.
    """
    lines = [line for line in head.split("\n") if _OID.search(line)]
    if not lines:
        return path
    said = _OID_LINE.fullmatch(lines[0])
    if said is None or len(lines) > 1:
        return None
    line = f"oid{said[1]} {said[2].strip().rstrip(',')}"
    try:
        value = _parsed(line, "toml" if said[1] == "=" else "yaml")["oid"]
    except BadFrontMatter:
        return None
    return oid_of_reject(value or path)
