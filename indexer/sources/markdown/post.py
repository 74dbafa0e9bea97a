"""A Markdown file with its site → a RawPost."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from indexer.html_text import TooDeep, readable
from indexer.records import Origin, RawPost
from indexer.sources.base import SourceOptions
from indexer.sources.identity import title_or_start
from indexer.sources.markdown.site import (
    PAGES,
    Entry,
    Site,
    first_of,
    from_template,
    site_url,
)
from indexer.sources.markdown.text import has_template, plain_title, rendered, without_template

_TITLES = (
    *("title", "pagetitle", "page_title", "headline", "heading", "name", "linktitle", "link_title"),
    *("seotitle", "seo_title", "metatitle", "meta_title", "short_title", "sidebar_label", "label"),
)
_OTHER = ("subtitle", "imagetitle", "image_title", "sitetitle", "site_title")
_SUMMARIES = ("summary", "description", "deck", "excerpt", "abstract", "lead", "subtitle")


def raw_post(entry: Entry, origin: Origin, oid: str, site: Site, options: SourceOptions) -> RawPost:
    """The post as its front matter and its text have it."""
    title = _title(entry, site, options.fields.get("title", ()))
    if entry.path.suffix in PAGES:
        text = without_template(entry.text)
    else:
        title, text = rendered(
            entry.text, title=title, mdx=site.all_mdx or entry.path.suffix == ".mdx"
        )
    when = first_of(entry.fields, options.fields.get("date", ())) or site.published(entry)
    modified = site.modified(entry)
    categories = _terms(entry, (*options.fields.get("categories", ()), *site.categories), site)
    keywords = _terms(entry, (*options.fields.get("tags", ()), *site.tags), site)
    for name in site.more_tags:
        keywords += [each for each in _terms(entry, (name,), site) if each not in keywords]
    template = options.template_for(entry.path.parts[0] if len(entry.path.parts) > 1 else "")
    path = (
        site.own_url(entry)
        or (template and from_template(template, site, entry, categories))
        or site.url_of(entry)
    )
    if site.base and options.site.rstrip("/").endswith(f"/{site.base}"):
        path = f"/{path.lstrip('/')}".removeprefix(f"/{site.base}")  # `--site` has it already
    return RawPost(
        origin=origin,
        oid=entry.fields.get("oid") or oid,
        title=title or _made_title(entry, text, site),
        text=text if _has_words(text) else _summary(entry, options.fields.get("summary", ())),
        url=site_url(options.site or site.address, path),
        # What is not a date is refused later, with the reason.
        pub_date=site.parsed(when) or when,
        modified=site.parsed(modified) or modified,
        categories=categories,
        keywords=keywords,
        language=entry.language or options.language,
    )


def _title(entry: Entry, site: Site, first: Iterable[str]) -> str:
    """The first title without template code; else what is left of one with it."""
    fields = entry.fields
    navigation = fields.get("eleventynavigation")
    inner = navigation if isinstance(navigation, Mapping) else {}
    said = [
        *(fields.get(name) for name in first),
        site.title_of(entry.path),
        *(fields.get(name) for name in _TITLES),
        inner.get("title"),
        inner.get("key"),
        *(each for name, each in fields.items() if name.endswith("title") and name not in _OTHER),
    ]
    texts = [
        str(each)
        for each in said
        if isinstance(each, str | int | float) and not isinstance(each, bool) and str(each).strip()
    ]
    plain = [each for each in texts if not has_template(re.sub(r"`[^`]*`", "", each))]
    return plain_title(plain[0]) if plain else ""


def _terms(entry: Entry, names: Iterable[str], site: Site) -> list[str]:
    """Labels as a list of strings: a list, a string, or objects with a name."""
    found = first_of(entry.fields, names)
    for inner in ("taxonomies", "extra", "params") if found is None else ():
        if isinstance(fields := entry.fields.get(inner), Mapping):
            found = found if found is not None else first_of(fields, names)
    if isinstance(found, str):
        found = found.split(",")
    if not isinstance(found, list | tuple):
        return []
    terms = []
    for each in _flat(found):
        if isinstance(each, Mapping):
            each = first_of(each, ("name", "label", "title", "slug", "value"))
        if isinstance(each, str | int | float) and not isinstance(each, bool):
            terms.append(str(each).strip())
    return [each for each in dict.fromkeys(terms) if each and not has_template(each)]


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    """The members of a list and of lists in it: Hexo's way to write nested categories."""
    for each in values:
        if isinstance(each, list | tuple):
            yield from each
        else:
            yield each


def _has_words(text: str) -> bool:
    """Whether a reader would see anything; a post that is too deep is refused later."""
    if len(text) > 2_000:
        return True
    try:
        found = readable(text)
    except TooDeep:
        return True
    return bool(found.prose or found.code)


def _summary(entry: Entry, first: Iterable[str]) -> str:
    """The summary of a post without a text, such as a link or an event."""
    found = first_of(entry.fields, (*first, *_SUMMARIES))
    return (
        f"<p>{html.escape(plain_title(found), quote=False)}</p>" if isinstance(found, str) else ""
    )


def _made_title(entry: Entry, text: str, site: Site) -> str:
    """The name of the file in words, or the first words of a post that has only a number."""
    if not re.search(r"[^\W\d_]{2}", entry.name):
        return str(title_or_start(None, text) or entry.name)
    words = re.sub(r"[-_]+", " ", entry.name).strip()
    if site.generator == "Jekyll":
        return " ".join(word.capitalize() for word in words.split())
    return words[:1].upper() + words[1:]
