"""Pinned results: parses, checks and stores files of them; `app.search.pins` applies their rules.

    # one rule a line: a search => posts that come first, -posts that are hidden
    cron => crontab-guide, -cron-in-2009
    opening hours, when open => hours until 2026-12-31
    python * => python-start

`*` stands for any other words, before, between or after. A literal comma, backslash or leading `-`
of an oid is written with a backslash before it. The files are kept in the state index, where
neither a swap nor a lost Redis loses them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from analyzers.findings import Finding, InvalidLine, shortened
from analyzers.languages import Language
from analyzers.rules.parse import refusal
from app.errors import Conflict, NotFound
from app.search.pins import MAX_FIRST, NO_PINS, PinnedSearch, PinRule, Pins, words_of
from app.search.query_parser import parse_query
from app.search.spelling import as_typed
from indexer.state import ensure_state, state_index

SUFFIX = ".pins"
MAX_RULES = 1000  # of all files; every search looks at them
MAX_BYTES = 1_000_000  # of one file
MAX_NEVER = 100  # posts of one rule
MAX_SEARCH = 200  # characters, as of a query

_ID = "pins"  # of the document in the state index
_BATCH = 1000  # oids per request

_ARROW = re.compile(r"(?<!\\)((?:\\\\)*)=>")
_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_ESCAPED = re.compile(r"\\(.)")
_UNTIL = re.compile(r"\s+until\s+(\S+)$")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PinFile:
    """A file by its name without the folder, and its text."""

    name: str
    text: str


def read_file(path: Path) -> PinFile | Finding:
    """The file at a path, or why it cannot be one."""

    def finding(line: int, code: str, message: str, remedy: str) -> Finding:
        return Finding(path.name, line, "error", code, message, remedy)

    if not path.name.endswith(SUFFIX) or path.name.startswith("."):
        message = f"the name of a pin file is NAME{SUFFIX}."
        return finding(0, "file_name", message, "Rename it.")
    try:
        if refused := refusal(path):
            return finding(0, *refused)
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}."
        return finding(0, "unreadable", message, "Check the path and its permissions.")
    if len(data) > MAX_BYTES:
        message = f"has {len(data):,} bytes; the limit is {MAX_BYTES:,}."
        return finding(0, "too_large", message, "Split it.")
    try:
        return PinFile(path.name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return finding(line, "encoding", "is not UTF-8.", "Save the file as UTF-8.")


def parse(files: Iterable[PinFile], language: Language) -> tuple[list[PinRule], list[Finding]]:
    """The rules of the files in their order, and a finding for every invalid line."""
    rules: list[PinRule] = []
    findings: list[Finding] = []
    for file in files:
        for number, line in enumerate(file.text.split("\n"), 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                rules.append(_rule(file.name, number, text, language))
            except InvalidLine as invalid:
                code, message, remedy = invalid.args
                findings.append(Finding(file.name, number, "error", code, message, remedy))
    if len(rules) > MAX_RULES:
        message = f"{len(rules):,} rules in all; the limit is {MAX_RULES:,}."
        rule = rules[MAX_RULES]
        findings.append(
            Finding(rule.file, rule.line, "error", "too_many_rules", message, "Remove some.")
        )
    return rules, findings


def warnings(rules: Sequence[PinRule], today: date, posts: Collection[str] | None) -> list[Finding]:
    """What is allowed and probably not meant: expired rules, posts that do not exist, searches
    that have a rule already.

    Args:
        posts: the oids that exist, of those that the rules name; None if that is not known.
    """
    findings: list[Finding] = []
    seen: dict[tuple[tuple[str, ...], bool], PinRule] = {}

    def warn(rule: PinRule, code: str, message: str, remedy: str) -> None:
        findings.append(Finding(rule.file, rule.line, "warning", code, message, remedy))

    for rule in rules:
        if rule.expired(today):
            message = f"the rule has no effect since {rule.until}."
            warn(rule, "expired", message, "Remove the line, or give it another date.")
            continue
        for search in rule.searches:
            former = seen.setdefault((search.words, search.among_others), rule)
            if former is not rule:
                message = f"`{search.text}` has a rule in {former.place}; both apply."
                warn(rule, "duplicate", message, "Write one rule for it.")
        for oid in rule.first + rule.never:
            if posts is not None and oid not in posts:
                message = f"there is no post {oid!r}."
                warn(rule, "unknown_post", message, "Write the oid of a post in the index.")
    return findings


def _rule(name: str, number: int, text: str, language: Language) -> PinRule:
    if not text.replace("\t", " ").isprintable():
        message = "has an invisible character."
        raise InvalidLine("invisible_character", message, "Delete it, or retype the line.")
    sides = _split(_ARROW, text)
    if len(sides) != 2:
        message = f"`{shortened(text)}` has {len(sides) - 1 or 'no'} `=>`."
        raise InvalidLine("arrow", message, "Write `search => oid, oid, -oid`.")
    right, until = sides[1].strip(), None
    if last_day := _UNTIL.search(f" {right}"):
        until = _day(last_day[1])
        right = f" {right}"[: last_day.start()].strip()
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
    if len(text) > MAX_SEARCH:
        message = f"`{shortened(text)}` has {len(text):,} characters; a search has {MAX_SEARCH}."
        raise InvalidLine("search_too_long", message, "Shorten it.")
    plain = _ESCAPED.sub(r"\1", text)
    asterisks = [word for word in plain.split() if word == "*"]
    query = parse_query(" ".join(w for w in plain.split() if w != "*"), language)
    words = words_of([as_typed(term) for term in query.terms], query, language)
    if query.excluded:
        message = f"`{shortened(text)}` excludes a word."
        raise InvalidLine("excluded_word", message, "A search on the left has words only.")
    if not words:
        message = f"`{shortened(text)}` has no word." if text else "a search is missing."
        raise InvalidLine("no_word", message, "Write the words that are searched for.")
    return PinnedSearch(plain, words, bool(asterisks))


def _posts(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first: list[str] = []
    never: list[str] = []
    for part in _split(_COMMA, text):
        into = never if part.startswith("-") else first
        oid = _ESCAPED.sub(r"\1", part.removeprefix("-").strip())
        if not oid:
            raise InvalidLine(
                "no_post", "a post is missing.", "Write the oid of a post, or -oid to hide it."
            )
        if oid in first + never:
            raise InvalidLine("post_twice", f"{oid!r} is named twice.", "Name it once.")
        into.append(oid)
    for posts, limit in ((first, MAX_FIRST), (never, MAX_NEVER)):
        if len(posts) > limit:
            message = f"{len(posts)} posts that come {'first' if posts is first else 'never'}"
            raise InvalidLine("too_many_posts", f"{message}; the limit is {limit}.", "Name fewer.")
    return tuple(first), tuple(never)


# -- store -------------------------------------------------------------------------------------


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
        header = {"index": state_index(self._alias), "ignore_unavailable": True}
        ids = {"ids": {"values": [_ID]}}
        body = {"query": ids, "_source": False, "seq_no_primary_term": True, "size": 1}
        return header, body

    def is_current(self, response: Json) -> bool:
        """Whether the rules read last are those stored, by the response to `version_search`."""
        hits = response["hits"]["hits"]
        return (_version(hits[0]) if hits else None) == self._version

    def read(self) -> Pins:
        """The rules as they are stored now. Exceptions of the client pass through.

        Stored files without a valid rule have none: they were checked before they were stored.
        """
        stored = self._get()
        if stored is None:
            self.current, self._version = NO_PINS, None
        else:
            rules, _ = parse(_files(stored), self._language)
            self.current, self._version = Pins(rules), _version(stored)
        return self.current

    def files(self) -> list[PinFile]:
        """The stored files in the order of their names."""
        stored = self._get()
        return _files(stored) if stored else []

    def save(self, files: Sequence[PinFile]) -> tuple[str, ...]:
        """Store files beside those that are there, or in place of those with their names.

        Returns:
            The names of the files that were replaced by others.

        Raises:
            Conflict: another process stored files at the same time.
        """
        stored = self._get()
        by_name = {file.name: file for file in _files(stored)} if stored else {}
        replaced = [
            file.name for file in files if file.name in by_name and by_name[file.name] != file
        ]
        self._put({**by_name, **{file.name: file for file in files}}.values(), stored)
        return tuple(replaced)

    def remove(self, names: Sequence[str]) -> None:
        """Delete files by their names, given with or without `.pins`.

        Raises:
            NotFound: naming the missing files, and those that exist.
            Conflict: another process stored files at the same time.
        """
        if not names:
            return
        stored = self._get()
        by_name = (
            {file.name.removesuffix(SUFFIX): file for file in _files(stored)} if stored else {}
        )
        wanted = {name.removesuffix(SUFFIX) for name in names}
        if missing := sorted(wanted - by_name.keys()):
            raise NotFound(
                f"No pin file {', '.join(missing)}; there are {', '.join(by_name) or 'none'}."
            )
        self._put([file for name, file in by_name.items() if name not in wanted], stored)

    def existing(self, rules: Iterable[PinRule]) -> Collection[str] | None:
        """Those of the posts named by rules that are in the live index; None without an index."""
        oids = list(dict.fromkeys(oid for rule in rules for oid in rule.first + rule.never))
        oids_found: set[str] = set()
        for start in range(0, len(oids), _BATCH):
            batch = [{"term": {"kind": "post"}}, {"terms": {"oid": oids[start : start + _BATCH]}}]
            try:
                response = self._client.search(
                    index=self._alias,
                    query={"bool": {"filter": batch}},
                    size=_BATCH,
                    source_includes=["oid"],
                    allow_partial_search_results=False,
                )
            except NotFoundError:
                return None
            oids_found.update(hit["_source"]["oid"] for hit in response["hits"]["hits"])
        return oids_found

    def _get(self) -> Json | None:
        """The stored document; None if there is none."""
        try:
            stored: Json = self._client.get(index=state_index(self._alias), id=_ID).body
        except NotFoundError:
            return None
        return stored

    def _put(self, files: Iterable[PinFile], replaces: dict[str, Any] | None) -> None:
        stored = sorted(files, key=lambda file: file.name)
        document = {
            "what": "pins",
            "files": [{"name": file.name, "text": file.text} for file in stored],
        }
        condition: dict[str, Any] = {"op_type": "create"}
        if replaces:
            sequence, term = _version(replaces)
            condition = {"if_seq_no": sequence, "if_primary_term": term}
        try:
            self._client.index(
                index=ensure_state(self._client, self._alias),
                id=_ID,
                document=document,
                refresh=True,  # every search looks for the version
                **condition,
            )
        except ConflictError:
            raise Conflict(
                "Another process changed the pinned results at the same time. Run it again."
            ) from None


def _version(stored: Json) -> tuple[int, int]:
    return stored["_seq_no"], stored["_primary_term"]


def _files(stored: dict[str, Any]) -> list[PinFile]:
    return [PinFile(file["name"], file["text"]) for file in stored["_source"]["files"]]
