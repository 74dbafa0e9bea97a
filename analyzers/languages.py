"""Defines the languages of an index: stemming, stop words, folding, and typical typing errors.

Most have a stop word list in Elasticsearch, and a Snowball stemmer both there and in the package
`snowballstemmer`; the two agree except for a few words. docs/languages.md has the replacements in
the other languages.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import resources
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from analyzers.signs import join_signs, usual_signs

TokenFilter = str | Mapping[str, Any]
"""The name of a token filter without configuration, or a configuration."""

Pattern = tuple[str, str]
"""A regular expression with the same meaning in Java and Python, and its replacement ($1)."""

POSSESSIVE = "'s$"
"""The suffix that is removed from English words."""

_MAX_ENDING = 5  # letters of an inflection's ending, in languages without a list of endings
_LATIN_VOWELS = "aeiouy"
_QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_CONFUSED = "ck sz cs fv gj mn"
_ASCII = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i",
    "ŋ": "n", "ħ": "h", "ŧ": "t", "ĸ": "k", "ſ": "s",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Language:
    """The settings of a language. One value per language, see `LANGUAGES`.

    The stemmer is Snowball's `algorithm` ("" for none) with the additions in `stemming`. Its tokens
    in Elasticsearch and in Python are the same except for a few words (docs/languages.md).
    """

    name: str  # as in the names of Elasticsearch's analyzers: `english`
    code: str  # ISO 639-1
    algorithm: str = ""  # in `snowballstemmer`
    snowball: str = ""  # in Elasticsearch, if not the language's name
    tokenizer: str = "standard"  # `thai` finds the words of a text without spaces
    lowercase: TokenFilter = "lowercase"
    capitals: Mapping[str, str] = field(default_factory=dict)  # those unknown to `str.lower`
    thousands: str = ","  # the separator, besides comma and apostrophe
    spellings: Mapping[str, str] = field(default_factory=dict)  # replaced character sequences
    apostrophe: str = ""  # a pattern of what is removed: 's in English, l' in French
    folding: tuple[TokenFilter, ...] = ()  # before `asciifolding`
    folds_first: bool = False  # accents are optional, not letters that the stemmer needs
    patterns: tuple[tuple[str, str], ...] = ()  # folding besides accents, of several letters
    letters: Mapping[str, str] = field(default_factory=dict)  # the same, of one letter
    spelled_out: Mapping[str, str] = field(default_factory=dict)  # ue for ü
    # The usual endings of inflections; those between commas replace each other,
    forms: str = "s es e en n er a i o as os"
    umlauts: str = ""  # pairs of vowels in them (Buch, Bücher),
    doubles: str = ""  # and letters that are doubled before them (run, running)
    endings: frozenset[str] | None = None  # of inflections; None: any, if the stems are equal
    vowels: str = _LATIN_VOWELS  # letters that are mistaken for each other
    confused: str = _CONFUSED  # other pairs of letters that look or sound alike

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Elasticsearch's stop words of the language, in the form of `written`."""
        name = "english" if self.name in _WITH_ENGLISH else self.name
        words = _words("stop_words", name)
        spelled_out = str.maketrans(dict(self.spelled_out))
        words += [word.translate(spelled_out) for word in words]
        return frozenset(map(self.written, words))

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Other words that say little about the topic of a search, such as question words, in the
        form of `written`; none for most languages."""
        return frozenset(_words("function_words", self.name))

    @cached_property
    def _question_words(self) -> tuple[frozenset[str], frozenset[str]]:
        """The first words of questions, and words that show a question anywhere in it."""
        lines = _text("", "question_words").splitlines()
        said = next((line for line in lines if line.startswith(f"{self.name}: ")), "")
        first, _, anywhere = said.partition(": ")[2].partition("*")
        return frozenset(first.split()), frozenset(anywhere.split())

    def asks(self, tokens: Sequence[str]) -> bool:
        """Whether the words of a query, in the form of `written`, are a question."""
        first, anywhere = self._question_words
        begins = {*tokens[:1], "-".join(tokens[:2])}
        return not (first.isdisjoint(begins) and anywhere.isdisjoint(tokens))

    def written(self, word: str) -> str:
        """Return the token of the chain `SPELLING`: a word as typed, with straight apostrophes."""
        if self.capitals:
            word = "".join(self.capitals.get(char, char) for char in word)
        lower = join_signs(word if word.isascii() else usual_signs(word)).lower()
        for spelling, usual in self.spellings.items():
            lower = lower.replace(spelling, usual)
        if self.thousands == "." and "." in lower:
            lower = re.sub(r"^(\d{1,3})\.(?=\d{3}(?![\d.]))", r"\1", lower)
        token = self.fold(lower) if self.folds_first else lower
        return re.sub(self.apostrophe, "", token) if self.apostrophe else token

    def token(self, word: str) -> str:
        """Return the token of the chain `WORDS` for a word: `written`, folded."""
        return self.fold(self.written(word))

    def fold(self, word: str) -> str:
        """Remove accents from a lower-case word, as `folding` does."""
        for pattern, replacement in self.patterns:
            word = re.sub(pattern, replacement, word)
        if word.isascii():
            return word
        return "".join(self.letters.get(char, _ascii(char)) for char in word)

    @property
    def stem_filters(self) -> tuple[TokenFilter, ...]:
        """Elasticsearch's filters that stem words."""
        filters = [_pattern_replace(*pattern) for pattern in self.stemming.before]
        if self.stemming.words:
            rules = [f"{word} => {stem}" for word, stem in self.stemming.words.items()]
            filters.append({"type": "stemmer_override", "rules": rules})
        if self.algorithm:
            name = self.snowball or self.name.capitalize()
            filters.append({"type": "snowball", "language": name})
        return (*filters, *(_pattern_replace(*pattern) for pattern in self.stemming.after))

    @cached_property
    def stemming(self) -> "Stemming":
        """The additions to Snowball's algorithm."""
        return Stemming.read("english" if self.name in _WITH_ENGLISH else self.name)

    def stem(self, word: str) -> str:
        """Return the stemmed field's token for a lower-case word, without synonyms."""
        word = _substitute(self.fold(word) if self.folds_first else word, self.stemming.before)
        if word in self.stemming.words:
            word = self.stemming.words[word]
        elif self.algorithm:
            word = _stem(self.algorithm, word)
        word = _substitute(word, self.stemming.after)
        return word if self.folds_first else self.fold(word)

    @lru_cache(maxsize=500)  # noqa: B019 - a language lives as long as the process
    def inflections(self, word: str) -> frozenset[str]:
        """Return a word in all its `forms`, among them texts that are no words."""
        found = {word, *self.stemming.alike.get(self.stemming.words.get(word, ""), ())}
        for forms in self._groups_of_forms:
            bases = {word[: len(word) - len(form)] for form in forms if word.endswith(form)}
            for pair in self.umlauts.split():
                for vowel, other in zip(pair, reversed(pair), strict=True):
                    bases |= {other.join(base.rsplit(vowel, 1)) for base in bases}
            if self.doubles and "" in forms:
                bases |= {re.sub(rf"([{self.doubles}])\1$", r"\1", base) for base in bases}
                short = rf"(?<=[^{self.vowels}][{self.vowels}])([{self.doubles}])$"
                bases |= {re.sub(short, r"\1\1", base) for base in bases}
            found |= {base + form for base in bases if len(base) > 1 for form in forms}
        return frozenset(found)

    @cached_property
    def _groups_of_forms(self) -> Sequence[Sequence[str]]:
        first, *others = (group.split() for group in self.forms.split(","))
        return [["", *first], *others]

    def inflected(self, word: str) -> set[str]:
        """Return other words with the same stem that differ in one of `forms`."""
        stem = self.stem(word)
        return {other for other in self.inflections(word) - {word} if self.stem(other) == stem}

    def akin(self, word: str, other: str) -> bool:
        """Whether two words are inflections of the same word: equal stems, and usual endings."""
        if self.stem(word) != self.stem(other):
            return False
        word, other = self.fold(word), self.fold(other)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
        shared = len(list(same))
        endings = {_ending(word, shared), _ending(other, shared)}
        if self.endings is not None:
            # One e too many or missing is a typing error, not an inflection.
            return endings <= self.endings and endings != {"", "e"}
        last = word[shared - 1 : shared] if shared else None
        # A doubled letter is a typing error.
        return all(len(ending) <= _MAX_ENDING and ending[:1] != last for ending in endings)

    def letters_alike(self, letter: str, other: str) -> bool:
        """Whether two letters are confused because they look or sound alike."""
        letter, other = self.fold(letter), self.fold(other)
        return letter == other or letter + other in self._confused_letters

    @cached_property
    def _confused_letters(self) -> frozenset[str]:
        vowels = {vowel + other for vowel in self.vowels for other in self.vowels if vowel != other}
        pairs = self.confused.split()
        return frozenset((*vowels, *pairs, *(pair[::-1] for pair in pairs)))


def _adjacent_keys() -> frozenset[str]:
    """Return every pair of neighbouring letters on an English keyboard."""
    places = {key: (x + y / 4, y) for y, row in enumerate(_QWERTY) for x, key in enumerate(row)}
    return frozenset(
        letter + other
        for letter, (x, y) in places.items()
        for other, (other_x, other_y) in places.items()
        if letter != other and abs(y - other_y) <= 1 and abs(x - other_x) <= 1
    )


ADJACENT_KEYS = _adjacent_keys()


@dataclass(frozen=True)
class Stemming:
    """The file of a language in `analyzers/stems`: patterns that are replaced before and after the
    stemmer, and words with given stems."""

    before: tuple[Pattern, ...]
    words: Mapping[str, str]
    after: tuple[Pattern, ...]

    @cached_property
    def alike(self) -> Mapping[str, Sequence[str]]:
        """The words of each given stem."""
        alike: dict[str, list[str]] = {}
        for word, stem in self.words.items():
            alike.setdefault(stem, []).append(word)
        return alike

    @classmethod
    def read(cls, language: str) -> "Stemming":
        """Read the file of a language; empty if there is none."""
        rules: dict[str, list[list[str]]] = {"before": [], "words": [], "after": []}
        for line in _text("stems", language).replace("\n  ", "").splitlines():
            if line in ("[before]", "[words]", "[after]"):
                section = rules[line.strip("[]")]
            elif line and not line.startswith("#"):
                section.append([part.strip() for part in line.split("=>")])
        before, after = (
            tuple((pattern, replacement) for pattern, replacement in rules[name])
            for name in ("before", "after")
        )
        words = {
            _substitute(word, before): stem
            for several, stem in rules["words"]
            for word in several.split(", ")
        }
        return cls(before, words, after)


def _substitute(word: str, patterns: Sequence[Pattern]) -> str:
    for pattern, replacement in patterns:
        word = re.sub(pattern, replacement.replace("$", "\\"), word)
    return word


def _text(folder: str, language: str) -> str:
    path = resources.files("analyzers") / folder / f"{language}.txt"
    return path.read_text("utf-8") if path.is_file() else ""


def _words(folder: str, language: str) -> list[str]:
    return _text(folder, language).split()


def abbreviations() -> frozenset[str]:
    """Return the words after which a full stop does not end a sentence."""
    return frozenset(_words("", "abbreviations"))


@lru_cache(maxsize=10_000)
def _stem(algorithm: str, word: str) -> str:
    # Imported here: it loads every language, and most commands stem nothing.
    import snowballstemmer  # type: ignore[import-untyped]

    # A new stemmer each time: it has state, and threads share this module.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word))


@lru_cache(maxsize=2_000)
def _ascii(char: str) -> str:
    """Fold a letter like `asciifolding`; only Latin letters are folded."""
    if char in _ASCII:
        return _ASCII[char]
    if not ("\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff"):
        return char
    return "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))


def _ending(word: str, shared: int) -> str:
    """Return the part after the shared letters; the same for formating and formatting."""
    ending = word[shared:]
    doubled = shared and ending[:1] == word[shared - 1] and ending[1:2] in {"e", "i", "o"}
    return ending[1:] if doubled else ending


def _elision(articles: str) -> str:
    return f"^(?:{'|'.join(articles.split())})'"


def _lowercase(variant: str) -> TokenFilter:
    return {"type": "lowercase", "language": variant}


def _pattern_replace(pattern: str, replacement: str = "") -> TokenFilter:
    return {"type": "pattern_replace", "pattern": pattern, "replacement": replacement}


# fmt: off
_ENGLISH_ENDINGS = frozenset((
    "", "e", "s", "es", "d", "ed", "ing", "r", "er", "rs", "ers", "or", "ors", "y", "ies", "ied",
    "ly", "al", "ally", "ion", "ions", "able", "ment", "ments", "ful", "ness", "ity", "ive",
))
_ITALIAN_ARTICLES = (
    "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d quest quell tutt"
    " bell buon sant mezz anch dov senz"
)
_ARABIC = {
    **dict.fromkeys("آأإ", "ا"), "ى": "ي", "ة": "ه",
    **dict.fromkeys("\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652", ""),
}
_PERSIAN = {
    **dict.fromkeys("یے", "ي"), "ک": "ك", **dict.fromkeys("ۀہ", "ه"),
    **dict.fromkeys("\u0654\u200c", ""),
}
_GREEK = dict(zip("άέήίόύώϊϋΐΰς", "αεηιουωιυιυσ", strict=True))
_SERBIAN = {
    **dict(zip("абвгдезијклмнопрстћуфхцчш", "abvgdezijklmnoprstcufhccs", strict=True)),
    "ђ": "dj", "ж": "z", "љ": "lj", "њ": "nj", "џ": "dz",
    "đ": "dj", "ž": "z", "ć": "c", "č": "c", "š": "s",
}
_HINDI = {
    # A nasal before a consonant (हिन्दी, हिंदी), and the point under a letter in both spellings.
    **dict.fromkeys(("ङ्", "ञ्", "ण्", "न्", "म्", "ँ"), "ं"),
    **{chr(code): unicodedata.normalize("NFD", chr(code))[0] for code in range(0x958, 0x960)},
    "\u093c": "", "\u200d": "", "\u200c": "",
}
# Aarhus and Århus, Moeller and Møller; asciifolding makes å a and ø o.
_DANISH: dict[str, Any] = {
    "folding": (_pattern_replace("(a)a|(o)e", "$1$2"),), "patterns": (("(a)a|(o)e", r"\1\2"),),
}
_WITH_POINTS: dict[str, Any] = {"thousands": "."}
_OTHER_SCRIPT: dict[str, Any] = {"vowels": "", "confused": ""}
_WITH_ENGLISH = {"chinese": "zh", "japanese": "ja", "korean": "ko"}
"""In posts of these languages, everything but English is found by its characters."""

_ENGLISH = Language("english", "en", "english", apostrophe=POSSESSIVE, folds_first=True,
                    forms="s es ed ing, e es ed ing, y ies ied ying", doubles="bdgklmnprt",
                    endings=_ENGLISH_ENDINGS)
_LISTED = (
    _ENGLISH,
    *(
        replace(_ENGLISH, name=name, code=code, snowball="English")
        for name, code in _WITH_ENGLISH.items()
    ),
    Language("basque", "eu", "basque", **_WITH_POINTS),
    Language("estonian", "et", "estonian"),
    Language("indonesian", "id", "indonesian", **_WITH_POINTS),
    Language("lithuanian", "lt", "lithuanian"),
    Language("portuguese", "pt", "portuguese", apostrophe=_elision("d"), **_WITH_POINTS,
             forms="s es o a os as r m do ndo u ões ão"),
    Language("romanian", "ro", "romanian", **_WITH_POINTS, forms="i e a ă ul le lor ii uri ului"),
    # Since snowballstemmer 3.0, the name `dutch` means another algorithm.
    Language("dutch", "nl", "dutch_porter", apostrophe=POSSESSIVE, **_WITH_POINTS,
             forms="en s e t n d de er", doubles="bdfgklmnprst"),
    Language("vietnamese", "vi"),
    Language("polish", "pl", forms="a y i e u ów ami ach em ie ę ą om ej ego ch"),
    Language("armenian", "hy", "armenian", **_OTHER_SCRIPT),
    Language("hindi", "hi", "hindi", spellings=_HINDI, **_OTHER_SCRIPT),
    Language("thai", "th", tokenizer="thai", **_OTHER_SCRIPT),
    Language("catalan", "ca", "catalan", apostrophe=_elision("d l m n s t"), **_WITH_POINTS),
    Language("irish", "ga", "irish", lowercase=_lowercase("irish"), apostrophe=_elision("d m b")),
    Language("italian", "it", "italian", apostrophe=_elision(_ITALIAN_ARTICLES), **_WITH_POINTS,
             forms="o a i e hi he are ato ata ati te ere"),
    Language("french", "fr", "french", forms="s x e es ent er é ée és ées ez ant ait",
             apostrophe=_elision("l m t qu n s j d c jusqu quoiqu lorsqu puisqu")),
    Language("spanish", "es", "spanish", **_WITH_POINTS,
             forms="s es o a os as ar an ado ó en e er"),
    Language("danish", "da", "danish", apostrophe=POSSESSIVE, **_WITH_POINTS, **_DANISH,
             forms="en et er e r t ne s ede te ene"),
    Language("finnish", "fi", "finnish", forms="n t a ä ta tä in ja jä ssa ssä sta stä lla llä"),
    Language("norwegian", "no", "norwegian", apostrophe=POSSESSIVE, **_DANISH,
             forms="en et er e r t ene a s te tt ne"),
    Language("swedish", "sv", "swedish", apostrophe=POSSESSIVE,
             forms="en et ar er or n t a na s de ade at erna"),
    Language("hungarian", "hu", "hungarian", forms="k t ok ek ak ot et at ban ben nak nek"),
    Language("czech", "cs", forms="a y i e u ů ům ami ech em ou ě"),
    Language("german", "de", "german", apostrophe=POSSESSIVE, **_WITH_POINTS,
             forms="e en er n s es t te ten em", umlauts="aä oö uü",
             folding=("german_normalization",),
             patterns=(("([ao])e", r"\1"), ("(?<![aeiouqyäöü])ue", "u")),
             spelled_out={"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"},
             confused=f"{_CONFUSED} dt bp gk vw"),
    Language("turkish", "tr", **_WITH_POINTS, lowercase=_lowercase("turkish"),
             capitals={"I": "ı", "İ": "i"}, apostrophe="'.*",
             forms="lar ler ı i u ü da de dan den ın in"),
    Language("serbian", "sr", "serbian", folding=("serbian_normalization",), letters=_SERBIAN,
             **_WITH_POINTS),
    # ё is usually written е; the stemmer makes no difference.
    Language("russian", "ru", "russian", folding=(_pattern_replace("ё", "е"),), folds_first=True,
             letters={"ё": "е"}, forms="а ы и у е я ю о ой ом ов ам ами ах ь ия ии ию",
             vowels="аеиоуыэюя", confused="бп вф гк дт жш зс ий шщ ьъ мн"),
    Language("ukrainian", "uk", folding=(_pattern_replace("ґ", "г"),),
             letters={"ґ": "г"}, forms="а и і у е я ю ою ом ів ам ами ах ий ого ої ь",
             vowels="аеєиіїоуюя",
             confused="бп вф гґ дт жш зс ий шщ мн"),
    Language("greek", "el", "greek", folding=(_lowercase("greek"),), letters=_GREEK,
             forms="ς ν ο α η ι ος οι ων ους ες εις", vowels="αεηιουω", confused="",
             **_WITH_POINTS),
    Language("hebrew", "he", folding=(_pattern_replace("[\u0591-\u05c7]"),),
             letters=dict.fromkeys(map(chr, range(0x591, 0x5C8)), ""), vowels="",
             confused="אע טת כק חכ סש בו"),
    Language("arabic", "ar", folding=("arabic_normalization",), letters=_ARABIC,
             **_OTHER_SCRIPT),
    Language("persian", "fa",
             folding=(_pattern_replace("\u200c"), "arabic_normalization", "persian_normalization"),
             forms="ی ها های ان م ات", letters=_ARABIC | _PERSIAN,
             **_OTHER_SCRIPT),
    Language("bengali", "bn", **_OTHER_SCRIPT),
)
# fmt: on

LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.name: language for language in sorted(_LISTED, key=lambda listed: listed.name)}
)
"""Every language that an index can have, by name."""

ENGLISH = LANGUAGES["english"]

_OTHER_NAMES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "brazilian": "portuguese"}


def language_named(name: str) -> Language | None:
    """Return the language with this name or tag: `german`, `de`, `pt-BR`, `zh_Hans`; None if it is
    not in `LANGUAGES`."""
    tag = re.split(r"[-_.]", name.strip().lower())[0]
    tag = _OTHER_NAMES.get(tag, tag)
    return next((one for one in LANGUAGES.values() if tag in (one.name, one.code)), None)


def language_of(setting: str) -> Language:
    """Return the language of a setting; English if it is empty."""
    return LANGUAGES[setting or ENGLISH.name]
