"""Vectors that tell how near two English texts are in meaning, whatever words they use.

    model = Model.load()
    query = model.vector("how do I talk to another process")
    passages = model.passages("Pipes", "A pipe connects two programs …")

The vector of a text is the mean of the vectors of its words' tokens, which WordLlama has trained
(github.com/dleemiller/WordLlama, MIT). Its package brings them, so that nothing is downloaded. The
order of words does not count, and a vector takes microseconds. docs/relevance.md has what this
gives in comparison with a transformer.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Self

from analyzers.errors import BlogsearchError
from analyzers.languages import ENGLISH

LANGUAGE = ENGLISH
"""The language that the vectors were trained on."""

DIMENSIONS = 128
"""Of the 256 that there are, the first: trained to be enough by themselves. With all of them the
questions of docs/relevance.md gain .001."""

PASSAGE_WORDS = 200
"""Between 100 and 400 makes no difference to the questions; a whole post in one vector loses a
fifth of what vectors give on link texts."""

_LARGEST = 127  # of a signed byte, the type of the field
_WORDS_KEPT = 100_000  # tokens of words, about 10 MB
_WORD = re.compile(r"\w+")
_WITHOUT_MEANING = LANGUAGE.stop_words | LANGUAGE.function_words


class NoModel(BlogsearchError):
    """The vectors are not installed."""


class Model:
    """The vectors of tokens. `load` makes one; it takes 0.3 seconds and 50 MB."""

    def __init__(self, tokenizer: Any, tokens: Any) -> None:
        self._tokens = tokens
        # A word has the same tokens wherever it stands.
        self._token_ids = lru_cache(_WORDS_KEPT)(
            lambda word: tokenizer.encode(word, add_special_tokens=False).ids
        )

    @classmethod
    def load(cls) -> Self:
        """The installed model.

        Raises:
            NoModel: the extra `semantic` is not installed.
        """
        spec = find_spec("wordllama")
        try:
            # Imported here: they are installed with the extra only.
            from safetensors import safe_open
            from tokenizers import Tokenizer
        except ImportError:
            spec = None
        if spec is None or spec.origin is None:
            raise NoModel(
                "BLOGSEARCH_SEMANTIC needs packages that are not installed.",
                "Install them: pip install 'blogsearch[semantic]'",
            )
        folder = Path(spec.origin).parent
        tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        with safe_open(folder / "weights" / "l2_supercat_256.safetensors", "numpy") as weights:
            tokens = weights.get_slice("embedding.weight")[:, :DIMENSIONS].copy()
        return cls(tokenizer, tokens)

    def vector(self, text: str) -> list[int] | None:
        """`DIMENSIONS` signed bytes; None for a text without a word that has a meaning."""
        words = (word for word in _WORD.findall(text) if word.lower() not in _WITHOUT_MEANING)
        ids = list(chain.from_iterable(map(self._token_ids, words)))
        if not ids:
            return None
        mean = self._tokens[ids].mean(axis=0, dtype="float32")
        largest = abs(mean).max()
        return [round(x) for x in (mean * (_LARGEST / largest)).tolist()] if largest else None

    def nearest_passage(self, vector: Sequence[int], title: str, text: str) -> str:
        """The passage of a post that is nearest to a vector; "" if it has none."""
        passages = ((_cosine(vector, other), words) for words, other in self.passages(title, text))
        return max(passages, default=(0.0, ""))[1]

    def passages(self, title: str, text: str) -> Iterator[tuple[str, list[int]]]:
        """The passages of a post, and the vector of each with the title before it."""
        words = text.split()
        for start in range(0, max(len(words), 1), PASSAGE_WORDS):
            passage = " ".join(words[start : start + PASSAGE_WORDS])
            if vector := self.vector(f"{title} {passage}"):
                yield passage, vector


def _cosine(first: Sequence[int], second: Sequence[int]) -> float:
    product = sum(x * y for x, y in zip(first, second, strict=True))
    return product / (math.hypot(*first) * math.hypot(*second))
