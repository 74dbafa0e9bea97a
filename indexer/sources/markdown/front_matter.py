"""Front matter: the YAML, TOML or JSON at the beginning of a post, and the text behind it."""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 100
_MAX_NODES = 100_000

_FENCES = {"---": "yaml", "+++": "toml"}
_FIRST_LINE = re.compile(
    r"(?:<!--\s*)?(?:\.\. )?(?:title|date|layout|author|slug|status)\s*:", re.IGNORECASE
)
_LINE = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*- (.*)")
_MAX_LINES = 1_000
_END_OF_LINES = ("", "---", "-->")
_TOML_LINE = re.compile(r"line (\d+)")


class BadFrontMatter(ValueError):
    """Front matter that cannot be parsed; `line` counts from 1 in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


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


def _without_tag(loader: Any, node: yaml.Node) -> Any:
    """The value of a node whose tag only the generator knows, as Jekyll takes it."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_PlainLoader.add_constructor(None, _without_tag)


def load_yaml(text: str) -> Any:
    """A YAML document, refused if it is nested too deep or expands too much.

    libyaml crashes on deep nesting, and a few hundred bytes of nested anchors may stand for
    gigabytes; both show in the events, before anything is built.

    Raises:
        yaml.YAMLError, ValueError: it cannot be parsed, or is refused.
    """
    sizes: dict[str, int] = {}  # anchor → nodes that it stands for
    open_nodes: list[tuple[str | None, int]] = []  # anchors, and the count where they began
    count = 0
    for event in yaml.parse(text, _PlainLoader):
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
    return yaml.load(text, _PlainLoader)  # noqa: S506  # a SafeLoader


def split_front_matter(content: str) -> FrontMatter:
    """The front matter and the text of a file.

    `---` YAML (`---json`, `---toml`: Eleventy), `+++` TOML (Hugo, Zola), a JSON object at the very
    beginning (Hugo), or lines `Key: value` up to a blank one (Pelican, MultiMarkdown), up to `---`
    (Hexo) or in a comment (Nikola). `---` may also be a horizontal rule with plain words after it.

    Raises:
        BadFrontMatter: it does not end, or cannot be parsed.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    blank = re.match(r"(?:[ \t]*\n)*", content)
    if blank and content.startswith(("+++", "---"), blank.end()):
        # Zola and Hugo accept blank lines before front matter.
        try:
            head = _split(content[blank.end() :])
        except BadFrontMatter as error:
            raise BadFrontMatter(str(error), error.line + blank[0].count("\n")) from None
        return head if head.fields is not None else FrontMatter(None, content)
    return _split(content)


def _split(content: str) -> FrontMatter:
    if re.match(r"\{\s*[\"}]", content):
        return _json_object(content)
    if _FIRST_LINE.match(content):
        return _lines_before_text(content)
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
        raise BadFrontMatter(f"the front matter has no {fence} at its end", 1)
    fields = _parsed(rest[: end.start()], language)
    if fields is None:
        fields = {}
    if isinstance(fields, str):
        return FrontMatter(None, content)
    if not isinstance(fields, dict):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", 2)
    return FrontMatter({str(name): value for name, value in fields.items()}, rest[end.end() :])


def _parsed(text: str, language: str) -> Any:
    try:
        if language in ("yaml", "yml"):
            return load_yaml(text)
        if language == "toml":
            return tomllib.loads(text)
        if language == "json":
            return json.loads(text)
    except yaml.MarkedYAMLError as error:
        if fields := _plain_fields(text.split("\n")):
            return fields
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


def _lines_before_text(content: str) -> FrontMatter:
    """Lines `Key: value` at the beginning; without a title or a date they are prose."""
    lines = content.removeprefix("<!--").lstrip("\n").split("\n")
    end = next((at for at, line in enumerate(lines) if line.strip() in _END_OF_LINES), len(lines))
    head = "\n".join(line.removeprefix(".. ") for line in lines[:end])
    try:
        fields = _parsed(head, "yaml")
    except BadFrontMatter:
        return FrontMatter(None, content)
    if not isinstance(fields, dict) or not {"title", "date"} & {name.lower() for name in fields}:
        return FrontMatter(None, content)
    return FrontMatter(fields, "\n".join(lines[end + 1 :]))


def _plain_fields(lines: list[str]) -> dict[str, Any] | None:
    """Fields of lines `key: value`, whatever the value is; None if there are other lines.

    What some generators take for front matter is not YAML: `title: {#if …}`, `title: a: b`. A quote
    or bracket that is never closed is a mistake for them, too.
    """
    fields: dict[str, Any] = {}
    name = ""
    for line in filter(str.strip, lines if len(lines) <= _MAX_LINES else ()):
        items: list[Any] | None = None
        if (first := _LINE.fullmatch(line)) and first[1] not in fields:
            name, text = first[1], (first[2] or "").strip()
        elif name and (item := _ITEM.fullmatch(line)):
            items, text = fields[name] or [], item[1].strip()
        elif name and line[0] in " \t" and isinstance(fields[name], str):
            fields[name] += f"\n{line.strip()}"
            continue
        else:
            return None
        if items is not None and not isinstance(items, list):
            return None
        try:
            value = load_yaml(text)
        except (yaml.YAMLError, ValueError):
            if text[0] in "'\"[":
                return None
            value = text
        value = text if isinstance(value, dict) else value
        fields[name] = value if items is None else [*items, value]
    return fields or None


def _json_object(content: str) -> FrontMatter:
    try:
        fields, end = json.JSONDecoder().raw_decode(content)
    except json.JSONDecodeError as error:
        raise BadFrontMatter(f"invalid JSON: {error.msg}", error.lineno) from None
    except (RecursionError, ValueError) as error:  # an integer of more than 4,300 digits
        raise BadFrontMatter(f"invalid JSON: {error}", 1) from None
    return FrontMatter(fields, content[end:])
