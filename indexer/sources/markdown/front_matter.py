"""Front matter: the YAML, TOML or JSON at the beginning of a post, and the text behind it."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter import detect_format
from frontmatter.default_handlers import BaseHandler

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MAX_LENGTH = 100_000
_MAX_ALIASES = 10
_FIRST_LINE = re.compile(r"(?:<!--\s*)?(?:\.\. )?(?:title|date|author|slug|status)\s*:", re.I)
_LINE = re.compile(r"^(?:\.\. )?([A-Za-z][\w-]*)[ \t]*:(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_LINE_NUMBER = re.compile(r"line (\d+)")
_FIELD = re.compile(r"[\w\"'-]+\s*[:=]")
_OF_OTHERS = {
    "Julia's `@def` (Franklin)": re.compile(r"(?:<!--.*?-->\s*)?@def\s"),
    "a map of Elixir": re.compile(r"%\{\s"),
    "that of Org mode": re.compile(r"#\+\w+:"),
    "JavaScript": re.compile(r"export\s+(?:const|default)\b|---[ \t]*(?:js|javascript|ts)\b"),
    "between `;;;` (Hexo)": re.compile(r";;;\s"),
    "in a language of its own": re.compile(r"---[ \t]*(?!ya?ml\b|toml\b|json\b)[a-z]+[ \t]*\n"),
}
"""Front matter that is not read, and how it begins: its post may be a draft."""
_JULIA = re.compile(r"^\w+\s*=\s*(?:Date|DateTime|\w+!?)\(", re.MULTILINE)


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


def load_yaml(text: str) -> Any:
    """A YAML document in which every scalar stays a string, whatever its tag.

    YAML 1.1 makes `NO` false, `1:30` ninety, and a day that does not exist an error. What is a
    date is decided in `indexer.dates`.

    Raises:
        yaml.YAMLError, ValueError: it cannot be parsed, is very large, or has many aliases, by
            which a few hundred bytes may stand for gigabytes.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"more than {_MAX_LENGTH:,} characters")
    if (
        sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader))
        > _MAX_ALIASES
    ):
        raise ValueError(f"more than {_MAX_ALIASES} aliases")
    return yaml.load(text, _Loader)  # noqa: S506  # it makes strings, lists and tables only


_LOADERS: Mapping[str, Callable[[str], Any]] = {
    "YAML": load_yaml,
    "TOML": tomllib.loads,
    "JSON": json.loads,
}


def load(text: str, language: str, first: int = 1) -> Any:
    """A document in YAML, TOML or JSON; `first` is the number of its first line.

    Raises:
        BadFrontMatter: it cannot be parsed.
    """
    try:
        return _LOADERS[language](text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise _bad(language, error, first) from None


class _YAML(BaseHandler):
    FM_BOUNDARY = re.compile(r"^(?:---(?:[ \t]*ya?ml)?|\.\.\.)[ \t]*$", re.MULTILINE)
    name = "YAML"


class _TOML(BaseHandler):
    FM_BOUNDARY = re.compile(r"^(?:\+\+\+|---(?:[ \t]*toml)?)[ \t]*$", re.MULTILINE)
    name = "TOML"


class _JSON(BaseHandler):
    FM_BOUNDARY = re.compile(r"^---(?:[ \t]*json)?[ \t]*$", re.MULTILINE)
    name = "JSON"


_HANDLERS = (_YAML(), _TOML(), _JSON())


def split_front_matter(content: str) -> FrontMatter:
    """The front matter and the text of a file.

    `---` YAML (`---json`, `---toml`: Eleventy), `+++` TOML (Hugo, Zola), a JSON object at the very
    beginning (Hugo), or lines `Key: value` up to a blank one (Pelican, MultiMarkdown), up to `---`
    (Hexo) or in a comment (Nikola). `---` may also be a horizontal rule with plain words after it.

    Raises:
        BadFrontMatter: it does not end, cannot be parsed, or is of a kind that is not read.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    text = content.lstrip()
    line = 1 + content[: len(content) - len(text)].count("\n")
    for name, begins in _OF_OTHERS.items():
        if begins.match(text):
            raise BadFrontMatter(f"its front matter is {name}, which is not read", line)
    if re.match(r"\{\s*[\"}]", text):
        try:
            fields, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError) as error:
            raise _bad("JSON", error, line) from None
        return FrontMatter(fields, text[end:])
    if _FIRST_LINE.match(text):
        return _lines_before_text(text)
    handler = detect_format(text, _HANDLERS)
    if not isinstance(handler, _YAML | _TOML | _JSON):
        return FrontMatter(None, content)
    try:
        head, rest = handler.split(text)
    except ValueError:
        if not _FIELD.match(text.partition("\n")[2]):
            return FrontMatter(None, content)
        raise BadFrontMatter("the front matter has no end", line) from None
    try:
        fields = load(head, handler.name, line)
    except BadFrontMatter as error:
        reason = "its front matter is Julia (Franklin), which is not read"
        raise BadFrontMatter(reason, line) if _JULIA.search(head) else error from None
    if isinstance(fields, str):
        return FrontMatter(None, content)
    if not isinstance(fields, dict | None):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", line)
    return FrontMatter({str(name): value for name, value in (fields or {}).items()}, rest)


def _bad(name: str, error: Exception, first: int) -> BadFrontMatter:
    """What is wrong, with its line in the file; the front matter's own first line is `first`."""
    reason, line = str(error), 1
    if isinstance(error, yaml.MarkedYAMLError):
        reason = error.problem or error.context or ""
        line = error.problem_mark.line + 1 if error.problem_mark else 1
    elif isinstance(error, json.JSONDecodeError):
        reason, line = error.msg, error.lineno
    elif named := _LINE_NUMBER.search(reason):
        line = int(named[1])
    return BadFrontMatter(f"invalid {name}: {reason}", first + line - 1)


def _lines_before_text(content: str) -> FrontMatter:
    """Lines `Key: value` at the beginning; without a title or a date they are prose."""
    text = content.removeprefix("<!--").lstrip()
    head, *rest = re.split(r"^(?:---|-->)?[ \t]*$\n?", text, maxsplit=1, flags=re.MULTILINE)
    try:
        fields = load_yaml(re.sub(r"^\.\. ", "", head, flags=re.MULTILINE))
    except (yaml.YAMLError, ValueError):
        fields = {
            name: "\n".join(map(str.strip, value.splitlines())).strip()
            for name, value in _LINE.findall(head)
            if not _LINE.sub("", head).strip()
        }
    names = {str(name).lower() for name in fields} if isinstance(fields, dict) else set()
    if names.isdisjoint(("title", "date")):
        return FrontMatter(None, content)
    return FrontMatter(fields, "".join(rest))
