"""Makes synonyms/british-american.synonyms from the word lists of SCOWL.

    python -m scripts.british_american /usr/share/dict/scowl > synonyms/british-american.synonyms

SCOWL 2020.12.07 (the Debian package `scowl` installs it there) lists the spellings of each side,
but not which two belong together. A pair is a British word that one or two of the replacements in
REPLACEMENTS turn into an American word, where neither is a word on the other side. The lists have
the inflections of each word, so the pairs have them, too; missing inflections of -ise verbs
(organisable) and verbs that only programmers use (tokenise) are added.

Words with another meaning on the other side are left out: EXCLUDED has those that the lists do not
exclude. NOUNS and IRREGULAR have the pairs that the lists cannot show because the American spelling
is also a British word (licence, license).
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

LEVELS = (10, 20, 35, 40, 50, 55, 60)  # from 70 on the words are rare
COMMON = 55  # verbs up to this level get their missing inflections

REPLACEMENTS = (
    ("our", "or"),
    ("re(?=d?s?$|s)", "er"),  # centre, fibreglass
    ("ogue", "og"),
    ("(?<=..)is(?=[aei])", "iz"),
    ("ys(?=[ei])", "yz"),
    ("(?<!^)ae(?!$)", "e"),
    ("^ae(?!r)", "e"),  # but aero- is air
    ("oe(?!$|d|r|s|i|y)", "e"),
    ("(?<=[aeiou])ll(?=[aeio])", "l"),
    ("(?<=[aeio])l(?=$|s$|f|m)", "ll"),
    ("enc(?=e|i)", "ens"),
    ("dgement", "dgment"),
    ("geing", "ging"),
    ("eab(?=l)", "ab"),
    ("ough", "ow"),
    ("ould", "old"),
    ("oult", "olt"),
    ("grey", "gray"),
    ("scept", "skept"),
    ("artef", "artif"),
    ("lph", "lf"),
    ("tt(?=[eio])", "t"),
    ("pp(?=[ei])", "p"),
    ("oeuvre", "euver"),
    ("pyjama", "pajama"),
    ("que(?=b)", "ck"),
)

# The American spelling is mostly another word: check, story, hem, mat, prize, whiskey.
# fmt: off
EXCLUDED = frozenset({
    "cheque", "cheques", "storey", "storeys", "haem", "matt", "matts", "prise", "prises",
    "whisky", "whiskies", "flyer", "flyers",
})
# fmt: on

NOUNS = {
    "adaptor": "adapter",
    "aeroplane": "airplane",
    "analogue": "analog",
    "cataloguer": "cataloger",
    "chequerboard": "checkerboard",
    "collectable": "collectible",
    "dependant": "dependent",
    "dialogue": "dialog",
    "doughnut": "donut",
    "draughtsman": "draftsman",
    "encyclopaedia": "encyclopedia",
    "kerb": "curb",
    "lasagne": "lasagna",
    "licence": "license",
    "metre": "meter",
    "micrometre": "micrometer",
    "millimetre": "millimeter",
    "mollusc": "mollusk",
    "moustache": "mustache",
    "omelette": "omelet",
    "programme": "program",
    "titbit": "tidbit",
    "tsar": "czar",
    "tyre": "tire",
    "yoghurt": "yogurt",
}
"""Pairs of nouns; their plurals are pairs, too."""

IRREGULAR = {
    "aluminium": "aluminum",
    "biassed": "biased",
    "catalogued": "cataloged",
    "cataloguing": "cataloging",
    "centred": "centered",
    "centring": "centering",
    "chequered": "checkered",
    "colouration": "coloration",
    "cosier": "cozier",
    "cosiest": "coziest",
    "cosily": "cozily",
    "cosiness": "coziness",
    "cosy": "cozy",
    "discolouration": "discoloration",
    "draught": "draft",  # but draughts is a game
    "draughtsmen": "draftsmen",
    "draughty": "drafty",
    "encyclopaedic": "encyclopedic",
    "enquire": "inquire",
    "enquired": "inquired",
    "enquires": "inquires",
    "enquiries": "inquiries",
    "enquiring": "inquiring",
    "enquiry": "inquiry",
    "focussed": "focused",
    "focusses": "focuses",
    "focussing": "focusing",
    "furore": "furor",
    "jewellery": "jewelry",
    "learnt": "learned",
    "licenced": "licensed",
    "licencing": "licensing",
    "liquorice": "licorice",
    "manoeuvrability": "maneuverability",
    "manoeuvrable": "maneuverable",
    "manoeuvred": "maneuvered",
    "manoeuvring": "maneuvering",
    "maths": "math",
    "misspelt": "misspelled",
    "phoney": "phony",
    "practise": "practice",
    "practised": "practiced",
    "practises": "practices",
    "practising": "practicing",
    "routeing": "routing",
    "specialities": "specialties",
    "speciality": "specialty",
    "writeable": "writable",
}
"""Other pairs that the lists do not show."""

# fmt: off
TECHNICAL = (
    "author", "canonical", "categor", "container", "custom", "customer", "daemon", "denormal",
    "deserial", "desynchron", "digit", "docker", "external", "factor", "final", "formal",
    "general", "initial", "internal", "lemmat", "linear", "literal", "local", "memo", "minim",
    "modular", "monet", "multiplex", "normal", "optim", "organ", "parallel", "parameter",
    "permission", "pessim", "prior", "private", "process", "quant", "random", "raster",
    "regular", "sanit", "serial", "special", "stabil", "stringif", "summar", "synchron",
    "templat", "token", "vector", "version", "virtual", "visual",
)
# fmt: on
ENDINGS = ("ise", "ises", "ised", "ising", "iser", "isers", "isable")
ABSTRACT = ("isation", "isations")  # for TECHNICAL only: there is no "criticisation"

NOTICE = """\
# British spellings, contracted to the American ones: {count:,} pairs.
#
# Made by scripts/british_american.py from the word lists of SCOWL 2020.12.07; change the script,
# not this file. SCOWL is Copyright 2000-2011 by Kevin Atkinson as well as any of the copyrights in
# SCOWL-LICENCE.txt, which has the terms: permission to use, copy, modify, distribute and sell the
# lists and the output of scripts for any purpose, with that notice, and without any warranty.
#
# Many pairs have the same stem, but the spelling counts in the ranking, too:
# check-ignore: same_stem
# language: english
"""


class Lists:
    """The words of some lists, each with the lowest level that has it."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.levels: dict[str, int] = {}
        for name in names:
            for level in LEVELS:
                path = folder / f"{name}.{level}"
                if path.exists():
                    for word in path.read_text("latin-1").split():
                        if word.isascii() and word.isalpha() and word.islower():
                            self.levels.setdefault(word, level)


def pairs(folder: Path) -> dict[str, str]:
    """American spellings by British ones, in alphabetical order.

    Raises:
        FileNotFoundError: SCOWL's lists are not in the folder.
    """
    if not (folder / "british-words.35").exists():
        raise FileNotFoundError(f"no british-words.35 in {folder}: install SCOWL first")
    british = Lists(folder, "british-words", "british_z-words", "british_variant_1-words").levels
    american = Lists(folder, "american-words").levels
    both = Lists(folder, "english-words").levels
    pairs: dict[str, str] = {}
    for word in british:
        if word not in american and word not in both and word not in EXCLUDED:
            for american_word in _replaced(word):
                if american_word in american and american_word not in both:
                    pairs[word] = american_word
                    break
    pairs |= _inflected(pairs, british, american.keys() | both.keys())
    plurals = {f"{word}s": f"{american_word}s" for word, american_word in NOUNS.items()}
    return dict(sorted((pairs | NOUNS | plurals | IRREGULAR).items()))


def _replaced(word: str) -> Iterator[str]:
    """The words that one replacement makes of this one, then those that two make."""
    once = list(_replaced_once(word))
    yield from once
    for american_word in once:
        yield from _replaced_once(american_word)


def _replaced_once(word: str) -> Iterator[str]:
    for pattern, american in REPLACEMENTS:
        for match in re.finditer(pattern, word):
            yield word[: match.start()] + american + word[match.end() :]


def _inflected(
    pairs: Mapping[str, str], british: Mapping[str, int], taken: set[str]
) -> dict[str, str]:
    """The inflections of -ise verbs that are not in the lists."""
    stems = [
        word.removesuffix("ise")
        for word, american_word in pairs.items()
        if word.endswith("ise") and american_word.endswith("ize") and british[word] <= COMMON
    ]
    wanted = [("", stem, ending) for stem in stems for ending in ENDINGS]
    wanted += [
        (prefix, stem, ending)
        for stem in TECHNICAL
        for prefix in ("", "re")
        for ending in (*ENDINGS, *ABSTRACT)
    ]
    wanted += [("un", stem, "ised") for stem in (*stems, *TECHNICAL)]
    more: dict[str, str] = {}
    for prefix, stem, ending in wanted:
        word = prefix + stem + ending
        if word not in taken and word not in pairs and word not in EXCLUDED:
            more[word] = prefix + _american(pairs, stem) + ending.replace("is", "iz", 1)
    return more


def _american(pairs: Mapping[str, str], stem: str) -> str:
    """The stem of the American verb: anaesthetise changes before the ending, too."""
    return pairs.get(f"{stem}ise", f"{stem}ize").removesuffix("ize")


def main() -> None:
    """Prints the rule file."""
    rules = pairs(Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/dict/scowl"))
    print(NOTICE.format(count=len(rules)))
    for british, american in rules.items():
        print(f"{british} => {american}")


if __name__ == "__main__":
    main()
