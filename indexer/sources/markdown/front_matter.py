"""Front matter: the YAML, TOML or JSON at the beginning of a post, and the text behind it."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import yaml

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MAX_LENGTH = 100_000
_MAX_ALIASES = 10
_FENCED = re.compile(
    r"(---|\+\+\+)[ \t]*(?:(json|toml)|ya?ml)?[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*$\n?",
    re.DOTALL | re.MULTILINE,
)
_BEGUN = re.compile(r"(?:---|\+\+\+)[ \t]*(?:json|toml|ya?ml)?[ \t]*\n[\w\"'-]+\s*[:=]")
_FIRST_LINE = re.compile(r"(?:<!--\s*)?(?:\.\. )?(?:title|date|author|slug|status)\s*:", re.I)
_LINE = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_OF_OTHERS = re.compile(
    r"(?:<!--.*?-->\s*)?@def\s"  # Franklin
    r"|\+\+\+\n(?:(?!\+\+\+).*\n)*?\w+ *= *Date(?:Time)?\("
    r"|%\{\s|#\+\w+:|export\s+(?:const|default)\b|;;;\s"  # Tableau, Org mode, MDX, Hexo
    r"|---[ \t]*(?!ya?ml\b|toml\b|json\b)[a-z]+[ \t]*\n"
)
"""Front matter that is not read: its post may be a draft."""


class BadFrontMatter(ValueError):
    """Front matter that cannot be parsed; `line` counts from 1 in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def load_yaml(text: str) -> Any:
    """A YAML document in which every scalar stays a string, whatever its tag.

    YAML 1.1 makes `NO` false, `1:30` ninety, and a day that does not exist an error.

    Raises:
        yaml.YAMLError, ValueError: it cannot be parsed, is very large, or has many aliases, by
            which a few hundred bytes may stand for gigabytes.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"more than {_MAX_LENGTH:,} characters")
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader))
    if aliases > _MAX_ALIASES:
        raise ValueError(f"more than {_MAX_ALIASES} aliases")
    return yaml.load(text, _Loader)  # noqa: S506  # it makes strings, lists and tables only


_LOADERS: Mapping[str, Callable[[str], Any]] = {
    "YAML": load_yaml,
    "TOML": tomllib.loads,
    "JSON": json.loads,
}


def split_front_matter(content: str) -> tuple[dict[str, Any] | None, str]:
    """The front matter and the text of a file; None where there is no front matter.

    `---` YAML (`---json`, `---toml`: Eleventy), `+++` TOML (Hugo, Zola), a JSON object at the very
    beginning (Hugo), or lines `Key: value` up to a blank one (Pelican, MultiMarkdown), up to `---`
    (Hexo) or in a comment (Nikola). `---` may also be a horizontal rule with plain words after it.

    Raises:
        BadFrontMatter: it does not end, cannot be parsed, or is of a kind that is not read.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    text = content.lstrip()
    line = 1 + content[: len(content) - len(text)].count("\n")
    if other := _OF_OTHERS.match(text):
        shown = other[0].splitlines()[-1].strip()
        raise BadFrontMatter(f"its front matter is not read (`{shown}`)", line)
    if _FIRST_LINE.match(text):
        return _lines_before_text(text)
    language = "JSON"
    try:
        if re.match(r"\{\s*[\"}]", text):
            fields, end = json.JSONDecoder().raw_decode(text)
            return fields, text[end:]
        if not (head := _FENCED.match(text)):
            if _BEGUN.match(text):
                raise BadFrontMatter("the front matter has no end", line)
            return None, content
        language = "TOML" if head[1] == "+++" else (head[2] or "YAML").upper()
        fields = _LOADERS[language]("\n" + head[3])  # so that lines count from the fence
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _invalid(language, error, line) from None
    if isinstance(fields, str):
        return None, content
    if not isinstance(fields, dict | None):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", line)
    return {str(name): value for name, value in (fields or {}).items()}, text[head.end() :]


def _invalid(language: str, error: Exception, first: int) -> BadFrontMatter:
    if isinstance(error, BadFrontMatter):
        return error
    reason = getattr(error, "problem", None) or getattr(error, "msg", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else getattr(error, "lineno", 1)
    return BadFrontMatter(f"invalid {language}: {reason}", first + line - 1)


def _lines_before_text(content: str) -> tuple[dict[str, Any] | None, str]:
    """Lines `Key: value` at the beginning; without a title or a date they are prose."""
    text = content.removeprefix("<!--").lstrip()
    head, *rest = re.split(r"^(?:---|-->)?[ \t]*$\n?", text, maxsplit=1, flags=re.MULTILINE)
    head = re.sub(r"^\.\. ", "", head, flags=re.MULTILINE)
    try:
        fields = load_yaml(head)
    except (yaml.YAMLError, ValueError):
        is_prose = _LINE.sub("", head).strip()
        fields = {} if is_prose else {name: value.strip() for name, value in _LINE.findall(head)}
    names = {str(name).lower() for name in fields} if isinstance(fields, dict) else set()
    if names.isdisjoint(("title", "date")):
        return None, content
    return fields, "".join(rest)
