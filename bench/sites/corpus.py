"""The posts that every generator builds: the sample, and kinds that are easily mistaken."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import orjson

_SAMPLE = Path(__file__).parents[2] / "sample" / "posts.jsonl"


@dataclass(frozen=True, slots=True)
class Post:
    """A post as its front matter states it; `html` is its text."""

    slug: str
    title: str
    day: date
    tags: tuple[str, ...]
    category: str
    html: str
    is_draft: bool = False


def corpus() -> list[Post]:
    """The posts, with drafts among them, the oldest first."""
    entries = map(orjson.loads, _SAMPLE.read_bytes().splitlines())
    posts = [
        Post(
            entry["oid"],
            entry["title"],
            date.fromisoformat(entry["pub_date"][:10]),
            tuple(dict.fromkeys(tag.lower() for tag in entry.get("keywords") or ())),
            (entry.get("categories") or ["notes"])[0],
            entry["text"].replace("{", "&#123;").replace("}", "&#125;"),
        )
        for entry in entries
    ]
    return sorted([*posts, *_newsletters(), *_short(), *_drafts()], key=lambda post: post.day)


def _newsletters() -> list[Post]:
    """Posts that are mostly links: to other sites, and to posts of this one."""
    posts = []
    for number in range(1, 13):
        links = "".join(
            f'<li><a href="https://news{item}.example.net/{number}">Story {item} of week {number}'
            f"</a>: what happened there, in a few words.</li>"
            for item in range(1, 31)
        )
        text = f"<p>The links of week {number}.</p><h2>News</h2><ul>{links}</ul>"
        day = date(2022, number, 3)
        posts.append(
            Post(
                f"links-of-week-{number}", f"Links of week {number}", day, ("links",), "news", text
            )
        )
    packages = "".join(
        f'<h3><a href="https://packages.example.net/p{item}">package-{item}</a></h3>'
        f"<p>It parses the format number {item}.</p>"
        for item in range(1, 13)
    )
    posts.append(
        Post(
            "packages-worth-a-look",
            "Twelve packages worth a look",
            date(2022, 6, 9),
            ("packages", "links"),
            "news",
            f"<p>Small tools that I use.</p>{packages}",
        )
    )
    return posts


def _short() -> list[Post]:
    texts = {
        "short": ("A very short post", "<p>Only this sentence.</p>"),
        "code-only": ("Nothing but code", "<pre><code>import this\nprint(this)</code></pre>"),
        "searching": ("Search, in one page", "<p>How the search of this blog works.</p>" * 3),
        "c-sharp": ("C# & F#: a < b in a title", "<p>Characters that are escaped.</p>" * 3),
        "colon": ("Part 2 - The return: again", "<p>A title with a dash and a colon.</p>" * 3),
        "year-2019": ("2019", "<p>A title that is a number: the year as it was.</p>" * 3),
        "so-few-tags": ("Tags", "<p>Why the posts of this blog have so few tags.</p>" * 4),
        "town-archive": ("The archive of the town", "<p>A visit to the archive.</p>" * 6),
    }
    return [
        Post(slug, title, date(2023, 1, number), ("short",), "notes", text)
        for number, (slug, (title, text)) in enumerate(texts.items(), start=1)
    ]


def _drafts() -> list[Post]:
    text = "<p>This sentence is not public.</p>" * 5
    return [
        Post(
            f"draft-{number}", f"Draft {number}", date(2023, 2, number), ("x",), "notes", text, True
        )
        for number in (1, 2, 3)
    ]
