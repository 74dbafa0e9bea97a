"""Builds the pages of docs/embedding.md with their site generators, and checks what comes out.

    python -m bench.sites.recipes            all generators
    python -m bench.sites.recipes Hugo Astro

Exit code 1 if a generator is missing, or if a built page has no search box, more than one `<main>`,
or an escaped tag.
"""

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from selectolax.lexbor import LexborHTMLParser

from bench.sites.builder import generate
from bench.sites.generators import BUILDS, Build
from devstack.servers import REPOSITORY

_PAGE = REPOSITORY / "docs" / "embedding.md"
_TOOLS = REPOSITORY / "build" / "sites" / "tools"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The smallest site; the files that the examples of its section are, in their order; and the
    built page with the search box, below the folder of the output."""

    build: Build
    files: Sequence[str]
    page: str = "search/index.html"


def _small(name: str, skeleton: str) -> Build:
    return replace(BUILDS[name], skeleton=f"recipes/{skeleton}")


RECIPES = {
    "Hugo": Recipe(
        replace(_small("Hugo", "hugo"), command="hugo --quiet"), ["layouts/_default/search.html"]
    ),
    "Jekyll": Recipe(_small("Jekyll (minima)", "jekyll"), ["search.html"]),
    "Eleventy": Recipe(_small("Eleventy", "eleventy"), ["search.njk"]),
    "Astro": Recipe(_small("Astro (Starlight)", "astro"), ["src/pages/search.astro"]),
    "VitePress": Recipe(
        _small("VitePress", "vitepress"), [".vitepress/config.mjs", "search.md"], "search.html"
    ),
    "Docusaurus": Recipe(
        _small("Docusaurus", "docusaurus"), ["docusaurus.config.js", "src/pages/search.md"]
    ),
}


def examples(name: str) -> list[str]:
    """The examples in the section of a generator."""
    section = re.split(r"^## ", _PAGE.read_text().split(f"## {name}\n")[1], flags=re.MULTILINE)[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


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


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(RECIPES)))
def main(names: Sequence[str]) -> None:
    """Build the sites of the generators with these NAMES, or of all."""
    failed = False
    for name in names or RECIPES:
        recipe = RECIPES[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            recipe.build.write(folder, [])
            for file, text in zip(recipe.files, examples(name), strict=True):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(text)
            try:
                generate(recipe.build, folder, _TOOLS)
                complaints = problems((folder / recipe.build.output / recipe.page).read_text())
            except (RuntimeError, OSError) as error:
                complaints = [str(error)]
        failed = failed or bool(complaints)
        click.echo(f"{name}: {'; '.join(complaints) or 'ok'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
