"""A real WordPress (WORDPRESS=folder), with npm's @wp-playground/cli: PHP as WASM, and SQLite."""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.posts.records import Skipped, SourceItem
from indexer.sources import SourceOptions, open_source
from indexer.sources.fetch import FetchOptions
from tests.engines.truth import Post, faults, posts

WORDPRESS = Path(os.environ.get("WORDPRESS") or ".")
TOOLS = Path(os.environ.get("ENGINES") or ".engines")
CLI = TOOLS / "node_modules/.bin/wp-playground-cli"
NODE = TOOLS / "node_modules/node/bin/node"
PORT = 9411
SITE = f"http://127.0.0.1:{PORT}"
THEMES = ("twentytwentyfive", "twentytwentyfour")
STATUSES = (*["publish"] * 20, *["draft", "pending", "private", "future", "password"] * 2)
PARTED = 9
WAYS = ("/", "/wp-sitemap.xml", "/feed/", "export")
OPTIONS = SourceOptions(fetch=FetchOptions(allow_private=True, read_timeout=60.0, deadline=120.0))


class WordPress:
    """The running site; `ids` are those of its posts."""

    def __init__(self) -> None:
        self.written: list[Post] = posts(STATUSES)
        self.ids: list[int] = []
        self.locked: set[int] = set()

    def tell(self, **told: Any) -> bytes:
        """Let the plugin beside this file do something."""
        body = json.dumps(told).encode()
        with urllib.request.urlopen(f"{SITE}/blogsearch-test", body, timeout=120) as answer:
            return bytes(answer.read())

    def read(self, way: str, folder: Path) -> list[SourceItem]:
        """What comes in by one way: an address of the site, or its export."""
        place = f"{SITE}{way}"
        if way == "export":
            file = folder / "blog.xml"
            file.write_bytes(self.tell(export=True))
            place = str(file)
        return list(open_source(place, None, OPTIONS).read())

    def faults(self, items: list[SourceItem]) -> list[str]:
        """What is not as it was written."""
        now = [
            replace(post, status="locked") if number in self.locked else post
            for number, post in enumerate(self.written)
        ]
        return list(faults(items, now, of=("publish",)))

    def expected(self, way: str) -> list[str]:
        """Pages and feed have only the first part of a post in parts."""
        part = [] if way in ("/", "export") else [f"note-{PARTED}: 120 words, not 200; foreign: []"]
        return [] if PARTED - 1 in self.locked else part


@pytest.fixture(scope="module")
def wordpress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordPress]:
    site = tmp_path_factory.mktemp("wordpress") / "site"
    shutil.copytree(WORDPRESS, site, ignore=shutil.ignore_patterns(".git"))
    plugins = site / "wp-content/mu-plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("control.php"), plugins)
    command: list[str | Path] = [NODE, CLI, "server", f"--port={PORT}", f"--site-url={SITE}"]
    command += [f"--mount-before-install={site}:/wordpress"]
    command += ["--wordpress-install-mode=install-from-existing-files", "--workers=1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            running = WordPress()
            until = time.monotonic() + 180
            while True:
                try:
                    urllib.request.urlopen(SITE, timeout=60).close()
                    break
                except OSError:
                    if time.monotonic() > until or server.poll() is not None:
                        raise
                    time.sleep(1)  # until it listens
            options = {"posts_per_rss": 100, "posts_per_page": 5}
            running.tell(options=options, deleted=[1, 2, 3])  # which each new site has
            running.ids = json.loads(running.tell(posts=[_stored(it) for it in running.written]))
            yield running
        finally:
            server.terminate()


def _stored(post: Post) -> dict[str, Any]:
    begin, end = "<!-- wp:paragraph -->", "<!-- /wp:paragraph -->"
    blocks = [f"{begin}\n<p>{text}</p>\n{end}" for text in post.paragraphs]
    if post.number == PARTED:
        blocks.insert(2, "<!-- wp:nextpage -->\n<!--nextpage-->\n<!-- /wp:nextpage -->")
    if post.number == 3:
        hidden = '<!-- wp:paragraph {"metadata":{"blockVisibility":false}} -->'
        blocks.append(f"{hidden}\n<p>Bankrupt.</p>\n{end}")
    when = f"{post.when:%Y-%m-%d %H:%M:%S}"
    is_locked = post.status == "password"
    return {
        "post_title": post.title,
        "post_name": post.slug,
        "post_content": "\n\n".join(blocks),
        "post_status": "publish" if is_locked else post.status,
        "post_password": "opensesame" if is_locked else "",
        "post_date": when,
        "post_date_gmt": when,
        "categories": list(post.categories),
        "comments": [
            {"comment_content": f"Said of {post.number}.", "comment_approved": approved}
            for approved in (1, 0)
        ],
    }


@pytest.mark.parametrize("theme", THEMES)
def test_every_public_post_and_nothing_private(
    wordpress: WordPress, theme: str, tmp_path: Path
) -> None:
    wordpress.tell(theme=theme)
    found = {way: wordpress.faults(wordpress.read(way, tmp_path)) for way in WAYS}
    assert found == {way: wordpress.expected(way) for way in WAYS}


def test_what_is_locked_later_is_followed_whichever_way(
    wordpress: WordPress, tmp_path: Path
) -> None:
    wordpress.tell(theme=THEMES[0])
    wordpress.locked |= set(range(10))
    wordpress.tell(locked=wordpress.ids[:10])
    found = {}
    for way in WAYS:
        items = wordpress.read(way, tmp_path)
        found[way] = wordpress.faults(items)
        kinds = [item.kind for item in items if isinstance(item, Skipped) and item.declared]
        assert kinds.count("locked") >= 12, way
    assert found == {way: wordpress.expected(way) for way in WAYS}
