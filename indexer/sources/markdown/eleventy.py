"""Eleventy: 11ty.dev/docs/config, /docs/data-cascade, /docs/permalinks, /docs/dates."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from indexer.errors import SourceError
from indexer.records import When
from indexer.sources.files import files_in
from indexer.sources.markdown.site import (
    DATED,
    PAGES,
    Entry,
    Root,
    Site,
    glob_pattern,
    is_error_page,
    js_string,
    read_config,
    read_text,
    slugified,
)

CONFIGURATION = (
    *(".eleventy.js", ".eleventy.cjs", ".eleventy.mjs"),
    *("eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", "eleventy.config.ts"),
)
_EXPRESSION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}")
_DATE_FORMAT = re.compile(r"date\w*\s*[:(]\s*[\"']([^\"']*)[\"']")
_GLOBAL_PERMALINK = re.compile(r"addGlobalData\(\s*[\"'`][\w.]*permalink")
_PERMALINK = re.compile(r"\bpermalink[\"']?\s*(?=[:(])")
_TEMPLATE_LITERAL = re.compile(
    r"\bpermalink[\"']?\s*:?\s*(?:function\s*)?(?:\w+|\([^()]*\))\s*"
    r"(?:=>\s*|(?:=>\s*)?\{\s*return\s*)`([^`\n]*)`"
)
"""A function that only returns a template literal."""
_FILE_TIMES = ("last modified", "git last modified", "created", "git created")
"""Values of `date` that stand for a time of the file: 11ty.dev/docs/dates."""
_LUXON = (("yyyy", "%Y"), ("LL", "%m"), ("MM", "%m"), ("dd", "%d"), ("YYYY", "%Y"), ("DD", "%d"))


class Eleventy(Site):
    """A site with a configuration of Eleventy, of which only plain strings can be read."""

    generator: ClassVar[str] = "eleventy"

    def __init__(self, root: Path) -> None:
        text = ""
        for name in CONFIGURATION:
            if (root / name).is_file():
                text = read_text(root / name)
        package = _package(root)
        said = re.search(r"--input[= ]([\w./-]+)", json.dumps(package.get("scripts") or {}))
        folder = js_string(text, "input") or (said[1] if said else "")
        content = (root / folder).resolve()
        if not content.is_relative_to(root.resolve()) or not content.is_dir():
            content = root.resolve()
        # An input folder that is not a plain string is `src`, as in most templates.
        is_computed = not _has_config(root) or re.search(r"\binput\b", text)
        if not folder and is_computed and (root / "src").is_dir():
            content = (root / "src").resolve()
        data = content / (js_string(text, "data") or "_data")
        urls = [_read_json(data / f"{name}.json").get("url") for name in ("metadata", "site")]
        address = next((each for each in urls if isinstance(each, str)), "")
        super().__init__(root, [Root(content)], address=address)
        self._skipped = {
            js_string(text, "output") or "_site",
            js_string(text, "includes") or "_includes",
            js_string(text, "layouts") or "_includes",
            js_string(text, "data") or "_data",
        }
        ignored = re.findall(r"ignores\.add\(\s*[\"'`]([^\"'`$]+)[\"'`]", text)
        ignored += _lines(root / ".eleventyignore")
        if not re.search(r"setUseGitIgnore\(\s*false", text):
            ignored += _lines(root / ".gitignore")
        self._ignored = list(_ignored(root, ignored, content))
        if content != root.resolve():
            self._ignored += _ignored(content, _lines(content / ".eleventyignore"), content)
        self._data: dict[PurePosixPath, dict[str, Any]] = {}
        self.base = js_string(text, "pathPrefix").strip("/")
        files = files_in(content, (".11tydata.js", ".11tydata.cjs", ".11tydata.mjs"))
        is_in_data = any(map(_computes_permalink, map(read_text, files)))
        if is_in_data or "urlFormat" in text or _GLOBAL_PERMALINK.search(text):
            self.notes.append(
                f"{root}: addresses that Eleventy's configuration computes in JavaScript cannot "
                "be followed; --url-template says what they are."
            )

    def skips_folder(self, path: PurePosixPath) -> bool:
        return path.as_posix() in self._skipped or path.name == "_includes"

    def why_not_content(self, path: PurePosixPath) -> str:
        if any(pattern.fullmatch(path.as_posix()) for pattern in self._ignored):
            return "ignored by Eleventy (.eleventyignore, .gitignore)"
        if is_error_page(path):
            return "error page"
        return "HTML page, not Markdown" if path.suffix in PAGES else ""

    def fields_of(self, path: PurePosixPath, own: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for folder in reversed(path.parents):
            merged = _merged(merged, self._data_of(folder, folder.name))
        merged = _merged(merged, self._data_of(path.parent, path.stem))
        merged = _merged(merged, own)
        if str(merged.get("date")).lower() in _FILE_TIMES:
            del merged["date"]  # a checkout's file times are those of the checkout
        return merged

    def _data_of(self, folder: PurePosixPath, name: str) -> dict[str, Any]:
        """The data files of a folder or of a file: JSON, or JavaScript with plain strings."""
        place = self.roots[0].folder / folder
        key = folder / (name or ".") / "data"
        if key not in self._data:
            found: dict[str, Any] = {}
            for suffix in (".json", ".11tydata.json") if name else ():
                if (place / f"{name}{suffix}").is_file():
                    found = _merged(found, _read_json(place / f"{name}{suffix}"))
            for suffix in (".11tydata.js", ".11tydata.cjs", ".11tydata.mjs") if name else ():
                if (place / f"{name}{suffix}").is_file():
                    found = _merged(found, _read_js(place / f"{name}{suffix}"))
            self._data[key] = {str(each).lower(): value for each, value in found.items()}
        return self._data[key]

    def why_left_out(self, entry: Entry) -> str:
        if entry.fields.get("permalink") is False:
            return "no page is rendered (permalink: false)"
        if not entry.has_head and entry.path.stem.lower() in ("readme", "license", "agents"):
            return "about the folder, not content"
        return ""

    def own_url(self, entry: Entry) -> str:
        said = entry.fields.get("permalink")
        if not isinstance(said, str) or not said.strip():
            return ""
        found = self._expanded(said.strip(), entry)
        return f"/{self.base}/{found.lstrip('/')}" if found else ""

    def url_of(self, entry: Entry) -> str:
        path = self._stem_path(entry)
        return f"/{self.base}/{path}/" if path else "/"

    def _stem_path(self, entry: Entry) -> str:
        """`/posts/2024-01-01-a.md` → `posts/a`; `a/index.md` and `a/a.md` → `a`."""
        name = DATED.sub("", entry.path.stem)
        folder = entry.path.parent
        if name == "index" or (name == folder.name and name):
            return folder.as_posix().strip("./")
        return (folder / name).as_posix().strip("/")

    def _expanded(self, template: str, entry: Entry) -> str:
        """A permalink with simple expressions evaluated; "" where one cannot be."""
        failed = False

        def value(found: re.Match[str]) -> str:
            nonlocal failed
            known = self._value(found[1], entry)
            failed = failed or known is None
            return known or ""

        result = _EXPRESSION.sub(value, template)
        return "" if failed or "{%" in result else result

    def parsed(self, when: When) -> datetime | None:
        """Eleventy's dates are in UTC, whatever zone they were written in."""
        found = super().parsed(when)
        return found.astimezone(UTC) if found else None

    def _value(self, expression: str, entry: Entry) -> str | None:
        name, *filters = (each.strip() for each in expression.split("|"))
        page = {
            "page.fileslug": DATED.sub("", entry.raw_name),
            "page.filepathstem": f"/{self._stem_path(entry)}",
        }
        bare = name.lower()
        known: Any = page.get(bare, entry.fields.get(bare))
        if bare in ("page.date", "date"):
            spec = _DATE_FORMAT.search(expression)
            when = self.local_date(entry)
            if spec is None or when is None:
                return None
            pattern = spec[1]
            for luxon, strftime in _LUXON if "%" not in pattern else ():
                pattern = pattern.replace(luxon, strftime)
            return when.strftime(pattern)
        if not isinstance(known, str | int):
            return None
        text = str(known)
        for each in filters:
            if each not in ("slug", "slugify", "url", "safe", "downcase", "lower"):
                return None
            text = slugified(text) if each.startswith("slug") else text
            text = text.lower() if each in ("downcase", "lower") else text
        return text


def _lines(file: Path) -> list[str]:
    return read_text(file).splitlines() if file.is_file() else []


def _ignored(folder: Path, lines: list[str], content: Path) -> Iterator[re.Pattern[str]]:
    """What the lines of an ignore file in a folder exclude, as patterns of paths in the content.

    11ty.dev/docs/ignores: globs from the folder of the file, folders with all that is in them. A
    negative line (`!…`) does nothing in Eleventy.
    """
    for line in lines:
        glob = line.strip().removeprefix("./").strip("/")
        if not glob or glob[0] in "#!":
            continue
        if (folder / glob).is_dir():
            glob += "/**"
        inner = content.relative_to(folder.resolve()).as_posix()
        if glob.startswith("**") or inner == ".":
            yield glob_pattern(glob)
        elif glob.startswith(f"{inner}/"):
            yield glob_pattern(glob.removeprefix(f"{inner}/"))


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Data and front matter together; lists of tags are joined, as Eleventy does."""
    found = {**first, **second}
    tags = [each.get("tags") for each in (first, second)]
    if all(tags):
        lists = [[each] if isinstance(each, str) else each for each in tags]
        if all(isinstance(each, list) for each in lists):
            found["tags"] = list(dict.fromkeys(str(tag) for each in lists for tag in each or ()))
    return found


def _read_json(file: Path) -> dict[str, Any]:
    try:
        return read_config(file)
    except SourceError:
        return {}  # JSON with comments; Eleventy itself would stop


def _computes_permalink(text: str) -> bool:
    """Whether a data file has a permalink that `_read_js` cannot read."""
    is_known = js_string(text, "permalink") or _TEMPLATE_LITERAL.search(text)
    return not is_known and bool(_PERMALINK.search(text)) and "permalink: false" not in text


def _read_js(file: Path) -> dict[str, Any]:
    text = read_text(file)
    found: dict[str, Any] = {}
    for name in ("permalink", "lang", "title"):
        if value := js_string(text, name):
            found[name] = value
    if literal := _TEMPLATE_LITERAL.search(text):
        found["permalink"] = re.sub(r"\$\{\s*(?:data\.)?(.*?)\s*\}", r"{{ \1 }}", literal[1])
    if re.search(r"\bpermalink\s*:\s*false\b", text):
        found["permalink"] = False
    if tags := js_string(text, "tags"):
        found["tags"] = [tags]
    elif listed := re.search(r"\btags\s*:\s*\[([^\]]*)\]", text):
        found["tags"] = re.findall(r"""["']([^"']+)["']""", listed[1])
    return found


def _package(root: Path) -> dict[str, Any]:
    return _read_json(root / "package.json") if (root / "package.json").is_file() else {}


def _has_config(root: Path) -> bool:
    return any((root / name).is_file() for name in CONFIGURATION)


def is_eleventy(folder: Path) -> bool:
    """Whether a folder is the root of an Eleventy site."""
    if _has_config(folder):
        return True
    package = _package(folder)
    dependencies = [package.get("dependencies"), package.get("devDependencies")]
    return any(isinstance(each, dict) and "@11ty/eleventy" in each for each in dependencies) or any(
        re.search(r"\b(?:11ty|eleventy)\b", str(each)) for each in _scripts(package)
    )


def _scripts(package: dict[str, Any]) -> list[Any]:
    scripts = package.get("scripts")
    return list(scripts.values()) if isinstance(scripts, dict) else []
