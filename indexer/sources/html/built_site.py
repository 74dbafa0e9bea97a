"""What the pages of a built site say together."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from indexer.sources.base import bare_host, is_valid_url
from indexer.sources.identity import oid_of_page

SEPARATORS = (" | ", " - ", " – ", " — ", " · ", " :: ", " • ", " « ", " » ")
_MARKS = re.compile(r"^[|–—·•«»›]*\s+|\s+[|–—·•«»›]*$")
"""What stands between a title and the name of the site; «this» is a quotation."""


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A built site; pages are named by their oid, the path without `index.html` and `.html`."""

    address: str = ""  # of the front page, without a slash at its end
    pages: frozenset[str] = frozenset()
    addresses: Mapping[str, str] = field(default_factory=dict)  # of what the sitemap lists
    entries: Mapping[str, str] = field(default_factory=dict)  # what the feeds list, and its dates
    paginated: frozenset[str] = frozenset()  # go on with a second page
    fed: frozenset[str] = frozenset()  # have a feed of their own
    unlisted: frozenset[str] = frozenset()  # are not in a complete sitemap
    copies: frozenset[str] = frozenset()  # another page is named by their link or path
    shared_titles: frozenset[str] = frozenset()  # of several pages, and those of the site
    shared_images: frozenset[str] = frozenset()  # of several pages
    affixes: tuple[str, ...] = ()  # what most titles begin or end with
    repeated: Mapping[str, float] = field(default_factory=dict)  # texts: the share that has them
    build_days: frozenset[str] = frozenset()  # which most pages show: the site was built then

    def oid_of(self, url: str) -> str:
        """The page that an absolute URL or a path leads to; "" for one of another site."""
        if not is_valid_url(url):
            return ""
        parts, own = urlsplit(url), urlsplit(self.address)
        if parts.scheme not in ("", "http", "https"):
            return ""
        if parts.netloc and own.netloc and bare_host(parts.netloc) != bare_host(own.netloc):
            return ""
        base = own.path.rstrip("/")
        path = parts.path
        if base and (path == base or path.startswith(f"{base}/")):
            path = path[len(base) :]
        oid = oid_of_page(path)
        return f"{oid}/" if path.endswith("/") and f"{oid}/" in self.pages else oid

    def bare_title(self, title: str, name: str = "") -> str:
        """A title without the name of the site before or behind it; `name` as a page states it."""
        for mark in SEPARATORS if name else ():
            if title.endswith(mark + name):
                return title.removesuffix(mark + name)
        for affix in self.affixes:
            if title.startswith(affix) and affix.endswith(" "):
                title = title.removeprefix(affix) or title
            elif title.endswith(affix):
                title = title.removesuffix(affix) or title
        for mark in SEPARATORS:
            own, _, name = title.rpartition(mark)
            if own and name in self.shared_titles:
                title = own
        return without_marks(title)


def without_marks(title: str) -> str:
    """A title without the marks that stood between it and the name of the site."""
    return _MARKS.sub("", title)
