"""Markdown folders beyond the inputs in tests/data/sources: hostile texts, oids, time."""

from pathlib import Path
from typing import Any

import pytest

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
