"""Which site generator a folder belongs to."""

from pathlib import Path

from indexer.sources.markdown import jekyll, mkdocs
from indexer.sources.markdown.eleventy import Eleventy, is_eleventy
from indexer.sources.markdown.hugo import Hugo, is_hugo
from indexer.sources.markdown.javascript import Astro, Docusaurus, Next
from indexer.sources.markdown.jekyll import Jekyll
from indexer.sources.markdown.mkdocs import MkDocs
from indexer.sources.markdown.site import Root, Site, read_config
from indexer.sources.markdown.zola import Zola

_STEPS_UP = 6


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
    for folder in above:
        if folder.name in ("_posts", "_drafts"):
            return Jekyll(folder.parent)
    if (start / "_posts").is_dir():
        return Jekyll(start)
    return Site(start, [Root(start)])


def _configured(folder: Path) -> Site | None:
    if any((folder / name).is_file() for name in jekyll.CONFIGURATION):
        return Jekyll(folder)
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
    return Next(folder) if any(folder.glob("next.config.*")) else None
