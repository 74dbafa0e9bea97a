"""A folder of HTML pages, such as a built site."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urljoin

from indexer.errors import SourceError
from indexer.records import Origin, Reject, Skipped, SourceItem
from indexer.sources.base import UNREAD, Source
from indexer.sources.files import (
    ABOUT_THE_FOLDER,
    MARKDOWN,
    OTHER_MARKUP,
    decoded,
    files_in,
    read_inside,
    remedy_of,
)
from indexer.sources.html.built_site import BuiltSite
from indexer.sources.html.page import read_page
from indexer.sources.html.survey import MAX_BYTES, built_site
from indexer.sources.identity import oid_of_page

SUFFIXES = (".html", ".htm", ".xhtml")
_DRAFTS = frozenset(("draft", "drafts", "_drafts"))


class HTMLFolder(Source):
    """Every page below a folder except lists of posts, redirects, drafts and error pages."""

    kind = "html"
    is_folder = True

    def read(self) -> Iterator[SourceItem]:
        """Every page in the order of the paths; its oid is its path."""
        place = Path(self.spec)
        files = files_in(place, SUFFIXES)
        if not files:
            reason = f"{self.spec} has no HTML page."
            raise SourceError(reason, "Name the folder of the built site.")
        base = place if place.is_dir() else place.parent
        paths = {file: file.relative_to(base).as_posix() for file in files}
        oids = _oids(paths)
        named = {oid: file for file, oid in oids.items()}
        site = BuiltSite()
        if place.is_dir():
            site = built_site(base, named, self._options.site)
            yield from self._unread(base, site)
            if missing := sorted(site.addresses.keys() - named.keys()):
                self._options.warn(f"{len(missing):,} pages of the sitemap are not in {self.spec}.")
        yield from self._each(
            files,
            lambda file: self._page(file, paths[file], oids[file], base, site),
            lambda file: (Origin(str(file)), oids[file]),
        )

    def _unread(self, base: Path, site: BuiltSite) -> Iterator[Skipped]:
        """Files in formats of posts, except those that are the source of a page beside them."""
        for file in files_in(base, MARKDOWN + OTHER_MARKUP):
            path = file.relative_to(base).with_suffix("")
            if path.name.lower() in ABOUT_THE_FOLDER:
                continue
            if oid_of_page(quote(f"{path}.html")) not in site.pages:
                yield Skipped(Origin(str(file)), None, UNREAD)

    def _page(self, file: Path, path: str, oid: str, base: Path, site: BuiltSite) -> SourceItem:
        origin = Origin(str(file))
        if self._options.excludes(path):
            return Skipped(origin, None, "excluded by blogsearch.toml")
        if self._is_draft(path) and not self._options.drafts:
            return Skipped(origin, None, "draft")
        if oid in site.copies:
            return Skipped(origin, oid, "copy or another version of a page")
        try:
            text = decoded(read_inside(file, [base.resolve()], MAX_BYTES))
        except OSError as error:
            return Reject(origin, oid, error.strerror or str(error), remedy_of(error))
        location = urljoin("/", quote(path))
        for name in ("index.html", "index.htm"):
            if path == name or path.endswith(f"/{name}"):
                path = path[: -len(name)]
        address = (self._options.site or site.address).rstrip("/") + "/"
        base_url = urljoin(address, quote(path))
        return read_page(text, location, origin, oid, self._options, site=site, base=base_url)

    def _is_draft(self, path: str) -> bool:
        """Whether the path says so, as Pelican's `drafts/` and Medium's `draft_…` do."""
        *folders, name = path.lower().split("/")
        if name.startswith("index."):
            folders = folders[:-1]  # a page may be called so
        return not _DRAFTS.isdisjoint(folders) or name.startswith("draft_")


def _oids(paths: Mapping[Path, str]) -> dict[Path, str]:
    """The oid of each page; that of `b/index.html` beside `b.html` is `b/`."""
    oids = {file: oid_of_page(quote(path)) for file, path in paths.items()}
    named = {oid for file, oid in oids.items() if file.stem != "index"}
    return {
        file: f"{oid}/" if file.stem == "index" and oid in named else oid
        for file, oid in oids.items()
    }
