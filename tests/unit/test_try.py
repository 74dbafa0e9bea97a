"""`blogsearch try`, `blogsearch init` and `blogsearch.toml`: none of them needs an engine."""

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.settings import load_settings
from app.site_file import read_site_file

Invoke = Callable[..., Result]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9")  # nothing answers there
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


def write_posts(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        text = f"---\ntitle: Post {number:03}\ndate: 2024-01-31\ntags: [a]\n---\nSome words."
        (folder / f"{number:03}.md").write_text(text)


def test_shows_posts_from_all_over_the_source(invoke: Invoke, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts", 100)
    (tmp_path / "posts/draft.md").write_text("---\ntitle: x\ndraft: true\n---\nt")
    (tmp_path / "posts/bad.md").write_text("---\ntitle: [\n---\nt")
    done = invoke("try", "posts", "--posts", "4", "--verbose")
    assert done.exit_code == 0, done.output
    shown = [int(line[5:]) for line in done.stdout.splitlines() if line.startswith("Post ")]
    assert len(shown) == 4
    assert shown[0] < 25
    assert shown[-1] >= 50
    assert "2024-01-31" in done.stdout
    assert "100 posts (markdown)." in done.stdout
    assert "1 rejected: invalid YAML" in done.stdout
    assert "Left out: 1 draft" in done.stderr
    assert "posts/draft.md: draft" in done.stderr


def test_warns_of_what_a_reader_would_miss(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "posts").mkdir()
    (tmp_path / "posts/a.md").write_text("---\ntitle: 'A'\n---\n")
    done = invoke("try", "posts")
    for warning in ("no date", "no text", "--site"):
        assert warning in done.stdout


def test_unknown_fields_of_json_lines_are_named_with_what_was_meant(
    invoke: Invoke, tmp_path: Path
) -> None:
    posts = [{"oid": str(n), "title": "x", "date": "2024-01-31", "colour": 1} for n in range(2)]
    (tmp_path / "posts.jsonl").write_text("\n".join(map(json.dumps, posts)))
    done = invoke("try", "posts.jsonl")
    assert "2 posts have a field 'date'; did you mean 'pub_date'?" in done.stderr
    assert "'colour'" in done.stderr


def test_paths_get_the_address_of_the_site(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text('{"oid": 1, "title": "x", "url": "/a/"}')
    done = invoke("try", "posts.jsonl", "--site", "https://example.org/blog/")
    assert "https://example.org/blog/a/" in done.stdout


def test_a_post_of_two_sources_is_one(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"oid": 1, "title": "x", "url": "https://www.a.org/p/"}')
    (tmp_path / "b.jsonl").write_text('{"oid": 2, "title": "x", "url": "http://a.org/p.html"}')
    done = invoke("try", "a.jsonl", "b.jsonl")
    assert "1 post (jsonlines)." in done.stdout
    assert "the address of a post in an earlier source" in done.stderr


def test_init_guesses_and_every_command_reads_the_file(invoke: Invoke, tmp_path: Path) -> None:
    write_posts(tmp_path / "content/news", 2)
    write_posts(tmp_path / "content/old", 1)
    (tmp_path / "hugo.toml").write_text('baseURL = "https://example.org/"')
    done = invoke("init", "--yes")
    assert done.exit_code == 0, done.output
    file = tmp_path / "blogsearch.toml"
    site = read_site_file(file)
    assert (site.sources, site.site) == (("content",), "https://example.org/")
    assert invoke("init", "--yes").exit_code == 1
    file.write_text(
        file.read_text()
        + 'exclude = ["old/*"]\nlanguage = "de"\n[urls]\nnews = "/n/{slug}/"\n'
        + '[fields]\ntags = ["topics"]\n[settings]\nindex = "other"\n'
    )
    done = invoke("try")
    assert "https://example.org/n/000/" in done.stdout
    assert "language  de" in done.stdout
    assert "2 posts (markdown)." in done.stdout
    assert "1 excluded by blogsearch.toml" in done.stderr


def test_init_without_a_terminal_names_the_option(invoke: Invoke, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts", 1)
    done = invoke("init", "posts")
    assert done.exit_code == 2
    assert "--yes" in done.stderr


def test_a_site_without_a_scheme_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><body><article><p>words</article>")
    done = invoke("try", ".", "--site", "blog.example.org")
    assert done.exit_code == 2
    assert "https://blog.example.org" in done.stderr


@pytest.mark.parametrize(
    ("configuration", "generator", "output"),
    [
        ("astro.config.mjs", "Astro", "dist"),
        ("_quarto.yml", "Quarto", "_site"),
        (".vitepress/config.js", "VitePress", ".vitepress/dist"),
        ("conf.py", "Nikola", "output"),
        ("x.lektorproject", "Lektor", ""),
    ],
)
def test_init_takes_the_built_folder_of_a_generator_that_is_not_followed(
    invoke: Invoke, tmp_path: Path, configuration: str, generator: str, output: str
) -> None:
    write_posts(tmp_path / "posts", 1)
    (tmp_path / configuration).parent.mkdir(exist_ok=True)
    (tmp_path / configuration).write_text("BLOG_TITLE = 1")
    (tmp_path / "posts/more.rst").write_text("More")
    done = invoke("init", "--yes")
    assert f"the addresses of {generator} are not known" in done.stderr
    assert read_site_file(tmp_path / "blogsearch.toml").sources == (".",)
    done = invoke("try")
    assert "1 post (markdown)." in done.stdout
    assert "1 format that is not read" in done.stderr
    if output:
        (tmp_path / output).mkdir(parents=True)
        (tmp_path / output / "index.html").write_text("<html>")
        done = invoke("init", "--yes", "--force")
        assert f"{output} is the site that {generator} has built" in done.stderr
        assert read_site_file(tmp_path / "blogsearch.toml").sources == (output,)


def test_init_names_the_built_site_of_a_generator_that_is_followed(
    invoke: Invoke, tmp_path: Path
) -> None:
    write_posts(tmp_path / "content", 1)
    for file in ("hugo.toml", "public/index.html"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    done = invoke("init", "--yes")
    assert "address is not known" in done.stderr
    assert "`blogsearch init public --force`" in done.stderr
    assert read_site_file(tmp_path / "blogsearch.toml").sources == ("content",)


@pytest.mark.parametrize("name", ["CNAME", "static/CNAME"])
def test_init_finds_the_address(invoke: Invoke, tmp_path: Path, name: str) -> None:
    write_posts(tmp_path / "posts", 1)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("blog.example.org\n")
    invoke("init", "--yes")
    assert read_site_file(tmp_path / "blogsearch.toml").site == "https://blog.example.org"


def test_init_finds_the_address_of_a_built_site(invoke: Invoke, tmp_path: Path) -> None:
    link = '<html><link rel="canonical" href="https://e.org/blog/">'
    (tmp_path / "index.html").write_text(link)
    invoke("init", "--yes")
    assert read_site_file(tmp_path / "blogsearch.toml").site == "https://e.org/blog"


def test_init_finds_the_address_beside_the_built_site(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "_config.yml").write_text("url: https://e.org\nbaseurl: /b")
    (tmp_path / "_site").mkdir()
    (tmp_path / "_site/index.html").write_text("<html>")
    invoke("init", "_site", "--yes")
    assert read_site_file(tmp_path / "blogsearch.toml").site == "https://e.org/b"


def test_pages_left_out_and_equal_titles_are_named(invoke: Invoke, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_text(PAGE.format("") + str(number))
    (tmp_path / "404.html").write_text(PAGE.format(""))
    done = invoke("try", ".")
    assert "3 posts have the title 'T'" in done.stdout
    assert "left out: 404.html: error page" in done.stdout


def test_formats_that_are_not_read_are_named(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.adoc").write_text("= A")
    done = invoke("try", ".")
    assert ".adoc files, which are not read. Build the site" in done.stderr


PAGE = "<html{}><head><title>T</title></head><main><p>" + "A long enough sentence. " * 20
ITEM = (
    "<item><title>T</title><link>https://e.org/1</link><wp:post_id>1</wp:post_id><wp:post_type>post</wp:post_type>"
    "<wp:status>publish</wp:status></item>"
)


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.jsonl", '{"oid": 1, "title": "A"}', "de"),
        ("a.jsonl", '{"oid": 1, "title": "A", "language": "fr"}', "fr"),
        ("a.html", PAGE.format(""), "de"),
        ("a.html", PAGE.format(" lang='fr'"), "fr"),
        ("a.md", "---\ntitle: A\n---\nx", "de"),
        ("a.xml", f"<rss version='2.0'><channel>{ITEM}</channel></rss>".replace("wp:", ""), "de"),
        (
            "a.xml",
            f"<rss xmlns:wp='http://wordpress.org/export/1.2/'><channel>{ITEM}</channel></rss>",
            "de",
        ),
    ],
)
def test_the_language_of_the_file_is_that_of_posts_that_name_none(
    invoke: Invoke, tmp_path: Path, name: str, content: str, shown: str
) -> None:
    (tmp_path / "blogsearch.toml").write_text('language = "de"')
    (tmp_path / name).write_text(content)
    done = invoke("try", name)
    assert f"language  {shown}\n" in done.stdout


def test_a_file_of_windows_notepad_is_read(tmp_path: Path) -> None:
    file = tmp_path / "blogsearch.toml"
    file.write_bytes(b'\xef\xbb\xbflanguage = "de"\r\n')
    assert read_site_file(file).language == "de"


@pytest.mark.parametrize("name", ["🎉", 'a "b" \\ c', "\x7f"])
def test_init_writes_any_name_of_a_folder_as_toml(
    invoke: Invoke, tmp_path: Path, name: str
) -> None:
    write_posts(tmp_path / name, 1)
    done = invoke("init", name, "--yes")
    assert done.exit_code == 0, done.output
    assert read_site_file(tmp_path / "blogsearch.toml").sources == (name,)


def test_the_environment_wins_over_the_file(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blogsearch.toml").write_text('[settings]\nindex = "file"\nshards = 3\n')
    monkeypatch.setenv("BLOGSEARCH_INDEX", "environment")
    settings = load_settings()
    assert (settings.index, settings.shards) == ("environment", 3)


def test_an_unexpected_error_names_what_was_read(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<rss version='2.0'><channel></channel></rss>")
    with patch("feedparser.parse", side_effect=ZeroDivisionError):
        done = invoke("try", "a.xml")
    assert done.exit_code == 1
    assert "It occurred while a.xml was read." in done.stderr

    oid = "0x" + "f" * 5_000  # an integer that Python does not convert to decimal digits
    (tmp_path / "a.md").write_text(f"+++\noid = {oid}\ntitle = 'a'\n+++\n")
    done = invoke("try", "a.md")
    assert done.exit_code == 1
    assert "It occurred while a.md was read." in done.stderr


def test_without_a_source_the_command_says_what_it_needs(invoke: Invoke) -> None:
    done = invoke("try")
    assert done.exit_code == 2
    assert "Name a SOURCE" in done.stderr
