"""Makes queries for `bench.relevance` of posts.

    .venv/bin/python -m bench.queries inflections NAME.jsonl.gz > NAME.inflections.jsonl
    .venv/bin/python -m bench.queries translations SOURCE FOLDER

`inflections`: titles of which a searcher gives one word in another inflection. A query is two
neighbouring words of a title, the second one in the other inflection that most posts have: `heroku
value` for "My Heroku Values". Posts with the two words side by side in their title, in either
inflection, are expected.

`translations`: a site in several languages. A query is the title of a page that exists in several
of them, searched by visitors of each of these languages. *Same title*: other languages have a page
with this very title, such as the name of a product; the page in the visitor's language should be
first. *Other title*: the title is in another language than the visitor's; its own page should stay
first. The posts are written into the folder, too.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import click

from analyzers.languages import LANGUAGES, Language
from app.settings import load_settings
from bench.service import Json, lines
from indexer.records import RawPost
from indexer.sources import SourceOptions, open_source

_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"<[^>]+>")
_SHORTEST = 4  # letters
_TRANSLATIONS = 100  # queries of each kind
_FIELDS = ("oid", "title", "text", "url", "pub_date", "language")


@click.group()
def main() -> None:
    """Make queries for bench.relevance."""


@main.command()
@click.argument("posts", type=click.Path(exists=True, path_type=Path))
def inflections(posts: Path) -> None:
    """Print queries of the titles of POSTS."""
    language = LANGUAGES[load_settings().language]
    for line in inflected_titles(list(lines(posts)), language):
        click.echo(json.dumps(line, ensure_ascii=False))


def inflected_titles(posts: Sequence[Json], language: Language) -> Iterator[Json]:
    """A query of each title that has one."""
    chosen = random.Random(7)
    counts = Counter[str]()
    for post in posts:
        counts.update(set(_words(f"{post['title']} {_TAG.sub(' ', post.get('text') or '')}")))
    families: dict[str, set[str]] = defaultdict(set)
    for word in counts:
        families[language.stem(word)].add(word)
    ignored = language.stop_words | language.function_words
    for post in posts:
        pairs = [
            (first, second)
            for first, second in pairwise(_words(post["title"]))
            if min(len(first), len(second)) >= _SHORTEST
            and not {first, second} & ignored
            and f"{first} {second}" in post["title"].lower()
        ]
        if not pairs:
            continue
        first, second = chosen.choice(pairs)
        family = [
            word
            for word in sorted(families[language.stem(second)] - {second})
            if language.akin(word, second)
        ]
        if family:
            other = max(family, key=counts.__getitem__)
            phrase = re.compile(rf"\b{first}\W+({second}|{other})\b")
            expected = [post["oid"] for post in posts if phrase.search(post["title"].lower())]
            grades = dict.fromkeys(map(str, expected), 1)
            yield {"q": f"{first} {other}", "kind": "inflection", "grades": grades}


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


@main.command()
@click.argument("source")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def translations(source: str, folder: Path) -> None:
    """Write the posts of SOURCE and queries into FOLDER."""
    items = open_source(source, None, SourceOptions()).read()
    posts = [item for item in items if isinstance(item, RawPost)]
    folder.mkdir(parents=True, exist_ok=True)
    fields = ({name: getattr(post, name) for name in _FIELDS} for post in posts)
    _write(folder / "translations.jsonl", fields)
    by_kind: dict[str, list[Json]] = defaultdict(list)
    for query in translated_titles(posts):
        by_kind[query["kind"]].append(query)
    chosen = random.Random(1)
    for queries in by_kind.values():
        queries[:] = chosen.sample(queries, min(_TRANSLATIONS, len(queries)))
    _write(folder / "translations.queries.jsonl", chain(*by_kind.values()))


def translated_titles(posts: Iterable[RawPost]) -> Iterator[Json]:
    """The title of each page, as searched in each of its other languages."""
    pages: dict[str, dict[str, RawPost]] = defaultdict(dict)
    for post in posts:
        if isinstance(post.language, str):
            language = post.language.lower()
            parts = [part for part in str(post.oid).split("/") if part.lower() != language]
            pages["/".join(parts)][language] = post
    for versions in pages.values():
        for language, post in versions.items():
            for other, translation in versions.items():
                if other != language:
                    is_same = translation.title == post.title
                    yield {
                        "q": str(post.title),
                        "kind": "same title" if is_same else "other title",
                        "language": other,
                        "grades": {str((translation if is_same else post).oid): 1},
                    }


def _write(path: Path, objects: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line, default=str) + "\n" for line in objects))


if __name__ == "__main__":
    main()
