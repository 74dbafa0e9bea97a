"""Markdown folders beyond the inputs in tests/data/sources: hostile texts, oids, time."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.posts.records import RawPost, Reject
from indexer.sources import SourceOptions, open_source
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter

DATA = Path(__file__).parent.parent / "data/sources"


def urls(place: Path) -> dict[Any, Any]:
    items = open_source(str(place), None, SourceOptions()).read()
    return {item.oid: item.url for item in items if isinstance(item, RawPost)}


@pytest.mark.parametrize("part", ["content", "content/posts", "content/posts/a.md"])
def test_a_post_has_the_same_oid_wherever_reading_begins(part: str) -> None:
    whole = urls(DATA / "markdown-hugo")
    assert whole["posts/a"] == "https://blog.example.org/b/posts/a/"
    assert urls(DATA / "markdown-hugo" / part).items() <= whole.items()
    assert urls(DATA / "markdown-hugo" / part)["posts/a"]


def test_an_unexpected_error_rejects_one_file(tmp_path: Path) -> None:
    title = "0x" + "f" * 5_000  # an integer that Python does not convert to decimal digits
    (tmp_path / "a.md").write_text(f"+++\ntitle = {title}\n+++\nt")
    (tmp_path / "b.md").write_text("---\ntitle: b\n---\nt")
    reject, post = open_source(str(tmp_path), None, SourceOptions()).read()
    assert isinstance(post, RawPost)
    assert isinstance(reject, Reject)
    assert (str(reject.origin), reject.oid) == (f"{tmp_path}/a.md", "a")
    assert "unexpected ValueError" in reject.reason


def test_yaml_that_expands_or_nests_without_end_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for head in (bomb, "a: " + "[" * 100_000, "a: &a [*a]"):
        with pytest.raises(BadFrontMatter, match="invalid YAML"):
            split_front_matter(f"---\n{head}\n---\n")
    with pytest.raises(BadFrontMatter, match="invalid TOML: more than"):
        split_front_matter(f"+++\na = '{'x' * 100_000}'\n+++\n")


_CONFIGURED = [
    ("_config.yml", "exclude: ['**/off/**']", ["on/a"]),
    ("_config.yml", "exclude: off", ["on/a"]),
    ("_config.yml", "defaults: [{robots: nofollow, noindex: false}]", ["off/b", "on/a"]),
    ("dendron.yml", "hierarchy:\n  root: {publishByDefault: true}", ["off/b", "on/a"]),
    ("dendron.yml", "hierarchy:\n  root: {publishByDefault: false}", "`publishByDefault`"),
    ("dendron.yml", "publishByDefault:\n  public: true\n  own: false", "`publishByDefault`"),
    ("dendron.yml", "privateHierarchies:\n  - own", "`privateHierarchies`"),
    ("mkdocs.yml", "plugins:\n  - encryptcontent:\n      global_password: x", "`global_password`"),
    ("mkdocs.yml", "plugins:\n  - encryptcontent:\n      password_file: x", "`password_file`"),
    ("pelicanconf.py", "IGNORE_FILES = ['a.md']", "`IGNORE_FILES`"),
    ("_cobalt.yml", "ignore: [off]", ["on/a"]),
    ("_config.yml", "hexo: 8\nignore: off", ["on/a"]),
    ("_config.yml", "plugin: {exclude: ['*']}", ["off/b", "on/a"]),
    ("_config.yml", "collections: {o: {output: true}}", ["off/b", "on/a"]),
    ("bridgetown.config.yml", "collections: {_of: {output: True}}", ["off/b", "on/a"]),
    ("bridgetown.config.yml", "collections: {of: {output: True}}", ["_of/c", "off/b", "on/a"]),
    ("_config.yml", "defaults:\n  - values:\n      # draft: true\n      a: b", ["off/b", "on/a"]),
    ("_config.yml", "defaults:\n  - values:\n      robots: nofollow, noindex", "`robots`"),
    ("_config.yml", "defaults:\n  - values:\n      robots: [noindex]", "`robots`"),
    ("_config.yml", "defaults:\n  - values:\n      robots:\n        - noindex", "`robots`"),
    ("_config.yml", "a: " + "[" * 900 + "]" * 900, "is not valid YAML"),
    ("hugo.toml", "cascade.draft = true", "`draft`"),
    ("hugo.toml", "cascade.build.list = 'never'", "`build.list`"),
    ("conf.py", "extensions = []\nexclude_patterns = ('off',)", ["on/a"]),
    ("conf.py", "extensions = []\nexclude_patterns: list[str] = ['off']", ["on/a"]),
    ("conf.py", "extensions = []\nexclude_patterns = ['x',  # don't ]\n 'off']", ["on/a"]),
    ("conf.py", "extensions = []\nexclude_patterns = OTHERS", "`exclude_patterns`"),
    ("pelicanconf.py", "DEFAULT_METADATA = {}", ["off/b", "on/a"]),
    ("_quarto.yml", "project:\n  pre-render: a.py", ["off/b", "on/a"]),
    ("_quarto.yml", "project:\n  render: a.md", "`render`"),
    ("eleventy.config.js", "x = { srcDir: 'x' };\nconfig.ignores.add('off/**')", ["on/a"]),
    (".vitepress/config.ts", "{ srcDir: './on', srcExclude: ['a.md'] }", ["off/b"]),
    (".vitepress/config.ts", "{ srcExclude: [...OTHERS, 'off'] }", "`srcExclude`"),
    (".vitepress/config.ts", "{ srcExclude: OTHERS }", "`srcExclude`"),
    ("off/_data.ts", "export const draft = true;", "`draft`"),
    ("quartz.config.ts", "[Plugin.ExplicitPublish()]", ["on/a"]),
    ("quartz.config.ts", "[\n  // Plugin.ExplicitPublish()\n]", ["off/b", "on/a"]),
    (".obsidian/templates.json", '{"folder": "off"}', ["on/a"]),
    ("logseq/config.edn", "{}", ["on/a"]),
    ("logseq/config.edn", "; :publishing/all-pages-public? true", ["on/a"]),
    ("logseq/config.edn", "{:publishing/all-pages-public? true}", ["off/b", "on/a"]),
]


@pytest.mark.parametrize(("name", "text", "read"), _CONFIGURED)
def test_a_configuration_leaves_pages_out(
    name: str, text: str, read: list[str] | str, tmp_path: Path
) -> None:
    for place in ("on/a.md", "off/b.md", "_of/c.md"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text(f"---\npublic: {'True' if place[1] == 'n' else ''}\n---\nt")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    if isinstance(read, str):
        with pytest.raises(SourceError, match=read):
            urls(tmp_path)
    else:
        assert list(urls(tmp_path)) == read


@pytest.mark.parametrize("text", ["a", "ignore:[", "encrypt:"])
def test_a_configuration_is_read_in_linear_time(text: str, tmp_path: Path) -> None:
    for name in ("_config.ts", "_data.json", "a.md"):
        (tmp_path / name).write_text(text * 40_000)
    began = time.process_time()
    with suppress(SourceError):
        list(open_source(str(tmp_path), "markdown", SourceOptions()).read())
    assert time.process_time() - began < 2
