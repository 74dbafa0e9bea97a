"""Markdown folders: front matter, what is out, addresses, and the words of a post."""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexer.dates import iso, moment
from indexer.errors import SourceError
from indexer.html_text import readable
from indexer.records import RawPost, Reject, Skipped
from indexer.sources import SourceOptions, open_source
from indexer.sources.markdown.front_matter import BadFrontMatter, FrontMatter, split_front_matter
from indexer.sources.markdown.text import rendered

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder


def read(place: Path, **options: Any) -> dict[str, RawPost]:
    source = open_source(str(place), None, SourceOptions(**{"now": NOW, **options}))
    assert source.kind == "markdown"
    items = list(source.read())
    assert not [item for item in items if isinstance(item, Reject)]
    assert source.progress == 1
    return {str(item.oid): item for item in items if isinstance(item, RawPost)}


def urls(place: Path, **options: Any) -> dict[str, Any]:
    return {oid: post.url for oid, post in read(place, **options).items()}


@pytest.mark.parametrize(
    ("stated", "image"),
    [
        ("image: /img/a b.png", "https://a.example/img/a%20b.png"),
        ("cover:\n  image: https://b.example/a.png", "https://b.example/a.png"),
        ("images: [/a.png, /b.png]", "https://a.example/a.png"),
        ("thumbnail: beside-the-post.png", None),
        ("image: 'http://[::1'", None),
        ("image: true", None),
    ],
)
def test_the_image_in_the_front_matter(tmp_path: Path, stated: str, image: str | None) -> None:
    (tmp_path / "a.md").write_text(f"---\ntitle: A\n{stated}\n---\nText\n")
    assert read(tmp_path, site="https://a.example")["a"].image == image


# -- front matter ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: A b\ntags: [x, y]\ndate: 2024-01-31\n---\n",
        "\ufeff---\r\ntitle: A b\r\ntags:\r\n  - x\r\n  - y\r\ndate: 2024-01-31\r\n---\r\n",
        "---\ntitle: 'A b'\ntags: [x, y]\ndate: 2024-01-31\n...\n",
        '+++\ntitle = "A b"\ntags = ["x", "y"]\ndate = 2024-01-31\n+++\n',
        '{\n"title": "A b", "tags": ["x", "y"], "date": "2024-01-31"\n}\n',
        '---json\n{"title": "A b", "tags": ["x", "y"], "date": "2024-01-31"}\n---\n',
        '---toml\ntitle = "A b"\ntags = ["x", "y"]\ndate = 2024-01-31\n---\n',
        "title: A b\ndate: 2024-01-31\ntags:\n- x\n- y\n---\n",
        "<!--\n.. title: A b\n.. tags: [x, y]\n.. date: 2024-01-31\n.. link:\n-->\n",
        "---\ntitle: A b\ntags: [x, y]\ndate: 2024-01-31\nsummary: a: b {#if}\n---\n",
    ],
)
def test_every_kind_of_head(head: str) -> None:
    split = split_front_matter(f"{head}\nText --- here\n\n---\n")
    assert split.fields is not None
    assert (split.fields["title"], split.fields["tags"]) == ("A b", ["x", "y"])
    when = moment(split.fields["date"])
    assert when is not None
    assert iso(when) == "2024-01-31T00:00:00Z"
    assert split.text.strip() == "Text --- here\n\n---"


def test_yaml_does_not_guess() -> None:
    head = "---\ntitle: NO\nslug: 1:30\noid: 007\ndate: 2024-02-30\ndraft: false\nnext: ~\n---\n"
    assert split_front_matter(head).fields == {
        "title": "NO",
        "slug": "1:30",
        "oid": "007",
        "date": "2024-02-30",
        "draft": False,
        "next": None,
    }


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("---\ntitle: a\nb: [\n---\ntext", 4),
        ("---\ntitle: a\ntags: 'b\n---\n", 4),
        ("---\n- a\n- b\n---\n", 2),
        ("---\ntitle: a\ntext without an end", 1),
        ("+++\ntitle = 1\nx = \n+++\n", 3),
        ('{"title": 1,\n"x" 2}', 2),
        ('{"title": 1%s}' % ("0" * 5_000), 1),
        ("---js\n{title: 1}\n---\n", 1),
        ("---\na: " + "[" * 1500 + "\n---\n", 1),
    ],
)
def test_a_bad_head_names_its_line(content: str, line: int) -> None:
    with pytest.raises(BadFrontMatter) as caught:
        split_front_matter(content)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "content",
    ["", "text", "---\n\nA line\n\n---\n", "----\na: b\n----\n", "{{ x }}", "Date: a\nof words"],
)
def test_no_head_at_all(content: str) -> None:
    assert split_front_matter(content).fields is None
    assert split_front_matter(content).text == content


@pytest.mark.parametrize("title", ["{#if ...}", "bind:", "What: it is", "@attach", "%x%", "`a`: b"])
def test_titles_that_are_not_yaml(title: str) -> None:
    head = f"---\ntitle: {title}\ntags:\n  - a\n  - b\n---\nText"
    assert split_front_matter(head).fields == {"title": title, "tags": ["a", "b"]}


def test_metadata_of_pelican() -> None:
    head = "Title: It's “One”: a Post\nTags: c, d\nSummary: First\n    and more\n\nThe text."
    assert split_front_matter(head) == FrontMatter(
        {"Title": "It's “One”: a Post", "Tags": "c, d", "Summary": "First\nand more"}, "The text."
    )


def test_a_bad_head_is_a_reject_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "---\ntitle: a\n---\n", "b.md": "---\ntitle: [a\n---\n"})
    (tmp_path / "c.md").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    first, *rejects = open_source(str(tmp_path), None, SourceOptions()).read()
    assert isinstance(first, RawPost)
    head, encoding = rejects
    assert isinstance(head, Reject)
    assert isinstance(encoding, Reject)
    assert (str(head.origin), head.oid) == (f"{tmp_path}/b.md:3", "b")
    assert "UTF-8 at byte 14" in encoding.reason


def test_an_unexpected_error_rejects_one_file(tmp_path: Path) -> None:
    title = "0x" + "f" * 5_000  # an integer that Python does not convert to decimal digits
    write(tmp_path, {"a.md": f"+++\ntitle = {title}\n+++\nt", "b.md": "---\ntitle: b\n---\nt"})
    reject, post = open_source(str(tmp_path), None, SourceOptions()).read()
    assert isinstance(post, RawPost)
    assert isinstance(reject, Reject)
    assert (str(reject.origin), reject.oid) == (f"{tmp_path}/a.md", None)
    assert "unexpected ValueError" in reject.reason


# -- what is out -----------------------------------------------------------------------------------


def test_drafts_future_and_expired_posts_stay_out_unless_asked(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "_config.yml": "",
            "_posts/2024-01-01-out.md": "---\ntitle: x\n---\ntext",
            "_posts/2024-01-02-draft.md": "---\ntitle: x\ndraft: true\n---\ntext",
            "_posts/2024-01-03-unpublished.md": "---\ntitle: x\npublished: false\n---\ntext",
            "_posts/2024-07-01-future.md": "---\ntitle: x\n---\ntext",
            "_posts/2024-01-04-publish.md": "---\ntitle: x\npublishDate: 2024-07-01\n---\ntext",
            "_posts/2024-01-05-expired.md": "---\ntitle: x\nexpiryDate: 2024-02-01\n---\ntext",
            "_drafts/idea.md": "---\ntitle: x\n---\ntext",
            "_site/2024/01/01/out.md": "---\ntitle: x\n---\ntext",
            "_layouts/post.md": "---\ntitle: x\n---\ntext",
            "node_modules/a/README.md": "---\ntitle: x\n---\ntext",
            ".git/x.md": "---\ntitle: x\n---\ntext",
            "README.md": "# The repository",
            "archive.md": "---\nlayout: archive\ntitle: Archive\n---\n",
            "index.html": "---\ntitle: Home\n---\n{% for post in site.posts %}{% endfor %}",
        },
    )
    out = {"_posts/2024-01-01-out"}
    assert set(read(tmp_path)) == out
    drafts = {"_posts/2024-01-02-draft", "_posts/2024-01-03-unpublished", "_drafts/idea"}
    assert set(read(tmp_path, drafts=True)) == out | drafts
    future = {"_posts/2024-07-01-future", "_posts/2024-01-04-publish"}
    assert set(read(tmp_path, future=True)) == out | future


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ("published: true", None),
        ("published: yes\ncreated_at: 2024-01-01", "2024-01-01"),
        ('published: "On"\ncreated_at: 2024-01-01', "2024-01-01"),
        ("date: false", None),
        ("date: 2024-01-01\nupdated: true", "2024-01-01"),
        ("published: 2024-01-01", "2024-01-01"),
    ],
)
def test_a_switch_is_not_a_date(tmp_path: Path, fields: str, date: str | None) -> None:
    write(tmp_path, {"p/a.md": f"---\ntitle: A\n{fields}\n---\nx"})
    (post,) = read(tmp_path).values()
    assert (post.pub_date, post.modified) == (moment(date), None)


@pytest.mark.parametrize("value", ["false", "no", "'off'"])
def test_an_unpublished_post_is_a_draft_without_a_date(tmp_path: Path, value: str) -> None:
    write(tmp_path, {"a.md": f"---\ntitle: A\npublished: {value}\n---\nx"})
    assert not read(tmp_path)
    assert read(tmp_path, drafts=True)["a"].pub_date is None


def test_a_link_in_a_circle_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"a/b.md": "---\ntitle: x\n---\ntext"})
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert set(read(tmp_path)) == {"a/b"}


def test_markdown_without_front_matter(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "til/one.md": "# One *thing* \n\nText",
            "til/2024-01-31-two-things.md": "Only text",
            "three.md": "Three\n=====\nText",
            "README.md": "# About",
        },
    )
    posts = read(tmp_path)
    assert {oid: post.title for oid, post in posts.items()} == {
        "til/one": "One thing",
        "til/2024-01-31-two-things": "Two things",
        "three": "Three",
    }
    assert "thing" not in posts["til/one"].text
    assert iso(posts["til/2024-01-31-two-things"].pub_date) == "2024-01-31T00:00:00Z"


# -- fields and addresses --------------------------------------------------------------------------


def test_jekyll_fields(tmp_path: Path) -> None:
    head = "title: x\ncategories: Web Dev\ntags: a b\nlast_modified_at: 2024-02-02"
    front_matter = "title: x\ncategory: Developer Tools\ntag: two words"
    write(
        tmp_path,
        {
            "_config.yml": "timezone: America/New_York",
            "_posts/2024-01-31-a.md": f"---\n{head}\n---\ntext",
            "_posts/2024-01-31-one.md": f"---\n{front_matter}\n---\ntext",
            "_posts/2024-01-31-page.html": "---\ntitle: x\n---\n<p>HTML",
        },
    )
    posts = read(tmp_path)
    first = posts["_posts/2024-01-31-a"]
    assert (first.categories, first.keywords) == (["Web", "Dev"], ["a", "b"])
    singular = posts["_posts/2024-01-31-one"]
    assert (singular.categories, singular.keywords) == (["Developer Tools"], ["two words"])
    assert isinstance(first.pub_date, datetime)
    assert isinstance(first.modified, datetime)
    assert iso(first.pub_date) == "2024-01-31T00:00:00Z"
    assert iso(first.modified) == "2024-02-02T00:00:00Z"
    assert "<p>HTML" in posts["_posts/2024-01-31-page"].text


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("day", ["2024-01-01", "'2024-01-01'", "January 1st 2024", "'20240101'"])
def test_a_day_without_a_time_is_the_same_day_in_every_zone(
    tmp_path: Path, zone: str, day: str
) -> None:
    """As it is shown and filtered, and in the address."""
    config = f"timezone: {zone}\npermalink: /:year/:month/:day/:title/"
    post = "---\ntitle: x\n{}---\nt"
    write(
        tmp_path,
        {
            "_config.yml": config,
            "_posts/2024-01-01-named.md": post.format(""),
            "_posts/2023-05-05-said.md": post.format(f"date: {day}\n"),
        },
    )
    posts = read(tmp_path)
    assert {item.pub_date for item in posts.values()} == {datetime(2024, 1, 1, tzinfo=UTC)}
    assert [item.url for item in posts.values()] == ["/2024/01/01/said/", "/2024/01/01/named/"]
    by_template = urls(tmp_path, url_templates={"": "/{year}/{month}/{day}/{slug}"})
    assert list(by_template.values()) == ["/2024/01/01/said", "/2024/01/01/named"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_a_day_without_a_time_is_that_day_in_a_permalink_of_hugo(tmp_path: Path, zone: str) -> None:
    write(
        tmp_path,
        {
            "hugo.toml": f'timeZone = "{zone}"\n[permalinks]\nposts = "/:year/:month/:day/:slug/"',
            "content/posts/a.md": '+++\ntitle = "x"\nslug = "a"\ndate = 2024-01-01\n+++\nt',
            "content/posts/b.md": '+++\ntitle = "x"\nslug = "b"\ndate = "2024-01-01"\n+++\nt',
        },
    )
    assert list(urls(tmp_path).values()) == ["/2024/01/01/a/", "/2024/01/01/b/"]


@pytest.mark.parametrize(
    ("zone", "hour"), [("Europe/Berlin", -1), ("America/New_York", 5), ("UTC", 0)]
)
def test_a_day_begins_in_the_zone_of_the_site(tmp_path: Path, zone: str, hour: int) -> None:
    """A post of today is published from midnight on, as by the site itself."""
    write(
        tmp_path,
        {"_config.yml": f"timezone: {zone}", "_posts/2024-01-01-a.md": "---\ntitle: x\n---\nt"},
    )
    begins = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
    assert not read(tmp_path, now=begins - timedelta(seconds=1))
    assert read(tmp_path, now=begins)


def test_a_time_without_a_zone_is_in_the_zone_of_the_site(tmp_path: Path) -> None:
    said = "---\ntitle: x\ndate: 2024-01-01 00:00\n---\nt"
    write(tmp_path, {"_config.yml": "timezone: Europe/Berlin", "_posts/2024-01-01-a.md": said})
    (post,) = read(tmp_path).values()
    assert post.pub_date == datetime(2023, 12, 31, 23, tzinfo=UTC)


JEKYLL = {
    "_posts/2024-01-31-hello-World.md": "---\ntitle: x\ncategories: Web Dev\n---\nt",
    "news/_posts/2024-01-31-in-news.md": "---\ntitle: x\n---\nt",
    "_posts/2024-01-31-zone.md": "---\ntitle: x\ndate: 2024-01-31 23:30 -0800\n---\nt",
    "_posts/2024-01-31-cat.md": "---\ncategory: Web Dev\npermalink: /:categories/:slug/:title\n"
    "slug: My Slug\n---\nt",
    "_recipes/corn.md": "---\ntitle: x\n---\nt",
    "_notes/sub/deep.md": "---\ntitle: x\n---\nt",
    "_data/x.md": "---\ntitle: x\n---\nt",
    "old/x.md": "---\ntitle: x\n---\nt",
    "about.md": "---\ntitle: x\n---\nt",
    "docs/index.md": "---\ntitle: x\n---\nt",
    "plain.md": "no front matter",
}
JEKYLL_CONFIG = """
url: https://example.org
baseurl: /blog
timezone: America/New_York
collections:
  recipes: {output: true, permalink: "/food/:path/"}
  notes: {output: true}
  data: {}
defaults:
  - {scope: {path: news, type: posts}, values: {permalink: "/n/:title/"}}
exclude: [old]
"""


@pytest.mark.parametrize(
    ("style", "hello", "zone", "deep", "about"),
    [
        ("date", "web/dev/2024/01/31/hello-World.html", "2024/02/01/zone.html", ".html", ".html"),
        ("pretty", "web/dev/2024/01/31/hello-World/", "2024/02/01/zone/", "/", "/"),
        ("none", "web/dev/hello-World.html", "zone.html", ".html", ".html"),
        ("ordinal", "web/dev/2024/031/hello-World.html", "2024/032/zone.html", ".html", ".html"),
        ("weekdate", "web/dev/2024/W05/Wed/hello-World.html", "2024/W05/Thu/zone.html", "", ""),
        ("/:year/:title", "2024/hello-World", "2024/zone", "", ""),
        ("/:title:output_ext", "hello-World.html", "zone.html", ".html", ".html"),
        ("/:short_year-:i_month/:slug", "24-1/hello-world", "24-2/zone", "", ""),
    ],
)
def test_jekyll_addresses(
    tmp_path: Path, style: str, hello: str, zone: str, deep: str, about: str
) -> None:
    """The addresses are those that Jekyll 4.3 gave for the same files."""
    write(tmp_path, {**JEKYLL, "_config.yml": f"{JEKYLL_CONFIG}permalink: '{style}'\n"})
    base = "https://example.org/blog"
    assert urls(tmp_path) == {
        "_posts/2024-01-31-hello-World": f"{base}/{hello}",
        "news/_posts/2024-01-31-in-news": f"{base}/n/in-news/",
        "_posts/2024-01-31-zone": f"{base}/{zone}",
        "_posts/2024-01-31-cat": f"{base}/web%20dev/my-slug/My-Slug",
        "_recipes/corn": f"{base}/food/corn/",
        "_notes/sub/deep": f"{base}/notes/sub/deep{deep}",
        "about": f"{base}/about{about}",
        "docs": f"{base}/docs/",
    }


def test_the_same_post_is_the_same_wherever_reading_begins(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "hugo.toml": 'baseURL = "https://example.org/"',
            "content/posts/a.md": "+++\ntitle = 'x'\n+++\ntext",
        },
    )
    whole = urls(tmp_path)
    assert whole == {"posts/a": "https://example.org/posts/a/"}
    assert urls(tmp_path / "content") == urls(tmp_path / "content/posts") == whole
    assert urls(tmp_path / "content/posts/a.md") == whole


def test_hugo(tmp_path: Path) -> None:
    config = '[permalinks.page]\nnews = "/:year/:month/:slug/"\n'
    write(
        tmp_path,
        {
            "config/_default/hugo.toml": config,
            "content/_index.md": "+++\ntitle = 'Home'\n+++\ntext",
            "content/posts/_index.md": "+++\ntitle = 'Posts'\n+++\ntext",
            "content/posts/My First.md": "+++\ntitle = 'x'\n+++\ntext",
            "content/posts/2024-01-31-dated.md": "+++\ntitle = 'x'\n+++\ntext",
            "content/posts/bundle/index.md": "+++\ntitle = 'x'\n+++\ntext",
            "content/posts/slug.md": "+++\ntitle = 'x'\nslug = 'other'\n+++\ntext",
            "content/posts/url.md": "+++\ntitle = 'x'\nurl = '/somewhere.html'\n+++\ntext",
            "content/news/n.md": "+++\ntitle = 'x'\ndate = 2024-01-31T10:00:00Z\n+++\ntext",
            "notes/outside.md": "+++\ntitle = 'x'\n+++\ntext",
            "archetypes/default.md": "+++\ntitle = '{{ .Name }}'\n+++\n",
            "themes/t/content/x.md": "+++\ntitle = 'x'\n+++\n",
        },
    )
    assert urls(tmp_path) == {
        "posts/My First": "/posts/my-first/",
        "posts/2024-01-31-dated": "/posts/2024-01-31-dated/",
        "posts/bundle": "/posts/bundle/",
        "posts/slug": "/posts/other/",
        "posts/url": "/somewhere.html",
        "news/n": "/2024/01/x/",
    }


def test_hugo_configuration(tmp_path: Path) -> None:
    """As Hugo 0.168 lists the same files."""
    write(
        tmp_path,
        {
            "hugo.toml": """
baseURL = "https://example.org/"
timeZone = "Europe/Oslo"
defaultContentLanguage = "en"
[languages.en]
[languages.fr]
[taxonomies]
topic = "topics"
author = "authors"
[permalinks]
news = "/:year/:slugorfilename/"
""",
            "content/_index.md": "---\ncascade:\n  params:\n    tags: [all]\n---\n",
            "content/docs/a.md": "---\nTitle: A &amp; B\ndate: 2024-01-31\n"
            "topics: [x]\nauthors: [ann]\n---\nt",
            "content/docs/a.fr.md": "---\ntitle: A\n---\nt",
            "content/docs/shared/_index.md": "---\ncascade: {build: {render: never}}\n---\n",
            "content/docs/shared/part.md": "---\ntitle: A\n---\nt",
            "content/docs/bundle/index.md": "---\ntitle: A\nslug: other\n---\nt",
            "content/docs/bundle/resource.md": "---\ntitle: A\n---\nt",
            "content/docs/headless/index.md": "---\ntitle: A\nheadless: true\n---\nt",
            "content/docs/gone.md": "---\ntitle: A\nExpiryDate: 2024-02-01\n---\nt",
            "content/docs/link.md": "---\ntitle: A\nsummary: Only *this*\n---\n",
            "content/themes/t.md": "---\ntitle: A\n---\nt",
            "content/news/n.md": "---\ntitle: A\ndate: 2024-01-31 5:00:00 -0500\n---\nt",
        },
    )
    posts = read(tmp_path)
    assert {oid: post.url for oid, post in posts.items()} == {
        "docs/a": "https://example.org/docs/a/",
        "docs/a.fr": "https://example.org/fr/docs/a/",
        "docs/bundle": "https://example.org/docs/other/",
        "docs/link": "https://example.org/docs/link/",
        "themes/t": "https://example.org/themes/t/",
        "news/n": "https://example.org/2024/n/",
    }
    first = posts["docs/a"]
    assert (first.title, first.keywords) == ("A & B", ["all", "x"])
    assert iso(first.pub_date) == "2024-01-31T00:00:00Z"
    assert "Only" in posts["docs/link"].text


def test_what_of_hugos_configuration_is_not_followed(tmp_path: Path) -> None:
    config = "module: {mounts: [content, {source: text, target: content}]}\nuglyURLs: true"
    write(tmp_path, {"hugo.yaml": config, "content/a.md": POST})
    notes: list[str] = []
    assert set(read(tmp_path, warn=notes.append)) == {"a"}
    assert "uglyurls, module.mounts; build the site" in notes[0]


def test_hugo_languages_in_files_of_their_own(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "config/_default/hugo.toml": "baseURL = 'https://e.org/'",
            "config/_default/languages.en.toml": "contentDir = 'content/en'",
            "config/_default/languages.pt-br.toml": "contentDir = 'content/pt-br'",
            "content/en/a.md": "---\ntitle: a\nlastmod: 2024-01-31\n---\nt",
            "content/pt-br/a.html": "---\ntitle: a\n---\n"
            "<p>One {{< link '/x' >}}</p><pre>{{ x }}</pre>",
            "content/template/a.md": POST,
        },
    )
    posts = read(tmp_path)
    assert {oid: (post.url, post.language) for oid, post in posts.items()} == {
        "en/a": ("https://e.org/a/", "en"),
        "pt-br/a": ("https://e.org/pt-br/a/", "pt-br"),
    }
    # Hugo's date of a page that has only a last change.
    assert iso(posts["en/a"].pub_date) == "2024-01-31T00:00:00Z"
    assert "link" not in posts["pt-br/a"].text
    assert "{{ x }}" in posts["pt-br/a"].text


def test_a_template_for_addresses(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "posts/2024-01-31-hello.md": "---\ntitle: x\ncategories: [A b]\n---\ntext",
            "posts/own.md": "---\ntitle: x\npermalink: /own/\n---\ntext",
        },
    )
    template = "/{section}/{year}/{month}/{day}/{categories}/{slug}.html"
    assert urls(tmp_path, url_templates={"": template}, site="https://example.org/b/") == {
        "posts/2024-01-31-hello": "https://example.org/b/posts/2024/01/31/a-b/hello.html",
        "posts/own": "https://example.org/b/own/",
    }
    for wrong in ("/{jahr}/", "/{", "/{0}/", "/{slug.x}/"):
        with pytest.raises(SourceError, match=r"may have \{year\}"):
            read(tmp_path, url_templates={"": wrong})


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "prose", "code"),
    [
        ("a *b* [c](/d)\n\n- e\n- f", "a b c\ne\nf", ""),
        ("| a | b |\n|---|---|\n| c | d |", "a\nb\nc\nd", ""),
        ("~~gone~~ <b>kept</b>", "gone kept", ""),
        ("x\n\n```go\nif a {{ b }} {% c %}\n```\ny", "x\ny", "if a {{ b }} {% c %}"),
        ("{% highlight ruby %}\nputs {{ x }}\n{% endhighlight %}\ny", "y", "puts {{ x }}"),
        ('{{< highlight go "linenos=table" >}}\nx := 1\n{{< /highlight >}}', "", "x := 1"),
        ("a {{< youtube id >}} b {% include x.html %} c {{ site.url }} d", "a b c d", ""),
        ("# Head {#id}\n{: .class}\nb{:.x} c[^1]\n\n[^1]: Foot", "b c\nFoot", ""),
        ("````\n```\n````\nx", "x", "```"),
        ("```\nnever closed {{ x }}", "", "never closed {{ x }}"),
    ],
)
def test_the_words_of_a_post(markdown: str, prose: str, code: str) -> None:
    readable_text = readable(rendered(markdown)[1])
    assert (readable_text.prose, readable_text.code) == (prose, code)


@pytest.mark.parametrize(
    ("markdown", "prose", "code"),
    [
        ("`{{ x }}` `{% y %}` `{:.z}` `[^1]`", "{{ x }} {% y %} {:.z} [^1]", ""),
        ("    indented {{ code }}\n\ntext {{ gone }}", "text", "indented {{ code }}"),
        ("<pre>{{ kept }}</pre>\n<p>{{ gone }}</p>", "", "{{ kept }}"),
        ("a {% include x.html\n\n  b=c %} d", "a d", ""),
        ("a {# a comment\n\nover lines #} b", "a b", ""),
        ("{{< note\n  title='x'\n>}}\nInside *it*\n{{< /note >}}", "Inside it", ""),
        ("{% comment %}\nsecret\n{% endcomment %}shown", "shown", ""),
        ("{% raw %}\n```\n{{ a }}\n```\n{% endraw %}", "", "{{ a }}"),
        ("the `{{` and `}}` delimiters {{ gone }}", "the {{ and }} delimiters", ""),
        ("see <{{ url }}> and [a]({{ url }}/x)", "see and a", ""),
        ("## Two {.cls #x}\n> [!NOTE]\n> Text\n\n- [x] done", "Two\nText\ndone", ""),
        ("Party :tada: at 10:30:15 a::b::c", "Party at 10:30:15 a::b::c", ""),
        ('!!! note "Title"\n    Inside\n\n    ```\n    c\n    ```', "Title\nInside", "c"),
        ('=== "Tab"\n\n    text\n\n    !!! tip\n        deep', "Tab\ntext\nTip\ndeep", ""),
        (":::note Title\n\nText\n\n:::", "Title\nText", ""),
        ("1. one\n   ```\n   {{ x }}\n   ```\n2. two {{ y }}", "one\ntwo", "{{ x }}"),
        ("a[^1] b[^none]\n\n[^1]: Foot", "a b\nFoot", ""),
        ("Term\n: Definition", "Term\nDefinition", ""),
        ("shown %%hidden\n\ntoo%% again", "shown again", ""),
        ("{func}`open` and `{x}` `", "open and {x} `", ""),
        ("not closed {{ here\n\nnor there }", "not closed {{ here\nnor there }", ""),
    ],
)
def test_template_code_stays_in_code_only(markdown: str, prose: str, code: str) -> None:
    readable_text = readable(rendered(markdown)[1])
    assert (readable_text.prose, readable_text.code) == (prose, code)


@pytest.mark.parametrize("said", ["{#one}", "{: #one .c}", "{.c #one}"])
def test_the_id_of_a_heading_stays(said: str) -> None:
    (heading,) = readable(rendered(f"Text\n\n## Part {said}\n\nMore")[1]).headings
    assert (heading.line, heading.level, heading.id) == (1, 2, "one")


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ("title: 'A &amp; <em>b</em> :tada: &rsquo;s'", "A & b ’s"),
        ("title: '{{ page.x }} | Blog'\nlinkTitle: Other", "Other"),
        ("title: The `{{ x }}` tag", "The `{{ x }}` tag"),
        ("headline: News", "News"),
        ("pageTitle: ''", "Heading code"),
    ],
)
def test_titles(tmp_path: Path, fields: str, title: str) -> None:
    write(tmp_path, {"file-name.md": f"---\n{fields}\n---\n# Heading `code`\n\nText"})
    (post,) = read(tmp_path).values()
    assert post.title == title


@pytest.mark.parametrize(
    "bad",
    [
        *(
            "{{",
            "{% raw %}",
            "    ```a\n",
            "{ ",
            "<A ",
            "<!-- ",
            "<!-- a\n\n",
            "[[",
            "[^",
            "%%",
            ":::a\n",
        ),
        *('=== "a"\n', "{%", "{#"),
    ],
)
def test_hostile_markdown_takes_no_quadratic_time(bad: str) -> None:
    """Four times as much takes four times as long, and not sixteen times."""

    def seconds(size: int) -> float:
        start = time.thread_time()
        rendered(bad * (size // len(bad)))
        return time.thread_time() - start

    seconds(1_000)
    # One measurement can meet work of other processes; three cannot all.
    ratios = (seconds(100_000) / max(seconds(25_000), 0.02) for _ in range(3))
    assert any(ratio < 10 for ratio in ratios)


def test_yaml_that_expands_or_nests_without_end_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for head in (bomb, "a: " + "[" * 100_000, "a: &a [*a]"):
        with pytest.raises(BadFrontMatter, match="nested too deep"):
            split_front_matter(f"---\n{head}\n---\n")


def test_files_outside_the_folder_and_fifos_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret/s.md": "---\ntitle: secret\n---\nt", "posts/a.md": "# A\n\nt"})
    (tmp_path / "posts/link.md").symlink_to(tmp_path / "secret/s.md")
    (tmp_path / "posts/same.md").symlink_to(tmp_path / "posts/a.md")
    os.mkfifo(tmp_path / "posts/fifo.md")
    items = list(open_source(str(tmp_path / "posts"), None, SourceOptions()).read())
    assert {item.oid for item in items if isinstance(item, RawPost)} == {"a", "same"}
    assert {item.reason for item in items if isinstance(item, Reject)} == {
        "a symbolic link to a file outside the folder",
        "not a regular file",
    }


@pytest.mark.parametrize(
    ("content", "oid"),
    [
        ("---\ntitle: 'A\n---\nx", "a"),
        (b"---\ntitle: 'f\xfcr\n---\nx", "a"),
        ("---\noid: my-id\ntitle: 'A\n---\nx", None),
        ("\ufeff---\r\nOID: 'my id' # c\r\ntitle: [\r\n---\r\nx", None),
        ('+++\noid = "my-id"\ntitle = A\n+++\nx', None),
        ('{"title": A, "oid": "my-id"}\nx', None),
        ("---\noid: my-id\ntitle: A\n---\nx".encode("utf-16"), None),
    ],
)
def test_a_reject_has_the_oid_of_the_post(
    tmp_path: Path, content: str | bytes, oid: str | None
) -> None:
    """Or none, if it may state its own: then `sync` removes nothing."""
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / "a.md").write_bytes(data)
    (reject,) = open_source(str(tmp_path), "markdown", SourceOptions()).read()
    assert isinstance(reject, Reject)
    assert reject.oid == oid


def test_a_file_that_cannot_be_read_may_be_any_post(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": f"---\noid: my-id\n---\n{'x' * 5_000_001}"})
    (reject,) = open_source(str(tmp_path), "markdown", SourceOptions()).read()
    assert isinstance(reject, Reject)
    assert reject.oid is None


def test_what_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "hugo.toml": "",
            "content/a.md": "---\ntitle: A\n---\nt",
            "content/_index.md": "---\ntitle: A\n---\nt",
            "content/draft.md": "---\ntitle: A\ndraft: true\n---\nt",
            "content/future.md": "---\ntitle: A\ndate: 2099-01-01\n---\nt",
            "content/old.md": "---\ntitle: A\nexpiryDate: 2001-01-01\n---\nt",
            "content/x.org": "#+title: x",
        },
    )
    items = open_source(str(tmp_path), None, SourceOptions()).read()
    skipped = {
        Path(item.origin.source).name: item.reason for item in items if isinstance(item, Skipped)
    }
    assert skipped == {
        "_index.md": "list page",
        "draft.md": "draft",
        "future.md": "dated in the future",
        "old.md": "expired",
        "x.org": "format that is not read",
    }


# -- other generators ------------------------------------------------------------------------------

POST = "---\ntitle: x\n---\nt"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("See [[thoughts/play|playing]] and [[a/b]].", "<p>See playing and b.</p>"),
        ("An ![[image.png|300]] embed", "<p>An  embed</p>"),
        ("`[[a|b]]`", "<p><code>[[a|b]]</code></p>"),
        ("    [[a|b]]", "<pre><code>[[a|b]]\n</code></pre>"),
        ("if [[ -f x ]]", "<p>if [[ -f x ]]</p>"),
        ("[[Bug #1]]\n\n[Bug #1]: /1", '<p>[<a href="/1">Bug #1</a>]</p>'),
        ("| a |\n| - |\n| [[x\\|y]] |", "<td>y</td>"),
    ],
)
def test_wiki_links(text: str, html: str) -> None:
    assert html in rendered(text, title="x")[1]


@pytest.mark.parametrize("attribute", ['markdown="1"', "markdown=1", "markdown", "markdown='span'"])
def test_markdown_in_html(attribute: str) -> None:
    text = (
        f'a\n\n<aside {attribute} class="x">\n  <img src="a.png">\n  I **did** [it](/it).\n'
        f"  <p {attribute}>\n— [she](/she)\n  </p>\n</aside>\n\n<div>\n**b**\n</div>\n"
    )
    prose = readable(rendered(text, title="x")[1]).prose
    assert prose.split() == ["a", "I", "did", "it.", "—", "she", "**b**"]


def test_titles_of_myst(tmp_path: Path) -> None:
    text = "---\nsd_hide_title: true\n---\n(a-label)=\n# The title\n\ntext"
    (post,) = read(write(tmp_path, {"a.md": text})).values()
    assert (post.title, readable(post.text).prose) == ("The title", "text")


def test_a_section_with_a_text_of_its_own_is_a_post(tmp_path: Path) -> None:
    long, tags = "Some words of its own. " * 40, "{{< card >}}<div class='x'></div>" * 40
    files = {
        "content/_index.md": f"+++\ntitle = 'Home'\n+++\n{long}",
        "content/guide/_index.md": f"+++\ntitle = 'Guide'\n+++\n{long}",
        "content/guide/part/_index.md": f"+++\ntitle = 'Part'\n+++\n{long}",
        "content/news/_index.md": f"+++\ntitle = 'News'\n+++\nAll news.\n{tags}",
    }
    write(tmp_path, {"hugo.toml": "[permalinks]\nguide = '/x/:slug/'", **files})
    assert urls(tmp_path, site="https://e.org") == {
        "guide/_index": "https://e.org/guide/",
        "guide/part/_index": "https://e.org/guide/part/",
    }


def test_translations_of_hugos_bundles(tmp_path: Path) -> None:
    head = "+++\ntitle = 'x'\n+++\n" + "Some words. " * 90
    names = ("a/index.md", "a/index.fr.md", "a/other.fr.md", "s/_index.fr.md", "s/b.fr.md")
    languages = "[languages.en]\n[languages.fr]\n[permalinks]\ns = '/:sections/:filename/'"
    write(tmp_path, {"hugo.toml": f"baseURL = 'https://e.org'\n{languages}"})
    write(tmp_path, {f"content/{name}": head for name in names})
    assert urls(tmp_path) == {
        "a": "https://e.org/a/",
        "a/index.fr": "https://e.org/fr/a/",
        "s/_index.fr": "https://e.org/fr/s/",
        "s/b.fr": "https://e.org/fr/s/b/",
    }


@pytest.mark.parametrize(
    ("configuration", "content", "words"),
    [
        ("x.txt", "", "no site generator"),
        ("eleventy.config.js", "src/", "_site"),
        ("astro.config.mjs", "src/content/", "dist"),
        ("docusaurus.config.ts", "", "build"),
        (".vitepress/config.ts", "", ".vitepress/dist"),
        ("pelicanconf.py", "content/", "output"),
        ("book.toml", "src/", "book"),
        ("config.toml", "content/", "public"),
        ("mkdocs.yml", "docs/", "site"),
        ("_quarto.yml", "", "_site"),
    ],
)
def test_a_generator_that_is_not_followed_has_plain_markdown(
    tmp_path: Path, configuration: str, content: str, words: str
) -> None:
    """A note names the folder that it builds."""
    post = "---\ntitle: A\ndate: 2024-01-31\ntags: [x]\n{}---\nText"
    files = {
        f"{content}posts/a.md": post.format(""),
        f"{content}posts/said.md": post.format("permalink: /s/\n"),
        f"{content}posts/none.md": post.format("permalink: false\n"),
        f"{content}posts/hidden.md": post.format("unlisted: true\n"),
        "README.md": "# About",
    }
    write(tmp_path, {configuration: "base_url = ''", **files})
    notes: list[str] = []
    posts = read(tmp_path, warn=notes.append)
    assert {oid: post.url for oid, post in posts.items()} == {
        "posts/a": "/posts/a/",
        "posts/said": "/s/",
    }
    assert (posts["posts/a"].title, posts["posts/a"].keywords) == ("A", ["x"])
    assert words in notes[0]
    assert read(tmp_path, warn=pytest.fail, url_templates={"": "/{slug}/"})


def test_eleventys_collections_are_no_keywords(tmp_path: Path) -> None:
    post = "---\ntitle: A\ntags: [posts, posts of May]\n---\nText"
    write(tmp_path, {"eleventy.config.js": "", "a.md": post})
    assert read(tmp_path)["a"].keywords == ["posts of May"]


def test_the_site_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    files = {"README.md": "# Read me", "docs/_config.yml": "", "docs/a.md": POST}
    assert urls(write(tmp_path, files)) == {"a": "/a.html"}


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("mkdocs.yml", "site_url: https://e.org/d/  # the address\nx: !!python/name:y.z\n"),
        ("mkdocs.yaml", "site_url: 'https://e.org/d/'\n"),
        ("config.toml", 'base_url = "https://e.org/d"\n'),
    ],
)
def test_the_address_in_a_configuration_that_is_not_followed(
    tmp_path: Path, name: str, configuration: str
) -> None:
    content = "docs" if name.startswith("mkdocs") else "content"
    files = {"index": "# Welcome", "guide/a": "# Heading", "guide/README": "# Read"}
    write(tmp_path, {name: configuration})
    write(tmp_path, {f"{content}/{page}.md": f"{text}\n\nt" for page, text in files.items()})
    assert {oid: (post.url, post.title) for oid, post in read(tmp_path).items()} == {
        "index": ("https://e.org/d/", "Welcome"),
        "guide/a": ("https://e.org/d/guide/a/", "Heading"),
        "guide/README": ("https://e.org/d/guide/", "Read"),
    }


def test_only_the_error_page_of_the_site_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"404.md": POST, "fr/404.md": POST, "posts/404.md": POST})
    assert set(read(tmp_path)) == {"posts/404"}


def test_a_cascade_of_hugo_with_a_target_is_for_its_pages(tmp_path: Path) -> None:
    """As Hugo 0.168 builds the same files."""
    page = "---\ntitle: A\n---\nText"
    cascades = (
        "---\ntitle: Home\ncascade:\n"
        '- {target: {path: "{/notes/sub,/notes/sub/**}"}, build: {render: never}}\n'
        '- {_target: {kind: section, path: "/a/**"}, draft: true}\n'
        '- {target: {path: "/a/q*"}, draft: true}\n'
        "- {target: {environment: development}, draft: true}\n---\nText"
    )
    config = '[[cascade]]\ndraft = true\n[cascade.target]\npath = "/news/**"\n'
    folders = ("notes", "notes/sub", "news", "a")
    names = ("_index.md", "p.md", "Q x.md")
    pages = {f"content/{folder}/{name}": page for folder in folders for name in names}
    write(tmp_path, {"hugo.toml": config, "content/_index.md": cascades, **pages})
    assert set(read(tmp_path)) == {"a/p", "notes/p", "notes/Q x"}


@pytest.mark.parametrize(
    ("path", "drafts"),
    [
        ("/blog**", {"blog/p", "blog/x/q"}),
        ("/blog/*", {"blog/p"}),
        ("/blog/?/q", {"blog/x/q"}),
        ("{/other/r,/blog/**/q}", {"other/r", "blog/x/q"}),
        ("/b*", set()),
        ("**", {"blog/p", "blog/x/q", "other/r"}),
        ("*a" * 200, set()),
    ],
)
def test_paths_of_a_target(tmp_path: Path, path: str, drafts: set[str]) -> None:
    """As Hugo 0.168 builds the same files."""
    names = {"blog/p", "blog/x/q", "other/r"}
    config = f'[[cascade]]\ndraft = true\n[cascade.target]\npath = "{path}"\n'
    pages = {f"content/{name}.md": "---\ntitle: A\n---\nText" for name in names}
    assert set(read(write(tmp_path, {"hugo.toml": config, **pages}))) == names - drafts


@pytest.mark.parametrize("target", ['lang = "fr"', 'path = "/{a,b}/c"', 'path = "/[a-c]"'])
def test_a_target_that_is_not_followed_is_named(tmp_path: Path, target: str) -> None:
    config = f"[[cascade]]\ndraft = true\n[cascade.target]\n{target}\n"
    write(tmp_path, {"hugo.toml": config, "content/notes/a.md": "---\ntitle: A\n---\nText"})
    warnings: list[str] = []
    assert list(read(tmp_path, warn=warnings.append)) == ["notes/a"]
    assert "not followed: cascade with a target" in warnings[0]


def test_a_tag_of_yaml_that_only_the_generator_knows_is_ignored(tmp_path: Path) -> None:
    config = "url: !ruby/string https://e.org\nplugins: !x [a, !y {b: !!python/name:c ''}]\n"
    post = "---\ntitle: !x A\n---\nText"
    assert urls(write(tmp_path, {"_config.yml": config, "a.md": post})) == {
        "a": "https://e.org/a.html"
    }


def test_a_configuration_in_invalid_yaml_is_named_with_the_line(tmp_path: Path) -> None:
    write(tmp_path, {"_config.yml": "title: A\nurl: [x\n", "_posts/2024-01-31-a.md": "Text"})
    with pytest.raises(
        SourceError, match=r"_config\.yml cannot be read: .* \(at line 3\)\."
    ) as caught:
        read(tmp_path)
    assert "unicode string" not in str(caught.value)
