"""Compiles rules to lines for Elasticsearch's `synonym` filters.

The filter looks every word of a text up once, but not the result of a rule: with `a => b` in one
file and `b => c` in another, "a" and "b" would become different tokens. So rules are followed to
their end here (`analyzers.rules.groups`).

A query has single tokens only: a phrase becomes the single words of its group or, if there are
none, its own words joined. A post has these tokens, too, but keeps the words of a phrase beside
them, unless a contraction removes them. So `machine learning, ml` is compiled to

    machine learning => ml                                      for queries
    machine learning => machine learning, ml, machine ml        for posts

Of the three results, the second marks the whole phrase, and the third has the token at the last
word, so that the next word follows it as it would follow "ml".

An unstemmed field keeps the words as written. There a query has all words that become the same
token, and posts have, beside a phrase, a word that stands for its token (`synonym_word`):

    colour, color                                               for queries
    machine learning, ml => ml, op0x…                           for queries
    machine learning => machine learning, op0x…, machine op0x…  for posts
"""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from analyzers.errors import BlogsearchError, Finding
from analyzers.languages import ENGLISH, Language
from analyzers.rules.groups import Group, Groups, TooMuch
from analyzers.rules.parse import (
    SUFFIX,
    Rule,
    Words,
    is_for,
    normalise,
    parse_files,
    split_unescaped,
    unescape,
    unreadable,
    words,
)
from analyzers.signs import fold, is_unspaced, split, synonym_word

MAX_VARIANTS = 24  # spellings of one phrase
_FEW = 8  # words with one result, except equivalents, that a query has all of: every pair is stored
_LISTED = 20  # errors shown for the files in use; `synonyms check` shows all


class RuleErrors(BlogsearchError):
    """The rule files cannot be used; the text lists the problems with file and line."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        more = f"\n… and {len(findings) - _LISTED:,} more" if len(findings) > _LISTED else ""
        super().__init__("\n".join(map(str, findings[:_LISTED])) + more)


@dataclass(frozen=True, slots=True)
class Compiled:
    """Rules followed to their end, in Solr's syntax: `lines` for queries, `post_lines` for posts,
    and the same for unstemmed fields.

    Empty if the rules taken together have errors.
    """

    errors: tuple[Finding, ...] = ()
    groups: Mapping[Words, Group] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    post_lines: tuple[str, ...] = ()
    unstemmed_lines: tuple[str, ...] = ()
    unstemmed_post_lines: tuple[str, ...] = ()


class Rules:
    """The rules of files, read in the order of their names, and compiled when needed.

    Compiling thousands takes a second; the digest alone shows whether an index has them.
    """

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._files = sorted(files, key=lambda path: path.name)
        self._phrases: dict[Language, Phrases] = {}

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits, from the bytes of the files.

        Raises:
            RuleErrors: a file cannot be read, or no longer exists.
        """
        whole = hashlib.sha256()
        for path in self._files:
            try:
                whole.update(hashlib.sha256(path.read_bytes()).digest())
            except OSError as problem:
                raise RuleErrors([unreadable(path, problem)]) from None
        return whole.hexdigest()[:16]

    @property
    def rules(self) -> list[Rule]:
        """All rules."""
        return self._parsed[0]

    @property
    def errors(self) -> list[Finding]:
        """All errors: encoding, syntax, limits, cycles and contradictions."""
        return [*self._parsed[1], *self._compiled.errors]

    @property
    def compiled(self) -> Compiled:
        """The compiled rules for a new index.

        Raises:
            RuleErrors: the rules have errors.
        """
        if errors := self.errors:
            raise RuleErrors(errors)
        return self._compiled

    def explain(
        self, tokens: Sequence[str], language: Language = ENGLISH
    ) -> list[tuple[int, int, Group]]:
        """Return where rules apply to a query, as start, end and group.

        Args:
            tokens: the tokens before the synonym filter, in order. A symbol that the chain spells
                out (cplusplus) is given as written (c++).
        """
        if language not in self._phrases:
            self._phrases[language] = Phrases.of_terms(self.compiled.groups, language)
        found = self._phrases[language].places(tokens)
        return [(start, end, self._by_folded[term]) for start, end, term in found]

    @cached_property
    def _parsed(self) -> tuple[list[Rule], list[Finding]]:
        return parse_files(self._files)

    @cached_property
    def _compiled(self) -> Compiled:
        return compile_rules(self.rules)

    @cached_property
    def _by_folded(self) -> dict[Words, Group]:
        return {tuple(map(fold, term)): group for term, group in self.compiled.groups.items()}


NO_RULES = Rules()


def compile_rules(rules: Sequence[Rule]) -> Compiled:
    """Return the rules followed to their end, or the errors in them taken together."""
    try:
        groups = Groups(rules)
    except TooMuch as limit:
        return Compiled(errors=limit.args)
    if groups.errors:
        return Compiled(errors=tuple(groups.errors))
    words_of: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for term, group in groups.of.items():
        if len(term) == 1:
            words_of[group.tokens].append(term[0])
    lines: list[str] = []
    post_lines: list[str] = []
    for group in groups.all:
        every: list[str] = []
        replaced: list[str] = []
        beside: list[str] = []
        for term in group.terms:
            spellings = list(dict.fromkeys(_spellings(term, groups, words_of)))
            every += spellings
            if len(term) == 1 or term in groups.taken:
                replaced += spellings
            else:
                beside += [_beside(spelling, term, groups) for spelling in spellings]
        lines += _compile_line(group.tokens, every)
        post_lines += [*_compile_line(group.tokens, replaced), *beside]
    unstemmed = _compile_unstemmed(groups, words_of)
    return Compiled((), groups.of, tuple(lines), tuple(post_lines), *unstemmed)


def _compile_unstemmed(
    groups: Groups, words_of: Mapping[tuple[str, ...], Sequence[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines of unstemmed fields, for queries and for posts.

    A query has all words with the same result if they are few, have no other result, and are no
    part of a name: the js of node.js is not JavaScript.
    """
    uses = Counter(token for tokens in {group.tokens for group in groups.all} for token in tokens)
    in_names = {word for term in groups.of if _is_name(term, groups) for word in term}
    same = {
        tokens: words
        for tokens, words in words_of.items()
        if len(words) <= max(len(tokens), _FEW)
        and all(uses[token] == 1 for token in tokens)
        and in_names.isdisjoint(words)
    }
    beside = {
        term: [token for token in _in_posts(term, groups) if (token,) != term]
        for group in groups.all
        for term in group.terms
        if len(term) > 1 or group.tokens not in same
    }

    def words_for(term: Words) -> list[str]:
        return list(map(synonym_word, beside.get(term, ())))

    used = set(itertools.chain.from_iterable(beside.values()))
    written: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for group in groups.all:
        marks = [synonym_word(token) for token in group.tokens if token in used]
        for term in group.terms:
            own = term if len(term) == 1 else ()
            results = same.get(group.tokens) or dict.fromkeys((*own, *group.tokens))
            written[(*results, *marks)] += _spellings(term, groups, words_of)
    lines = [line for results, terms in written.items() for line in _compile_line(results, terms)]
    post_lines = []
    for term in filter(beside.get, beside):
        for spelling in dict.fromkeys(_spellings(term, groups, words_of)):
            pieces = _pieces(spelling) if len(term) > 1 else (spelling,)
            is_name = _is_name(term, groups)
            columns = [[piece, *([] if is_name else words_for((piece,)))] for piece in pieces]
            post_lines.append(_in_columns(spelling, pieces, columns, words_for(term), words_for))
    return tuple(lines), tuple(post_lines)


def setting(lines: Sequence[str]) -> list[str]:
    """Return the setting `synonyms` of a filter: all lines in one element.

    Elasticsearch processes each element on every change of settings or mappings: with 20,000
    elements, creating the index takes twice as long, and changing it three times as long.
    """
    return ["\n".join(lines)] if lines else []


def of_inflected(lines: Iterable[str], language: Language) -> Iterator[str]:
    """Yield lines about phrases without stop words, with a word in another inflection. Names such
    as node.js are left out: their words have one position in posts."""
    for line in lines:
        left, arrow, right = line.partition(" => ")
        for written in map(str.strip, split_unescaped(",", left) if arrow else ()):
            phrase = unescape(written)
            if is_phrase(phrase, language) and phrase.split()[0] not in right.split(", "):
                for other in _inflect(phrase.split(), language):
                    yield f"{other} => {right.replace(phrase, other)}"


def _inflect(phrase: Sequence[str], language: Language) -> Iterator[str]:
    for place, word in enumerate(phrase):
        for other in language.inflected(word):
            yield " ".join([*phrase[:place], other, *phrase[place + 1 :]])


def is_phrase(term: str, language: Language) -> bool:
    """Whether a term has several words, none of them a stop word or without letters."""
    found = split(term)
    return len(found) > 1 and all(
        word.isalpha() and not is_unspaced(word) and word not in language.stop_words
        for word in found
    )


def in_effect(lines: Iterable[str], post_lines: Iterable[str]) -> dict[str, None]:
    """Return an index's rules in readable form: `a, b` if posts keep what queries replace."""
    of_posts = set(post_lines)
    return dict.fromkeys(line if line in of_posts else line.replace(" => ", ", ") for line in lines)


def terms_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the terms in lines of Solr's syntax."""
    for line in lines:
        for term in split_unescaped("=>|,", line):
            yield unescape(term).strip()


def _spellings(
    term: Words, groups: Groups, words_of: Mapping[tuple[str, ...], Sequence[str]]
) -> Iterator[str]:
    """Yield the spellings of a term in the rules; for a phrase, also with synonyms of its words.

    The filter compares the text as written: `colour scheme, palette` would not match "color scheme"
    in spite of `colour => color`. Names such as node.js stay as they are.

    Args:
        words_of: the words that become the same tokens.
    """
    yield from groups.spellings[term]
    if len(term) == 1:
        return
    yield " ".join(term)
    if any(len(spelling.split()) == len(term) for spelling in groups.spellings[term]):
        choices = []
        for word in term:
            group = groups.of.get((word,))
            choices.append(
                dict.fromkeys([word, *(words_of[group.tokens][:MAX_VARIANTS] if group else ())])
            )
        for variant in itertools.islice(itertools.product(*choices), 1, MAX_VARIANTS):
            if variant not in groups.of:
                yield " ".join(variant)


def _compile_line(tokens: tuple[str, ...], spellings: Sequence[str]) -> list[str]:
    """Return a line in Solr's syntax; none if the terms become themselves."""
    inputs = list(dict.fromkeys(spellings))
    if set(inputs) == set(tokens):
        return [_terms(inputs)] if len(inputs) > 1 else []
    changed = [spelling for spelling in inputs if (spelling,) != tokens]
    return [f"{_terms(changed)} => {_terms(tokens)}"] if changed else []


def _beside(spelling: str, term: Words, groups: Groups) -> str:
    """Return the line that puts the tokens of a phrase beside its words, which keep their own
    tokens: a phrase inside it and synonyms of a word are found, too.

    A name such as node.js is one word to those who write it: its words share one position.
    """
    tokens = _in_posts(term, groups)
    pieces = _pieces(spelling)
    if _is_name(term, groups):
        return f"{_escape(spelling)} => {_terms(dict.fromkeys((*pieces, *tokens)))}"
    columns = [list(_in_posts((piece,), groups) or (piece,)) for piece in pieces]
    return _in_columns(spelling, pieces, columns, tokens, partial(_in_posts, groups=groups))


def _is_name(term: Words, groups: Groups) -> bool:
    """Whether a term of several words is written as one (node.js)."""
    is_one = any(" " not in written for written in groups.spellings[term])
    return len(term) > 1 and is_one and not any(map(is_unspaced, term))


def _in_columns(
    spelling: str,
    pieces: Words,
    columns: Sequence[list[str]],
    tokens: Sequence[str],
    tokens_of: Callable[[Words], Iterable[str]],
) -> str:
    """Return the line that puts tokens beside the words of a phrase.

    Args:
        columns: the results of each piece.
        tokens_of: returns the tokens of a phrase inside it.
    """
    for start, end in itertools.combinations(range(len(pieces) + 1), 2):
        if 1 < end - start < len(pieces):
            for place in (start, end - 1):
                columns[place] += tokens_of(pieces[start:end])
    rows = range(max(map(len, columns)))
    results = [[column[row % len(column)] for column in columns] for row in rows]
    for token in tokens:
        results += [[token], [*results[0][:-1], token]]
    unique = dict.fromkeys(map(" ".join, results))
    return f"{_escape(spelling)} => {_terms(unique)}"


def _in_posts(term: Words, groups: Groups) -> tuple[str, ...]:
    """Return a term's tokens in posts: one of several equivalents, as searches have all of them."""
    group = groups.of.get(term)
    if group is None or group.contractions:
        return group.tokens if group else ()
    is_own = len(term) == 1 and term[0] in group.tokens
    return term if is_own else group.tokens[:1]


def _pieces(spelling: str) -> Words:
    """Return the tokens that the chain makes of a term before synonyms."""
    parts = split(normalise(spelling))
    return tuple(
        piece for part in parts for piece in ([part] if is_unspaced(part) else words(part))
    )


def _terms(terms: Iterable[str]) -> str:
    return ", ".join(map(_escape, terms))


def _escape(term: str) -> str:
    return "".join("\\" + char if char in "\\,=>#;|" else char for char in term)


@dataclass(frozen=True)
class Phrases:
    """Terms to look up in a text; from `of`, an index's terms of several words, for which a query
    has single tokens. `inflected` has stems of phrases, which match in any inflection; `spellings`
    has, by word of a rule, the words that a contraction makes the same (colour, color)."""

    terms: Collection[Words] = frozenset()
    inflected: Mapping[Words, Words] = field(default_factory=dict)
    language: Language = ENGLISH
    spellings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of_terms(cls, terms: Collection[Words], language: Language = ENGLISH) -> "Phrases":
        """Create phrases from terms."""
        plain = {term: tuple(map(fold, term)) for term in terms}
        phrases = [term for term in terms if is_phrase(" ".join(term), language)]
        inflected = {tuple(map(language.stem, term)): plain[term] for term in phrases}
        return cls(frozenset(plain.values()), inflected, language)

    @classmethod
    def of(cls, compiled: Iterable[str], language: Language = ENGLISH) -> "Phrases":
        """Create phrases from the setting `synonyms` of an index (`setting`)."""
        lines = [line for several in compiled for line in several.splitlines()]
        terms = {tuple(found) for term in terms_of(lines) if len(found := split(term)) > 1}
        spellings: dict[str, Sequence[str]] = {}
        for line in lines:
            left, arrow, token = line.partition(" => ")
            single = [word for word in left.split(", ") if " " not in word]
            same = [*single, token] if arrow and "," not in token else []
            spellings |= dict.fromkeys(same or single, same)
        return replace(cls.of_terms(terms, language), spellings=spellings)

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest term."""
        return max(map(len, self.terms), default=0)

    def places(self, tokens: Sequence[str]) -> list[tuple[int, int, Words]]:
        """Return the start and end of each term in a text, and the term; `tokens` as in
        `Rules.explain`.

        As in the filters, the longest match wins and each token is used once.
        """
        plain = tuple(map(fold, tokens))
        stems = tuple(map(self.language.stem, tokens)) if self.inflected else plain
        places = []
        start = 0
        while start < len(plain):
            for end in range(min(start + self.longest, len(plain)), start, -1):
                part = plain[start:end]
                term = part if part in self.terms else self.inflected.get(stems[start:end])
                if term:
                    places.append((start, end, term))
                    start = end
                    break
            else:
                start += 1
        return places


# -- the check of rule files before they are used ------------------------------------------------


def check(
    files: Sequence[Path], others: Sequence[Path] = (), language: Language = ENGLISH
) -> tuple[Rules, list[Finding]]:
    """Check rule files together with those that they will be used with.

    Args:
        others: files in use. A file with the name of a checked one is its older version, and
            ignored.
        language: of the index.

    Returns:
        The rules of all files together, which are unusable if there are errors, and the errors.
    """
    checked = {path.name for path in files}
    rules = Rules([*files, *(path for path in others if path.name not in checked)])
    found = {*rules.errors, *_of_files(files, language), *_of_rules(rules.rules, language)}
    return rules, sorted(found, key=lambda finding: (finding.file, finding.line, finding.code))


def _of_files(files: Sequence[Path], language: Language) -> Iterator[Finding]:
    for path in files:
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            message, remedy = f"a rule file must be named NAME{SUFFIX}.", "Rename it."
            yield Finding(path.name, 0, "error", "file_name", message, remedy)
        if not is_for(path, language.name):
            message = f"is not for {language.name} posts (BLOGSEARCH_LANGUAGE)."
            remedy = "Change its comment `# language: …` if it is."
            yield Finding(path.name, 0, "error", "other_language", message, remedy)


def _of_rules(rules: Iterable[Rule], language: Language) -> Iterator[Finding]:
    """Yield errors for rules whose results are all stop words: nothing is left to search for."""
    for rule in rules:
        results = rule.right or [term for term in rule.left if " " not in term]
        if results and all(language.written(term) in language.stop_words for term in results):
            message = f"`{results[0]}` is a stop word: it is not searched for."
            yield rule.error("stop_word", message, "Remove it from the rule.")
