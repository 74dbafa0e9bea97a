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
from indexer.sources.markdown.front_matter import BadFrontMatter, split_front_matter
from indexer.sources.markdown.generators import site_of
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
    found = list(source.read())
    assert not [each for each in found if isinstance(each, Reject)]
    assert source.progress == 1
    return {str(each.oid): each for each in found if isinstance(each, RawPost)}


def urls(place: Path, **options: Any) -> dict[str, Any]:
    return {oid: each.url for oid, each in read(place, **options).items()}


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
    ],
)
def test_every_kind_of_head(head: str) -> None:
    found = split_front_matter(f"{head}\nText --- here\n\n---\n")
    assert found.fields is not None
    assert (found.fields["title"], found.fields["tags"]) == ("A b", ["x", "y"])
    when = moment(found.fields["date"])
    assert when is not None
    assert iso(when) == "2024-01-31T00:00:00Z"
    assert found.text.strip() == "Text --- here\n\n---"


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
        ("---\ntitle: a: b\n---\ntext", 2),
        ("---\ntitle: !ruby/object:X {}\n---\n", 2),
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
    "content", ["", "text", "---\n\nA line\n\n---\n", "----\na: b\n----\n", "{{ x }}"]
)
def test_no_head_at_all(content: str) -> None:
    assert split_front_matter(content).fields is None
    assert split_front_matter(content).text == content


def test_a_bad_head_is_a_reject_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "---\ntitle: a\n---\n", "b.md": "---\ntitle: a: b\n---\n"})
    (tmp_path / "c.md").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    first, *rejects = open_source(str(tmp_path), None, SourceOptions()).read()
    assert isinstance(first, RawPost)
    head, encoding = rejects
    assert isinstance(head, Reject)
    assert isinstance(encoding, Reject)
    assert (str(head.origin), head.oid) == (f"{tmp_path}/b.md:2", "b")
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


@pytest.mark.parametrize("value", ["Last Modified", "git Last Modified", "Created", "git created"])
def test_eleventys_names_of_file_times_are_no_dates(tmp_path: Path, value: str) -> None:
    write(
        tmp_path,
        {
            "eleventy.config.js": "",
            "posts/posts.json": f'{{"date": "{value}"}}',
            "posts/a.md": "---\ntitle: A\n---\nx",
            "posts/2024-01-31-b.md": "---\ntitle: B\n---\nx",
            "posts/c.md": "---\ntitle: C\ndate: 2024-02-01\n---\nx",
        },
    )
    dates = [post.pub_date for post in read(tmp_path).values()]
    assert dates == [moment("2024-01-31"), None, moment("2024-02-01")]


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
    found = read(tmp_path)
    assert {oid: each.title for oid, each in found.items()} == {
        "til/one": "One thing",
        "til/2024-01-31-two-things": "Two things",
        "three": "Three",
    }
    assert "thing" not in found["til/one"].text
    assert iso(found["til/2024-01-31-two-things"].pub_date) == "2024-01-31T00:00:00Z"


# -- fields and addresses --------------------------------------------------------------------------


def test_jekyll_fields(tmp_path: Path) -> None:
    head = "title: x\ncategories: Web Dev\ntags: a b\nlast_modified_at: 2024-02-02"
    write(
        tmp_path,
        {
            "_config.yml": "timezone: America/New_York",
            "_posts/2024-01-31-a.md": f"---\n{head}\n---\ntext",
            "_posts/2024-01-31-page.html": "---\ntitle: x\n---\n<p>HTML",
        },
    )
    found = read(tmp_path)
    first = found["_posts/2024-01-31-a"]
    assert (first.categories, first.keywords) == (["Web", "Dev"], ["a", "b"])
    assert isinstance(first.pub_date, datetime)
    assert isinstance(first.modified, datetime)
    assert iso(first.pub_date) == "2024-01-31T00:00:00Z"
    assert iso(first.modified) == "2024-02-02T00:00:00Z"
    assert "<p>HTML" in found["_posts/2024-01-31-page"].text


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
    found = read(tmp_path)
    assert {each.pub_date for each in found.values()} == {datetime(2024, 1, 1, tzinfo=UTC)}
    assert [each.url for each in found.values()] == ["/2024/01/01/said/", "/2024/01/01/named/"]
    by_template = urls(tmp_path, url_template="/{year}/{month}/{day}/{slug}")
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
[[module.mounts]]
source = "content/main"
target = "content"
[[module.mounts]]
source = "news"
target = "content/news"
[permalinks]
news = "/:year/:slugorfilename/"
""",
            "content/main/_index.md": "---\ncascade:\n  params:\n    tags: [all]\n---\n",
            "content/main/docs/a.md": "---\nTitle: A &amp; B\ndate: 2024-01-31\n"
            "topics: [x]\nauthors: [ann]\n---\nt",
            "content/main/docs/a.fr.md": "---\ntitle: A\n---\nt",
            "content/main/docs/shared/_index.md": "---\ncascade: {build: {render: never}}\n---\n",
            "content/main/docs/shared/part.md": "---\ntitle: A\n---\nt",
            "content/main/docs/bundle/index.md": "---\ntitle: A\nslug: other\n---\nt",
            "content/main/docs/bundle/resource.md": "---\ntitle: A\n---\nt",
            "content/main/docs/headless/index.md": "---\ntitle: A\nheadless: true\n---\nt",
            "content/main/docs/gone.md": "---\ntitle: A\nExpiryDate: 2024-02-01\n---\nt",
            "content/main/docs/link.md": "---\ntitle: A\nsummary: Only *this*\n---\n",
            "content/main/themes/t.md": "---\ntitle: A\n---\nt",
            "news/n.md": "---\ntitle: A\ndate: 2024-01-31 5:00:00 -0500\n---\nt",
        },
    )
    found = read(tmp_path)
    assert {oid: each.url for oid, each in found.items()} == {
        "docs/a": "https://example.org/docs/a/",
        "docs/a.fr": "https://example.org/fr/docs/a/",
        "docs/bundle": "https://example.org/docs/other/",
        "docs/link": "https://example.org/docs/link/",
        "themes/t": "https://example.org/themes/t/",
        "news/n": "https://example.org/2024/n/",
    }
    first = found["docs/a"]
    assert (first.title, first.keywords) == ("A & B", ["all", "x"])
    assert iso(first.pub_date) == "2024-01-31T00:00:00Z"
    assert "Only" in found["docs/link"].text


def test_hugo_mounts_that_are_no_tables(tmp_path: Path) -> None:
    config = "module: {mounts: [content, {source: content, target: content}]}"
    write(tmp_path, {"hugo.yaml": config, "content/a.md": "---\ntitle: a\n---\nt"})
    assert urls(tmp_path) == {"a": "/a/"}


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
    found = read(tmp_path)
    assert {oid: (post.url, post.language) for oid, post in found.items()} == {
        "en/a": ("https://e.org/a/", "en"),
        "pt-br/a": ("https://e.org/pt-br/a/", "pt-br"),
    }
    # Hugo's date of a page that has only a last change.
    assert iso(found["en/a"].pub_date) == "2024-01-31T00:00:00Z"
    assert "link" not in found["pt-br/a"].text
    assert "{{ x }}" in found["pt-br/a"].text


def test_zola(tmp_path: Path) -> None:
    head = "+++\ntitle = 'x'\n[taxonomies]\ntags = ['a']\ncategories = ['b']\n+++\ntext"
    write(
        tmp_path,
        {
            "config.toml": 'base_url = "https://example.org"',
            "content/blog/2024-01-31-post.md": head,
            "content/blog/path.md": "+++\ntitle = 'x'\npath = 'else/where'\n+++\ntext",
        },
    )
    found = read(tmp_path)
    post = found["blog/2024-01-31-post"]
    assert (post.keywords, post.categories) == (["a"], ["b"])
    assert iso(post.pub_date) == "2024-01-31T00:00:00Z"
    assert post.url == "https://example.org/blog/post/"
    assert found["blog/path"].url == "https://example.org/else/where/"


def test_eleventy_shows_dates_in_utc(tmp_path: Path) -> None:
    """11ty.dev/docs/dates: an evening west of UTC is the next day."""
    said = "---\ntitle: x\ndate: 2024-01-31T23:30:00-05:00\n---\ntext"
    (post,) = read(write(tmp_path, {"eleventy.config.js": "", "posts/a.md": said})).values()
    assert iso(post.pub_date) == "2024-02-01T04:30:00Z"


def test_eleventy_and_astro(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "11/eleventy.config.js": "",
            "11/posts/2024-01-31-a.md": "---\ntitle: x\n---\ntext",
            "11/posts/b/b.md": "---\ntitle: x\npermalink: '/{{ page.fileSlug }}/'\n---\ntext",
            "11/posts/c.md": "---\ntitle: x\npermalink: /c/index.html\n---\ntext",
            "11/posts/none.md": "---\ntitle: x\npermalink: false\n---\ntext",
            "astro/astro.config.mjs": "",
            "astro/src/content/blog/a.mdx": "---\ntitle: x\npubDate: 'Jul 08 2022'\n---\n"
            "import A from './a.astro'\n\n<A b={1}>inner</A> {/* no */} words",
        },
    )
    assert urls(tmp_path / "11") == {
        "posts/2024-01-31-a": "/posts/a/",
        "posts/b/b": "/b/",
        "posts/c": "/c/",
    }
    (astro,) = read(tmp_path / "astro").values()
    assert (astro.url, iso(astro.pub_date)) == ("/blog/a/", "2022-07-08T00:00:00Z")
    assert readable(astro.text).prose == "inner words"


def test_a_folder_beside_the_content(tmp_path: Path) -> None:
    post = "---\ntitle: x\n---\ntext"
    write(
        tmp_path,
        {
            "astro.config.mjs": "",
            "src/content/blog/a.md": post,
            "src/pages/notes/b.md": post,
        },
    )
    notes = {"pages/notes/b": "/notes/b/"}
    assert urls(tmp_path) == {"blog/a": "/blog/a/", **notes}
    assert urls(tmp_path / "src/pages") == urls(tmp_path / "src/pages/notes/b.md") == notes


def test_a_template_for_addresses(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "posts/2024-01-31-hello.md": "---\ntitle: x\ncategories: [A b]\n---\ntext",
            "posts/own.md": "---\ntitle: x\npermalink: /own/\n---\ntext",
        },
    )
    template = "/{section}/{year}/{month}/{day}/{categories}/{slug}.html"
    assert urls(tmp_path, url_template=template, site="https://example.org/b/") == {
        "posts/2024-01-31-hello": "https://example.org/b/posts/2024/01/31/a-b/hello.html",
        "posts/own": "https://example.org/b/own/",
    }
    for wrong in ("/{jahr}/", "/{", "/{0}/", "/{slug.x}/"):
        with pytest.raises(SourceError, match=r"may have \{year\}"):
            read(tmp_path, url_template=wrong)


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
    found = readable(rendered(markdown)[1])
    assert (found.prose, found.code) == (prose, code)


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
        ('=== "Tab"\n\n    text\n\n    !!! tip\n        deep', "Tab\ntext\ndeep", ""),
        (":::note Title\n\nText\n\n:::", "Title\nText", ""),
        ("1. one\n   ```\n   {{ x }}\n   ```\n2. two {{ y }}", "one\ntwo", "{{ x }}"),
        ("a[^1] b[^none]\n\n[^1]: Foot", "a b\nFoot", ""),
        ("Term\n: Definition", "Term\nDefinition", ""),
        ("not closed {{ here\n\nnor there }", "not closed {{ here\nnor there }", ""),
    ],
)
def test_template_code_stays_in_code_only(markdown: str, prose: str, code: str) -> None:
    found = readable(rendered(markdown)[1])
    assert (found.prose, found.code) == (prose, code)


def test_mdx_has_neither_blocks_of_html_nor_indented_code() -> None:
    text = (
        "<Steps>\n1. One\n   <p>**Type:** <code>Promise\\<X\\></code></p>\n\n"
        '    <Tabs>\n      ```js title="a.js"\n      run();\n      ```\n    </Tabs>\n'
        "      Last *words*.\n</Steps>\n\n<!-- never\n\nshown -->\n"
    )
    found = readable(rendered(text, mdx=True)[1])
    assert found.prose.split() == ["One", "Type:", "Promise<X>", "Last", "words."]
    assert found.code.split() == ["run();"]


def test_mdx() -> None:
    mdx = (
        "import {\n B\n} from 'b'\n\nexport const m = {\n a: 1,\n}\n\n# Title\n\n"
        "<A b={[1, 2]} {...p}>inner</A> {/* no */} words {' '} `{x}` <p style={{a: 'b'}}>red</p>"
    )
    title, text = rendered(mdx, mdx=True)
    assert title == "Title"
    assert readable(text).prose == "inner words {x}\nred"


@pytest.mark.parametrize(
    "prose",
    [
        "You should first\nimport the module, then go on.\n\nLast words.",
        "You should first\nimport the module (see\n\nthe docs), then go on.\n\nLast words.",
        "First\nimport * from 'y' and go on.\n\nLast words.",
        "import the module (see\n\nthe docs), then go on.",
        "export default settings (to\n\na file), then go on.",
    ],
)
def test_prose_of_mdx_that_begins_like_an_import_stays(prose: str) -> None:
    found = readable(rendered(prose, title="T", mdx=True)[1])
    assert found.prose.split() == prose.split()


@pytest.mark.parametrize(
    "code",
    [
        "import A from 'a'\nimport B, {\n  C\n} from 'b';",
        "import type { T } from 't'\nimport * as D from 'd'\nimport './e.css'",
        "export const x = [\n  1,\n\n  2,\n]",
        "export default function F({ a }) {\n  const b = a\n\n  return b\n}",
        "export const smile = ':('",
        "# Title\nimport A from 'a'",
        "<!-- a comment -->\nimport A from 'a'",
    ],
)
def test_imports_and_exports_of_mdx_are_no_words(code: str) -> None:
    found = readable(rendered(f"{code}\n\nThe text.\n\nLast words.", title="Title", mdx=True)[1])
    assert found.prose == "The text.\nLast words."


@pytest.mark.parametrize(
    "bad",
    [
        *("export const x = (\n\n" * 99_999, "import {\n" * 99_999, "export default (\n" * 99_999),
        *("import a" + " " * 99_999 + "x", "import a," + " " * 99_999 + "x"),
    ],
    ids=range(5),
)
def test_hostile_mdx_takes_no_quadratic_time(bad: str) -> None:
    start = time.monotonic()
    rendered(bad, mdx=True)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ("title: 'A &amp; <em>b</em> :tada: &rsquo;s'", "A & b ’s"),
        ("title: '{{ page.x }} | Blog'\nlinkTitle: Other", "Other"),
        ("title: The `{{ x }}` tag", "The `{{ x }}` tag"),
        ("newsTitle: News", "News"),
        ("eleventyNavigation:\n  key: Nav", "Nav"),
        ("pageTitle: ''", "Heading code"),
    ],
)
def test_titles(tmp_path: Path, fields: str, title: str) -> None:
    write(tmp_path, {"file-name.md": f"---\n{fields}\n---\n# Heading `code`\n\nText"})
    (found,) = read(tmp_path).values()
    assert found.title == title


@pytest.mark.parametrize(
    "bad", ["{{" * 99_999, "{% raw %}" * 9_999, "    ```a\n" * 9_999, "{ " * 99_999, "<A " * 9_999]
)
def test_hostile_markdown_takes_no_quadratic_time(bad: str) -> None:
    start = time.monotonic()
    rendered(bad, mdx=True)
    assert time.monotonic() - start < 10


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
    found = list(open_source(str(tmp_path / "posts"), None, SourceOptions()).read())
    assert {each.oid for each in found if isinstance(each, RawPost)} == {"a", "same"}
    assert {each.reason for each in found if isinstance(each, Reject)} == {
        "a symbolic link to a file outside the folder",
        "not a regular file",
    }


@pytest.mark.parametrize(
    ("content", "oid"),
    [
        ("---\ntitle: 'A\n---\nx", "a"),
        ("---\noid: my-id\ntitle: 'A\n---\nx", "my-id"),
        ("\ufeff---\r\nOID: 'my id' # c\r\ntitle: [\r\n---\r\nx", "my id"),
        ("\n---\ntitle: 'A\noid: 007\n---\nx", "007"),
        ("---\noid:\ntitle: 'A\n---\nx", "a"),
        ("---\noid: my-id\ntitle: A\n\nx\n\noid: 2\n", "my-id"),  # without an end
        ('+++\noid = "my-id"\ntitle = A\n+++\nx', "my-id"),
        ("+++\noid = 7\ntitle = A\n+++\nx", "7"),
        ('{\n  "oid": "my-id",\n  "title": A\n}\nx', "my-id"),
        ("---\noid: 'my-id\ntitle: A\n---\nx", None),
        ("---\nextra:\n  oid: my-id\ntitle: 'A\n---\nx", None),
        ("---\noid: my-id\noid: other\ntitle: 'A\n---\nx", None),
        ('{"title": A, "oid": "my-id"}\nx', None),
        # What is not UTF-8 is not the front matter here.
        (b"---\noid: my-id\ntitle: A\n---\nf\xfcr", "my-id"),
        (b"---\noid: my-id\ntitle: 'f\xfcr\n---\nx", "my-id"),
        (b"---\ntitle: A\n---\nf\xfcr\noid: 1.3", "a"),
        (b"---\noid: f\xfcr\ntitle: A\n---\nx", None),
        ("---\noid: my-id\ntitle: A\n---\nx".encode("utf-16"), "my-id"),
    ],
)
def test_a_reject_has_the_oid_of_the_post(
    tmp_path: Path, content: str | bytes, oid: str | None
) -> None:
    """Or none, if it may be any: by it `sync` keeps the post that is in the index."""
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
    found = open_source(str(tmp_path), None, SourceOptions()).read()
    skipped = {
        Path(each.origin.source).name: each.reason for each in found if isinstance(each, Skipped)
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


def test_eleventy_configuration(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "eleventy.config.js": 'export const config = { dir: { input: "src" } };',
            "README.md": "# About",
            "src/posts/posts.json": '{"tags": ["blog"], "permalink": "/b/{{ page.fileSlug }}/"}',
            "src/posts/2024-01-31-a.md": "---\ntitle: x\ntags: [own]\n---\nt",
            "src/posts/b.md": "---\ntitle: My Post\npermalink: '/{{ title | slug }}/'\n---\nt",
            "src/posts/c.md": "---\ntitle: x\npermalink: '/{{ page | unknown }}/'\n---\nt",
            "src/dated/dated.11tydata.js": "module.exports = {\n  tags: ['js'],\n};",
            "src/dated/d.md": "---\ntitle: x\ndate: 2024-02-01\n"
            "permalink: \"/{{ page.date | date: '%Y/%m' }}/d/\"\n---\nt",
            "src/e/index.md": POST,
            "src/_includes/f.md": POST,
            "src/g.md": "---\ntitle: x\npermalink: false\n---\nt",
        },
    )
    found = read(tmp_path)
    assert {oid: each.url for oid, each in found.items()} == {
        "posts/2024-01-31-a": "/b/a/",
        "posts/b": "/my-post/",
        "posts/c": "/posts/c/",
        "dated/d": "/2024/02/d/",
        "e": "/e/",
    }
    assert found["posts/2024-01-31-a"].keywords == ["blog", "own"]
    assert found["dated/d"].keywords == ["js"]


def test_zola_configuration(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "config.toml": 'base_url = "https://e.org"\ndefault_language = "en"\n[languages.fr]\n',
            "content/themes/My Theme.md": "\n+++\ntitle = 'x'\n+++\nt",
            "content/themes/_index.md": "+++\n+++\n",
            "content/page/index.md": "+++\ntitle = 'x'\n+++\nt",
            "content/page/index.fr.md": "+++\ntitle = 'x'\n+++\nt",
            "content/no.md": "+++\ntitle = 'x'\nrender = false\n+++\nt",
        },
    )
    found = read(tmp_path)
    assert {oid: (each.url, each.language) for oid, each in found.items()} == {
        "themes/My Theme": ("https://e.org/themes/my-theme/", "en"),
        "page": ("https://e.org/page/", "en"),
        "page/index.fr": ("https://e.org/fr/page/", "fr"),
    }


def test_zolas_path_is_used_as_it_is(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "config.toml": 'base_url = "https://e.org"\n[languages.fa]\n',
            "content/x/index.fa.md": "+++\ntitle = 'x'\npath = 'fa/x'\n+++\nt",
            "content/x/index.md": "+++\ntitle = 'x'\npath = '/x/'\n+++\nt",
        },
    )
    found = read(tmp_path)
    assert {oid: (each.url, each.language) for oid, each in found.items()} == {
        "x/index.fa": ("https://e.org/fa/x/", "fa"),
        "x": ("https://e.org/x/", "en"),
    }


@pytest.mark.parametrize(
    ("options", "path", "fields", "url"),
    [
        ("{}", "blog/posts/a.md", "slug: s", "/blog/2024/05/03/s/"),
        ("{}", "blog/posts/2024/a.md", "title: A `b` - C!", "/blog/2024/05/03/a-b---c/"),
        ("{}", "blog/posts/a_file.md", "", "/blog/2024/05/03/the-heading/"),
        ("{}", "blog/a.md", "slug: s", "/blog/a/"),
        ("{enabled: false}", "blog/posts/a.md", "", "/blog/posts/a/"),
        ("{blog_dir: ., post_url_date_format: yyyy/MM}", "posts/a.md", "slug: s", "/2024/05/s/"),
        ("{blog_dir: n, post_dir: '{blog}/x'}", "n/x/a.md", "slug: s", "/n/2024/05/03/s/"),
        ("{post_dir: p, post_url_format: '{file}'}", "p/b.md", "", "/blog/b/"),
        (
            "{post_url_format: '{categories}/{slug}', post_url_max_categories: 2}",
            "blog/posts/a.md",
            "slug: s\ncategories: [A b, c, d]",
            "/blog/a-b/c/s/",
        ),
    ],
)
def test_the_blog_of_material_for_mkdocs(
    tmp_path: Path, options: str, path: str, fields: str, url: str
) -> None:
    text = f"---\ndate: 2024-05-03\n{fields}\n---\n\n# The *heading*\n\nt"
    write(tmp_path, {"mkdocs.yml": f"plugins: [{{blog: {options}}}]", f"docs/{path}": text})
    assert list(urls(tmp_path).values()) == [url]
    write(tmp_path, {"mkdocs.yml": f"use_directory_urls: false\nplugins: [{{blog: {options}}}]"})
    assert list(urls(tmp_path).values()) == [f"{url.rstrip('/')}.html"]


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
    found = readable(rendered(text, title="x")[1]).prose
    assert found.split() == ["a", "I", "did", "it.", "—", "she", "**b**"]


def test_pelican_without_path_reads_its_content_folder(tmp_path: Path) -> None:
    said = "Title: A\nDate: 2024-01-31\n\ntext"
    write(tmp_path, {"pelicanconf.py": "", "content/a.md": said, "draft/b.md": said})
    assert list(read(tmp_path)) == ["a"]
    write(tmp_path, {"pelicanconf.py": "PATH = '.'"})
    assert list(read(tmp_path)) == ["content/a", "draft/b"]


def test_titles_of_myst(tmp_path: Path) -> None:
    text = "---\nsd_hide_title: true\n---\n(a-label)=\n# The title\n\ntext"
    (post,) = read(write(tmp_path, {"a.md": text})).values()
    assert (post.title, readable(post.text).prose) == ("The title", "text")


def test_next_has_no_index_in_addresses(tmp_path: Path) -> None:
    head = "---\ntitle: x\n---\nt"
    names = ("public/a/index.md", "x/b/index.md")
    write(tmp_path, {"next.config.js": "", **dict.fromkeys(names, head)})
    assert list(urls(tmp_path).values()) == ["/a", "/x/b"]


@pytest.mark.parametrize(
    ("data", "url"),
    [
        ("permalink: function({page}) {\n return `/w/${ page.fileSlug }/`\n}", "/w/a/"),
        ("permalink: (data) => `/w/${data.page.fileSlug}/`,", "/w/a/"),
        ("permalink(data) { return `/w/${data.title}/`; }", "/w/x/"),
        ("permalink: '/w/{{ page.fileSlug }}/'", "/w/a/"),
        ("permalink: data => data.page.fileSlug", ""),
        ("tags: ['permalink']", None),
    ],
)
def test_permalinks_of_eleventy_in_javascript(tmp_path: Path, data: str, url: str | None) -> None:
    configuration = "markdownIt().use(anchor, { permalink: true })"
    files = {"p/p.11tydata.js": f"export default {{ {data} }}", "p/a.md": "---\ntitle: x\n---\nt"}
    notes: list[str] = []
    write(tmp_path, {"eleventy.config.js": configuration, **files})
    assert list(urls(tmp_path, warn=notes.append).values()) == [url or "/p/a/"]
    assert bool(notes) is (url == "")


@pytest.mark.parametrize(
    "configuration",
    [
        {"hugo.toml": "baseURL = 'https://e.org'\n[permalinks]\nguide = '/x/:slug/'"},
        {"config.toml": "base_url = 'https://e.org'"},
    ],
)
def test_a_section_with_a_text_of_its_own_is_a_post(
    tmp_path: Path, configuration: dict[str, str]
) -> None:
    long, tags = "Some words of its own. " * 40, "{{< card >}}<div class='x'></div>" * 40
    files = {
        "content/_index.md": f"+++\ntitle = 'Home'\n+++\n{long}",
        "content/guide/_index.md": f"+++\ntitle = 'Guide'\n+++\n{long}",
        "content/guide/part/_index.md": f"+++\ntitle = 'Part'\n+++\n{long}",
        "content/news/_index.md": f"+++\ntitle = 'News'\n+++\nAll news.\n{tags}",
    }
    write(tmp_path, {**configuration, **files})
    assert urls(tmp_path) == {
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


def test_guessed_addresses_are_said_to_be_guesses(tmp_path: Path) -> None:
    route = "getCollection('blog')"
    files = {
        "plain/posts/a.md": "---\ntitle: x\n---\nt",
        "astro/astro.config.mjs": "",
        "astro/src/content/blog/a.md": "---\ntitle: x\n---\nt",
        "astro/src/content/posts/a.md": "---\ntitle: x\n---\nt",
        "astro/src/pages/[...id].astro": route,
        "astro/src/pages/posts/[...id].astro": "getSortedPosts()",
        "spec/astro.config.mjs": "",
        "spec/src/content/spec/a.md": "---\ntitle: x\n---\nt",
        "zola/config.toml": "base_url = 'https://e.org'",
        "zola/content/a.md": "+++\ntitle = 'x'\n+++\nt",
    }
    write(tmp_path, files)
    for name, words in (
        ("plain", "guessed"),
        ("spec", "collection spec"),
        ("astro", ""),
        ("zola", ""),
    ):
        notes: list[str] = []
        assert read(tmp_path / name, warn=notes.append)
        assert [words in each for each in notes] == ([True] if words else [])
        assert read(tmp_path / name, warn=pytest.fail, url_template="/{slug}/")


def test_a_site_in_a_repository_of_several_packages(tmp_path: Path) -> None:
    files = {
        "package.json": "{}",
        "README.md": "# Read me",
        "apps/site/next.config.mjs": "",
        "apps/site/pages/en/a.md": "---\ntitle: x\n---\nt",
        "platforms/x/next.config.mjs": "",
        "platforms/x/README.md": "# Read me",
        "tests/site/_config.yml": "",
        "tools/new/_config.yml": "title: {{ a }}: b",
    }
    assert urls(write(tmp_path, files)) == {"pages/en/a": "/en/a"}


def test_mkdocs(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "mkdocs.yml": "site_url: https://e.org/d/\ndocs_dir: text\nnav:\n  - Start: index.md\n"
            "  - Guide:\n    - Named: guide/a.md\nexclude_docs: |\n  internal/\n"
            "theme:\n  language: de\nx: !!python/name:y.z\n",
            "text/index.md": "# Welcome\n\nt",
            "text/guide/a.md": "# Heading\n\nt",
            "text/guide/README.md": "# Read\n\nt",
            "text/internal/x.md": "# x",
        },
    )
    found = read(tmp_path)
    assert {oid: (each.url, each.title) for oid, each in found.items()} == {
        "index": ("https://e.org/d/", "Start"),
        "guide/a": ("https://e.org/d/guide/a/", "Named"),
        "guide/README": ("https://e.org/d/guide/", "Read"),
    }
    assert found["index"].language == "de"


def test_docusaurus(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "docusaurus.config.js": "module.exports = {\n  url: 'https://e.org',\n"
            "  baseUrl: '/x/',\n  presets: [['classic', {docs: {routeBasePath: 'guide'}}]],\n};",
            "docs/01-intro.md": POST,
            "docs/02-more/README.md": POST,
            "docs/02-more/deep.md": "---\ntitle: x\nslug: other\n---\nt",
            "docs/02-more/id.md": "---\ntitle: x\nid: named\n---\nt",
            "docs/_part.md": POST,
            "blog/2024-01-31-hello.md": POST,
            "blog/2024-02-01-folder/index.md": POST,
            "blog/releases/2024-03-01-old.md": POST,
            "blog/releases/10.1.md": "---\ntitle: x\ndate: 2024-03-01\n---\nt",
            "src/pages/about.md": POST,
        },
    )
    assert urls(tmp_path) == {
        # Only a date in the path is in the address.
        "blog/releases/2024-03-01-old": "https://e.org/x/blog/2024/03/01/releases/old",
        "blog/releases/10.1": "https://e.org/x/blog/releases/10.1",
        "docs/01-intro": "https://e.org/x/guide/intro",
        "docs/02-more/README": "https://e.org/x/guide/more",
        "docs/02-more/deep": "https://e.org/x/guide/more/other",
        "docs/02-more/id": "https://e.org/x/guide/more/named",
        "blog/2024-01-31-hello": "https://e.org/x/blog/2024/01/31/hello",
        "blog/2024-02-01-folder": "https://e.org/x/blog/2024/02/01/folder",
        "pages/about": "https://e.org/x/about",
    }


def test_docusaurus_with_quoted_names_constants_and_several_plugins(tmp_path: Path) -> None:
    config = """
    const latest = '2.x';
    export default {
      "url": "https://e.org", "baseUrl": "/",
      "presets": [["classic", {
        "docs": { editUrl: ({path}) => `x/${path}`, "routeBasePath": "/", lastVersion: latest },
        blog: false,
      }]],
      plugins: [["@docusaurus/plugin-content-docs", {
        id: "server", path: "./server-docs", routeBasePath: "server"}]],
    };"""
    write(
        tmp_path / "website",
        {
            "docusaurus.config.ts": config,
            "versions.json": '["2.x", "1.x"]',
            "docs/next.md": POST,
            "versioned_docs/version-1.x/old.md": POST,
            "versioned_docs/version-2.x/now.md": "import X from './x'\n\n# Now\n\nHere is it.",
            "server-docs/start.md": POST,
        },
    )
    write(tmp_path, {"README.md": "# About", "CHANGELOG.md": "---\ntitle: x\n---\nt"})
    # The one folder of the repository that has a configuration.
    found = read(tmp_path)
    assert {oid: post.url for oid, post in found.items()} == {
        "docs/now": "https://e.org/now",
        "server/start": "https://e.org/server/start",
    }
    # In Docusaurus, files that end in .md are MDX too.
    assert found["docs/now"].title == "Now"
    assert "import" not in found["docs/now"].text


def test_hexo(tmp_path: Path) -> None:
    config = (
        "url: https://e.org\npermalink: :category/:year/:title/\nlanguage: [de, en]\n"
        "timezone: America/New_York\nnew_post_name: :year-:month-:day-:title.md\n"
        "skip_render: raw/*\ncategory_map: {Old: new}\n"
    )
    write(
        tmp_path,
        {
            "_config.yml": config,
            "source/_posts/2024-01-31-First Post.md": "---\ntitle: x\n---\nText",
            "source/_posts/deep/second.md": "title: No opening\ndate: 2024-01-31 22:00:00\n"
            "tags: [a, b]\ncategories:\n- [Über uns, Old]\n---\nText",
            "source/_posts/json.md": '"title": "J",\n"date": "2024-02-01"\n;;;\nText',
            "source/_posts/own.md": "---\ntitle: x\ndate: 2024-02-01\npermalink: a/b.html\n---\nt",
            "source/_drafts/idea.md": POST,
            "source/_data/x.md": POST,
            "source/en/about/index.md": POST,
            "source/en/page.md": POST,
            "source/menu/index.md": "---\ntitle: Menu\nlayout: menu\n---\n",
            "source/index.md": "---\nlayout: index\n---\n",
            "source/raw/x.md": POST,
            "themes/x/README.md": POST,
        },
    )
    found = read(tmp_path)
    assert {oid: post.url for oid, post in found.items()} == {
        "_posts/2024-01-31-First Post": "https://e.org/uncategorized/2024/First%20Post/",
        "_posts/deep/second": "https://e.org/Uber-uns/new/2024/deep-second/",
        "_posts/json": "https://e.org/uncategorized/2024/json/",
        "_posts/own": "https://e.org/a/b.html",
        "en/about": "https://e.org/en/about/",
        "en/page": "https://e.org/en/page.html",
    }
    second = found["_posts/deep/second"]
    assert (second.title, second.keywords, second.language) == ("No opening", ["a", "b"], "de")
    assert second.categories == ["Über uns", "Old"]
    assert iso(second.pub_date) == "2024-01-31T22:00:00-05:00"
    assert iso(found["_posts/2024-01-31-First Post"].pub_date) == "2024-01-31T00:00:00Z"
    assert found["_posts/json"].title == "J"
    assert found["en/page"].language == "en"


def test_pelican(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pelicanconf.py": "import os\nPATH = 'content'\nSITEURL = ''\nTIMEZONE = 'Asia/Tokyo'\n"
            "ARTICLE_URL = '{category}/{date:%Y}/{slug}/'\nDEFAULT_LANG = 'de'\n"
            "THEME = os.path.join('a', 'b')\n",
            "publishconf.py": "from pelicanconf import *\nSITEURL = 'https://e.org'\n",
            "content/Web Dev/one.md": "Title: It's “One”: a Post\nDate: 2024-01-31 05:00\n"
            "Tags: c, d\nSummary: First\n    and more\nAuthors: Ann\n\nThe text.",
            "content/2024-02-01_two.md": "---\nTitle: Two\nSlug: zwei\n---\nText",
            "content/three.md": "Title: Three\nDate: 2024-02-02\nLang: fr\n\nText",
            "content/four.md": "Title: Four\nDate: 2024-02-02\nUrl: f/4.html\n\nText",
            "content/five.md": '{"title": "Five", "authors": 5}\nText',
            "content/draft.md": "Title: x\nStatus: draft\n\nText",
            "content/pages/About Us.md": "Title: About Us\n\nText",
            "output/x.md": POST,
        },
    )
    found = read(tmp_path)
    assert {oid: post.url for oid, post in found.items()} == {
        "Web Dev/one": "https://e.org/web-dev/2024/its-one-a-post/",
        "2024-02-01_two": "https://e.org/misc/2024/zwei/",
        "three": "https://e.org/three-fr.html",
        "four": "https://e.org/f/4.html",
        "five": "https://e.org/five.html",
        "pages/About Us": "https://e.org/pages/about-us.html",
    }
    one = found["Web Dev/one"]
    assert (one.title, one.keywords, one.categories) == (
        "It's “One”: a Post",
        ["c", "d"],
        ["Web Dev"],
    )
    assert iso(one.pub_date) == "2024-01-31T05:00:00+09:00"
    assert one.language == "de"
    assert "Summary" not in one.text


def test_vitepress_and_vuepress(tmp_path: Path) -> None:
    config = (
        "export default { srcDir: 'src', base: '/b/', lang: 'en',\n"
        "  srcExclude: ['parts/**'], sitemap: { hostname: 'https://e.org' },\n"
        "  locales: {\n    fr: { lang: 'fr' },\n  } }"
    )
    write(
        tmp_path / "v",
        {
            ".vitepress/config.mts": config,
            "README.md": "# The repository",  # outside of srcDir
            "src/index.md": POST,
            "src/README.md": "# A page like others",
            "src/guide/start.md": "# Start {#start}\n\n::: tip Good\nText\n:::",
            "src/fr/start.md": POST,
            "src/parts/x.md": POST,
            "src/shop/[id].md": POST,
        },
    )
    found = read(tmp_path / "v")
    assert {oid: (post.url, post.language) for oid, post in found.items()} == {
        "index": ("https://e.org/b/", "en"),
        "README": ("https://e.org/b/README.html", "en"),
        "guide/start": ("https://e.org/b/guide/start.html", "en"),
        "fr/start": ("https://e.org/b/fr/start.html", "fr"),
    }
    assert found["guide/start"].title == "Start"
    # The address of the front page, as --site is documented, has the base already.
    assert urls(tmp_path / "v", site="https://x.org/b/")["index"] == "https://x.org/b/"
    write(
        tmp_path / "w",
        {
            "docs/.vuepress/config.js": "module.exports = {}",
            "docs/README.md": POST,
            "docs/guide/README.md": POST,
            "docs/guide/more.md": "---\ntitle: x\npermalink: /p/\n---\nt",
        },
    )
    assert urls(tmp_path / "w") == {"README": "/", "guide/README": "/guide/", "guide/more": "/p/"}


def test_mdbook(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "book.toml": "[book]\nlanguage = 'en'\n[output.html]\nsite-url = '/book/'\n",
            "src/SUMMARY.md": "# Summary\n\n[Foreword](foreword.md)\n"
            "- [The `Box<T>` type](a/README.md)\n  - [Deep](./a/deep.md)\n  - [Later]()\n",
            "src/foreword.md": "Text",
            "src/a/README.md": "# Boxes\n\n```rust\n{{#include ../x.rs}}\nlet b;\n```",
            "src/a/deep.md": "# Deep\n\n{{#include ../y.md}}\nText",
            "src/not-listed.md": "# X",
            "README.md": "# About",
        },
    )
    found = read(tmp_path)
    assert {oid: (post.url, post.title) for oid, post in found.items()} == {
        "foreword": ("/book/foreword.html", "Foreword"),
        "a/README": ("/book/a/", "The `Box<T>` type"),
        "a/deep": ("/book/a/deep.html", "Deep"),
    }
    assert "include" not in found["a/README"].text + found["a/deep"].text
    assert "let b;" in found["a/README"].text


def test_sphinx_and_jupyter_book_say_what_to_index(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "_config.yml": "title: x",
            "_toc.yml": "root: intro",
            "intro.md": POST,
            "part/a.md": POST,
            "part/b.ipynb": "{}",
            "_build/html/x.md": POST,
        },
    )
    warnings: list[str] = []
    found = urls(tmp_path, warn=warnings.append)
    assert found == {"intro": "/intro.html", "part/a": "/part/a.html"}
    assert "index the built site" in warnings[0]


def test_astro_routes(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "astro.config.mjs": "export default { site: 'https://e.org', base: '/b' }",
            "src/pages/writing/[...slug].astro": "const posts = await getCollection('blog')",
            "src/content/blog/My Post.md": POST,
            "src/content/blog/index.md": POST,
            "src/content/blog/_hidden.md": POST,
            "src/pages/about.md": POST,
        },
    )
    assert urls(tmp_path) == {
        "blog/My Post": "https://e.org/b/writing/my-post/",
        "blog": "https://e.org/b/writing/",
        "pages/about": "https://e.org/b/about/",
    }


def test_astro_collections_outside_src(tmp_path: Path) -> None:
    config = """
    const post = defineCollection({ loader: glob({ pattern: "**/*.md", base: "./content/posts" }) })
    export const collections = {
      post, "short-notes": defineCollection({ loader: glob({ base: 'content/notes' }) }),
    }
    """
    write(
        tmp_path,
        {
            "astro.config.ts": "",
            "src/content.config.ts": config,
            "src/pages/writing/[...slug].astro": "await getCollection('post')",
            "content/posts/a.md": POST,
            "content/notes/b.md": POST,
        },
    )
    assert urls(tmp_path) == {"posts/a": "/writing/a/", "notes/b": "/notes/b/"}


def test_what_eleventy_ignores(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "eleventy.config.js": "export default (c) => { c.ignores.add('src/no/*.md') }; "
            "export const config = { dir: { input: 'src' } }",
            ".eleventyignore": "# a comment\n!src/no/again.md\nsrc/drafts\nREADME.md\n",
            ".gitignore": "src/**/cache.md\n",
            "src/.eleventyignore": "./local.md\n",
            **dict.fromkeys(
                ("src/drafts/x.md", "src/a/cache.md", "src/local.md", "src/no/again.md"), POST
            ),
            **dict.fromkeys(("src/no/deep/x.md", "src/README.md", "src/a/local.md"), POST),
        },
    )
    assert set(urls(tmp_path)) == {"no/deep/x", "README", "a/local"}
    config = (tmp_path / "eleventy.config.js").read_text()
    (tmp_path / "eleventy.config.js").write_text(f"c.setUseGitIgnore(false); {config}")
    assert "a/cache" in urls(tmp_path)


def test_front_matter_in_javascript(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "eleventy.config.js": "",
            "a.md": "---js\nconst title = `It's`;\nconst tags = ['one', \"two\"];\n---\ntext",
            "b.md": '---js\n{\n  title: "Object",\n  draft: false,\n}\n---\ntext',
            "c.md": "---js\nconst title = 'Draft'\nconst draft = true\n---\ntext",
        },
    )
    posts = read(tmp_path)
    assert {oid: post.title for oid, post in posts.items()} == {"a": "It's", "b": "Object"}
    assert posts["a"].keywords == ["one", "two"]


def test_next(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "next.config.mjs": "",
            "README.md": "# About",
            "app/(site)/blog/one/page.mdx": POST,
            "pages/two/index.mdx": POST,
            "data/blog/three.mdx": POST,
        },
    )
    warnings: list[str] = []
    assert urls(tmp_path, warn=warnings.append) == {
        "app/(site)/blog/one/page": "/blog/one",
        "pages/two": "/two",
        "data/blog/three": "/blog/three",
    }
    assert "--url-template" in warnings[0]
    exported = "export const metadata = {\n  title: 'It',\n  date: '2024-01-31',\n}\n\nWords."
    write(tmp_path, {"app/four/page.mdx": exported})
    four = read(tmp_path)["app/four/page"]
    assert (four.title, iso(four.pub_date)) == ("It", "2024-01-31T00:00:00Z")
    assert "metadata" not in four.text
    write(tmp_path, {"tools/fixtures/x.md": POST, "src/content/learn/index.md": POST})
    found = urls(tmp_path)  # only the folders that Next.js or its templates know
    assert found["src/content/learn"] == "/learn"
    assert "/tools/fixtures/x" not in found.values()
    assert "/p/three" in urls(tmp_path, url_template="/p/{slug}").values()


def test_only_the_error_page_of_the_site_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"404.md": POST, "fr/404.md": POST, "posts/404.md": POST})
    assert set(read(tmp_path)) == {"posts/404"}


@pytest.mark.parametrize(
    ("configuration", "bad"),
    [
        ("pelicanconf.py", "Title: x\n" + "    more\n" * 100_000),
        ("book.toml", "{{#include " * 50_000),
        ("next.config.js", "export const metadata = {\n" * 5_000),
    ],
)
def test_hostile_metadata_takes_no_quadratic_time(
    tmp_path: Path, configuration: str, bad: str
) -> None:
    site = site_of(write(tmp_path, {configuration: "", "src/SUMMARY.md": "[x](x.md)"}))
    start = time.monotonic()
    site.split(bad)
    assert time.monotonic() - start < 10
