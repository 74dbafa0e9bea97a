"""A Markdown file with its site → a RawPost."""

import html
import re
from collections.abc import Iterable, Mapping
from string import capwords
from typing import Any

from indexer.html_text import TooMuchMarkup, readable
from indexer.records import Origin, RawPost
from indexer.sources.base import SourceOptions, image_of
from indexer.sources.identity import labels, title_of_name, title_or_start
from indexer.sources.markdown.site import PAGES, Entry, Site, first_of, from_template, site_url
from indexer.sources.markdown.text import has_template, plain_title, rendered, without_template

_TITLES = (
    *("title", "pagetitle", "page_title", "headline", "heading", "name", "linktitle", "link_title"),
    *("seotitle", "seo_title", "metatitle", "meta_title", "short_title", "sidebar_label", "label"),
)
_CATEGORIES = ("categories", "category")
_TAGS = ("tags", "tag", "keywords")
_COLLECTIONS = ("all", "nav", "page", "pages", "post", "posts")
"""Tags by which sites of Eleventy collect their pages."""
_IMAGES = (
    *("image", "images", "cover", "thumbnail", "featured_image", "feature_image", "coverimage"),
    *("cover_image", "og_image", "hero", "banner"),
)
_SUMMARIES = ("summary", "description", "deck", "excerpt", "abstract", "lead", "subtitle")


def raw_post(entry: Entry, origin: Origin, oid: str, site: Site, options: SourceOptions) -> RawPost:
    """The post as its front matter and its text have it."""
    first = options.fields
    title = _title(entry.fields, first.get("title", ()))
    if entry.path.suffix in PAGES:
        text = without_template(entry.text)
    else:
        title, text = rendered(entry.text, title=title)
    when = first_of(entry.fields, first.get("date", ())) or site.published(entry)
    modified = site.modified(entry)
    categories = _terms(entry, (*first.get("categories", ()), *_CATEGORIES))
    keywords = _terms(entry, (*first.get("tags", ()), *_TAGS))
    for name in site.more_tags:
        keywords += _terms(entry, (name,))
    if site.generator == "Eleventy":
        keywords = [term for term in keywords if term not in _COLLECTIONS]
    template = options.template_for(entry.path.parts[0] if len(entry.path.parts) > 1 else "")
    path = (
        site.own_url(entry)
        or (template and from_template(template, site, entry, categories))
        or site.url_of(entry)
    )
    return RawPost(
        origin=origin,
        oid=entry.fields.get("oid") or oid,
        title=title or _title_from_name(entry, text, site),
        text=text if _has_words(text) else _summary(entry, first.get("summary", ())),
        url=site_url(options.site or site.address, path),
        # What is not a date is refused later, with the reason.
        pub_date=site.parsed(when) or when,
        modified=site.parsed(modified) or modified,
        categories=categories,
        keywords=list(dict.fromkeys(keywords)),
        language=entry.language,
        image=_image(entry, options.site or site.address),
    )


def _image(entry: Entry, address: str) -> str | None:
    """The image in the front matter, behind the site's address if it is a path."""
    image = image_of(first_of(entry.fields, _IMAGES))
    return site_url(address, image) if image and image.startswith("/") else image


def _title(fields: Mapping[str, Any], first: Iterable[str]) -> str:
    """The first title without template code; "" if there is none."""
    for name in (*first, *_TITLES):
        value = fields.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            bare = re.sub(r"`[^`]*`", "", str(value))
            if str(value).strip() and not has_template(bare):
                return plain_title(str(value))
    return ""


def _terms(entry: Entry, names: Iterable[str]) -> list[str]:
    """Labels as a list of strings: a list, a string, or objects with a name."""
    inner = (entry.fields.get(name) for name in ("taxonomies", "extra", "params"))
    tables = [entry.fields, *(table for table in inner if isinstance(table, Mapping))]
    stated = next(filter(None, (first_of(table, names) for table in tables)), None)
    return [label for label in labels(stated) if not has_template(label)]


def _has_words(text: str) -> bool:
    """Whether a reader would see anything; a post that is too deep is refused later."""
    if len(text) > 2_000:
        return True
    try:
        words = readable(text)
    except TooMuchMarkup:
        return True
    return bool(words.prose or words.code)


def _summary(entry: Entry, first: Iterable[str]) -> str:
    """The summary of a post without a text, such as a link or an event."""
    summary = first_of(entry.fields, (*first, *_SUMMARIES))
    if not isinstance(summary, str):
        return ""
    return f"<p>{html.escape(plain_title(summary), quote=False)}</p>"


def _title_from_name(entry: Entry, text: str, site: Site) -> str:
    """The name of the file in words, or the first words of a post that has only a number."""
    if not re.search(r"[^\W\d_]{2}", entry.name):
        return str(title_or_start(None, text) or entry.name)
    words = title_of_name(entry.name)
    return capwords(words) if site.generator == "Jekyll" else words
