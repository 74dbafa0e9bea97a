"""A folder of Markdown posts with front matter: Jekyll, Hugo, Zola, Eleventy, Astro and alike."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from indexer.errors import SourceError
from indexer.normalise import MAX_HTML
from indexer.records import Origin, RawPost, Reject
from indexer.sources.base import SourceOptions
from indexer.sources.files import files_in, remedy_of
from indexer.sources.identity import fitting
from indexer.sources.markdown.front_matter import BadFrontMatter, parted
from indexer.sources.markdown.generators import Site, site_of
from indexer.sources.markdown.permalinks import check_template
from indexer.sources.markdown.post import PAGES, MarkdownPost

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_SKIPPED = frozenset(
    (
        "_site",
        "_layouts",
        "_includes",
        "_data",
        "_sass",
        "_plugins",
        "archetypes",
        "layouts",
        "themes",
    )
)
_ABOUT_THE_FOLDER = frozenset(
    ("readme", "license", "changelog", "contributing", "code_of_conduct", "security", "authors")
)


class MarkdownFolder:
    """Every post below a folder, or one post alone; its path below the site's content is its oid.

    A file with front matter is a post; one without is if it begins with a heading and its site
    has no generator that would leave it out.
    """

    kind = "markdown"

    def __init__(self, spec: str, options: SourceOptions) -> None:
        check_template(options.url_template)
        self.spec = spec
        self.progress: float | None = None
        self._options = options
        self._place = Path(spec)
        if not self._place.exists():
            raise SourceError(f"There is no folder {spec}.", "Name the folder with the posts.")

    def read(self) -> Iterator[RawPost | Reject]:
        """Every post, in the order of the paths."""
        site = site_of(self._place)
        place = self._place.resolve()
        if place in site.content.parents:
            place = site.content
        elif not place.is_relative_to(site.content):  # Astro's src/pages, beside src/content
            site = replace(site, content=place if place.is_dir() else place.parent)
        skipped = _SKIPPED if self._options.drafts else _SKIPPED | {"_drafts"}
        files = files_in(place, SUFFIXES + PAGES, skipped)
        now = self._options.moment()
        for number, file in enumerate(files, start=1):
            path = PurePosixPath(file.relative_to(site.content).as_posix())
            shown = (
                self._place / file.relative_to(place) if place == self._place.resolve() else file
            )
            if found := self._post(file, path, str(shown), site, now):
                yield found
            self.progress = number / len(files)

    def _post(
        self, file: Path, path: PurePosixPath, name: str, site: Site, now: datetime
    ) -> RawPost | Reject | None:
        oid = _oid(path)
        if _is_template(file, path, site):
            return None
        try:
            parts = parted(_content(file))
        except BadFrontMatter as error:
            remedy = "Mend the front matter, and index the post again."
            return Reject(Origin(name, error.line), oid, str(error), remedy)
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 at byte {error.start:,}"
            return Reject(Origin(name), oid, reason, "Save the file as UTF-8.")
        except OSError as error:
            return Reject(Origin(name), oid, error.strerror or str(error), remedy_of(error))
        if parts.fields is None and not _is_post_without_head(file, path, site):
            return None
        post = MarkdownPost(parts, path, file.suffix)
        if not post.is_out(self._options, now):
            return None
        return post.raw(Origin(name), oid, site, self._options)


def _content(file: Path) -> str:
    if file.stat().st_size > MAX_HTML:
        raise OSError(f"the file has more than {MAX_HTML:,} bytes")
    return file.read_text("utf-8-sig")


def _is_template(file: Path, path: PurePosixPath, site: Site) -> bool:
    """HTML is a post where posts are kept; elsewhere it is a list of them, or a layout."""
    if path.stem == "404":
        return True
    kept = site.generator == "hugo" or not {"_posts", "_drafts"}.isdisjoint(path.parts)
    return file.suffix in PAGES and not kept


def _is_post_without_head(file: Path, path: PurePosixPath, site: Site) -> bool:
    return (
        site.generator == "eleventy"
        and file.suffix in SUFFIXES
        and path.stem.lower() not in _ABOUT_THE_FOLDER
    )


def _oid(path: PurePosixPath) -> str:
    bare = path.with_suffix("")
    bare = bare.parent if bare.name == "index" and bare.parent.name else bare
    return fitting(bare.as_posix())
