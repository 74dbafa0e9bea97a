"""Vectors of texts, with the real model."""

from collections.abc import Sequence

import pytest

from analyzers.meaning import DIMENSIONS, Model

PIPES = "Two programs exchange data through a pipe."
SOUP = "Boil the leeks and potatoes for twenty minutes."


def similarity(vector: Sequence[float], bits: str) -> float:
    """About the cosine of the angle between a vector and a text, as the search scores it."""
    signs = f"{int(bits, 16):0{len(vector)}b}"
    return max(0.0, sum(x if sign == "1" else -x for x, sign in zip(vector, signs, strict=True)))


@pytest.fixture(scope="module")
def model(installed_model: None) -> Model:
    return Model.load()


def test_what_is_about_the_same_is_near_whatever_words_it_uses(model: Model) -> None:
    pipes, soup = model.bits_of([PIPES, SOUP])
    question = model.vector("communicating between processes of software")
    assert similarity(question, pipes) > similarity(question, soup) + 0.1
    cooking = model.vector("recipe for vegetable broth")
    assert similarity(cooking, soup) > similarity(cooking, pipes) + 0.1


def test_bits_are_the_signs_of_the_vector(model: Model) -> None:
    vector, bits = model.vector(PIPES), model.bits(PIPES)
    assert len(vector) == DIMENSIONS
    signs = f"{int(bits, 16):0{DIMENSIONS}b}"
    assert all((sign == "1") == (x > 0) for sign, x in zip(signs, vector, strict=True) if x)
    assert 0.7 < similarity(vector, bits) < 1


@pytest.mark.parametrize("text", ["", "… !", "x" * 10_000, "word " * 10_000, "語" * 500, "\0"])
def test_every_text_has_a_vector(model: Model, text: str) -> None:
    assert len(model.bits(text)) == DIMENSIONS / 4
