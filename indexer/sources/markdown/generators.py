"""Which site generator a folder belongs to.

The configuration of Hugo and Jekyll is followed where it decides addresses. Of every other
generator the Markdown is read as plain files; the folder that it builds has the addresses.
"""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from indexer.errors import SourceError
from indexer.sources.files import IGNORED_FOLDERS, files_in
from indexer.sources.markdown import hugo, jekyll
from indexer.sources.markdown.config import mapping, read_config, read_text
from indexer.sources.markdown.site import MARKDOWN, PAGES, Root, Site

_STEPS_UP = 6
_WITH_POSTS = ("_posts", "_drafts", "_index.")
_NOT_SITES = IGNORED_FOLDERS | {"test", "tests", "spec", "fixtures", "example", "examples"}


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator whose addresses are not followed.

    Args:
        file: a glob of a file or folder beside its content.
        output: where it builds the site by default.
        content: where posts are by default, if not beside the configuration.
        line: what a line of the file begins with, where others have a file of this name.
        package: its name in the dependencies of `package.json`, if it has no file of its own.
        address: the name of the setting in the file that has the site's address.
    """

    name: str
    file: str = ""
    output: str = ""
    content: tuple[str, ...] = ()
    line: str = ""
    package: str = ""
    address: str = ""

    def builds(self, folder: Path) -> bool:
        """Whether a folder is the root of one of its sites."""
        if self.package:
            return self.package in _packages(folder)
        files = folder.glob(self.file)
        return any(not self.line or _setting(file, self.line) is not None for file in files)

    def address_in(self, folder: Path) -> str:
        """The address of a site by its configuration; "" if that does not say it."""
        files = folder.glob(self.file) if self.address else ()
        return next(filter(None, (_setting(file, self.address) for file in files)), None) or ""


_GENERATORS = (
    Generator("Zola", "config.toml", "public", ("content",), line="base_url", address="base_url"),
    Generator("MkDocs", "mkdocs.y*ml", "site", ("docs",), address="site_url"),
    Generator("Quarto", "_quarto.yml", "_site"),
    Generator("Lektor", "*.lektorproject", "", ("content",)),
    Generator("Nikola", "conf.py", "output", line="BLOG_TITLE"),
    Generator("Pelican", "pelicanconf.py", "output", ("content",)),
    Generator("mdBook", "book.toml", "book", ("src",)),
    Generator("VitePress", ".vitepress", ".vitepress/dist"),
    Generator("VuePress", ".vuepress", ".vuepress/dist"),
    Generator("Hexo", "", "public", ("source",), package="hexo"),
    Generator("Astro", "astro.config.*", "dist", ("src/content",)),
    Generator("Docusaurus", "docusaurus.config.*", "build"),
    Generator("Jupyter Book", "_toc.yml", "_build/html"),
    Generator("Eleventy", "*eleventy*.*js", "_site", ("src", "content", "site")),
    Generator("Next.js", "next.config.*", "out", ("src/content", "content", "pages")),
    Generator("Gatsby", "gatsby-config.*", "public", ("content",)),
    Generator("Sphinx", "conf.py", "_build/html", line="extensions"),
)


class Generated(Site):
    """The Markdown files of a generator that is not followed, as plain files."""

    def __init__(self, root: Path, generator: Generator) -> None:
        folders = (root / name for name in generator.content if (root / name).is_dir())
        content = next((folder for folder in folders if files_in(folder, MARKDOWN)), root)
        address = generator.address_in(root)
        super().__init__(root, [Root(content.resolve())], address=address)
        self.generator = generator.name
        self.output = generator.output
        command = f"blogsearch reindex {self.output or 'FOLDER'}"
        self.notes = [
            f"{root}: the addresses of {generator.name} are not known from its Markdown, so they "
            f"are the paths of the files; build the site, then: {command}."
        ]

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in PAGES:
            return "HTML page, not Markdown"
        if any(part[0] == "_" and not part.startswith(_WITH_POSTS) for part in path.parts):
            return "excluded by its underscore"
        return super().why_not_content(path)


def site_of(place: Path) -> Site:
    """The site that a folder or a single post belongs to, looked for upwards from there.

    A configuration further up counts only if the place is in the content that it names; else the
    one folder with a configuration counts, such as `docs`.
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
    inner = [site for folder in _folders_in(start) if (site := _configured(folder))]
    if len(inner) == 1:
        return inner[0]
    for folder in above:
        if folder.name in ("_posts", "_drafts"):
            return jekyll.Jekyll(folder.parent)
    if (start / "_posts").is_dir():
        return jekyll.Jekyll(start)
    return Site(start, [Root(start)])


def _folders_in(folder: Path) -> list[Path]:
    try:
        folders = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
    return [path for path in folders if path.name[0] not in "._" and path.name not in _NOT_SITES]


def _configured(folder: Path) -> Site | None:
    """The site that has its configuration in a folder.

    Raises:
        SourceError: the configuration cannot be read.
    """
    try:
        for generator in _GENERATORS:
            if generator.builds(folder):
                return Generated(folder, generator)
        if any((folder / name).is_file() for name in jekyll.CONFIGURATION):
            return jekyll.Jekyll(folder)
        return hugo.Hugo(folder) if hugo.is_hugo(folder) else None
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(
            f"The configuration of the site in {folder} cannot be read: "
            f"{type(error).__name__}: {error}.",
            "Correct it, or index the built site.",
        ) from error


def _packages(folder: Path) -> set[str]:
    """The names of the packages that the `package.json` of a folder depends on."""
    try:
        package = read_config(folder / "package.json")
    except SourceError:
        return set()
    return {*mapping(package.get("dependencies")), *mapping(package.get("devDependencies"))}


def _setting(file: Path, name: str) -> str | None:
    """The value of a line that sets a name, without quotes; None if there is no such line."""
    try:
        line = re.search(rf"(?m)^{name}\s*[:=]\s*[\"']?([^\s\"'#]*)", read_text(file))
    except OSError:
        return None
    return line[1] if line else None
