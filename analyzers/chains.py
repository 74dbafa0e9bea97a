"""Defines the analysis chains, which turn a text into the tokens that are searched.

The order is symbols, standard tokenizer, lowercase, pairs of Chinese, Japanese and Korean
characters (`analyzers.signs`), synonyms, stop, snowball:

- synonyms before snowball, so that rules have plain words, and `go => golang` separates "go" from
  "going", which has the same stem;
- stop after synonyms, so that a rule may contain stop words (`state of the art, sota`): with stop
  first, such rules are rejected or never match;
- nearly the same chain at index and search time, because a contraction only works if both sides
  are contracted (`index_time` has the differences).

Accents are folded first in languages where they are optional (English), and otherwise last, because
the stemmers need them (docs/languages.md).
"""

import hashlib
import html
import json
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any

from analyzers.languages import POSSESSIVE, Language, TokenFilter
from analyzers.rules.compile import NO_RULES, Rules, of_inflected, setting
from analyzers.signs import (
    APOSTROPHES,
    CHARACTERS,
    FLAG,
    FLAGS,
    NARROW,
    OPERATORS,
    SHORT_FLAG,
    UNITS,
    USUAL,
    operator_word,
)

TEXT = "blog_text"
"""Prose: synonyms, stop words removed, stemmed, folded."""
FORMS = "blog_forms"
"""Prose with synonyms, not stemmed: ranks a word, in any spelling, above its inflections. Posts
also have the words as written, so that WORDS finds them."""
WORDS = "blog_words"
"""Words as written, but folded: no synonyms, no stop words removed, not stemmed; only for queries
in fields of FORMS."""
SPELLING = "blog_spelling"
"""Words as written, for corrections, with the language's own accents; otherwise equal to WORDS."""
PREFIXES = "blog_prefixes"
"""The beginnings of the words of WORDS, for suggestions; only at index time."""
EXACT = "blog_exact"
"""A whole text as one token, without case, accents and punctuation."""
UNDER, PATH = "under", "path"
"""All beginnings of an address: `blog.example.org/docs/a`, `blog.example.org/docs` and
`blog.example.org`; PATH has them without the host."""
SYNONYMS, UNSTEMMED_SYNONYMS = "blog_synonyms", "blog_synonyms_unstemmed"
"""The synonym filters of TEXT and FORMS; those at index time also keep words."""

_MOST_INFLECTED = 50_000
"""The maximum number of rules for other inflections of phrases. If there are more, the settings of
an index would be too large, and phrases are only found as in the rules."""
LONGEST_PREFIX = 12
"""The maximum length of a beginning of a word that is indexed, besides the whole word."""


def index_time(name: str) -> str:
    """Return the name at index time of the analyzer TEXT, FORMS or SPELLING, or of a filter.

    Stored texts are HTML-escaped. In TEXT and FORMS 3.4.1 is also found as 3.4 and 3, and
    python3.12 as python and 3.12, and a phrase keeps its words beside its synonym.
    """
    return f"{name}_index"


_QUOTES = {**dict.fromkeys(map(chr, APOSTROPHES), "'"), **dict.fromkeys("“”״", "\\u0022")}

# One filter has a pattern and one a table, because each copies the whole text. The pattern handles
# what depends on the text before or after. Separate patterns take thirty times as long: a match
# begins with one of a few characters, and the rest looks back at it. A pattern has one replacement,
# so it puts signs between two of Unicode's noncharacters, and the table replaces these.
_BEGIN, _END = "\ufdd0", "\ufdd1"
MARKS = _BEGIN + _END
_REPLACEMENT = (
    f"${{after}}${{unit}}{_BEGIN}${{sharp}}${{point}}${{power}}${{flag}}${{letter}}${{plus}}"
    f"${{joint}}${{last}}${{comma}}${{decade}}${{group}}${{single}}${{hyphen}}${{short}}{_END}"
    "${next1}${next2}${next3}${before}"
)
_FIRST = r"xX×=\-|&?:.,'’\u202f0-9+\#²³가-힣"
# Java keeps the match of a group in a lookbehind even if the rest does not match: such a group is
# the last condition. The letter after an inserted space is replaced, too: otherwise the word before
# it would end a letter early. The beginning of a match comes first, as most characters fail there.
_FOUND = r"""
    (?<= [0-9] ) (?= [A-Za-zµμ] ) (?:
      # 16GB is 16 GB.
      (?= (?i:UNITS) (?![\p{L}\p{N}]) ) (?<= (?<![\p{L}\p{N}_]) [\d.,]{1,9} ) (?<= (?<unit>\d) )
      (?<next3>\p{L}) )
  | (?<= [,'’\u202f] ) (?:
      # 10,000 is 10000.
      (?= \d{3} (?!\d) ) (?<= (?<!\d) \d{1,3} (?<comma>[,'’\u202f]) )
      # 90's is 90s.
    | (?= s (?![\p{L}\p{N}]) ) (?<= \d0 (?<decade>['’]) ) )
    # 3x3 and 3 × 3 are 3 3, but not 0x3.
  | (?<= [xX×] ) (?= \s?[0-9] )
    (?<= (?<! [\p{L}\p{N}&&[^xX]] ) (?! 0[xX] ) [\d.,]{1,9} \s? [xX×] )
  | (?<= \. ) (?= [\p{L}0-9] ) (?:
      # .NET
      (?= [Nn][Ee][Tt] (?![A-Za-z0-9]) ) (?<= (?<![\p{L}0-9.]) \. ) (?<= (?<point>\.) )
      # The points of U.S.A. and Ph.D.
    | (?= (?: \p{L} | \p{Lu}\p{Ll} ) \. )
      (?<= (?<![\p{L}\p{N}]) (?: \p{L} | \p{Lu}\p{Ll} ) (?<joint>\.) )
    | (?= \p{Lu} (?![\p{L}\p{N}]) ) (?<= (?<![\p{L}\p{N}])\p{Lu} (?<last>\.) )
      # In some languages 10.000 is 10000.
    | (?= THOUSANDS ) (?<= (?<![\d.]) \d{1,3} (?<group>\.) ) )
  | (?<= - ) (?:
      # T-shirt is Tshirt.
      (?= \p{L}{2} | \p{N} ) (?<= (?<![\p{L}\p{N}_.\-]) (?<single>[A-Za-z]) (?<hyphen>-) )
      # rm -rf
    | (?= (?:SHORT) (?![\p{L}\p{N}_\-]) ) (?<= (?<short> (?:^|\s) -) )
      # --dry-run
    | - (?= \p{L} ) (?<= (?<![\p{L}\p{N}_\-]) (?<flag>--) ) )
  | (?<= [=\-|&?:+\#²³가-힣] ) (?:
      # Four or more in a row are a line, not an operator.
      (?<= (?<sign>[=\-|&?:]) ) \k<sign>{3,}
    | (?<= & ) amp; (?: &amp; ){3,}
      # C# and F#; C#8 is C# and 8, C++11 is C++ and 11.
    | (?<= (?<![A-Za-z0-9]) [CcFf]\# ) (?![A-Za-z0-9]) (?<= (?<sharp>\#) )
    | (?<= (?<![A-Za-z0-9]) (?<letter>[CcFf])\# ) (?<next1>[A-Za-z0-9])
    | (?<= (?<![A-Za-z0-9]) [Cc]\+ ) (?<plus>\+) (?<next2>[A-Za-z0-9])
      # m² is m2; behind longer words it is a footnote.
    | (?<= (?<![\p{L}\p{N}]) \p{L}{1,2} [²³] ) (?<= (?<power>[²³]) )
      # Korean endings follow English words and numbers at once, which the tokenizer keeps whole.
    | (?<= [A-Za-z0-9] (?<before>[가-힣]) )
    | (?= [A-Za-z0-9] ) (?<= (?<after>[가-힣]) ) )
"""
# Only words that start with a lower-case part are split: createReactApp, parseHTTPPayload, but not
# the names GitHub, iPhone and macOS. The unstemmed fields have the whole word.
_CAMEL_CASE = r"""
    # PDFs is PDF, PhDs is PhD.
    s (?![\p{L}\p{N}])
    (?<= (?<![\p{L}\p{N}]) \p{Lu}\p{Ll}?\p{Lu}{0,6} (?<acronym>\p{Lu}) (?<plural>s) ) |
    # The second condition parts HTTPPayload.
    (?: (?= \p{Lu}{0,8}\p{Ll} ) (?<= \p{Ll}\p{Lu} )
      | (?= \p{Ll} ) (?! s (?![\p{L}\p{N}]) ) (?<= \p{Lu}\p{Lu} ) )
    (?<= (?<![\p{L}\p{N}])\p{Ll} [\p{L}\p{N}]{0,40} \p{L}\p{Lu} ) (?<= (?<capital>\p{Lu}) ) |
"""
_REPLACEMENT_CAMEL = "${acronym}" + _REPLACEMENT.replace(_END, "${plural}" + _END) + "${capital}"
_NET = ["".join(letters) for letters in product("Nn", "Ee", "Tt")]
_DIGITS = "0٠۰०০๐"
"""The zeros of the languages' digits."""
_JOINER = "\u203f"
"""The sign in T‿Tshirt, which is written for T-shirt in posts, so that they also get its parts."""


_HAS_PARTS = """
CharSequence text = token.term;
int end = text.length();
for (int at = 1; at < end; ++at) {
  int sign = text.charAt(at);
  if (sign == 0x2e || sign == 0x203f || sign == 0x200c) return true;
}
return end > 1 && text.charAt(0) == 0x76 && text.charAt(end - 1) < 0x3a;
"""
"""Whether a word may have a point, the sign in T‿Tshirt or a half-space in it, or is like v18."""
_IS_NAME = "token.term.length() > 4 && token.term.charAt(1) == (char) 0x27"
"""Whether it may be O'Neill, which is also found as Neill."""


def _char_filters(language: Language) -> dict[str, dict[str, Any]]:
    short = f"\\u0020{operator_word(SHORT_FLAG)}\\u0020"
    symbols = {
        **_QUOTES,
        **_wide_and_narrow(),
        # The tokenizer keeps node.js, snake_case and std:x whole: nDCG@10 0.942, split 0.960.
        **dict.fromkeys("._:", "\\u0020"),
        # A point before a digit is kept: 3.11 is one number.
        **{f".{chr(ord(z) + n)}": f".{n}" for z in _DIGITS for n in range(10)},
        # The filter takes the longest match.
        **{sign: f"\\u0020{operator_word(sign)}\\u0020" for sign in OPERATORS},
        f"{_BEGIN}{_END}": "\\u0020",
        f"{_BEGIN}#{_END}": "sharp",
        # C#.NET is C# and .NET
        **{f"{_BEGIN}.{_END}{net}": f"\\u0020dot{net}" for net in _NET},
        **dict.fromkeys([f"{_BEGIN}{sign}{_END}" for sign in f".,'’s{NARROW}"], ""),
        f"{_BEGIN}{FLAG}{_END}": f"\\u0020{operator_word(FLAG)}\\u0020",
        **{f"{_BEGIN}{space}-{_END}": short for space in ("", "\\u0020", "\\u000a", "\\u0009")},
        **{f"{_BEGIN}{letter}-{_END}": "" for letter in string.ascii_letters},
        **dict.fromkeys("©®™", "\\u0020"),  # otherwise tokens, as emoji are
        # 3× is 3x.
        **{f"{point}{n}×": f"{point}{n}x" for n in string.digits for point in ("", ".")},
        f"{_BEGIN}²{_END}": "2",
        f"{_BEGIN}³{_END}": "3",
        **{chr(code): sign for code, sign in USUAL.items()},
        **language.spellings,
        **{f"{c}++": "cplusplus" for c in "Cc"},
        **{f"{c}{_BEGIN}+{_END}": "cplusplus\\u0020" for c in "Cc"},
        **{f"{c}{_BEGIN}{c}{_END}": f"{c}sharp\\u0020" for c in "CcFf"},
    }
    # `html_strip` would copy the text once more. Outside operators, these only separate words.
    escaped = {html.escape(sign, quote=False): word for sign, word in symbols.items()}
    escaped |= {"&amp;": "\\u0020", "&lt;": "\\u0020", "&gt;": "\\u0020"}
    in_parts = escaped | {
        f"{_BEGIN}{letter}-{_END}": f"{_JOINER}{letter}" for letter in string.ascii_letters
    }

    def mapping(table: Mapping[str, str]) -> dict[str, Any]:
        rules = [f"{sign} => {word}" for sign, word in table.items()]
        return {"type": "mapping", "mappings": rules}

    thousands = r"\d{3} (?![\d.])" if language.thousands == "." else "(?!)"
    found = _FOUND.replace("UNITS", UNITS).replace("SHORT", FLAGS).replace("THOUSANDS", thousands)
    camel = f"{_first(capitals=True)} (?: {_CAMEL_CASE + found} )"
    return {
        "blog_separators": _replace(f"{_first()} (?: {found} )", _REPLACEMENT, flags="COMMENTS"),
        "blog_separators_camel": _replace(camel, _REPLACEMENT_CAMEL, flags="COMMENTS"),
        "blog_symbols": mapping(symbols),
        "blog_symbols_index": mapping(in_parts),
        "blog_symbols_spelling": mapping(escaped),
        # Stored texts are HTML-escaped, queries are not.
        "blog_without_host": _replace("^[^/]+", ""),
        "blog_words_only": _replace(r"&(?:amp|lt|gt);|[^\p{L}\p{M}\p{N}&]+|&", " "),
        "blog_spaces": _replace(" +", " "),
    }


def _first(*, capitals: bool = False) -> str:
    """Return a pattern of the first characters of a match. Java excludes single characters below
    U+0100 in one step, other ranges in one each: most characters take a third of the time."""
    others = [
        f"\\x{code:02x}"
        for code in range(0x100)
        if not (re.match(f"[{_FIRST}]", chr(code)) or (capitals and chr(code).isupper()))
    ]
    first = _FIRST + r"\p{Lu}" * capitals
    return f"[[^{''.join(others)}]&&[{first}]]"


def _replace(pattern: str, replacement: str, **options: str) -> dict[str, Any]:
    made = {"type": "pattern_replace", "pattern": pattern, "replacement": replacement}
    return made | options


def _where(script: str, name: str) -> dict[str, Any]:
    """Return a filter for few tokens only: `pattern_capture` copies each token it examines."""
    return {"type": "condition", "filter": [name], "script": {"source": script}}


def _wide_and_narrow() -> dict[str, str]:
    """Return a mapping for letters of full and half width; `cjk_width` takes more time."""
    katakana = [chr(code) for code in range(0xFF66, 0xFFA0)]
    voiced = [sign + mark for sign in katakana for mark in "\uff9e\uff9f"]
    latin = [chr(code) for code in range(0xFF01, 0xFF5F) if chr(code) not in _QUOTES]
    usual = {sign: unicodedata.normalize("NFKC", sign) for sign in (*latin, *katakana, *voiced)}
    return {sign: f"\\u{ord(as_):04x}" for sign, as_ in usual.items() if len(as_) == 1}


_SYMBOLS = ["blog_separators", "blog_symbols"]
_SYMBOLS_AND_CAMEL = ["blog_separators_camel", "blog_symbols"]


def analysis_digest(language: Language) -> str:
    """Return 16 hexadecimal digits, from the whole analysis except the rules."""
    text = json.dumps(analysis(NO_RULES, language), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def analysis(rules: Rules, language: Language) -> dict[str, Any]:
    """Return the `analysis` part of an index's settings, with the rules compiled in."""
    spelling = ["blog_separators", "blog_symbols_spelling"]

    def synonyms(lines: Sequence[str], inflected: Sequence[str] = ()) -> dict[str, Any]:
        # The first element has the rules, the second their phrases in other inflections: ten lines
        # for each phrase, which only the stemmed fields have.
        return {"type": "synonym", "synonyms": [*setting(lines), *setting(inflected)]}

    def in_any_inflection(lines: Sequence[str]) -> dict[str, Any]:
        inflected = list(islice(of_inflected(lines, language), _MOST_INFLECTED + 1))
        return synonyms(lines, inflected if len(inflected) <= _MOST_INFLECTED else ())

    half_space = "|([^\u200c]++)\u200c(.+)$" if "\u200c" in language.letters else ""
    filters: dict[str, Any] = {
        SYNONYMS: in_any_inflection(rules.compiled.lines),
        index_time(SYNONYMS): in_any_inflection(rules.compiled.post_lines),
        UNSTEMMED_SYNONYMS: synonyms(rules.compiled.unstemmed_lines),
        index_time(UNSTEMMED_SYNONYMS): synonyms(rules.compiled.unstemmed_post_lines),
        "blog_stop": {"type": "stop", "stopwords": sorted(language.stop_words)},
        "blog_versions": _where(_HAS_PARTS, "blog_parts"),
        "blog_parts": {
            "type": "pattern_capture",
            "preserve_original": True,
            # One pattern, because every word is compared with each.
            "patterns": [
                r"^(?:v(\d+)$"
                # python3.12rc1: python, 3.12rc1 and 3.12, and the beginnings of the number.
                r"|(\p{L}*+)(?=(\d+)\.\d)(?:(?=(\d+\.\d+)\.\d)(?:(?=(\d+\.\d+\.\d+)\.\d)|)|)"
                r"(?:(?=([\d.]*\d)\p{L})|)(.*)$"
                # T-shirt: also its parts, as those of a Persian word with a half-space.
                rf"|(\p{{L}}){_JOINER}(.(.+))${half_space})"
            ],
        },
        "blog_names": _where(_IS_NAME, "blog_name"),
        "blog_name": {
            "type": "pattern_capture",
            "preserve_original": True,
            "patterns": [r"^[a-z]'(\p{L}{3,})$"],
        },
        # A query of a single character finds it in every pair.
        "blog_characters": _where("token.type == '<DOUBLE>'", "blog_either"),
        "blog_either": {
            "type": "pattern_capture",
            "preserve_original": True,
            "patterns": [f"^([{CHARACTERS}])([{CHARACTERS}])$"],
        },
        "blog_prefixes": {
            "type": "edge_ngram",
            "min_gram": 1,
            "max_gram": LONGEST_PREFIX,
            "preserve_original": True,
        },
    }

    def named(kind: str, definitions: tuple[TokenFilter, ...]) -> list[str]:
        """Return the names of filters; add those with a configuration to `filters`."""
        names = []
        for number, definition in enumerate(definitions, 1):
            name = definition if isinstance(definition, str) else f"blog_{kind}_{number}"
            if not isinstance(definition, str):
                filters[name] = dict(definition)
            names.append(name)
        return names

    first = named("lowercase", (language.lowercase,))
    folding = named("folding", (*language.folding, "asciifolding"))
    if language.folds_first:
        first, folding = first + folding, []
    if language.apostrophe:
        # Before synonyms: "Go's" is about Go, so rules about "go" apply to it.
        remove = _replace(language.apostrophe, "")
        if language.apostrophe == POSSESSIVE:  # the same without a pattern
            remove = {"type": "stemmer", "language": "possessive_english"}
        first += named("apostrophe", (remove,))
    first.append("cjk_bigram")
    stemming = named("stemming", language.stem_filters)

    def chain(char_filters: list[str], names: list[str], *, post: bool = False) -> dict[str, Any]:
        if post:
            char_filters = [char_filters[0], index_time(char_filters[1])]
        return {
            "type": "custom",
            "char_filter": char_filters,
            "tokenizer": language.tokenizer,
            "filter": names,
        }

    def prose(*, post: bool) -> dict[str, dict[str, Any]]:
        """Return TEXT and FORMS, for queries or for posts."""
        before = [*first, "blog_versions"] if post else first
        inflected = ["blog_stop", *stemming, *folding, *(["blog_characters"] if post else [])]

        def with_synonyms(name: str) -> list[str]:
            synonyms = [index_time(name), "remove_duplicates"] if post else [name]
            # A rule cannot have a word that is several tokens, as names are behind it.
            return [*before, *synonyms, *(["blog_names"] if post else [])]

        chains = {
            TEXT: chain(_SYMBOLS_AND_CAMEL, [*with_synonyms(SYNONYMS), *inflected], post=post),
            FORMS: chain(_SYMBOLS, [*with_synonyms(UNSTEMMED_SYNONYMS), *folding], post=post),
        }
        return {index_time(name) if post else name: made for name, made in chains.items()}

    beginnings: dict[str, Any] = {"type": "custom", "tokenizer": "path_hierarchy", "filter": []}
    return {
        "char_filter": _char_filters(language),
        "normalizer": {
            EXACT: {
                "type": "custom",
                "char_filter": ["blog_words_only", "blog_spaces"],
                "filter": ["lowercase", "asciifolding", "trim"],
            }
        },
        "filter": filters,
        "analyzer": {
            **prose(post=False),
            **prose(post=True),
            WORDS: chain(_SYMBOLS, [*first, *folding]),
            SPELLING: chain(_SYMBOLS, first),
            index_time(SPELLING): chain(spelling, first),
            PREFIXES: chain(spelling, [*first, *folding, PREFIXES]),
            UNDER: {**beginnings, "char_filter": []},
            PATH: {**beginnings, "char_filter": ["blog_without_host"]},
        },
    }
