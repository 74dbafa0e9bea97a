"""`blogsearch try`, `blogsearch init` and `blogsearch.toml`: none of them needs an engine."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.settings import read_site_file

Invoke = Callable[..., Result]
PAGE = (
    "<!doctype html><html{}><head><title>T</title></head><main><p>"
    + "A long enough sentence. " * 20
)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9")  # nothing answers there
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])


def save(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def write_posts(folder: Path, count: int) -> None:
    for number in range(count):
        text = f"---\ntitle: Post {number:03}\ndate: 2024-01-31\ntags: [a]\n---\nSome words."
        save(folder / f"{number:03}.md", text)


def test_try_shows_posts_from_all_over_the_source(invoke: Invoke, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts", 100)
    save(tmp_path / "posts/draft.md", "---\ntitle: x\ndraft: true\n---\nt")
    save(tmp_path / "posts/bad.md", "---\ntitle: [\n---\nt")
    done = invoke("try", "posts", "--verbose")
    assert done.exit_code == 0, done.output
    shown = [int(line[5:]) for line in done.stdout.splitlines() if line.startswith("Post ")]
    assert len(shown) == 5
    assert shown[0] < 25
    assert shown[-1] >= 50
    for words in ("2024-01-31", "100 posts (markdown).", "1 rejected: invalid YAML", "--site"):
        assert words in done.stdout
    assert "Left out: 1 × draft" in done.stderr
    assert "all 100 posts have the date 2024-01-31" in done.stderr
    assert "posts/draft.md: draft" in done.stderr
    report = json.loads(invoke("try", "posts", "--json").stdout)
    assert (report["posts"], report["left_out"]) == (100, {"draft": 1})
    done = invoke("try", "posts", "--quiet")
    assert (done.exit_code, done.output) == (0, "")


def test_a_photo_without_words_is_no_fault(invoke: Invoke, tmp_path: Path) -> None:
    photos = ({"id": "a", "content_html": "<img src=a>"}, {"id": "b", "content_html": "<p>Words"})
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": photos}
    save(tmp_path / "feed.json", json.dumps(feed))
    done = invoke("try", "feed.json")
    assert "1 post (feed)." in done.stdout
    assert "rejected" not in done.output
    assert "1 × neither title nor words (a)" in done.stderr


@pytest.mark.parametrize(
    "files",
    [
        {"a.md": "---\ndraft: true\n---\nx"},
        {"a.md": "@def published = false\n\nText"},
        {"a.md": "---\ntitle: x\n---\nText", "b.qmd": "x", "c.qmd": "y"},
    ],
)
def test_what_gives_no_posts_or_is_mostly_not_read_fails(
    invoke: Invoke, tmp_path: Path, files: dict[str, str]
) -> None:
    for name, content in files.items():
        save(tmp_path / "posts" / name, content)
    for arguments in (("try", "posts"), ("try", "posts", "--json"), ("init", "posts")):
        done = invoke(*arguments)
        assert done.exit_code == 1, done.output
        assert "Error: " in done.stderr
    assert not (tmp_path / "blogsearch.toml").exists()


def test_files_that_are_not_read_can_be_excluded(invoke: Invoke, tmp_path: Path) -> None:
    for name in ("a.md", "b.qmd", "c.qmd"):
        save(tmp_path / "posts" / name, "---\ntitle: x\n---\nText")
    assert '"*.qmd"' in invoke("try", "posts").stderr
    save(tmp_path / "blogsearch.toml", 'exclude = ["*.qmd"]')
    assert invoke("try", "posts").exit_code == 0


def test_what_is_suspicious_is_named(invoke: Invoke, tmp_path: Path) -> None:
    for number in range(3):
        save(tmp_path / f"site/{number}.html", PAGE.format("") + str(number))
    posts = [{"oid": str(n), "title": "x", "date": "2024-01-31", "colour": 1} for n in range(2)]
    save(tmp_path / "posts.jsonl", "\n".join(map(json.dumps, posts)))
    done = invoke("try", "site")
    for words in ("no date", "3 posts have the title 'T'"):
        assert words in done.stdout
    done = invoke("try", "posts.jsonl")
    assert "2 posts have a field 'date'; did you mean 'pub_date'?" in done.stderr
    assert "'colour'" in done.stderr


def test_what_of_a_page_is_left_out_is_said_with_what_it_was_taken_for(
    invoke: Invoke, tmp_path: Path
) -> None:
    menu = "<nav><a href='/'>Home of the site</a> <a href='/b/'>Other things</a></nav>"
    save(tmp_path / "site/a.html", PAGE.format("").replace("<main>", f"<body>{menu}<main>"))
    (post,) = json.loads(invoke("try", "site", "--json").stdout)["sample"]
    assert post["left_out"]["navigation"] == len("HomeofthesiteOtherthings")
    shown = invoke("try", "site").stdout
    assert "left out  6%: navigation 6%" in shown
    assert "6% of the pages' text was left out: navigation 6%" in shown


def test_words_of_japanese_are_its_characters(invoke: Invoke, tmp_path: Path) -> None:
    save(tmp_path / "posts.jsonl", '{"oid": 1, "title": "x", "text": "東京へ行った。 CSS 3"}')
    assert "words     8, code 0" in invoke("try", "posts.jsonl").stdout


def test_paths_get_the_address_of_the_site(invoke: Invoke, tmp_path: Path) -> None:
    save(tmp_path / "posts.jsonl", '{"oid": 1, "title": "x", "url": "/a/"}')
    done = invoke("try", "posts.jsonl", "--site", "https://example.org/blog/")
    assert "https://example.org/blog/a/" in done.stdout
    done = invoke("try", "posts.jsonl", "--site", "blog.example.org")
    assert done.exit_code == 2
    assert "https://blog.example.org" in done.stderr


def test_a_post_of_two_sources_is_one(invoke: Invoke, tmp_path: Path) -> None:
    save(tmp_path / "a.jsonl", '{"oid": 1, "title": "x", "url": "https://www.a.org/p/"}')
    save(tmp_path / "b.jsonl", '{"oid": 2, "title": "x", "url": "http://a.org/p.html"}')
    done = invoke("try", "a.jsonl", "b.jsonl")
    assert "1 post (jsonlines)." in done.stdout
    assert "the address of a post in an earlier source" in done.stderr


# -- blogsearch.toml -------------------------------------------------------------------------------


def test_every_command_reads_the_file(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("try")
    assert (done.exit_code, "Name a SOURCE" in done.stderr) == (2, True)
    write_posts(tmp_path / "content/news", 2)
    write_posts(tmp_path / "content/old", 1)
    save(tmp_path / "hugo.toml", 'baseURL = "https://example.org/"')
    save(
        tmp_path / "blogsearch.toml",
        'sources = ["content"]\nexclude = ["old/*"]\nlanguage = "de"\nurl_template = "/n/{slug}/"\n'
        '[settings]\nindex = "other"\n',
    )
    done = invoke("try")
    for words in ("https://example.org/n/000/", "language  de", "2 posts (markdown)."):
        assert words in done.stdout
    assert "1 × excluded by blogsearch.toml" in done.stderr


def test_the_kind_in_the_file_is_that_of_its_own_sources(invoke: Invoke, tmp_path: Path) -> None:
    write_posts(tmp_path / "src", 1)
    save(tmp_path / "posts.jsonl", '{"oid": 1, "title": "x"}')
    save(tmp_path / "blogsearch.toml", 'sources = ["src"]\nkind = "markdown"')
    assert "1 post (markdown)." in invoke("try").stdout
    assert "1 post (jsonlines)." in invoke("try", "posts.jsonl").stdout


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.jsonl", '{"oid": 1, "title": "A"}', "de"),
        ("a.html", PAGE.format(" lang='fr'"), "fr"),
        ("a.md", "---\ntitle: A\n---\nx", "de"),
    ],
)
def test_the_language_of_the_file_is_that_of_posts_that_name_none(
    invoke: Invoke, tmp_path: Path, name: str, content: str, shown: str
) -> None:
    save(tmp_path / "blogsearch.toml", 'language = "de"')
    save(tmp_path / name, content)
    assert f"language  {shown}\n" in invoke("try", name).stdout


# -- init ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("configuration", "generator", "built"),
    [
        ("hugo.toml", "Hugo", "public"),
        (".vitepress/config.js", "VitePress", ".vitepress/dist"),
        ("website/docusaurus.config.js", "Docusaurus", "website/build"),
    ],
)
def test_init_takes_what_the_generator_has_built(
    invoke: Invoke, tmp_path: Path, configuration: str, generator: str, built: str
) -> None:
    write_posts(tmp_path / "posts", 1)
    save(tmp_path / configuration, "")
    done = invoke("init")
    assert f"the {generator} site is not built" in done.stderr
    assert read_site_file(tmp_path / "blogsearch.toml").sources == (".",)
    assert invoke("init").exit_code == 1  # it exists
    save(tmp_path / built / "index.html", PAGE.format(""))
    done = invoke("init", "--force")
    assert f"{built}: 1 post (html), built by {generator}." in done.stderr
    assert read_site_file(tmp_path / "blogsearch.toml").sources == (built,)
    assert invoke("try").exit_code == 0


@pytest.mark.parametrize(
    ("configuration", "built"),
    [
        ({}, "site"),
        ({}, "public"),
        ({}, "site/uv"),
        (
            {"mkdocs.yml": "site_name: x\nsite_dir: out/of/it\nsite_url: https://no.example.org"},
            "out/of/it",
        ),
        ({"hugo.yaml": "publishDir: web\n"}, "web"),
        ({"pelicanconf.py": "OUTPUT_PATH = 'www/'\n"}, "www"),
        ({"_config.yml": "destination: ./html\n", "_posts/.keep": ""}, "html"),
    ],
)
def test_init_says_what_was_built_in_three_lines(
    invoke: Invoke, tmp_path: Path, configuration: dict[str, str], built: str
) -> None:
    for name, text in configuration.items():
        save(tmp_path / name, text)
    write_posts(tmp_path / "docs", 2)
    link = '<link rel="canonical" href="https://e.org/b/{}">'
    tag = "pt_BR" if "mkdocs.yml" in configuration else "pt-BR"  # as MkDocs writes it
    page = PAGE.replace("<html", f'<html lang="{tag}"', 1)
    save(tmp_path / built / "index.html", page.format("") + link.format(""))
    save(tmp_path / built / "a/index.html", page.format("") + link.format("a/"))
    done = invoke("init")
    found, says, written = done.stderr.splitlines()
    assert found.startswith(f"{built}: "), done.output
    assert (says, written[:14]) == ("address https://e.org/b, language pt-br.", "blogsearch.tom")
    file = read_site_file(tmp_path / "blogsearch.toml")
    assert (file.sources, file.site, file.language) == ((built,), "https://e.org/b", "pt-br")


@pytest.mark.parametrize(
    ("files", "address"),
    [
        ({"hugo.toml": 'baseURL = "https://e.org/b/"'}, "https://e.org/b"),
        ({"hugo.toml": 'baseURL = "/"'}, ""),
        (
            {"index.html": f'{PAGE.format("")}<link rel="canonical" href="https://e.org/">'},
            "https://e.org",
        ),
        (
            {"a/index.html": f'<html><link rel="canonical" href="https://e.org/b/a/">{PAGE}'},
            "https://e.org/b",
        ),
    ],
)
def test_init_finds_the_address(
    invoke: Invoke, tmp_path: Path, files: dict[str, str], address: str
) -> None:
    for name, content in files.items():
        save(tmp_path / name, content)
    if not any(name.endswith(".html") for name in files):
        write_posts(tmp_path / "content", 1)
    invoke("init")
    assert read_site_file(tmp_path / "blogsearch.toml").site == address
    assert invoke("try").exit_code == 0


def test_init_names_the_command_that_says_why_nothing_was_found(
    invoke: Invoke, tmp_path: Path
) -> None:
    save(tmp_path / "my pages/x.html", '<!doctype html><meta name="robots" content="noindex">')
    done = invoke("init", "my pages")
    assert (done.exit_code, (tmp_path / "blogsearch.toml").exists()) == (1, False)
    assert "`blogsearch try --verbose 'my pages'`" in done.stderr
    assert "x.html: " in invoke("try", "--verbose", "my pages").stderr


def test_init_takes_the_language_from_the_configuration_if_pages_name_none(
    invoke: Invoke, tmp_path: Path
) -> None:
    save(tmp_path / "package.json", '{"dependencies": {"hexo": "^8"}}')
    save(tmp_path / "_config.yml", "language: ja\nurl: https://e.org\nrender_drafts: false\n")
    save(tmp_path / "public/index.html", PAGE.format(""))
    assert "address https://e.org, language ja." in invoke("init").stderr
    assert read_site_file(tmp_path / "blogsearch.toml").language == "ja"


def test_what_is_left_out_by_a_guess_is_named_and_what_looks_wrong_is_said(
    invoke: Invoke, tmp_path: Path
) -> None:
    head = '<!doctype html><html><head><title>{0}</title><link rel="canonical" href="{1}">'
    text = f"</head><main><h1>Bread &amp; butter {{0}}</h1><p>{'Sacks of rye. ' * 30}</main>"
    for number in range(6):
        url = f"https://a.example.org/{min(number, 4)}/"
        save(tmp_path / f"site/{number}/index.html", (head + text).format(f"No. {number}", url))
    links = "".join(f'<p><a href="/{number}/">Post number {number}</a></p>' for number in range(6))
    save(tmp_path / "site/all/index.html", f"<!doctype html><title>All</title><main>{links}")
    save(tmp_path / "site/x/index.html", '<!doctype html><meta name="robots" content="noindex">')
    done = invoke("try", "site", "--site", "https://a.example.org")
    assert "1 × noindex" in done.stderr.partition("probably not posts")[0]
    assert "1 × list page (all)" in done.stderr
    lines = "".join(
        json.dumps({"oid": f"{number}", "title": "T", "text": "x", "url": "/same/"}) + "\n"
        for number in range(3)
    )
    save(tmp_path / "posts.jsonl", lines)
    assert "3 posts have the address /same/" in invoke("try", "posts.jsonl").stderr
    assert "Bread & butter No. 1" in done.stdout
    assert "&amp;" not in done.output
