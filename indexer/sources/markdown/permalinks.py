"""The address of a Markdown post, by the rules of its generator or by a template of the user's.

Sources of the rules: jekyllrb.com/docs/permalinks, gohugo.io/content-management/urls,
getzola.org/documentation/content/page, 11ty.dev/docs/permalinks.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from indexer.errors import SourceError
from indexer.sources.markdown.generators import Site

DATED = re.compile(r"^(\d{4}-\d{1,2}-\d{1,2})[-_](?=.)")
_TOKEN = re.compile(r":(\w+)")
_JEKYLL = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_DATES = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "week": "%V",
    "y_day": "%j",
    "yearday": "%j",
    "short_year": "%y",
    "short_month": "%b",
    "short_day": "%a",
    "monthname": "%B",
    "long_month": "%B",
    "weekdayname": "%A",
}
NAMES = ("year", "month", "day", "slug", "path", "section", "categories")
"""What a URL template may name in braces."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A post where it lies: its path from the content folder, its head, its date and categories.

    `when` has the zone its author wrote it in: the day in the address is the author's.
    """

    path: PurePosixPath
    fields: Mapping[str, Any]
    when: datetime | None
    categories: list[str]


def check_template(template: str) -> None:
    """Refuses a URL template that names what there is not.

    Raises:
        SourceError: naming what there is.
    """
    try:
        template.format(**dict.fromkeys(NAMES, ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in NAMES)
        raise SourceError(f"{template!r} is no URL template.", f"It may have {known}.") from None


def url_of(site: Site, post: Placed, template: str, address: str) -> str:
    """The address, or a path on the site where that is all that is known."""
    path = _said(post) or _filled(template, post) or _by_rules(site, post)
    path = "/" + re.sub(r"/{2,}", "/", path).lstrip("/")
    path = quote(path.removesuffix("index.html"), safe="/%?=&#:+,;@~!'()*$")
    return f"{(address or site.address).rstrip('/')}{path}"


def slugified(text: str) -> str:
    """Lower case, words joined by hyphens; letters of every script stay."""
    text = unicodedata.normalize("NFC", text).lower().replace("'", "")
    return re.sub(r"[^\w]+", "-", text).strip("-")


def _said(post: Placed) -> str:
    """What the head says itself; a template in another language cannot be followed."""
    for name in ("permalink", "url", "path"):
        said = post.fields.get(name)
        if isinstance(said, str) and said.strip() and not re.match(r"https?:|.*\{[{%]", said):
            return _expanded(_JEKYLL.get(said, said), post)
    return ""


def _filled(template: str, post: Placed) -> str:
    values = {name: _value(name, post) for name in NAMES}
    return template.format(**values) if template else ""


def _by_rules(site: Site, post: Placed) -> str:
    if site.generator == "jekyll":
        return _jekyll(site, post)
    section = post.path.parts[0] if len(post.path.parts) > 1 else ""
    if rule := site.permalinks.get(section) or site.permalinks.get(""):
        return _expanded(rule, post)
    is_index = post.path.stem in ("index", "_index")
    folder = post.path.parent.parent if is_index else post.path.parent
    name = post.path.parent.name if is_index else post.path.stem
    if site.generator == "zola":
        name = DATED.sub("", name)
    if site.generator == "eleventy" and name == folder.name:
        folder = folder.parent
    path = (folder / (_said_slug(post) or name)).as_posix().removeprefix(".").strip("/")
    if site.generator in ("hugo", "zola"):
        path = "/".join(re.sub(r"\s+", "-", part.lower()) for part in path.split("/"))
    return f"/{path}/" if path else "/"


def _jekyll(site: Site, post: Placed) -> str:
    style = site.permalinks.get("", "date")
    style = _JEKYLL.get(style, style)
    if not {"_posts", "_drafts"}.isdisjoint(post.path.parts):
        return _expanded(style, post)
    if post.path.stem == "index":
        return f"{post.path.parent.as_posix().removeprefix('.')}/"
    return f"{post.path.with_suffix('').as_posix()}{'/' if style.endswith('/') else '.html'}"


def _expanded(template: str, post: Placed) -> str:
    """`:year` and the like; Hugo's `:title` is the title's slug, Jekyll's that of the file."""
    return _TOKEN.sub(lambda found: _value(found[1], post), template)


def _value(name: str, post: Placed) -> str:
    if post.when is not None and name in _DATES:
        return post.when.strftime(_DATES[name])
    if name in ("i_month", "i_day") and post.when is not None:
        return str(post.when.month if name == "i_month" else post.when.day)
    folders = post.path.parent.parts
    if post.path.stem == "index" and post.path.parts[0] != "_posts":
        folders = folders[:-1]
    values = {
        "slug": _said_slug(post) or _file_slug(post),
        "title": _said_slug(post) or _file_slug(post),
        "filename": _file_slug(post),
        "contentbasename": _file_slug(post),
        "slugorfilename": _said_slug(post) or _file_slug(post),
        "slugorcontentbasename": _said_slug(post) or _file_slug(post),
        "categories": "/".join(slugified(each) for each in post.categories),
        "slugified_categories": "/".join(slugified(each) for each in post.categories),
        "section": folders[0] if folders else "",
        "sections": "/".join(folders),
        "path": post.path.with_suffix("").as_posix().removesuffix("/index"),
        "output_ext": ".html",
    }
    return values.get(name, "")


def _said_slug(post: Placed) -> str:
    said = post.fields.get("slug")
    return said.strip("/").rpartition("/")[2] if isinstance(said, str) else ""


def _file_slug(post: Placed) -> str:
    name = post.path.parent.name if post.path.stem in ("index", "_index") else post.path.stem
    return DATED.sub("", name)
