"""Which site generator a folder belongs to.

The configuration of Hugo, Jekyll, Zola and MkDocs is data, and is followed. Of every other
generator the Markdown is read as plain files; the folder that it builds has the addresses.
"""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from indexer.errors import SourceError
from indexer.sources.files import IGNORED_FOLDERS, files_in
from indexer.sources.markdown import jekyll, mkdocs
from indexer.sources.markdown.config import mapping, read_config, read_text
from indexer.sources.markdown.hugo import Hugo, is_hugo
from indexer.sources.markdown.jekyll import Jekyll
from indexer.sources.markdown.mkdocs import MkDocs
from indexer.sources.markdown.site import ABOUT_THE_FOLDER, MARKDOWN, PAGES, Root, Site
from indexer.sources.markdown.zola import Zola

_STEPS_UP = 6
_STEPS_DOWN = 3
_NOT_SITES = frozenset(("test", "tests", "spec", "fixtures", "example", "examples", "templates"))


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator whose configuration is code, or whose posts are in other formats too.

    Args:
        file: a glob of a file or folder beside its content.
        output: where it builds the site by default.
        content: where posts are by default; the first that exists, else beside the configuration.
        line: what a line of the file begins with, where others have a file of this name.
        package: its name in the dependencies of `package.json`, if it has no file of its own.
        is_mdx: whether files that end in `.md` are MDX too.
    """

    name: str
    file: str = ""
    output: str = ""
    content: tuple[str, ...] = ()
    line: str = ""
    package: str = ""
    is_mdx: bool = False

    def builds(self, folder: Path, packages: frozenset[str]) -> bool:
        """Whether a folder is the root of one of its sites."""
        if self.package in packages:
            return True
        files = folder.glob(self.file) if self.file else ()
        return any(not self.line or _has_line(file, self.line) for file in files)


_GENERATORS = (
    Generator("Quarto", "_quarto.yml", "_site"),
    Generator("Lektor", "*.lektorproject", "", ("content",)),
    Generator("Nikola", "conf.py", "output", line="BLOG_TITLE"),
    Generator("Pelican", "pelicanconf.py", "output", ("content",)),
    Generator("mdBook", "book.toml", "book", ("src",)),
    Generator("VitePress", ".vitepress", ".vitepress/dist"),
    Generator("VuePress", ".vuepress", ".vuepress/dist"),
    Generator("Hexo", "", "public", ("source",), package="hexo"),
    Generator("Astro", "astro.config.*", "dist", ("src/content",)),
    Generator("Docusaurus", "docusaurus.config.*", "build", is_mdx=True),
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
        super().__init__(root, [Root(content.resolve())])
        self.generator = generator.name
        self.all_mdx = generator.is_mdx
        self.output = generator.output
        built = f"index the folder that it builds ({self.output})" if self.output else "build it"
        self.notes = [
            f"{root}: {generator.name} decides addresses in code, or has pages in other formats "
            f"than Markdown; build the site and {built}. Read as plain Markdown, the addresses "
            "are the paths of the files."
        ]

    def why_not_content(self, path: PurePosixPath) -> str:
        if path.suffix in PAGES:
            return "HTML page, not Markdown"
        if any(part[0] == "_" and part not in ("_posts", "_drafts") for part in path.parts):
            return "excluded by its underscore"
        return super().why_not_content(path)


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
        sites = [site for folder in folders if (site := _configured(folder, start))]
        if len(sites) > 1:
            sites = [site for site in sites if _has_posts(site)]
        if sites:
            return sites[0] if len(sites) == 1 else None
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
        inner = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
    left_out = IGNORED_FOLDERS | _NOT_SITES
    return [path for path in inner if path.name[0] not in "._" and path.name not in left_out]


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
    if (folder / "config.toml").is_file() and "base_url" in read_config(folder / "config.toml"):
        return Zola(folder)
    if any((folder / name).is_file() for name in mkdocs.CONFIGURATION):
        return MkDocs(folder)
    packages = _packages(folder)
    for generator in _GENERATORS:
        if generator.builds(folder, packages):
            return Generated(folder, generator)
    if any((folder / name).is_file() for name in jekyll.CONFIGURATION):
        return Jekyll(folder)
    return Hugo(folder) if is_hugo(folder) else None


def _packages(folder: Path) -> frozenset[str]:
    """The names of the packages that the `package.json` of a folder depends on."""
    try:
        package = read_config(folder / "package.json")
    except SourceError:
        return frozenset()
    names = ("dependencies", "devDependencies")
    return frozenset(package_ for name in names for package_ in mapping(package.get(name)))


def _has_line(file: Path, start: str) -> bool:
    try:
        return bool(re.search(rf"(?m)^{start}\s*=", read_text(file)))
    except OSError:
        return False
