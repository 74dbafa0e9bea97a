"""The analysis chains: how a text becomes the tokens that are searched, each step with its reason.

The order is html_strip, standard tokenizer, lowercase, synonyms, stop, snowball:

- synonyms before snowball, so that rules are written in plain words and `go => golang` keeps "go"
  away from "going", which snowball would make the same;
- stop after synonyms, so that a rule may contain stop words (`state of the art, sota`): with stop
  first such rules are refused or never match (22 searches over ten posts: none wrong in this order,
  measured in docs/relevance.md);
- the same chain at index and search time, because a contraction only works when both sides are
  contracted.

The char filters between html_strip and the tokenizer write what the tokenizer would drop (C++,
.NET, ===) as words. The names they make are internal; `readable` turns them back.
"""

from typing import Any

from analyzers.rules import RuleSet

TEXT = "blog_text"
"""Prose, stemmed and with synonyms."""
FORMS = "blog_forms"
"""Prose with synonyms, unstemmed: ranks a word, in either spelling, above its inflections."""
WORDS = "blog_words"
"""Words as they were written: no synonyms, nothing stopped, no stemming. For spelling."""
CODE = "blog_code"
"""Code blocks: unstemmed, camelCase as a whole and by its parts."""
SYNONYMS = "blog_synonyms"
"""The synonym filter."""

# fmt: off
STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
    "these", "they", "this", "to", "was", "will", "with",
))
# fmt: on
"""Lucene's English stop words (`_english_`), spelled out because a plan must know them too."""

SYMBOL_WORDS = {
    "cplusplus": "c++",
    "csharp": "c#",
    "fsharp": "f#",
    "dotnet": ".net",
}
"""Names that the char filters give to words the tokenizer would cut, and what they stand for."""

OPERATORS = ("===", "!==", "==", "!=", "=>", "->", ":=", "&&", "||", "??")
"""Signs that are found like words, longer ones before those that are in them."""
_OPERATOR_PREFIX = "op0"
"""Operators become `op0` and their code points: a word that nobody types and no stemmer cuts."""


def _operator_word(operator: str) -> str:
    return _OPERATOR_PREFIX + "".join(f"{ord(character):03d}" for character in operator)


def readable(token: str) -> str | None:
    """A token of the words field as a person would write it; None for what must not be shown."""
    if token.startswith(_OPERATOR_PREFIX):
        return None
    return SYMBOL_WORDS.get(token, token)


_QUOTES = {"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": "\\u0022", "”": "\\u0022"}

# Three steps with a pattern and one with a table: each step copies the whole text, and seven of
# them took as long as all the rest of indexing.
_APART = (
    # A row of four or more is a ruler, not an operator.
    r"([=\-|&?:])\1{3,}"
    # The tokenizer keeps node.js, pyproject.toml and snake_case whole: .942 → .960 when split
    # (shared measurements). A point between digits stays: 3.11 is one number.
    r"|_|(?<=\p{L})[.:](?=\p{L})"
    # C++11 is C++ and 11.
    r"|(?<=\b[Cc]\+\+|\b[CcFf]#)(?=\w)"
)
# Only words that start small are cut: createReactApp, but not GitHub, iPhone or macOS, which are
# names; whole they are found through the words twin.
_CAMEL = r"|(?=\p{Lu}\p{Ll})(?<=\b\p{Ll}[\p{L}\p{N}]{0,40}\p{Ll})"


def _char_filters() -> dict[str, dict[str, Any]]:
    pattern = "pattern_replace"
    symbols = {
        **_QUOTES,
        # The longest match wins: that is the filter's own rule.
        **{sign: f"\\u0020{_operator_word(sign)}\\u0020" for sign in OPERATORS},
        "C++": "cplusplus",
        "c++": "cplusplus",
    }
    return {
        "blog_apart": {"type": pattern, "pattern": _APART, "replacement": " "},
        "blog_apart_camel": {"type": pattern, "pattern": _APART + _CAMEL, "replacement": " "},
        "blog_symbols": {
            "type": "mapping",
            "mappings": [f"{sign} => {word}" for sign, word in symbols.items()],
        },
        "blog_sharp": {
            "type": pattern,
            "pattern": r"(?i)\b([cf])#",
            "replacement": "$1sharp",
        },
        "blog_dotnet": {
            "type": pattern,
            "pattern": r"(?i)(?<![\w.])\.net\b",
            "replacement": "dotnet",
        },
    }


_SYMBOLS = ["blog_apart", "blog_symbols", "blog_sharp", "blog_dotnet"]
_SYMBOLS_AND_CAMEL = ["blog_apart_camel", *_SYMBOLS[1:]]


def _filters(rules: RuleSet) -> dict[str, dict[str, Any]]:
    return {
        # "Go's" is about Go; and a rule about go must see it before snowball does.
        "blog_possessive": {"type": "stemmer", "language": "possessive_english"},
        SYNONYMS: {"type": "synonym", "synonyms": list(rules.compiled)},
        "blog_stop": {"type": "stop", "stopwords": sorted(STOP_WORDS)},
        "blog_snowball": {"type": "snowball", "language": "English"},
        # split_on_numerics would cut python2 and utf8 apart; preserve_original keeps the whole.
        "blog_camel_parts": {
            "type": "word_delimiter",
            "preserve_original": True,
            "split_on_numerics": False,
            "stem_english_possessive": False,
        },
    }


def analysis(rules: RuleSet) -> dict[str, Any]:
    """The `analysis` part of an index's settings, with the rules as they are now compiled in."""

    def chain(char_filters: list[str], filters: list[str]) -> dict[str, Any]:
        return {
            "type": "custom",
            "char_filter": ["html_strip", *char_filters],
            "tokenizer": "standard",
            "filter": filters,
        }

    plain = ["lowercase", "asciifolding", "blog_possessive"]
    return {
        "char_filter": _char_filters(),
        "filter": _filters(rules),
        "analyzer": {
            TEXT: chain(
                _SYMBOLS_AND_CAMEL,
                [*plain, SYNONYMS, "blog_stop", "blog_snowball"],
            ),
            FORMS: chain(_SYMBOLS, [*plain, SYNONYMS]),
            WORDS: chain(_SYMBOLS, plain),
            CODE: chain(_SYMBOLS, ["blog_camel_parts", *plain]),
        },
    }
