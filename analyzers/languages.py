"""The languages of an index: stemming, stop words, folding, and typical typing errors.

Most have a Snowball stemmer both in Elasticsearch and in the package `snowballstemmer`, and a stop
word list in Elasticsearch. Stems of the two agree but for a few words, because their versions
differ: of the 2,500 most frequent words of translated programs, 2.6 % differ in German, 1.2 % in
Swedish, under .4 % in all others. What the others have instead is in docs/languages.md.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from analyzers.bigrams import usual_signs

TokenFilter = str | Mapping[str, Any]
"""The name of a token filter that needs no configuration, or its configuration."""

POSSESSIVE = "'s$"
"""What is removed from English words."""

_MAX_ENDING = 5  # letters of an inflection ending, in languages without a list of them
_LATIN_VOWELS = "aeiouy"
_QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ROW_SHIFTS = (0.0, 0.25, 0.75)  # of each row of keys against the first, in keys
_CONFUSED = "ck sz cs fv gj mn"
_ASCII = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i",
    "ŋ": "n", "ħ": "h", "ŧ": "t", "ĸ": "k", "ĳ": "ij", "ſ": "s",
}  # fmt: skip


_CODES = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "bengali": "bn", "catalan": "ca",
    "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en",
    "estonian": "et", "finnish": "fi", "french": "fr", "german": "de", "greek": "el",
    "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "irish": "ga",
    "italian": "it", "japanese": "ja", "korean": "ko", "lithuanian": "lt", "norwegian": "no",
    "persian": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru",
    "serbian": "sr", "spanish": "es", "swedish": "sv", "thai": "th", "turkish": "tr",
    "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Language:
    """What depends on the language of the posts. One value per language, see `LANGUAGES`.

    Attributes:
        name: as in the names of Elasticsearch's analyzers: `english`.
        algorithm: the stemmer in `snowballstemmer`; "": none.
        stemming: Elasticsearch's filters that stem; None: its `snowball`.
        suffixes: endings that are removed, the longest that leaves three letters, where
            Elasticsearch has no stemmer.
        tokenizer: Elasticsearch's; `thai` finds the words of a text without spaces.
        lowercase: Elasticsearch's filter; `capitals` has the letters that it treats differently
            than `str.lower`.
        apostrophe: a regular expression for what is removed at an apostrophe: 's in English, l' in
            French; "": nothing.
        folding: filters after which, and after `asciifolding`, spellings with and without accents
            are equal.
        folds_first: whether words are folded before anything else, because accents are optional in
            the language. Otherwise they are letters of their own: the stemmer needs them, and a
            correction is shown with them.
        patterns, letters: what `folding` does where it does not just remove an accent: regular
            expressions with replacements, then single letters.
        spelled_out: letters that are also written as others, ue for ü.
        endings: inflection endings; None: any, as long as the stems are equal.
        vowels: letters that are mistaken for each other.
        confused: other pairs of letters that look or sound alike.
        keyboard: rows of adjacent keys, from the top; none where the layout is unknown.
    """

    name: str
    algorithm: str = ""
    stemming: tuple[TokenFilter, ...] | None = None
    suffixes: str = ""
    tokenizer: str = "standard"
    lowercase: TokenFilter = "lowercase"
    capitals: Mapping[str, str] = field(default_factory=dict)
    apostrophe: str = ""
    folding: tuple[TokenFilter, ...] = ()
    folds_first: bool = False
    patterns: tuple[tuple[str, str], ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    spelled_out: Mapping[str, str] = field(default_factory=dict)
    endings: frozenset[str] | None = None
    vowels: str = _LATIN_VOWELS
    confused: str = _CONFUSED
    keyboard: tuple[str, ...] = _QWERTY

    @property
    def code(self) -> str:
        """Its language code (ISO 639-1)."""
        return _CODES[self.name]

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Elasticsearch's stop words of the language, as `written` returns them.

        Accents count where they are letters: the Hungarian "bár" is one, "bar" is not.
        """
        name = "english" if self.name in _WITH_ENGLISH else self.name
        words = _words("stop_words", name)
        spelled_out = str.maketrans(dict(self.spelled_out))
        return frozenset(
            map(self.written, [*words, *(word.translate(spelled_out) for word in words)])
        )

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Question words, pronouns and auxiliary verbs that are not stop words and yet say little
        about what is searched for, as `written` returns them; none for most languages."""
        return frozenset(_words("function_words", self.name))

    def written(self, word: str) -> str:
        """The token of the chain `SPELLING` for a word, as typed but with straight apostrophes.

        A word is what the standard tokenizer takes for one.
        """
        if self.capitals:
            word = "".join(self.capitals.get(char, char) for char in word)
        lower = (word if word.isascii() else usual_signs(word)).lower()
        token = self.fold(lower) if self.folds_first else lower
        return re.sub(self.apostrophe, "", token) if self.apostrophe else token

    def token(self, word: str) -> str:
        """The token of the chain `WORDS` for a word: `written`, folded."""
        return self.fold(self.written(word))

    def fold(self, word: str) -> str:
        """A lower-case word without accents, as `folding` makes it."""
        for pattern, replacement in self.patterns:
            word = re.sub(pattern, replacement, word)
        if word.isascii():
            return word
        return "".join(self.letters.get(char, _ascii(char)) for char in word)

    @property
    def stem_filters(self) -> tuple[TokenFilter, ...]:
        """Elasticsearch's filters that make stems of words."""
        if self.suffixes:
            pattern = {"pattern": self._suffixed, "replacement": "$1"}
            return ({"type": "pattern_replace", **pattern},)
        if self.stemming is None:
            return ({"type": "snowball", "language": self.name.capitalize()},)
        return self.stemming

    def stem(self, word: str) -> str:
        """The token that the stemmed field has for a lower-case word without synonyms; about that
        where Elasticsearch's stemmer is not Snowball's."""
        if self.folds_first:
            return self._without_ending(self.fold(word))
        return self.fold(self._without_ending(word))

    def _without_ending(self, word: str) -> str:
        if self.suffixes:
            return re.sub(self._suffixed, r"\1", word)
        return _stem(self.algorithm, word) if self.algorithm else word

    @property
    def _suffixed(self) -> str:
        return f"^(.{{3,}}?)(?:{'|'.join(self.suffixes.split())})$"

    def akin(self, word: str, other: str) -> bool:
        """Whether two words are inflections of the same word: equal stems, and usual endings."""
        if self.stem(word) != self.stem(other):
            return False
        word, other = self.fold(word), self.fold(other)
        shared = next(
            (at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b),
            min(len(word), len(other)),
        )
        endings = {_ending(word, shared), _ending(other, shared)}
        if self.endings is None:
            return all(_is_ending(word, ending, shared) for ending in endings)
        # One e too many or missing is a typing error, not an inflection.
        return endings <= self.endings and endings != {"", "e"}

    def letters_alike(self, letter: str, other: str) -> bool:
        """Whether two letters look or sound alike, so that one is written for the other."""
        letter, other = self.fold(letter), self.fold(other)
        return letter == other or letter + other in self._confused_letters

    def keys_adjacent(self, letter: str, other: str) -> bool:
        """Whether two letters are neighbours on the keyboard."""
        return letter + other in self._adjacent_keys

    @cached_property
    def _confused_letters(self) -> frozenset[str]:
        vowels = {vowel + other for vowel in self.vowels for other in self.vowels if vowel != other}
        pairs = self.confused.split()
        return frozenset((*vowels, *pairs, *(pair[::-1] for pair in pairs)))

    @cached_property
    def _adjacent_keys(self) -> frozenset[str]:
        places = {
            key: (x + shift, y)
            for y, (row, shift) in enumerate(zip(self.keyboard, _ROW_SHIFTS, strict=False))
            for x, key in enumerate(row)
        }
        return frozenset(
            letter + other
            for letter, (x, y) in places.items()
            for other, (other_x, other_y) in places.items()
            if letter != other and abs(y - other_y) <= 1 and abs(x - other_x) <= 1
        )


def _words(folder: str, language: str) -> list[str]:
    path = resources.files("analyzers") / folder / f"{language}.txt"
    return path.read_text("utf-8").split() if path.is_file() else []


@lru_cache(maxsize=10_000)
def _stem(algorithm: str, word: str) -> str:
    # Imported here: it loads every language, and most commands stem nothing.
    import snowballstemmer  # type: ignore[import-untyped]

    # A new stemmer each time: it has state, and threads share this module.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word))


@lru_cache(maxsize=2_000)
def _ascii(char: str) -> str:
    """A letter as `asciifolding` makes it; only Latin letters are folded."""
    if char in _ASCII:
        return _ASCII[char]
    if not ("\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff"):
        return char
    return "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))


def _ending(word: str, shared: int) -> str:
    """What follows the shared letters; the same for formating and formatting."""
    ending = word[shared:]
    doubled = shared and ending[:1] == word[shared - 1] and ending[1:2] in {"e", "i", "o"}
    return ending[1:] if doubled else ending


def _is_ending(word: str, ending: str, shared: int) -> bool:
    """Any ending, unless it begins with a doubled letter, which is a typing error."""
    doubled = bool(shared) and ending[:1] == word[shared - 1]
    return len(ending) <= _MAX_ENDING and not doubled


def _elision(articles: str) -> str:
    return f"^(?:{'|'.join(articles.split())})'"


def _lowercase(variant: str) -> TokenFilter:
    return {"type": "lowercase", "language": variant}


# fmt: off
_ENGLISH_ENDINGS = frozenset((
    "", "e", "s", "es", "d", "ed", "ing", "r", "er", "rs", "ers", "or", "ors", "y", "ies", "ied",
    "ly", "al", "ally", "ion", "ions", "able", "ment", "ments", "ful", "ness", "ity", "ive",
))
# fmt: on
_YO = {"type": "pattern_replace", "pattern": "ё", "replacement": "е"}
_OTHER_SCRIPT: dict[str, Any] = {"vowels": "", "confused": "", "keyboard": ()}
_ARABIC = {
    **dict.fromkeys("آأإ", "ا"), "ى": "ي", "ة": "ه",
    **dict.fromkeys("\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652", ""),
}  # fmt: skip
_GREEK = dict(zip("άέήίόύώϊϋΐΰς", "αεηιουωιυιυσ", strict=True))
_SERBIAN = {
    **dict(zip("абвгдезијклмнопрстћуфхцчш", "abvgdezijklmnoprstcufhccs", strict=True)),
    "ђ": "dj", "ж": "z", "љ": "lj", "њ": "nj", "џ": "dz",
    "đ": "dj", "ž": "z", "ć": "c", "č": "c", "š": "s",
}  # fmt: skip


# What is not English in these posts is found by its characters.
_WITH_ENGLISH = ("chinese", "japanese", "korean")
_PERSIAN = {
    **dict.fromkeys("یے", "ي"), "ک": "ك", **dict.fromkeys("ۀہ", "ه"),
    **dict.fromkeys("\u0654\u200c", ""),
}  # fmt: skip
_POLISH_SUFFIXES = """
    owie owych owego owemu owymi owym owej owego ami ach iami iach owi ego emu ymi imi ych ich iej
    ej om iom ów em iem ym im ą ę a e i o u y ie ia io iu ią ię
"""
_UKRAINIAN_SUFFIXES = """
    ами ями ах ях ого ього ому ьому ими іми їми их іх їх ої ій ою ею єю ів їв ам ям ом ем єм ові еві
    єві им ім їм а я у ю і ї и е є о ь й
"""


def _removed(pattern: str) -> TokenFilter:
    return {"type": "pattern_replace", "pattern": pattern, "replacement": ""}


def _languages() -> Iterable[Language]:
    english = Language(
        "english",
        "english",
        apostrophe=POSSESSIVE,
        folds_first=True,
        endings=_ENGLISH_ENDINGS,
    )
    yield english
    yield Language(
        "german",
        "german",
        folding=("german_normalization",),
        patterns=(("([ao])e", r"\1"), ("(?<![aeiouqyäöü])ue", "u")),
        spelled_out={"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"},
        confused=f"{_CONFUSED} dt bp gk vw",
        keyboard=("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
    )
    yield Language(
        "russian",
        "russian",
        # ё is usually written е; the stemmer makes no difference.
        folding=(_YO,),
        folds_first=True,
        letters={"ё": "е"},
        vowels="аеиоуыэюя",
        confused="бп вф гк дт жш зс ий шщ ьъ мн",
        keyboard=("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    )
    yield Language(
        "french",
        "french",
        apostrophe=_elision("l m t qu n s j d c jusqu quoiqu lorsqu puisqu"),
        keyboard=("azertyuiop", "qsdfghjklm", "wxcvbn"),
    )
    yield Language(
        "italian",
        "italian",
        apostrophe=_elision(
            "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d"
        ),
    )
    yield Language("catalan", "catalan", apostrophe=_elision("d l m n s t"))
    yield Language("irish", "irish", lowercase=_lowercase("irish"), apostrophe=_elision("d m b"))
    yield Language("spanish", "spanish", keyboard=("qwertyuiop", "asdfghjklñ", "zxcvbnm"))
    for name, row in (
        ("danish", "asdfghjklæø"),
        ("finnish", "asdfghjklöä"),
        ("norwegian", "asdfghjkløæ"),
        ("swedish", "asdfghjklöä"),
    ):
        yield Language(name, name, keyboard=("qwertyuiopå", row, "zxcvbnm"))
    yield Language(
        "turkish",
        "turkish",
        lowercase=_lowercase("turkish"),
        capitals={"I": "ı", "İ": "i"},
        apostrophe="'.*",
        keyboard=("qwertyuıopğü", "asdfghjklşi", "zxcvbnmöç"),
    )
    yield Language(
        "greek",
        "greek",
        folding=(_lowercase("greek"),),
        letters=_GREEK,
        vowels="αεηιουω",
        confused="",
        keyboard=(";ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
    )
    # snowballstemmer has had another algorithm under the name `dutch` since 3.0.
    yield Language("dutch", "dutch_porter")
    for name in (
        "basque", "estonian", "indonesian", "lithuanian", "portuguese", "romanian",
    ):  # fmt: skip
        yield Language(name, name)
    yield Language("hungarian", "hungarian", keyboard=("qwertzuiopőú", "asdfghjkléáű", "yxcvbnm"))
    yield Language(
        "serbian",
        "serbian",
        folding=("serbian_normalization",),
        letters=_SERBIAN,
        keyboard=(),
    )
    yield Language(
        "arabic",
        "arabic",
        folding=("arabic_normalization",),
        letters=_ARABIC,
        **_OTHER_SCRIPT,
    )
    yield Language("armenian", "armenian", **_OTHER_SCRIPT)
    yield Language("hindi", "hindi", **_OTHER_SCRIPT)
    for name in _WITH_ENGLISH:
        yield replace(english, name=name, stemming=english.stem_filters)
    yield Language("thai", stemming=(), tokenizer="thai", **_OTHER_SCRIPT)
    yield Language("vietnamese", stemming=())
    yield Language(
        "czech",
        "czech",
        stemming=({"type": "stemmer", "language": "czech"},),
        keyboard=("qwertzuiopú", "asdfghjklů", "yxcvbnm"),
    )
    yield Language("polish", suffixes=_POLISH_SUFFIXES)
    yield Language(
        "ukrainian",
        suffixes=_UKRAINIAN_SUFFIXES,
        letters={"ґ": "г"},
        folding=({"type": "pattern_replace", "pattern": "ґ", "replacement": "г"},),
        vowels="аеєиіїоуюя",
        confused="бп вф гґ дт жш зс ий шщ мн",
        keyboard=("йцукенгшщзхї", "фівапролджє", "ячсмитьбю"),
    )
    yield Language(
        "hebrew",
        stemming=(),
        folding=(_removed("[\u0591-\u05c7]"),),
        letters=dict.fromkeys(map(chr, range(0x591, 0x5C8)), ""),
        vowels="",
        confused="אע טת כק חכ סש בו",
        keyboard=("קראטוןםפ", "שדגכעיחלךף", "זסבהנמצתץ"),
    )
    yield Language(
        "persian",
        "persian",
        stemming=("persian_stem",),
        folding=(_removed("\u200c"), "arabic_normalization", "persian_normalization"),
        letters=_ARABIC | _PERSIAN,
        **_OTHER_SCRIPT,
    )
    yield Language(
        "bengali",
        stemming=("bengali_normalization", {"type": "stemmer", "language": "bengali"}),
        **_OTHER_SCRIPT,
    )


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.name: language for language in sorted(_languages(), key=lambda listed: listed.name)}
)
"""Every language that an index can have, by name."""

ENGLISH = LANGUAGES["english"]
