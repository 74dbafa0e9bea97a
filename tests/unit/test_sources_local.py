"""Files and folders: which kind they are, what may not be read, and JSON Lines."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from indexer.errors import SourceError
from indexer.posts.html_text import Readable
from indexer.posts.records import RawPost, Reject, SourceItem
from indexer.sources import KINDS, SourceOptions, open_source
from indexer.sources.files import decode
from indexer.sources.generators import site_of
from indexer.sources.identity import fit, oid_of_page
from indexer.sources.json_lines import MAX_LINE

SOURCES = Path(__file__).parent.parent / "data/sources"
PAGE = "<html><title>A</title><main><p>" + "Some text of this post. " * 10
POST = f"---\ntitle: A\n---\n{PAGE}"
FOLDERS = [("markdown", ".md"), ("html", ".html")]


def read(place: Path | str, kind: str | None = None) -> list[SourceItem]:
    return list(open_source(str(place), kind, SourceOptions()).read())


def save(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def oids(items: list[SourceItem], kind: type[RawPost | Reject]) -> list[object]:
    return [item.oid for item in items if isinstance(item, kind)]


# -- recognition -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a", '{"oid": 1}', "jsonlines"),
        ("a.xml", '\n [{"oid": 1}]', "jsonlines"),
        ("a.json", "<?xml version='1.0'?><!-- c > --><rss version='2.0'></rss>", "feed"),
        ("a.json", '{"version": "https://jsonfeed.org/version/1.1"}', "feed"),
        ("a", '<rss xmlns:wp="http://wordpress.org/export/1.2/"></rss>', "wordpress"),
        ("a", '<?xml version="1.0"?><urlset></urlset>', "sitemap"),
        ("a.xml.gz", gzip.compress(b"<sitemapindex></sitemapindex>", mtime=0), "sitemap"),
        ("a", "<!DOCTYPE html><p>x", "html"),
        ("a.md", "text", "markdown"),
        ("a.txt", "---\ntitle: x\n---\n", "markdown"),
        ("folder/a.html", "<html>", "html"),
        ("folder/a.md", "# x", "markdown"),
    ],
)
def test_a_source_is_recognised_by_what_it_is(
    tmp_path: Path, name: str, content: str | bytes, kind: str
) -> None:
    path = save(tmp_path / name, content)
    place = tmp_path / "folder" if name.startswith("folder") else path
    assert open_source(str(place), None, SourceOptions()).kind == kind


@pytest.mark.parametrize(
    ("configuration", "built"),
    [
        ("_config.yml", "_site"),
        ("hugo.toml", "public"),
        (".vitepress/config.js", ".vitepress/dist"),
    ],
)
def test_a_built_site_inside_its_source_is_html(
    tmp_path: Path, configuration: str, built: str
) -> None:
    save(tmp_path / configuration, "")
    save(tmp_path / "_posts/2024-01-01-a.md", "---\ntitle: a\n---\nx")
    save(tmp_path / built / "post/a.html", PAGE)
    save(tmp_path / built / "post/README.md", "# Copied without front matter")
    for place, oid in ((built, "post/a"), (f"{built}/post", "a")):
        source = open_source(str(tmp_path / place), None, SourceOptions())
        assert source.kind == "html"
        assert oids(list(source.read()), RawPost) == [oid]
    assert open_source(str(tmp_path), None, SourceOptions()).kind == "markdown"


DOCUSAURUS = """const config = {
  url: 'https://e.org',
  baseUrl: '/d/',
  i18n: {defaultLocale: 'en'},
  items: [{url: 'https://f.org'}],
};"""


_WITH_LANGUAGES = """
url: 'https://e.org',
baseUrl: '/',
i18n: {defaultLocale: 'en', localeConfigs: {
    de: {
      baseUrl: '/de/'}}},
"""


@pytest.mark.parametrize(
    ("name", "content", "address", "language"),
    [
        ("hugo.toml", 'baseURL = "https://e.org/"\nlanguageCode = "de"', "https://e.org", "de"),
        ("_config.yml", "url: https://e.org\nbaseurl: /b", "https://e.org/b", ""),
        ("_config.yml", "author:\n  url: https://f.org\nlang: de", "", "de"),
        ("conf.py", 'BLOG_TITLE = "x"\nSITE_URL = "https://e.org/"', "https://e.org", ""),
        ("conf.py", 'extensions = []\nurl = "https://f.org"', "", ""),
        ("pelicanconf.py", "SITEURL = ''\nDEFAULT_LANG = 'en'", "", "en"),
        ("docusaurus.config.js", DOCUSAURUS, "https://e.org/d", "en"),
        ("docusaurus.config.ts", _WITH_LANGUAGES, "https://e.org", "en"),
        ("_quarto.yml", "website:\n  site-url: https://e.org\nlang: de", "https://e.org", "de"),
        ("mkdocs.yml", "site_url: https://e.org/d/  # the address", "https://e.org/d", ""),
        ("config.toml", 'base_url = "https://e.org"\ntitle = "x"', "https://e.org", ""),
        ("astro.config.mjs", "({ site: 'https://e.org', base: '/b' })", "https://e.org/b", ""),
    ],
)
def test_the_address_and_the_language_in_a_configuration(
    tmp_path: Path, name: str, content: str, address: str, language: str
) -> None:
    save(tmp_path / name, content)
    site = site_of(tmp_path)
    assert site
    assert (site.address, site.language) == (address, language)


# -- what may not be read --------------------------------------------------------------------------


def test_no_such_place_and_no_such_kind(tmp_path: Path) -> None:
    for kind in (None, *KINDS, "gopher"):
        with pytest.raises(SourceError) as caught:
            open_source(str(tmp_path / "nowhere"), kind, SourceOptions())
        assert caught.value.remedy


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_folder_that_may_not_be_looked_into_is_not_passed_over() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        save(folder / "a.md", POST)
        (folder / "closed").mkdir(mode=0o700)
        os.seteuid(65534)
        try:
            with pytest.raises(SourceError, match=r"closed: Permission denied"):
                read(folder, "markdown")
        finally:
            os.seteuid(0)


@pytest.mark.parametrize(("kind", "suffix"), FOLDERS)
def test_only_regular_files_inside_the_folder_are_read(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    save(tmp_path / f"secret{suffix}", POST)
    save(tmp_path / f"posts/a/b{suffix}", POST)
    posts = tmp_path / "posts"
    (posts / f"link{suffix}").symlink_to(tmp_path / f"secret{suffix}")
    (posts / f"nowhere{suffix}").symlink_to(tmp_path / "nowhere")
    (posts / f"same{suffix}").symlink_to(posts / f"a/b{suffix}")
    (posts / "a/again").symlink_to(posts)  # a folder in a circle
    (posts / f"self{suffix}").symlink_to(f"self{suffix}")
    os.mkfifo(posts / f"fifo{suffix}")
    items = read(posts, kind)
    assert oids(items, RawPost) == ["a/b", "same"]
    reasons = {item.oid: item.reason for item in items if isinstance(item, Reject)}
    assert reasons["link"] == "a symbolic link to a file outside the folder"
    assert reasons["fifo"] == "not a regular file"
    remedies = {item.oid: item.remedy for item in items if isinstance(item, Reject)}
    assert "link to nothing or to itself" in remedies["self"]
    assert "link to nothing or to itself" in remedies["nowhere"]


def test_a_file_that_is_too_large_is_not_said_to_lack_permissions(tmp_path: Path) -> None:
    (item,) = read(save(tmp_path / "a.md", "word " * 1_100_000))
    assert isinstance(item, Reject)
    assert item.reason == "the file has more than 5,000,000 bytes"
    assert item.remedy == "Split it, or leave it out."


# -- JSON Lines ------------------------------------------------------------------------------------

LINES = b"""\xef\xbb\xbf{"oid": 1, "title": "A", "comments": [{"oid": 2, "author": "d"}]}

{"oid": 3, "title": "B", "licence": "ignored"}
no JSON
[1]
{"id": 4, "title": "C"}
{"oid": 5, "title": "D", "comments": {"oid": 1}}
{"oid": 6, "title": "caf\xe9"}
{"oid": 7, "title": "E", "x": DEEP}
""".replace(b"DEEP", b"[" * 1000 + b"]" * 1000)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "zipped-without-saying-so"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    path = save(tmp_path / name, LINES if name == "a.jsonl" else gzip.compress(LINES))
    source = open_source(str(path), None, SourceOptions())
    assert source.kind == "jsonlines"
    first, second, *rejects = source.read()
    assert isinstance(first, RawPost)
    assert (str(first.origin), first.oid, first.comments[0].author) == (f"{path}:1", 1, "d")
    assert isinstance(second, RawPost)
    assert (second.origin.line, second.title) == (3, "B")
    assert [item.origin.line for item in rejects] == [4, 5, 6, 7, 8, 9]
    parts = ("not JSON", "not an object", "oid is missing", "comments is not a list", "not JSON")
    for reject, part in zip(rejects, (*parts, "more than 100 levels"), strict=True):
        assert isinstance(reject, Reject)
        assert part in reject.reason


def test_a_line_too_long_is_passed_over(tmp_path: Path) -> None:
    long = b'{"oid": 1, "title": "' + b"x" * MAX_LINE + b'"}\n'
    reject, post = read(save(tmp_path / "a.jsonl", long + b'{"oid": 2, "title": "B"}\n'))
    assert isinstance(reject, Reject)
    assert f"{len(long):,} bytes" in reject.reason
    assert isinstance(post, RawPost)
    assert post.origin.line == 2


def test_only_the_beginning_of_an_export_loses_its_spaces(tmp_path: Path) -> None:
    """It is read in chunks, of which some begin with a space."""
    fields = (
        "<wp:post_id>1</wp:post_id><wp:status>publish</wp:status><wp:post_type>post</wp:post_type>"
    )
    text = "<content:encoded>" + "word " * 60_000 + "</content:encoded>"
    spaces = 'xmlns:wp="http://wordpress.org/export/1.2/"'
    spaces += ' xmlns:content="http://purl.org/rss/1.0/modules/content/"'
    item = f"<item><title>A</title>{fields}{text}</item>"
    export = f"\n<rss version='2.0' {spaces}><channel>{item}</channel></rss>"
    (post,) = read(save(tmp_path / "a.xml", export))
    assert isinstance(post, RawPost)
    assert isinstance(post.text, Readable)
    assert post.text.prose.split() == ["word"] * 60_000


def test_a_gz_that_ends_early_does_not_just_end(tmp_path: Path) -> None:
    lines = [b'{"oid": %d, "title": "A"}\n' % number for number in range(5000)]
    with pytest.raises(SourceError, match="damaged"):
        read(save(tmp_path / "a.jsonl.gz", gzip.compress(b"".join(lines))[:-100]))


def test_json_array(tmp_path: Path) -> None:
    entries = [{"oid": number, "title": "é" * number} for number in range(1, 400)]
    body = ",\r\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    items = read(save(tmp_path / "a.json", f" [\r\n{body}\r\n]\r\n"))
    assert oids(items, RawPost) == list(range(1, 400))
    assert str(items[1].origin).endswith("a.json item 2")
    assert read(save(tmp_path / "a.json", "[ ]")) == []


@pytest.mark.parametrize(
    "rest",
    ["", ", ]", ', {"oid": 2', "] 1", ", " + "[" * 99999, ', "\xe9"]'],
)
def test_a_broken_array_does_not_just_end(tmp_path: Path, rest: str) -> None:
    whole = f'[{{"oid": 1,\n"title": "A"}}\n{rest}'.encode("latin-1")
    with pytest.raises(SourceError, match=r"a\.json: invalid JSON array: .*create it again"):
        read(save(tmp_path / "a.json", whole))


_PEAKS = """
import sys, tracemalloc
from indexer.sources import SourceOptions, open_source

for path in sys.argv[1:]:
    tracemalloc.start()
    items = sum(1 for _ in open_source(path, None, SourceOptions()).read())
    print(items, tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    export = (SOURCES / "wordpress/blog.xml").read_text("utf-8")
    first, last = export.index("<item>"), export.rindex("</item>") + len("</item>")
    start, posts, end = export[:first], export[first:last], export[last:]
    few, many = (save(tmp_path / f"{times}.xml", start + posts * times + end) for times in (5, 100))
    # In a process of its own: in this one, threads that other tests started take memory, too.
    command = [sys.executable, "-c", _PEAKS, str(few), str(many)]
    (of_few, before), (of_many, after) = (
        map(int, line.split()) for line in subprocess.check_output(command, text=True).splitlines()
    )
    assert of_many == 20 * of_few
    assert after < before + many.stat().st_size / 4


# -- encodings and oids ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("é".encode(), "text/html; charset=iso-8859-1", "é"),
        (b"\xe9\x80", "", "é€"),
        (b"\xe9", "text/html; charset=utf-8", "é"),
        (b"\xe9\x80", "text/html; charset=ISO-8859-1", "é€"),
        (b'<meta charset="windows-1251">\xe9', "", '<meta charset="windows-1251">й'),
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", "日本"),
        ("日本".encode("iso-2022-jp"), "text/html; charset=ISO-2022-JP", "日本"),
        ("é".encode("utf-8-sig"), "", "é"),
        (b"\xff\xfe" + "é".encode("utf-16-le"), "text/html; charset=utf-8", "é"),
        (b"\xe9", "text/html; charset=no-such-thing", "é"),
        (b"\x81", "", "\ufffd"),
        (b'<meta charset="undefined">\xe9', "", '<meta charset="undefined">\xe9'),
        (b"\xe9", "text/html; charset=idna", "\xe9"),
        ("日本のパン".encode("euc_jp"), "", "日本のパン"),
        ("日本のパン".encode("cp932"), "", "日本のパン"),
        ("Cafétérie – naïve ‚x‘ ƒy".encode("cp1252"), "", "Cafétérie – naïve ‚x‘ ƒy"),
    ],
)
def test_encodings(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


def test_oids_of_pages() -> None:
    for address in ("https://a.org/x/index.html", "/x/", "x/index.html", "x", "/x.html", "x.htm"):
        assert oid_of_page(address) == "x"
    assert oid_of_page("https://a.org/") == oid_of_page("/index.html") == "index"
    assert oid_of_page("https://a.org/?p=3") == "index?p=3"
    assert oid_of_page("/caf%C3%A9/") == "café"


def test_an_oid_too_long_is_cut_and_stays_its_own() -> None:
    assert fit("é" * 100) == "é" * 100
    first, second = fit("é" * 101), fit("é" * 102)
    assert first != second
    assert len(first.encode()) <= 200
