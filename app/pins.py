"""Pinned results: parses, checks and stores files of them; `app.search.pins` applies their rules.

    # one rule a line: a search => posts that come first, -posts that are hidden
    cron => crontab-guide, -cron-in-2009
    opening hours, when open => hours until 2026-12-31
    python * => python-start

`*` stands for any other words, before, between or after. A literal comma, backslash or leading `-`
of an oid is written with a backslash before it. The files are one document of the state index,
where neither a swap nor a lost Redis loses them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from analyzers.findings import Finding, InvalidLine, shortened
from analyzers.languages import Language
from app.elastic import ONE_COPY
from app.errors import Conflict
from app.search.pins import MAX_FIRST, NO_PINS, PinnedSearch, PinRule, Pins, words_of
from app.search.query_parser import parse_query
from app.search.spelling import as_typed
from indexer.state import ensure_state, state_index

SUFFIX = ".pins"
MAX_RULES = 1_000  # of all files; every search looks at them
_MAX_NEVER = 100  # posts of one rule
_MAX_SEARCH = 200  # characters, as of a query

_ID = "pins"  # of the document in the state index

_ARROW = re.compile(r"(?<!\\)((?:\\\\)*)=>")
_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_ESCAPED = re.compile(r"\\(.)")
_UNTIL = re.compile(r"(?:^|\s+)until\s+(\S+)$")

Json = dict[str, Any]
Files = Mapping[str, str]
"""The names of pin files and their texts."""


def parse(files: Files, language: Language) -> tuple[list[PinRule], list[Finding]]:
    """The rules of the files in the order of their names, and a finding for every invalid line."""
    rules: list[PinRule] = []
    findings: list[Finding] = []
    for name in sorted(files):
        for number, line in enumerate(files[name].split("\n"), 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                if len(rules) == MAX_RULES:
                    message = f"there are more than {MAX_RULES:,} rules in all."
                    raise InvalidLine("too_many_rules", message, "Remove some.")
                rules.append(_rule(name, number, text, language))
            except InvalidLine as invalid:
                findings.append(Finding(name, number, "error", *invalid.args))
                if len(rules) == MAX_RULES:
                    return rules, findings
    return rules, findings


def warnings(rules: Iterable[PinRule], today: date, posts: Collection[str] | None) -> list[Finding]:
    """Rules that have no effect any more, and posts that do not exist.

    Args:
        posts: the oids that exist, of those that the rules name; None if that is not known.
    """
    findings: list[Finding] = []
    for rule in rules:
        if rule.expired(today):
            message = f"the rule has no effect since {rule.until}."
            remedy = "Remove the line, or give it another date."
            findings.append(Finding(rule.file, rule.line, "warning", "expired", message, remedy))
        elif posts is not None:
            remedy = "Write the oid of a post in the index."
            findings += [
                Finding(
                    rule.file, rule.line, "warning", "unknown_post", f"no post {oid!r}.", remedy
                )
                for oid in rule.first + rule.never
                if oid not in posts
            ]
    return findings


def _rule(name: str, number: int, text: str, language: Language) -> PinRule:
    if not text.replace("\t", " ").isprintable():
        message = "has an invisible character."
        raise InvalidLine("invisible_character", message, "Delete it, or retype the line.")
    sides = _split(_ARROW, text)
    if len(sides) != 2:
        message = f"`{shortened(text)}` has {len(sides) - 1 or 'no'} `=>`."
        raise InvalidLine("arrow", message, "Write `search => oid, oid, -oid`.")
    right, until = sides[1], None
    if last_day := _UNTIL.search(right):
        until, right = _day(last_day[1]), right[: last_day.start()]
    searches = tuple(_search(part, language) for part in _split(_COMMA, sides[0]))
    first, never = _posts(right)
    return PinRule(name, number, searches, first, never, until)


def _split(separator: re.Pattern[str], text: str) -> list[str]:
    """The parts between the separators that no backslash escapes."""
    return [part.strip() for part in separator.sub(lambda match: f"{match[1]}\0", text).split("\0")]


def _day(text: str) -> date:
    try:
        if len(text) != len("2026-01-31"):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        message = f"`{shortened(text)}` is not a day."
        raise InvalidLine("date", message, "Write `until 2026-12-31`.") from None


def _search(text: str, language: Language) -> PinnedSearch:
    if len(text) > _MAX_SEARCH:
        message = f"`{shortened(text)}` is longer than a search, {_MAX_SEARCH} characters."
        raise InvalidLine("search_too_long", message, "Shorten it.")
    plain = _ESCAPED.sub(r"\1", text)
    query = parse_query(" ".join(word for word in plain.split() if word != "*"), language)
    words = words_of([as_typed(term) for term in query.terms], query, language)
    if query.excluded or not words:
        message = f"`{shortened(text)}` has no word to search for, or excludes one."
        raise InvalidLine("no_word", message, "Write the words that are searched for.")
    return PinnedSearch(plain, words, "*" in plain.split())


def _posts(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first: list[str] = []
    never: list[str] = []
    for part in _split(_COMMA, text):
        oid = _ESCAPED.sub(r"\1", part.removeprefix("-").strip())
        if not oid or oid in first + never:
            message = f"{oid!r} is named twice." if oid else "a post is missing."
            raise InvalidLine("post", message, "Write the oid of a post once, or -oid to hide it.")
        (never if part.startswith("-") else first).append(oid)
    if len(first) > MAX_FIRST or len(never) > _MAX_NEVER:
        message = f"at most {MAX_FIRST} posts come first, and {_MAX_NEVER} are hidden."
        raise InvalidLine("too_many_posts", message, "Name fewer.")
    return tuple(first), tuple(never)


class PinStore:
    """The pin files of an alias; `current` are the rules read last. Threads may share it."""

    def __init__(self, client: Elasticsearch, alias: str, language: Language) -> None:
        self._client = client
        self._alias = alias
        self._language = language
        self.current = NO_PINS
        self._version: tuple[int, int] | None = None

    def version_search(self) -> tuple[Json, Json]:
        """The header and body of a search for the version of the stored rules, which finds nothing
        where there is no state index."""
        header = {
            "index": state_index(self._alias),
            "preference": ONE_COPY,
            "ignore_unavailable": True,
        }
        ids = {"ids": {"values": [_ID]}}
        body = {"query": ids, "_source": False, "seq_no_primary_term": True, "size": 1}
        return header, body

    def is_current(self, response: Json) -> bool:
        """Whether the rules read last are those stored, by the response to `version_search`."""
        hits = response["hits"]["hits"]
        return (_version(hits[0]) if hits else None) == self._version

    def read(self) -> Pins:
        """The rules as they are stored now. Exceptions of the client pass through."""
        stored = self._get()
        rules, _ = parse(_files(stored), self._language)
        self.current = Pins(rules) if rules else NO_PINS
        self._version = _version(stored) if stored else None
        return self.current

    def files(self) -> Files:
        """The stored files."""
        return _files(self._get())

    def change(self, change: Callable[[Files], Files]) -> Files:
        """Store what `change` makes of the stored files; returns the former ones.

        Raises:
            Conflict: another process stored files in between.
        """
        stored = self._get()
        former = _files(stored)
        condition: Json = {"op_type": "create"}
        if stored:
            sequence, term = _version(stored)
            condition = {"if_seq_no": sequence, "if_primary_term": term}
        files = [{"name": name, "text": text} for name, text in sorted(change(former).items())]
        try:
            self._client.index(
                index=ensure_state(self._client, self._alias),
                id=_ID,
                document={"what": "pins", "files": files},
                refresh=True,  # every search looks for the version
                **condition,
            )
        except ConflictError:
            raise Conflict(
                "Another process changed the pinned results at the same time. Try again."
            ) from None
        return former

    def existing(self, rules: Sequence[PinRule]) -> Collection[str] | None:
        """Those of the posts named by rules that are in the live index; None without an index."""
        oids = list(dict.fromkeys(oid for rule in rules for oid in rule.first + rule.never))
        try:
            # At most as many as `index.max_terms_count`.
            response = self._client.search(
                index=self._alias,
                query={"terms": {"oid": oids}},
                size=0,
                aggs={"posts": {"terms": {"field": "oid", "size": len(oids) or 1}}},
                allow_partial_search_results=False,
            )
        except NotFoundError:
            return None
        return {bucket["key"] for bucket in response["aggregations"]["posts"]["buckets"]}

    def _get(self) -> Json | None:
        """The stored document; None if there is none."""
        try:
            stored: Json = self._client.get(index=state_index(self._alias), id=_ID).body
        except NotFoundError:
            return None
        return stored


def _version(stored: Json) -> tuple[int, int]:
    return stored["_seq_no"], stored["_primary_term"]


def _files(stored: Json | None) -> Files:
    files = stored["_source"]["files"] if stored else []
    return {file["name"]: file["text"] for file in files}
