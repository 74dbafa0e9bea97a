"""Names and operators that the standard tokenizer would drop, and the words that stand for them.

The char filters of `analyzers.chains` write these words before the tokenizer; they are internal,
and `readable` turns them back.
"""

SYMBOL_WORDS = {"cplusplus": "c++", "csharp": "c#", "fsharp": "f#", "dotnet": ".net"}
"""Words that the char filters write for symbols, and the symbols."""

OPERATORS = ("===", "!==", "==", "!=", "=>", "->", ":=", "&&", "||", "??")
"""Operators that are found like words; longer ones before those that they contain."""

FLAG = "--"
"""Before a letter (`--dry-run`), and not behind a word, it is found like an operator."""

_OPERATOR_PREFIX = "op0"
"""Operators become `op0` and their code points, which no stemmer changes."""


def operator_word(operator: str) -> str:
    """The word that stands for an operator."""
    return _OPERATOR_PREFIX + "".join(f"{ord(character):03d}" for character in operator)


def readable(token: str) -> str | None:
    """A token of an unstemmed field as a person would write it; None for an operator."""
    if token.startswith(_OPERATOR_PREFIX):
        return None
    return SYMBOL_WORDS.get(token, token)
