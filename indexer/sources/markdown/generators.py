"""Which site generator a folder belongs to."""

from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.files import IGNORED_FOLDERS, files_in
from indexer.sources.markdown import jekyll, mkdocs, pelican
from indexer.sources.markdown.books import (
    Lektor,
    MdBook,
    Nikola,
    Quarto,
    Sphinx,
    VitePress,
    is_nikola,
    vue_settings,
)
from indexer.sources.markdown.eleventy import Eleventy, is_eleventy
from indexer.sources.markdown.hexo import Hexo, is_hexo
from indexer.sources.markdown.hugo import Hugo, is_hugo
from indexer.sources.markdown.javascript import Astro, Docusaurus, Gatsby, Next
from indexer.sources.markdown.jekyll import Jekyll
from indexer.sources.markdown.mkdocs import MkDocs
from indexer.sources.markdown.pelican import Pelican
from indexer.sources.markdown.site import ABOUT_THE_FOLDER, MARKDOWN, Root, Site, read_config
from indexer.sources.markdown.zola import Zola

_STEPS_UP = 6
_STEPS_DOWN = 3
_NOT_SITES = frozenset(("test", "tests", "spec", "fixtures", "example", "examples", "templates"))


def site_of(place: Path) -> Site:
    """The site that a folder or a single post belongs to, looked for upwards from there.

    A configuration further up counts only if the place is in the content that it names.
    """
    place = place.resolve()
    start = place if place.is_dir() else place.parent
    above = (start, *list(start.parents)[:_STEPS_UP])
    for folder in above:
        site = _configured(folder)
        if site and (folder == start or site.has(start)):
            return site
        if (folder / ".git").exists():
            break
    if site := _configured_below(start):
        return site
    for folder in above:
        if folder.name in ("_posts", "_drafts"):
            return Jekyll(folder.parent)
    if (start / "_posts").is_dir():
        return Jekyll(start)
    return Site(start, [Root(start)])


def _configured_below(start: Path) -> Site | None:
    """The site in the one folder of a repository that has a configuration, such as `docs`.

    In a repository of several packages the folder may be further down, such as `apps/site`.
    """
    is_repository = any((start / name).exists() for name in (".git", "package.json"))
    folders = [start]
    for _ in range(_STEPS_DOWN if is_repository else 1):
        folders = [inner for folder in folders for inner in _inner(folder)]
        found = [site for folder in folders if (site := _configured(folder, start))]
        if len(found) > 1:
            found = [site for site in found if _has_posts(site)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _has_posts(site: Site) -> bool:
    """Whether a site has Markdown, not only a README; there may be a site for each platform."""
    return any(
        file.stem.lower() not in ABOUT_THE_FOLDER
        for root in site.roots
        for file in files_in(root.folder, MARKDOWN)
    )


def _inner(folder: Path) -> list[Path]:
    """The folders in a folder that may have a site."""
    try:
        inner = sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError:
        return []
    left_out = IGNORED_FOLDERS | _NOT_SITES
    return [each for each in inner if each.name[0] not in "._" and each.name not in left_out]


def _configured(folder: Path, start: Path | None = None) -> Site | None:
    """The site that has its configuration in a folder.

    Raises:
        SourceError: the configuration cannot be read, and is at most one folder below `start`.
    """
    try:
        return _generated(folder)
    except SourceError:
        if start and folder.parent != start:
            return None  # further down it may be a template
        raise
    except Exception as error:
        raise SourceError(
            f"The configuration of the site in {folder} cannot be read: "
            f"{type(error).__name__}: {error}.",
            "Correct it, or index the built site.",
        ) from error


def _generated(folder: Path) -> Site | None:
    if (folder / "_quarto.yml").is_file():
        return Quarto(folder)
    if project := next(folder.glob("*.lektorproject"), None):
        return Lektor(project)
    if is_nikola(folder):
        return Nikola(folder)
    if any((folder / name).is_file() for name in jekyll.CONFIGURATION):
        if (folder / "_toc.yml").is_file():
            return Sphinx(folder)
        return Hexo(folder) if is_hexo(folder) else Jekyll(folder)
    if (folder / pelican.CONFIGURATION).is_file():
        return Pelican(folder)
    if (folder / "book.toml").is_file():
        return MdBook(folder)
    if settings := vue_settings(folder):
        return VitePress(folder, settings)
    if (folder / "config.toml").is_file() and "base_url" in read_config(folder / "config.toml"):
        return Zola(folder)
    if any((folder / name).is_file() for name in mkdocs.CONFIGURATION):
        return MkDocs(folder)
    if found := next(folder.glob("astro.config.*"), None):
        return Astro(folder, found)
    if found := next(folder.glob("docusaurus.config.*"), None):
        return Docusaurus(folder, found)
    if is_hugo(folder):
        return Hugo(folder)
    if is_eleventy(folder):
        return Eleventy(folder)
    if any(folder.glob("next.config.*")):
        return Next(folder)
    if any(folder.glob("gatsby-config.*")):
        return Gatsby(folder)
    return Sphinx(folder) if (folder / "conf.py").is_file() and _is_sphinx(folder) else None


def _is_sphinx(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("index.md", "index.rst"))
