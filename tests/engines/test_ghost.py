"""A real Ghost from npm, with SQLite: its site, its feed and its export."""

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

from indexer.posts.records import RawPost, Skipped, SourceItem
from indexer.sources import SourceOptions, open_source
from indexer.sources.fetch import FetchOptions
from tests.engines.truth import Post, faults, posts

TOOLS = Path(os.environ.get("ENGINES") or ".engines").resolve()
GHOST = TOOLS / "ghost"
NODE = TOOLS / "node22/node_modules/node/bin/node"
PORT = 9412
SITE = f"http://127.0.0.1:{PORT}"
API = f"{SITE}/ghost/api/admin"
THEMES = ("casper", "source")
STATUSES = (*["public"] * 20, *["draft", "scheduled", "members", "paid", "noindex"] * 2)
WAYS = ("/", "/rss/", "export")
IN_FEED = 15
OWNER = {"name": "Ida", "email": "ida@example.org", "password": "Mill-Stone-77-x"}
OPTIONS = SourceOptions(fetch=FetchOptions(allow_private=True, read_timeout=60.0, deadline=120.0))


class Ghost:
    """The running site; `ids` are those of its posts, each with the moment of its last change."""

    def __init__(self) -> None:
        self.written: list[Post] = posts(STATUSES)
        self.ids: list[tuple[str, str]] = []
        self.locked: set[int] = set()
        self._cookie = ""

    def tell(self, path: str, told: Any = None, method: str = "POST") -> Any:
        """Ask the API for administrators."""
        body = None if told is None else json.dumps(told).encode()
        headers = {"Origin": SITE, "Cookie": self._cookie, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{API}{path}", body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            self._cookie = (answer.headers["Set-Cookie"] or self._cookie).partition(";")[0]
            content = answer.read()
        return json.loads(content) if content[:1] == b"{" else content

    def set_up(self) -> None:
        """The owner, and the posts."""
        self.tell("/authentication/setup/", {"setup": [{**OWNER, "blogTitle": "Mill notes"}]})
        self.tell("/session/", {"username": OWNER["email"], "password": OWNER["password"]})
        for stored in self.tell("/posts/?fields=id", method="GET")["posts"]:
            self.tell(f"/posts/{stored['id']}/", method="DELETE")
        for stored in self.tell("/pages/?fields=id", method="GET")["pages"]:
            self.tell(f"/pages/{stored['id']}/", method="DELETE")
        for post in self.written:
            (made,) = self.tell("/posts/?source=html", {"posts": [_stored(post)]})["posts"]
            self.ids.append((made["id"], made["updated_at"]))

    def lock(self, count: int) -> None:
        """Make the first posts be for members."""
        for number, (id_, updated) in enumerate(self.ids[:count]):
            told = {"visibility": "members", "updated_at": updated}
            self.tell(f"/posts/{id_}/", {"posts": [told]}, "PUT")
            self.locked.add(number)

    def read(self, way: str, folder: Path) -> list[SourceItem]:
        """What comes in by one way: an address of the site, or its export."""
        place = f"{SITE}{way}"
        if way == "export":
            file = folder / "blog.ghost.json"
            file.write_text(json.dumps(self.tell("/db/", method="GET")))
            place = str(file)
        return list(open_source(place, None, OPTIONS).read())

    def faults(self, items: list[SourceItem], way: str) -> list[str]:
        """What is not as it was written; a feed has only the latest posts."""
        now = [
            replace(post, status="members") if number in self.locked else post
            for number, post in enumerate(self.written)
        ]
        if way == "/rss/":  # it has them, and no robots
            now = [replace(p, status="public") if p.status == "noindex" else p for p in now]
        found = faults(items, now, of=("public",))
        return [text for text in found if way != "/rss/" or "is missing" not in text]


@pytest.fixture(scope="module")
def ghost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ghost]:
    content = tmp_path_factory.mktemp("ghost") / "content"
    shutil.copytree(GHOST / "content", content)
    (content / "data").mkdir(exist_ok=True)
    settings = {
        "url": SITE,
        "server__port": PORT,
        "database__client": "sqlite3",
        "database__connection__filename": content / "data/ghost.db",
        "database__useNullAsDefault": "true",
        "paths__contentPath": content,
        "security__staffDeviceVerification": "false",
        "privacy__useUpdateCheck": "false",
        "privacy__useGravatar": "false",
        "NODE_ENV": "production",
    }
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [NODE, "index.js"], cwd=GHOST, env=environment, stdout=quiet, stderr=quiet
    ) as server:
        try:
            running, until = Ghost(), time.monotonic() + 120
            while True:
                try:
                    running.tell("/site/", method="GET")
                    break
                except OSError:
                    if time.monotonic() > until or server.poll() is not None:
                        raise
                    time.sleep(1)  # until it listens, and has its tables
            running.set_up()
            yield running
        finally:
            server.terminate()


def _stored(post: Post) -> dict[str, Any]:
    status = dict.fromkeys(("public", "members", "paid", "noindex"), "published")
    robots = '<meta content="noindex" name="robots">'
    when = f"{post.when:%Y-%m-%dT%H:%M:%S.000Z}"
    return {
        "title": post.title,
        "slug": post.slug,
        "html": post.html,
        "status": status.get(post.status, post.status),
        "visibility": post.status if post.status in ("members", "paid") else "public",
        "published_at": when,
        "codeinjection_head": robots if post.status == "noindex" else None,
        "tags": list(post.categories),
    }


@pytest.mark.parametrize("theme", THEMES)
def test_every_public_post_and_nothing_private(ghost: Ghost, theme: str, tmp_path: Path) -> None:
    ghost.tell(f"/themes/{theme}/activate/", method="PUT")
    found = {}
    for way in WAYS:
        items = ghost.read(way, tmp_path)
        found[way] = ghost.faults(items, way)
        if way == "/rss/":
            assert sum(isinstance(item, RawPost | Skipped) for item in items) == IN_FEED
    assert found == {way: [] for way in WAYS}


def test_what_is_locked_later_is_followed_whichever_way(ghost: Ghost, tmp_path: Path) -> None:
    ghost.lock(10)
    found = {}
    for way in WAYS:
        items = ghost.read(way, tmp_path)
        found[way] = ghost.faults(items, way)
        kinds = [item.kind for item in items if isinstance(item, Skipped) and item.declared]
        assert kinds.count("locked") >= (4 if way == "/rss/" else 14), way
    assert found == {way: [] for way in WAYS}
