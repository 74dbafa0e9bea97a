"""Reads and applies pinned results: the posts to put first for a search, and those to hide.

    # one rule a line: a search => posts that come first, -posts that are hidden
    cron => crontab-guide, -cron-in-2009
    python * => python-start

`*` stands for any other words before, between or after the given ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from analyzers.errors import Finding, InvalidLine, shorten
from analyzers.languages import Language
from app.engines.stored_texts import StoredTexts, Texts
from app.search.query_parser import ParsedQuery, parse_query
from app.search.spelling import Interpretation, interpret_as_typed

PINS = "pins"
"""The id of the document with the pin files in the state index."""
SUFFIX = ".pins"
MAX_RULES = 1_000  # in all files; every search compares all of them
MAX_POSTS = 10
"""The maximum number of posts in one rule, and of posts pinned for one search."""

_EXACT = 1_000  # more than the words of any search

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinRule:
    """One rule of a file. It applies to searches for exactly these words in this order or, with
    `among_others`, to those with all of them anywhere. `first` and `never` are oids."""

    file: str
    line: int
    words: Words
    among_others: bool
    first: tuple[str, ...]
    never: tuple[str, ...]

    def rank(self, words: Words, there: set[str]) -> int:
        """Return how early the posts of the rule come, greatest first; 0 if it does not apply."""
        if self.among_others:
            return len(self.words) if there.issuperset(self.words) else 0
        return _EXACT if self.words == words else 0


@dataclass(frozen=True, slots=True)
class MatchedPins:
    """The rules that apply to one search, and their oids; false without oids."""

    first: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    rules: tuple[PinRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.first or self.never)


NO_MATCH = MatchedPins()


# -- searches --------------------------------------------------------------------------------------


def match_rules(rules: Sequence[PinRule], words: Words) -> MatchedPins:
    """Return the rules that apply to these words: exact ones first, then those with more words.

    A post that one rule puts first and another one hides is hidden.
    """
    there = set(words)
    ranks = [(rule.rank(words, there), rule) for rule in rules]
    ranks.sort(key=lambda ranked: -ranked[0])
    found = tuple(rule for rank, rule in ranks if rank)
    never = tuple(dict.fromkeys(oid for rule in found for oid in rule.never))
    first = dict.fromkeys(oid for rule in found for oid in rule.first if oid not in never)
    return MatchedPins(tuple(first)[:MAX_POSTS], never, found)


def words_of(terms: Sequence[Interpretation], query: ParsedQuery, language: Language) -> Words:
    """Return the words of a query in their order, as tokens of the index in the likeliest spelling.

    `terms` are the interpretations of the query's terms.
    """
    places = [(term.typed.start, _words(term)) for term in terms]
    for text, start in zip(query.quoted, query.quoted_at, strict=True):
        phrase = parse_query(text, language).terms
        places.append((start, [piece for term in phrase for piece in term.pieces]))
    places.sort(key=lambda place: place[0])
    return tuple(word for _, words in places for word in words)


def _words(term: Interpretation) -> Sequence[str]:
    likeliest = term.likeliest
    if likeliest.kind in ("typed", "prefix", "begun", "character"):
        return term.typed.pieces
    return likeliest.text.split()


# -- files -----------------------------------------------------------------------------------------


def parse(files: Texts, language: Language) -> tuple[list[PinRule], list[Finding]]:
    """Return the rules of the files, sorted by file name, and a finding for every invalid line."""
    rules: list[PinRule] = []
    findings: list[Finding] = []
    for name in sorted(files):
        for number, line in enumerate(files[name].split("\n"), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                try:
                    rules.append(_rule(name, number, text, language))
                except InvalidLine as invalid:
                    findings.append(Finding(name, number, "error", *invalid.args))
    for rule in rules[MAX_RULES : MAX_RULES + 1]:
        message, remedy = f"there are more than {MAX_RULES:,} rules in all.", "Remove some."
        findings.append(Finding(rule.file, rule.line, "error", "too_many_rules", message, remedy))
    return rules[:MAX_RULES], findings


def _rule(name: str, number: int, text: str, language: Language) -> PinRule:
    search, arrow, posts = text.partition("=>")
    if not arrow or "=>" in posts:
        message = f"`{shorten(text)}` has {'more than one' if arrow else 'no'} `=>`."
        raise InvalidLine("arrow", message, "Write `search => oid, oid, -oid`.")
    query = parse_query(" ".join(word for word in search.split() if word != "*"), language)
    words = words_of([interpret_as_typed(term) for term in query.terms], query, language)
    if query.excluded or not words:
        message = f"`{shorten(search.strip())}` has no word to search for, or excludes one."
        raise InvalidLine("no_word", message, "Write the words that are searched for.")
    oids: dict[bool, list[str]] = {False: [], True: []}
    for post in map(str.strip, posts.split(",")):
        oids[post.startswith("-")].append(post.removeprefix("-").strip())
    first, never = map(tuple, oids.values())
    if not (all(first + never) and len(first + never) <= MAX_POSTS):
        message = f"a rule must name 1 to {MAX_POSTS} posts."
        raise InvalidLine("posts", message, "Write the oid of each post, or -oid to hide it.")
    return PinRule(name, number, words, "*" in search.split(), first, never)


# -- the state index -------------------------------------------------------------------------------


class PinStore(StoredTexts):
    """The pin files of an alias."""

    def __init__(self, client: Elasticsearch, alias: str) -> None:
        super().__init__(client, alias, PINS)

    def warnings(self, rules: Sequence[PinRule]) -> list[Finding]:
        """Return a warning for each post in the rules that the live index does not have."""
        named = [(rule, oid) for rule in rules for oid in rule.first + rule.never]
        hits = self._client.search(
            index=self._alias,
            query={"terms": {"oid": [oid for _, oid in named]}},
            size=len(named),  # at most `index.max_result_window`
            source_includes=["oid"],
            ignore_unavailable=True,
            allow_partial_search_results=False,
        )["hits"]["hits"]
        there = {hit["_source"]["oid"] for hit in hits}
        remedy = "Write the oid of a post in the index."
        return [
            Finding(rule.file, rule.line, "warning", "unknown_post", f"no post {oid!r}.", remedy)
            for rule, oid in named
            if oid not in there
        ]
