"""Markdown folders: front matter, what is out, addresses, and the words of a post."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from indexer.dates import iso, moment
from indexer.errors import SourceError
from indexer.html_text import readable
from indexer.records import RawPost, Reject
from indexer.sources import SourceOptions, open_source
from indexer.sources.markdown.front_matter import BadFrontMatter, parted
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
    found = parted(f"{head}\nText --- here\n\n---\n")
    assert found.fields is not None
    assert (found.fields["title"], found.fields["tags"]) == ("A b", ["x", "y"])
    when = moment(found.fields["date"])
    assert when is not None
    assert iso(when) == "2024-01-31T00:00:00Z"
    assert found.text.strip() == "Text --- here\n\n---"


def test_yaml_does_not_guess() -> None:
    head = "---\ntitle: NO\nslug: 1:30\noid: 007\ndate: 2024-02-30\ndraft: false\nnext: ~\n---\n"
    assert parted(head).fields == {
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
        ("---js\n{title: 1}\n---\n", 1),
        ("---\na: " + "[" * 1500 + "\n---\n", 1),
    ],
)
def test_a_bad_head_names_its_line(content: str, line: int) -> None:
    with pytest.raises(BadFrontMatter) as caught:
        parted(content)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "content", ["", "text", "---\n\nA line\n\n---\n", "----\na: b\n----\n", "{{ x }}"]
)
def test_no_head_at_all(content: str) -> None:
    assert parted(content).fields is None
    assert parted(content).text == content


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
        "til/one": "One *thing*",
        "til/2024-01-31-two-things": "Two things",
        "three": "Three",
    }
    assert "thing" not in found["til/one"].text
    assert found["til/2024-01-31-two-things"].pub_date == "2024-01-31"


# -- fields and addresses --------------------------------------------------------------------------


def test_jekyll(tmp_path: Path) -> None:
    head = "title: x\ncategories: Web Dev\ntags: a b\nlast_modified_at: 2024-02-02"
    write(
        tmp_path,
        {
            "_config.yml": "url: https://example.org\nbaseurl: /blog\n",
            "_posts/2024-01-31-hello-world.md": f"---\n{head}\n---\ntext",
            "news/_posts/2024-01-31-in-news.md": "---\ntitle: x\n---\ntext",
            "_posts/2024-01-31-zone.md": "---\ntitle: x\ndate: 2024-01-31 23:30 -0500\n---\nx",
            "_posts/2024-01-31-own.md": "---\ntitle: x\npermalink: /:year/own/:title/\n---\ntext",
            "_posts/2024-01-31-page.html": "---\ntitle: x\n---\n<p>HTML",
            "about.md": "---\ntitle: x\n---\ntext",
            "docs/index.md": "---\ntitle: x\n---\ntext",
        },
    )
    found = read(tmp_path)
    first = found["_posts/2024-01-31-hello-world"]
    assert (first.categories, first.keywords) == (["Web", "Dev"], ["a", "b"])
    assert (first.pub_date, first.modified) == ("2024-01-31", "2024-02-02")
    base = "https://example.org/blog"
    assert urls(tmp_path) == {
        "_posts/2024-01-31-hello-world": f"{base}/web/dev/2024/01/31/hello-world.html",
        "news/_posts/2024-01-31-in-news": f"{base}/news/2024/01/31/in-news.html",
        "_posts/2024-01-31-zone": f"{base}/2024/01/31/zone.html",
        "_posts/2024-01-31-own": f"{base}/2024/own/own/",
        "_posts/2024-01-31-page": f"{base}/2024/01/31/page.html",
        "about": f"{base}/about.html",
        "docs": f"{base}/docs/",
    }
    assert "<p>HTML" in found["_posts/2024-01-31-page"].text
    for style, path in (
        ("pretty", "/2024/01/31/zone/"),
        ("none", "/zone.html"),
        ("ordinal", "/2024/031/zone.html"),
        ("/:short_year-:i_month/:slug", "/24-1/zone"),
    ):
        (tmp_path / "_config.yml").write_text(f"permalink: {style}")
        assert urls(tmp_path)["_posts/2024-01-31-zone"] == path


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
        "news/n": "/2024/01/n/",
    }


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
    assert (post.keywords, post.categories, post.pub_date) == (["a"], ["b"], "2024-01-31")
    assert post.url == "https://example.org/blog/post/"
    assert found["blog/path"].url == "https://example.org/else/where"


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
        "posts/2024-01-31-a": "/posts/2024-01-31-a/",
        "posts/b/b": "/posts/b/",
        "posts/c": "/c/",
    }
    (astro,) = read(tmp_path / "astro").values()
    assert (astro.url, astro.pub_date) == ("/blog/a/", "Jul 08 2022")
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
    assert urls(tmp_path) == {"blog/a": "/blog/a/"}
    assert urls(tmp_path / "src/pages") == {"notes/b": "/notes/b/"}
    assert urls(tmp_path / "src/pages/notes/b.md") == {"b": "/b/"}


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
        ("# Head {#id}\n{: .class}\nb{:.x} c[^1]\n\n[^1]: Foot", "Head {#id}\nb c\nFoot", ""),
        ("````\n```\n````\nx", "x", "```"),
        ("```\nnever closed {{ x }}", "", "never closed {{ x }}"),
    ],
)
def test_the_words_of_a_post(markdown: str, prose: str, code: str) -> None:
    found = readable(rendered(markdown))
    assert (found.prose, found.code) == (prose, code)
