"""Files that are no rule files: told by name, and those of other programs made into rules.

    s(100000001,1,'car',n,1,70).          WordNet
    {"synonyms_set": [{"synonyms": "car, auto"}]}     Elasticsearch
    {"managedMap": {"car": ["auto"]}}     Solr

Solr's and Elasticsearch's text format is that of rule files.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

WORDNET, JSON = "WordNet's Prolog", "JSON"
CONVERTIBLE = (WORDNET, JSON)

_SENSE = re.compile(r"\bs\((\d+),\d+,'((?:[^'\n]|'')+)',\w,(\d+)(?:,(\d+))?\)\.")

_FORMATS = (
    (WORDNET, _SENSE.pattern),
    ("Prolog", r":-|[a-z]\w*\(.*\)\s*(?::-.*|\.)$"),
    (JSON, r"[\[{]\s*(?:[\"\[{\]}]|$)"),
    ("HTML", r"(?i)<(?:!doctype html|html|head|body)\b"),
    ("XML", r"<(?!.*=>).*>$"),
    ("YAML", r"---$|-\s|[^,=]+:(?:\s[^,=]*)?$"),
    ("CSV", r"\"[^\"]*\"\s*[,;\t]|(?i:id|words?|terms?)[,;\t](?i:words?|terms?|synonyms?)\b"),
)
"""How the first line begins that is no comment."""


class NotConvertible(Exception):
    """A file that cannot be made into rules; the arguments are what is wrong and what to do."""


def foreign_format(head: str) -> str:
    """The name of the format that a text begins in; "" for a rule file."""
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and line[0] not in "#%"), "")
    return next((name for name, pattern in _FORMATS if re.match(pattern, first)), "")


def converted(text: str) -> list[str]:
    """The lines of a rule file for the synonyms of another program.

    Raises:
        NotConvertible: the text is a rule file already, or has no synonyms in such a format.
    """
    name = foreign_format(text)
    if not name:
        message = "is a rule file already: Solr's and Elasticsearch's text format is the same."
        raise NotConvertible(message, "Check and load it as it is.")
    if name not in CONVERTIBLE:
        raise NotConvertible(f"is {name}.", "Write one rule per line: `a, b` or `a => b`.")
    try:
        rules = list(_wordnet(text) if name == WORDNET else _in_json(json.loads(text)))
    except (ValueError, RecursionError) as error:
        raise NotConvertible(f"is not valid JSON: {error}.", "Correct it first.") from None
    if not rules:
        raise NotConvertible("has no synonyms.", "Name a file of WordNet, Solr or Elasticsearch.")
    return list(dict.fromkeys(rules))


def escaped(term: str) -> str:
    """A term as it is written in a rule."""
    return "".join("\\" + char if char in "\\,=>#;|" else char for char in term)


def _line(terms: Iterable[str]) -> str:
    return ", ".join(escaped(" ".join(term.split())) for term in dict.fromkeys(terms))


def _wordnet(text: str) -> Iterator[str]:
    """Each word in its most frequent meaning: with all of them, most words would be equivalent by
    way of others."""
    most_frequent: dict[str, tuple[int, int, str]] = {}
    for meaning, word, number, times in _SENSE.findall(text):
        rank = (int(number), -int(times or 0), meaning)
        word = word.replace("''", "'").lower()
        most_frequent[word] = min(rank, most_frequent.get(word, rank))
    words: dict[str, list[str]] = defaultdict(list)
    for word, (_, _, meaning) in most_frequent.items():
        words[meaning].append(word)
    for equivalent in words.values():
        if len(equivalent) > 1:
            yield _line(equivalent)


def _in_json(value: Any) -> Iterator[str]:
    """The rules under the names that Elasticsearch and Solr give them, wherever they are."""
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            lines = item if isinstance(item, list) else [item]
            if name == "managedMap" and isinstance(item, dict):
                yield from _mapped(item)
            elif name == "synonyms" and all(isinstance(line, str) for line in lines):
                text = "\n".join(lines)
                is_wordnet = _SENSE.match(text)  # "format": "wordnet"
                yield from _wordnet(text) if is_wordnet else text.splitlines()
            else:
                yield from _in_json(item)


def _mapped(mapping: Mapping[str, Any]) -> Iterator[str]:
    """Solr has `a, b` of a rule file as two terms, which both become the two."""
    for term, becomes in mapping.items():
        others = [str(other) for other in (becomes if isinstance(becomes, list) else [becomes])]
        if term in others:
            yield _line(sorted(others))
        else:
            yield f"{_line([term])} => {_line(others)}"
