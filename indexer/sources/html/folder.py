"""A folder of HTML pages, such as a built site."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from indexer.errors import SourceError
from indexer.html_text import TooDeep
from indexer.records import Origin, Reject, Skipped, SourceItem
from indexer.sources.base import UNREAD, SourceOptions, unexpected
from indexer.sources.files import decoded, files_in, is_utf8, read_inside, remedy_of
from indexer.sources.html.page import Page
from indexer.sources.identity import oid_of_page
from indexer.sources.markdown.site import ABOUT_THE_FOLDER, MARKDOWN, OTHER_MARKUP

SUFFIXES = (".html", ".htm", ".xhtml")
_MAX_BYTES = 20_000_000


class HTMLFolder:
    """Every page below a folder except lists of posts, redirects and error pages."""

    kind = "html"

    def __init__(self, spec: str, options: SourceOptions) -> None:
        self.spec = spec
        self.progress: float | None = None
        self._options = options
        self._folder = Path(spec)
        self._oids: frozenset[str] = frozenset()
        if not self._folder.exists():
            raise SourceError(f"There is no folder {spec}.", "Name the folder of the built site.")
        if not (self._folder.is_dir() or self._folder.is_file()):
            raise SourceError(f"{spec} is neither a file nor a folder.", "Name the built site.")

    def read(self) -> Iterator[SourceItem]:
        """Every page in the order of the paths; its oid is its path."""
        files = files_in(self._folder, SUFFIXES)
        if not files:
            raise SourceError(
                f"{self.spec} has no HTML page.", "Name the folder of the built site."
            )
        base = self._folder if self._folder.is_dir() else self._folder.parent
        paths = [file.relative_to(base).as_posix() for file in files]
        self._oids = frozenset(oid_of_page(quote(path)) for path in paths if is_utf8(path))
        yield from self._unread(base) if self._folder.is_dir() else ()
        for number, (file, path) in enumerate(zip(files, paths, strict=True), start=1):
            try:
                yield from self._page(file, path, base)
            except Exception as error:  # noqa: BLE001 - one odd page must not end the run
                yield unexpected(error, Origin(str(file)), oid_of_page(quote(path)))
            self.progress = number / len(files)

    def _unread(self, base: Path) -> Iterator[Skipped]:
        """Files in formats of posts, except those that are the source of a page beside them."""
        for file in files_in(base, MARKDOWN + OTHER_MARKUP):
            path = file.relative_to(base).with_suffix("")
            if not is_utf8(path.as_posix()) or path.name.lower() in ABOUT_THE_FOLDER:
                continue
            if oid_of_page(quote(f"{path}.html")) not in self._oids:
                yield Skipped(Origin(str(file)), None, UNREAD)

    def _page(self, file: Path, path: str, base: Path) -> Iterator[SourceItem]:
        origin = Origin(str(file))
        if not is_utf8(path):
            yield Reject(origin, None, "the file's name is not UTF-8", "Rename the file.")
            return
        oid = oid_of_page(quote(path))
        if self._options.excludes(path):
            yield Skipped(origin, None, "excluded by blogsearch.toml")
            return
        try:
            page = Page(decoded(read_inside(file, [base.resolve()], _MAX_BYTES)))
        except OSError as error:
            yield Reject(origin, oid, error.strerror or str(error), remedy_of(error))
            return
        except TooDeep as error:
            yield Reject(origin, oid, str(error), "Close the elements, or leave the page out.")
            return
        reason, is_guess = page.why_not_post(oid, is_paginated=self._is_paginated(oid))
        if not reason and self._is_copy(page, path, oid):
            reason, is_guess = "copy of the page that its canonical link names", True
        if reason:
            yield Skipped(origin, oid if is_guess else None, reason)
        else:
            yield page.post(origin, oid, self._url(page, path))

    def _is_paginated(self, oid: str) -> bool:
        """Whether a list goes on: Hugo has `page/1` also for a list of one page."""
        if oid == "index":
            return not self._oids.isdisjoint(("page/1", "page/2", "index2"))
        return not self._oids.isdisjoint((f"{oid}/page/1", f"{oid}/page/2"))

    def _is_copy(self, page: Page, path: str, oid: str) -> bool:
        """Whether the canonical link names another page of the folder.

        In some templates it always names the front page, and below a path of the host the front
        page may seem to name another: neither counts.
        """
        if not page.canonical:
            return False
        named = oid_of_page(urlsplit(urljoin(quote(path), page.canonical)).path)
        return named in self._oids and named != oid and "index" not in (named, oid)

    def _url(self, page: Page, path: str) -> str:
        """The canonical address, else the path below the folder."""
        for name in ("index.html", "index.htm"):
            if path == name or path.endswith(f"/{name}"):
                path = path[: -len(name)]
        return urljoin(urljoin(self._options.site.rstrip("/") + "/", quote(path)), page.url)
