"""Reads a live WordPress by its REST API: every field exact, and only what is public.

Seen with WordPress 7.1: a page has at most 100 entries; the `content` of a protected post is empty,
that of a post with `<!--nextpage-->` has all its parts; `date_gmt` has no zone; comments are the
approved ones, with pingbacks.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

import orjson

from indexer.errors import SourceError
from indexer.posts.addresses import address_of, host_of
from indexer.posts.records import (
    IsUnchangedEntry,
    Origin,
    PageKind,
    RawComment,
    RawPost,
    Reject,
    Skipped,
    SourceItem,
    batches,
    load_json,
)
from indexer.sources.base import Source, SourceOptions, guard, image_of
from indexer.sources.detect import kind_of_page, posts_of_site
from indexer.sources.fetch import Fetched, Fetcher, FetchFailed, Robots
from indexer.sources.html.content import own_text
from indexer.sources.identity import oid_at, plain, title_or_start
from indexer.sources.robots import NOINDEX_ELEMENT
from indexer.sources.sitemap import Moved, Sitemap
from indexer.sources.wordpress import LOCKED, with_zone

Entry = Mapping[str, Any]
"""A post, page, comment, image or term, as the API returns it."""

_API = re.escape("https://api.w.org/")
_IN_HEADER = re.compile(rf'<([^<>]+)>\s*;\s*rel="?{_API}')
_IN_PAGE = re.compile(rf"""<link\s(?=[^<>]*rel=["']?{_API})[^<>]*?href=["']?([^"'\s<>]+)""")
_CLOSED = (400, 401, 403, 404, 405, 410, 451, 501)
_LANGUAGE = re.compile(r"""<html\b[^<>]*?\slang=["']([\w-]+)""", re.IGNORECASE)
_MOST = 100  # entries in a page
_MANY = 25  # posts with their texts in a request; pages that are read if the sitemap lacks all
_LISTED = (
    "id,link,date_gmt,modified_gmt,categories,tags,featured_media,content.protected,"
    "lang,translations,excerpt.rendered"
)
"""With the excerpt: some plugins lock posts without a change of `modified_gmt`."""
_MARKED = ("id", "link", "date_gmt", "modified_gmt", "lang", "excerpt")
_SAID = "id,post,author_name,date,date_gmt,content,type"
_HIDES_ON_PAGES = (b"otter/v1",)
"""Namespaces of plugins whose blocks for members are hidden on pages only: Otter 3.2."""


def api_of(page: Fetched) -> str:
    """Return the root of the API that a page links to, if it is on the same host; "" otherwise."""
    text = page.body.decode("utf-8", "replace")
    found = _IN_HEADER.search(page.headers.get("Link", "")) or _IN_PAGE.search(text)
    api = urljoin(page.url, found[1].replace("&amp;", "&")) if found else ""
    hosts = {host_of(url) for url in (api, page.url)}
    return api if len(hosts) == 1 and api and not NOINDEX_ELEMENT.search(text) else ""


def site_at(
    api: str, page: Fetched, fetcher: Fetcher, options: SourceOptions
) -> "WordPressSite | None":
    """Return the WordPress with this API and home page; None if its posts are closed to visitors.

    Raises:
        SourceError: it cannot be reached now, which says nothing about its posts.
    """
    if closed := _why_closed(_url(api, "posts", per_page=1), fetcher):
        options.warn(f"{api}: {closed}; the sitemap or the feed is read instead.")
        return None
    text = page.body.decode("utf-8", "replace")
    language = _LANGUAGE.search(text)
    if language and "hreflang=" not in text:  # else a post may have another language
        options = replace(options, language=options.language or language[1])
    return WordPressSite(page.url, api, options)


def _why_closed(url: str, fetcher: Fetcher) -> str:
    """Return why an API's posts are closed to visitors; "" if they are not."""
    try:
        if not Robots(fetcher).allows(url):
            return "disallowed by robots.txt"
        return "" if fetcher.get(url).body.lstrip()[:1] == b"[" else "not JSON"
    except FetchFailed as error:
        if error.response_status in _CLOSED:
            return error.reason
        remedy = "Try again later, or name the sitemap of the site."
        raise FetchFailed(url, error.reason, remedy, error.response_status) from error


def _url(api: str, route: str, **parameters: Any) -> str:
    """Return a URL of an API, https://…/wp-json/, or https://…/?rest_route=/ without permalinks."""
    return f"{api}wp/v2/{route}{'&' if '?' in api else '?'}{urlencode(parameters, safe=',')}"


@dataclass
class _Site:
    """The API of a site, with the names of its terms by id, once known."""

    api: str
    fetcher: Fetcher
    options: SourceOptions
    sitemap: Sitemap
    terms: dict[str, dict[int, str]] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)  # by route, as last read
    listed: Set[str] = frozenset()  # the addresses in the sitemap, if there is one
    hides_on_pages: bool = False  # blocks that the API shows
    hidden: dict[str, tuple[str, PageKind] | None] = field(default_factory=dict)  # by link

    def find_plugins(self) -> None:
        """Read which plugins the site has, as far as the API says."""
        about = f"{self.api}{'&' if '?' in self.api else '?'}_fields=namespaces"
        try:
            named = self.fetcher.get(about).body.replace(b"\\/", b"/")
            self.hides_on_pages = any(b'"%b"' % name in named for name in _HIDES_ON_PAGES)
        except FetchFailed as error:
            if error.response_status not in _CLOSED:
                raise

    def find_listed(self, home: str) -> None:
        """Read the sitemap, if there is one."""
        try:
            page = posts_of_site(self.fetcher.get(home), self.fetcher)
            if kind_of_page(page, self.fetcher.options.max_bytes) == "sitemap":
                pages = Sitemap(page.url, self.options, page).pages(self.fetcher)
                self.listed = {address_of(url) for url, _ in pages}
        except FetchFailed as error:
            self.options.warn(
                f"{error.message.rstrip('.')}: the posts are read without the sitemap."
            )
        except SourceError:
            return

    def why_hidden(self, entry: Entry, robots: Robots) -> tuple[str, PageKind] | None:
        """Return why a post's page asks to be left out; None if it does not.

        The page is read if a field of the entry says so, or the sitemap lacks it: The SEO Framework
        tells the API nothing, and in a list of All in One SEO 4.9 all posts behind a hidden one
        have its `noindex`.
        """
        link = str(entry.get("link") or "")
        if link in self.hidden:
            return self.hidden[link]
        of_plugins = [str(value) for name, value in entry.items() if name.endswith("_head")]
        by_yoast = str((entry.get("yoast_head_json") or {}).get("robots"))
        is_said = "noindex" in by_yoast or any(map(NOINDEX_ELEMENT.search, of_plugins))
        if not is_said and (not self.listed or address_of(link) in self.listed):
            return None
        item = self.sitemap.item(self.fetcher, robots, link, "")
        found: tuple[str, PageKind] | None = None
        if isinstance(item, Skipped) and item.kind in ("noindex", "locked"):
            found = item.reason, item.kind
        if is_said and isinstance(item, Reject | Skipped):
            found = found or ("noindex", "noindex")  # the page cannot be read
        self.hidden[link] = found
        return found

    def pages(self, route: str, **parameters: Any) -> Iterator[list[Entry]]:
        """Yield the pages of all entries, oldest first, so that new entries move none.

        Raises:
            SourceError: a page cannot be read, or removed entries have moved others meanwhile.
        """
        total, number, last = 0, 1, 1
        while number <= last:
            asked = {"per_page": _MOST, "page": number, "orderby": "id", "order": "asc"}
            page = self.fetcher.get(_url(self.api, route, **asked, **parameters))
            try:
                entries: list[Entry] = [{"id": it["id"], **it} for it in load_json(page.body)]
                now, last = (int(page.headers[f"X-WP-Total{of}"]) for of in ("", "Pages"))
            except (ValueError, KeyError, TypeError) as error:
                reason = f"{page.url} is not a list of {route}: {error!r}."
                raise SourceError(reason, "Try again, or name the sitemap.") from error
            if now < total:
                raise SourceError(f"{route} were removed while they were read.", "Try again.")
            self.totals[route] = now
            yield entries
            total, number = now, number + 1

    def some(self, route: str, ids: Iterable[int], by: str = "include", **parameters: Any) -> Any:
        """Return the entries with these ids, by `pages`."""
        wanted = ",".join(map(str, sorted(set(ids))))
        pages = self.pages(route, **{by: wanted}, **parameters) if wanted else ()
        return (entry for entries in pages for entry in entries)

    def beside(self, route: str, found: Iterable[Entry]) -> Iterator[Entry]:
        """Yield entries that a post can do without; warn if the site does not show them."""
        try:
            yield from found
        except FetchFailed as error:
            if error.response_status not in _CLOSED:
                raise
            self.options.warn(f"{error.message.rstrip('.')}: the posts are read without {route}.")

    def names(self, taxonomy: str, entry: Entry) -> list[str]:
        """Return the names of a post's categories or tags."""
        ids = entry.get(taxonomy) or []
        if ids and taxonomy not in self.terms:
            pages = self.pages(taxonomy, _fields="id,name,slug")
            found = self.beside(taxonomy, (term for page in pages for term in page))
            terms = [term for term in found if term["slug"] != "uncategorized"]
            self.terms[taxonomy] = {term["id"]: plain(term["name"]) for term in terms}
        return [name for id_ in ids if (name := self.terms[taxonomy].get(id_))]


class _Row(NamedTuple):
    """A post with its comments, its image, and a mark that changes whenever any of these does."""

    entry: Entry
    comments: list[Entry]
    image: str
    mark: str


class WordPressSite(Source):
    """Reads the public posts and pages of a live WordPress, with their approved comments."""

    kind = "wordpress-rest"
    has_comments = True
    is_remote = True

    def __init__(self, spec: str, api: str, options: SourceOptions) -> None:
        super().__init__(spec, options)
        self._api = api

    def read(self, is_unchanged: IsUnchangedEntry | None = None) -> Iterator[SourceItem]:
        """Yield every post; its oid is the path of its address, the same as that of its page.

        With `is_unchanged`, everything changed is fetched before the first post is yielded, so that
        an API that fails midway changes nothing. A page that is read in place of a text
        (`_HIDES_ON_PAGES`) is fetched later; if that fails, its post is a Reject.
        """
        with Fetcher(self._options.fetch) as fetcher:
            options, robots = replace(self._options, max_pages=None), Robots(fetcher)
            site = _Site(self._api, fetcher, options, Sitemap(self.spec, options))
            site.find_plugins()
            site.find_listed(self.spec)
            rows = self._rows(site, robots, is_unchanged)
            for row in rows if is_unchanged is None else _spool(rows):
                yield self._item(row, site, robots)

    def _rows(
        self, site: _Site, robots: Robots, is_unchanged: IsUnchangedEntry | None
    ) -> Iterator[_Row]:
        """List the short fields of all posts, and read in full those that the index lacks."""
        before = 0
        for route in ("posts", "pages"):
            for listed in site.pages(route, _fields=_LISTED):
                self.total = before + site.totals[route]
                links = {address_of(str(entry.get("link") or "")) for entry in listed}
                if len(links) > _MANY and site.listed.isdisjoint(links):
                    site.listed = frozenset()  # of other pages, or of another host
                said: dict[int, list[Entry]] = {entry["id"]: [] for entry in listed}
                found = site.some("comments", said, "post", _fields=_SAID)
                for comment in site.beside("comments", found):
                    if comment["type"] == "comment" and comment["post"] in said:
                        said[comment["post"]].append(comment)
                marks, wanted = {}, []
                for entry in listed:
                    id_, origin = entry["id"], self._origin(entry)
                    marks[id_] = mark = self._mark(entry, site, said)
                    if self._why_left_out(entry, site, robots):  # also if the post is as it was
                        yield _Row(entry, [], "", mark)
                    elif not (is_unchanged and is_unchanged(mark.encode(), origin)):
                        wanted.append(id_)
                for ids in batches(wanted, _MANY):
                    posts = [post for post in site.some(route, ids) if post["id"] in said]
                    media = filter(None, (post.get("featured_media") for post in posts))
                    images = site.beside("media", site.some("media", media))
                    urls = {image["id"]: image["source_url"] for image in images}
                    for post in posts:
                        id_, image = post["id"], urls.get(post.get("featured_media"), "")
                        yield _Row(post, said[id_], image, marks[id_])
            before = self.total or 0

    def _mark(self, entry: Entry, site: _Site, said: Mapping[int, list[Entry]]) -> str:
        fields = [entry.get(name) for name in _MARKED]
        names = [site.names(taxonomy, entry) for taxonomy in ("categories", "tags")]
        comments = hashlib.sha256(orjson.dumps(said[entry["id"]])).hexdigest()
        options = [entry.get("featured_media"), self._options.site, self._options.language]
        options.append(_translations(entry))
        return orjson.dumps([*fields, *names, comments, *options]).decode()

    def _origin(self, entry: Entry) -> Origin:
        return Origin(str(entry.get("link") or f"{self.spec} {entry['id']}"))

    def _item(self, row: _Row, site: _Site, robots: Robots) -> SourceItem:
        entry, origin = row.entry, self._origin(row.entry)
        link = str(entry.get("link") or "")
        oid = oid_at(link, str(entry["id"]))
        if left_out := self._why_left_out(entry, site, robots):
            return Skipped(origin, oid, *left_out, declared=True)

        def post() -> SourceItem:
            html = entry["content"]["rendered"]
            text = own_text(html)
            if text is not None and site.hides_on_pages:
                page = site.sitemap.item(site.fetcher, robots, link, "")
                page = page.post if isinstance(page, Moved) else page
                if not isinstance(page, RawPost):
                    return page
                text = page.text
            return RawPost(
                origin=origin,
                oid=oid,
                title=title_or_start(plain(entry["title"]["rendered"]), html),
                text=text,
                url=link or None,
                pub_date=with_zone(entry.get("date"), entry.get("date_gmt")),
                modified=with_zone(entry.get("modified"), entry.get("modified_gmt")),
                categories=site.names("categories", entry),
                keywords=site.names("tags", entry),
                comments=tuple(map(_comment, row.comments)),
                language=entry.get("lang"),
                translation_key=_translations(entry),
                image=image_of(row.image),
                entry=row.mark.encode(),
            )

        return guard(post, origin, oid)

    def _why_left_out(
        self, entry: Entry, site: _Site, robots: Robots
    ) -> tuple[str, PageKind] | None:
        """Return why an entry is not a post; None if it is one, or if the fields of a list do not
        say."""
        link = str(entry.get("link") or "")
        if entry["content"]["protected"]:
            return LOCKED, "locked"
        if self._options.excludes(urlsplit(link).path.strip("/")):
            return "excluded", "excluded"
        if not robots.allows(link):
            return "disallowed by robots.txt", "excluded"
        return site.why_hidden(entry, robots)


def _spool(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Yield the same rows once all of them are read; until then, keep them in a file."""
    with TemporaryFile() as file:
        file.writelines(orjson.dumps(list(row)) + b"\n" for row in rows)
        file.seek(0)
        yield from (_Row(*orjson.loads(line)) for line in file)


def _translations(entry: Entry) -> str:
    """Return the ids of a post in all languages, as Polylang lists them."""
    named = entry.get("translations")
    ids = sorted(map(str, named.values())) if isinstance(named, dict) else []
    return " ".join(ids) if len(ids) > 1 else ""


def _comment(comment: Entry) -> RawComment:
    return RawComment(
        oid=comment["id"],
        comment=comment["content"]["rendered"],
        author=plain(comment["author_name"]),
        pub_date=with_zone(comment["date"], comment["date_gmt"]),
    )
