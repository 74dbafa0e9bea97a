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

_LOOKED_AT = 5  # lines
_HEADERS = frozenset((
    "id", "word", "words", "term", "terms", "synonym", "synonyms", "keyword", "keywords", "variant",
    "variants", "from", "to", "source", "target", "key", "value", "input", "output", "original",
    "replacement", "left", "right",
))  # fmt: skip
"""The first line of a table has nothing but such words."""
_SENSE = re.compile(r"\bs\((\d+),\d+,'((?:[^'\n]|'')+)',\w,(\d+)(?:,(\d+))?\)\.")


class NotConvertible(Exception):
    """A file that cannot be made into rules; the arguments are what is wrong and what to do."""


def foreign_format(head: str) -> str:
    """The name of the format that a text begins in; "" for a rule file."""
    stripped = (line.strip() for line in head.splitlines())
    lines = [line for line in stripped if line and line[0] not in "#%"][:_LOOKED_AT]
    if not lines:
        return ""
    first = lines[0]

    def all_are(pattern: str) -> bool:
        return all(re.match(pattern, line) for line in lines)

    if any(_SENSE.match(line) for line in lines):
        return WORDNET
    if all_are(r":-|[a-z]\w*\(.*\)\s*(?::-.*|\.)$"):
        return "Prolog"
    if re.match(r"[\[{]\s*(?:[\"\[{\]}]|$)", first):
        return JSON
    if first.startswith("<") and first.endswith(">") and "=>" not in first:
        is_html = re.match(
            r"<(?:!doctype html|html|head|body|p|div|table|[uo]l|h\d)\b", first, re.I
        )
        return "HTML" if is_html else "XML"
    if first == "---" or all_are(r"-(?:\s|$)|[\w\"'. -]+:(?:\s|$)"):
        return "YAML"
    cells = {cell.strip(' "').lower() for cell in re.split("[,;\t]", first)}
    if re.match(r'"[^"]*"\s*[,;\t]', first) or (len(lines) > 1 < len(cells) and cells <= _HEADERS):
        return "CSV"
    return ""


def converted(text: str) -> list[str]:
    """The lines of a rule file for the synonyms of another program.

    Of WordNet's words each is taken in its most frequent meaning only: with all of them, most
    words would be equivalent by way of others.

    Raises:
        NotConvertible: the text is a rule file already, or has no synonyms in such a format.
    """
    name = foreign_format(text)
    if name == WORDNET:
        rules = list(_wordnet(text))
    elif name == JSON:
        try:
            value = json.loads(text)
            is_mapping = isinstance(value, dict) and all(map(_is_terms, value.values()))
            rules = list(_mapped(value) if is_mapping else _in_json(value))
        except (ValueError, RecursionError) as error:
            raise NotConvertible(f"is not valid JSON: {error}.", "Correct it first.") from None
    elif name:
        raise NotConvertible(f"is {name}.", "Write one rule per line: `a, b` or `a => b`.")
    else:
        raise NotConvertible(
            "is a rule file already: Solr's and Elasticsearch's text format is the same.",
            "Check and load it as it is.",
        )
    if not rules:
        raise NotConvertible("has no synonyms.", "Name a file of WordNet, Solr or Elasticsearch.")
    return list(dict.fromkeys(rules))


def escaped(term: str) -> str:
    """A term as it is written in a rule."""
    return "".join("\\" + char if char in "\\,=>#;|" else char for char in term)


def _line(terms: Iterable[str]) -> str:
    return ", ".join(escaped(" ".join(term.split())) for term in dict.fromkeys(terms))


def _wordnet(text: str) -> Iterator[str]:
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


def _in_json(value: Any, *, is_named: bool = True) -> Iterator[str]:
    """The rules under the names that Elasticsearch and Solr give them, wherever they are.

    Args:
        is_named: whether the value has such a name, or is the whole file.
    """
    if isinstance(value, str) and is_named:
        yield " ".join(value.split())
    elif isinstance(value, list):
        texts = [item for item in value if isinstance(item, str)]
        if any(_SENSE.match(text) for text in texts):  # "format": "wordnet"
            yield from _wordnet("\n".join(texts))
        elif is_named and any("," in text or "=>" in text for text in texts):
            yield from (" ".join(text.split()) for text in texts)
        elif is_named and len(texts) > 1:
            yield _line(texts)
        for item in value:
            if not isinstance(item, str):
                yield from _in_json(item, is_named=is_named)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "managedMap" and isinstance(item, dict):
                yield from _mapped({term: at for term, at in item.items() if _is_terms(at)})
            else:
                yield from _in_json(item, is_named=name == "synonyms")


def _is_terms(value: Any) -> bool:
    terms = value if isinstance(value, list) else [value]
    return bool(terms) and all(isinstance(term, str) for term in terms)


def _mapped(mapping: Mapping[str, str | list[str]]) -> Iterator[str]:
    """Solr's managed synonyms: a term and what it becomes; the same for each of several is what is
    written `a, b` in a rule file."""
    becomes = {
        term: [others] if isinstance(others, str) else others for term, others in mapping.items()
    }
    for term, others in becomes.items():
        if term in others or all(term in becomes.get(other, ()) for other in others):
            yield _line(sorted({term, *others}))
        else:
            yield f"{_line([term])} => {_line(others)}"
