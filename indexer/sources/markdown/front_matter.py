"""Reads the YAML or TOML at the beginning of a post, and its requests not to be found."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli
import yaml

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MAX_LENGTH = 100_000
_MAX_ALIASES = 10
_FENCED = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_BEGUN = re.compile(r"(?:---|\+\+\+)[ \t]*\n[\w\"'-]+\s*[:=]")
_OF_OTHERS = re.compile(
    r"(?:<!--.*?-->\s*)?@def\s|<!--\s*\.\. \w+:"  # Franklin, Nikola
    r"|\+\+\+\n(?:(?!\+\+\+).*\n)*?\w+ *= *Date(?:Time)?\("
    r"|%?\{\s*(?:[\"}]|\w+:)|#\+\w+:|export\s+(?:const|default)\b|;;;\s"  # JSON, Org, MDX
    r"|---[ \t]*[a-z]+[ \t]*\n"  # Eleventy
    r"|(?:title|date|author|slug|category|tags)[ \t]*:.*\n[\w-]+[ \t]*:|status[ \t]*:",  # Pelican
    re.IGNORECASE,
)
"""Kinds of front matter that are not read: the post may be a draft."""
_PROPERTIES = re.compile(r"(?:[\w./-]+::(?:[ \t].*)?(?:\n|\Z))+")
"""The fields of a page in Logseq, `tags:: [[a]], b`."""
_CONFLICT = re.compile(r"(?:(?:---|\+\+\+)[ \t]*\n(?:(?!---|\+\+\+).*\n)*?)?<{7} ")
_NO = "false|no|off|0|never|link|exclude|noindex"
_NOTHING = rf"(?!(?:|none|~|null|\[\]|\{{\}}|0000-.*|{_NO})$)"
_DRAFT = re.compile(
    rf"(?:is)?draft={_NOTHING}.*|(?:(?:is|dg)?publish(?:ed|bydefault)?|(?:is)?(?:public|approved))=(?:{_NO})"
    r"|(?:status|visibility|state|stage|stream)=(?:(?:auto-?)?draft|pending|review|unpublished|wip"
    r"|scheduled|future|hold|unapproved)|publish(?:ed)?(?:at|on)=none",
    re.DOTALL,
)
_ASKS = re.compile(
    rf"""(?:(?:params|extra|seo|meta|metadata)\.)? (?:
      (?: headless|unlisted|password|protect|rbac|redirect(?:to|url)|membersonly
        | (?:is)?(?:hidden|private|secret|encrypted|protected|deleted|trashed)|deletedat
        | eleventyexcludefromcollections
        | \w*noindex|donotindex|preventindexing|(?:no|disable)(?:search|sitemap)
        | searchhidden|(?:book)?searchexclude|excludesearch|sitemapexclude
        | (?:exclude|hide|hidden)from(?:search|sitemap)
        | (?:search|sitemap|robots)\.(?:exclude|noindex|disable|ignore) )={_NOTHING}.*
      | (?: search|searchable|(?:in)?searchindex|index(?:ing|able)|sitemap|robots|listed|pagefind
        | permalink|render|routable|(?:search|robots|seo)\.index|build\.(?:list|render) )=(?:{_NO})
      | (?:status|state|visibility|access|audience)=(?:private|hidden|unlisted|protected|members.*
        |(?:only_)?paid|trash(?:ed)?|deleted|spam|rejected)
      | (?:hide|access\.\w+\.\w+)=(?:true|yes|on|1)
      | (?:meta)?robots=.*\bno(?:ne|index)\b.*
      | (?:head|meta)=(?>.*?robots['"]).*noindex.* )""",
    re.VERBOSE | re.DOTALL,
)


class BadFrontMatter(ValueError):
    """Front matter that cannot be parsed; `line` is its line in the file, counted from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def load_yaml(text: str) -> Any:
    """Load a YAML document; every scalar stays a string, whatever its tag.

    YAML 1.1 makes `NO` false, `1:30` ninety, and a day that does not exist an error.

    Raises:
        yaml.YAMLError, ValueError: it cannot be parsed, is very large, or has many aliases, by
            which a few hundred bytes may expand to gigabytes.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"more than {_MAX_LENGTH:,} characters")
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader))
    if aliases > _MAX_ALIASES:
        raise ValueError(f"more than {_MAX_ALIASES} aliases")
    return yaml.load(text, _Loader)  # noqa: S506  # it makes strings, lists and tables only


def load_toml(text: str) -> dict[str, Any]:
    """Load a TOML document; ValueError if it is very large."""
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"more than {_MAX_LENGTH:,} characters")
    return tomli.loads(text)  # TOML 1.1, which Hugo reads


def split_front_matter(content: str) -> tuple[dict[str, Any] | None, str]:
    """Split a file into its front matter and its text; None if there is no front matter.

    `---` YAML or `+++` TOML; `---` may also be a horizontal rule before plain words.

    Raises:
        BadFrontMatter: it does not end, cannot be parsed, or is of a kind that is not read.
    """
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    text = content.lstrip()
    line = 1 + content[: len(content) - len(text)].count("\n")
    if head := _PROPERTIES.match(text):
        pairs = (re.sub(r"[\[\]]", "", line).split("::", 1) for line in head[0].splitlines())
        return {name: value.strip() for name, value in pairs}, text[head.end() :]
    if other := _OF_OTHERS.match(text):
        shown = other[0].splitlines()[-1].strip()
        raise BadFrontMatter(f"unsupported front matter (`{shown}`)", line)
    if _CONFLICT.match(text):
        raise BadFrontMatter("the file has an unresolved merge conflict (`<<<<<<<`)", line)
    if not (head := _FENCED.match(text)):
        if _BEGUN.match(text):
            raise BadFrontMatter("the end of the front matter is missing", line)
        return None, content
    language, load = ("TOML", load_toml) if head[1] == "+++" else ("YAML", load_yaml)
    try:
        fields = load("\n" + head[2])  # to count lines from the fence
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = getattr(error, "problem", None) or str(error)
        mark = getattr(error, "problem_mark", None)
        at = line + (mark.line if mark else 0)
        raise BadFrontMatter(f"invalid {language}: {reason}", at) from None
    if isinstance(fields, str):
        return None, content
    if not isinstance(fields, dict | None):
        raise BadFrontMatter(f"the front matter is a {type(fields).__name__}, not fields", line)
    return {str(name): value for name, value in (fields or {}).items()}, text[head.end() :]


def why_draft(fields: Mapping[str, Any]) -> str:
    """Return the field that marks a post as unpublished, such as `status`, or ""; an unclear value
    of `draft` does."""
    return _name(filter(_DRAFT.fullmatch, _flatten(fields)))


def why_hidden(fields: Mapping[str, Any]) -> str:
    """Return the field that asks for the page not to be found, such as `search`, or ""."""
    return _name(filter(_ASKS.fullmatch, _flatten(fields)))


def _name(found: Iterator[str]) -> str:
    return next(found, "").partition("=")[0][:80]


def _flatten(fields: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """Yield fields as `name=value` in lower case; inner fields as `sitemap.exclude=true`."""
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        full = before + key(name)
        yield f"{full}={str(value).lower().strip()}"
        for inner in (value if isinstance(value, list) else [value]) if depth < 3 else ():
            yield from _flatten(inner, f"{full}.", depth + 1)


def key(name: Any) -> str:
    """Return a field's name in lower case, without `_`, `-` and spaces."""
    return re.sub(r"[_\-\s]", "", str(name).lower())
