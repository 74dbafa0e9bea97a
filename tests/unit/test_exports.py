"""What a folder in tests/data/sources cannot show of feeds and exports: their size."""

import gzip
from pathlib import Path

import pytest

from app.commands.sources import Sources
from indexer.errors import SourceError
from indexer.posts.addresses import without_tracking
from indexer.posts.records import RawPost
from indexer.sources import SourceOptions, open_source
from indexer.sources.wordpress import paragraphs

BLOG = Path(__file__).parent.parent / "data/sources/wordpress/blog.xml"


def test_control_characters_in_an_export_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(BLOG.read_bytes().replace(b"Corn &amp;", b"Corn \x0b&amp;")))
    first = next(iter(open_source(str(path), None, SourceOptions()).read()))
    assert isinstance(first, RawPost)
    assert first.title == "Corn & crows"


def test_what_is_never_closed_is_not_code() -> None:
    assert paragraphs("a [code]\n\nb [gallery]<pre>c\n\n</pre>") == (
        "a [code]<br>\n<p>b <pre>c\n\n</pre>"
    )


def test_a_feed_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml.gz"
    path.write_bytes(gzip.compress(b"<rss>" + b" " * 60_000_000))
    with pytest.raises(SourceError, match="more than 50,000,000 bytes"):
        list(open_source(str(path), "feed", SourceOptions()).read())


def test_a_feed_is_read_after_the_posts_themselves(tmp_path: Path) -> None:
    lines = tmp_path / "posts.jsonl"
    lines.write_text('{"oid": "a", "title": "Whole", "url": "https://a.example.org/1/"}')
    specs = (str(BLOG.parent.parent / "feed-rss/feed.xml"), str(lines))
    sources = [open_source(spec, None, SourceOptions()) for spec in specs]
    items = Sources(sources, SourceOptions()).read()
    posts = [item.title for item in items if isinstance(item, RawPost)]
    assert (posts[0], "First & best" in posts, len(posts)) == ("Whole", False, 4)


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://e.org/a/?utm_source=rss&utm_medium=x", "https://e.org/a/"),
        ("https://e.org/?p=3&fbclid=x#part", "https://e.org/?p=3#part"),
        ("/a?gclid=1&b=2&mc_cid=3", "/a?b=2"),
        ("https://e.org/a#atom-everything", "https://e.org/a"),
        ("https://e.org/a?source=rss----1", "https://e.org/a"),
        ("https://e.org/a?source=x&utm=1#atoms", "https://e.org/a?source=x&utm=1#atoms"),
        ("https://e.org/a?", "https://e.org/a"),
    ],
)
def test_what_counts_visitors_is_no_part_of_an_address(url: str, bare: str) -> None:
    assert without_tracking(url) == bare
