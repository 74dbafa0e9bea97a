"""The posts that every generator builds: the sample, and kinds that are easily mistaken."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import orjson

_SAMPLE = Path(__file__).parents[2] / "sample" / "posts.jsonl"
_SHORT = {
    "short": ("A very short post", "<p>Only this sentence.</p>"),
    "code-only": ("Nothing but code", "<pre><code>import this\nprint(this)</code></pre>"),
    "c-sharp": ("C# & F#: a < b in a title", "<p>Characters that are escaped.</p>" * 3),
    "colon": ("Part 2 - The return: again", "<p>A title with a dash and a colon.</p>" * 3),
    "year-2019": ("2019", "<p>A title that is a number: the year as it was.</p>" * 3),
    "town-archive": ("The archive of the town", "<p>A visit to the archive.</p>" * 6),
}


@dataclass(frozen=True, slots=True)
class Post:
    """A post as its front matter states it; `html` is its text."""

    slug: str
    title: str
    day: date
    tags: tuple[str, ...]
    html: str
    is_draft: bool = False


def corpus() -> list[Post]:
    """The posts, with a draft among them."""
    posts = []
    for entry in map(orjson.loads, _SAMPLE.read_bytes().splitlines()):
        tags = tuple(dict.fromkeys(tag.lower() for tag in entry.get("keywords") or ()))
        text = entry["text"].replace("{", "&#123;").replace("}", "&#125;")
        day = date.fromisoformat(entry["pub_date"][:10])
        posts.append(Post(entry["oid"], entry["title"], day, tags, text))
    for number, (slug, (title, text)) in enumerate(_SHORT.items(), start=1):
        posts.append(Post(slug, title, date(2023, 1, number), ("short",), text))
    draft = "<p>This sentence is not public.</p>" * 5
    posts.append(Post("draft", "A draft", date(2023, 2, 1), ("x",), draft, is_draft=True))
    return [*posts, *(_newsletter(month) for month in range(1, 13))]


def _newsletter(month: int) -> Post:
    """A post that is mostly links to other sites."""
    links = "".join(
        f'<li><a href="https://news{item}.example.net/{month}">Story {item}</a>: the news.</li>'
        for item in range(1, 31)
    )
    text = f"<p>The links of month {month}.</p><h2>News</h2><ul>{links}</ul>"
    title = f"Links of month {month}"
    return Post(f"links-{month}", title, date(2022, month, 3), ("links",), text)
