"""Vectors of texts: what is near in meaning, and what is refused."""

import pytest

from analyzers.meaning import DIMENSIONS, PASSAGE_WORDS, Model
from app.errors import BadSettings
from app.meaning import open_model
from app.settings import Settings

PIPES = "Two programs exchange data through a pipe."
SOUP = "Boil the leeks and potatoes for twenty minutes."


@pytest.fixture(scope="module")
def model() -> Model:
    return Model.load()


def test_a_vector_is_as_many_signed_bytes(model: Model) -> None:
    vector = model.vector(PIPES)
    assert vector is not None
    assert len(vector) == DIMENSIONS
    assert all(-128 <= value <= 127 for value in vector)


@pytest.mark.parametrize("text", ["", "how do I do it", "… !"])
def test_a_text_without_words_that_mean_something_has_no_vector(model: Model, text: str) -> None:
    assert model.vector(text) is None


def test_the_nearest_passage_is_about_the_same_in_other_words(model: Model) -> None:
    text = f"{SOUP} {'Stir it well. ' * PASSAGE_WORDS}{PIPES}"
    question = model.vector("communicating between processes of software")
    assert question is not None
    assert model.nearest_passage(question, "Notes", text).endswith(PIPES)
    cooking = model.vector("recipe for vegetable broth")
    assert cooking is not None
    assert model.nearest_passage(cooking, "Notes", text).startswith(SOUP)


def test_a_long_text_has_several_passages(model: Model) -> None:
    passages = [
        passage for passage, _ in model.passages("Title", "word " * (2 * PASSAGE_WORDS + 1))
    ]
    assert [len(passage.split()) for passage in passages] == [PASSAGE_WORDS, PASSAGE_WORDS, 1]


def test_a_post_without_text_has_the_passage_of_its_title(model: Model) -> None:
    assert len(list(model.passages("Pipes and processes", ""))) == 1


def test_off_by_default() -> None:
    assert open_model(Settings()) is None


def test_a_language_that_the_model_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(BadSettings, match="german"):
        open_model(Settings(semantic=True, language="german"))
