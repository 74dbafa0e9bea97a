"""The synonyms folder: files are added completely or not at all."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from analyzers.languages import ENGLISH
from app.errors import BadRequest, FolderNotReadable, FolderNotWritable, NotFound
from app.settings import Settings
from app.synonyms.folder import SynonymFolder


@pytest.fixture
def folder(tmp_path: Path) -> SynonymFolder:
    path = tmp_path / "synonyms"
    path.mkdir()
    (path / "a.synonyms").write_text("a, b")
    (path / "b.synonyms").write_text("c, d")
    return SynonymFolder(path, frozenset(), ENGLISH, "posts")


def _file(tmp_path: Path, name: str, text: str = "x, y") -> Path:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def _contents(folder: SynonymFolder) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.path.iterdir())}


UNCHANGED = {"a.synonyms": "a, b", "b.synonyms": "c, d"}


def test_names_are_left_out_by_the_setting(folder: SynonymFolder) -> None:
    settings = Settings(synonyms_dir=folder.path, synonyms_without=" b , c.synonyms")
    rules = SynonymFolder.of(settings)
    assert [path.name for path in rules.used()] == ["a.synonyms"]
    assert [path.name for path in rules.all()] == ["a.synonyms", "b.synonyms"]
    assert rules.unknown() == ["c.synonyms"]


def test_staged_files_are_not_read_until_they_are_installed(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    files = [_file(tmp_path, f"{name}.synonyms") for name in "bc"]
    files += [folder.path / "a.synonyms"]  # a file of the folder itself
    with folder.staged(files) as copies:
        assert [path.name for path in folder.used()] == ["a.synonyms", "b.synonyms"]
        assert (folder.path / "b.synonyms").read_text() == "c, d"
        assert folder.install(copies) == [folder.path / "b.synonyms"]
    assert _contents(folder) == {
        "a.synonyms": "a, b",
        "b.synonyms": "x, y",
        "b.synonyms.old": "c, d",
        "c.synonyms": "x, y",
    }
    assert [path.name for path in folder.used()] == ["a.synonyms", "b.synonyms", "c.synonyms"]


def test_a_failure_leaves_the_folder_as_it_was(folder: SynonymFolder, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), folder.staged([_file(tmp_path, "b.synonyms")]):
        raise RuntimeError
    assert _contents(folder) == UNCHANGED


def test_copies_are_those_of_one_index(folder: SynonymFolder, tmp_path: Path) -> None:
    stale = folder.path / ".staged-posts"
    stale.mkdir()
    (stale / "x.synonyms").write_text("half a")  # left by a process that was killed
    with folder.staged([_file(tmp_path, "c.synonyms")]) as copies:
        with replace(folder, alias="posts-2").staged([_file(tmp_path, "d.synonyms")]):
            assert [path.name for path in stale.iterdir()] == ["c.synonyms"]
        folder.install(copies)
    assert _contents(folder) == UNCHANGED | {"c.synonyms": "x, y"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("words.txt", "x, y", "NAME.synonyms"),
        (".hidden.synonyms", "x, y", "NAME.synonyms"),
        ("left-out.synonyms", "x, y", "BLOGSEARCH_SYNONYMS_WITHOUT"),
        ("german.synonyms", "# language: german, russian\nx, y", "BLOGSEARCH_LANGUAGE"),
    ],
)
def test_files_that_would_not_be_used_are_refused(
    folder: SynonymFolder, tmp_path: Path, name: str, text: str, message: str
) -> None:
    folder = replace(folder, left_out=frozenset({"left-out"}))
    file = _file(tmp_path, name, text)
    with pytest.raises(BadRequest, match=message), folder.staged([file]):
        pytest.fail("staged")
    assert _contents(folder) == UNCHANGED


def test_files_that_cannot_be_read_are_refused(folder: SynonymFolder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.synonyms")
    with (tmp_path / "huge.synonyms").open("wb") as handle:
        handle.truncate(2**30)
    twice = [_file(tmp_path, "c.synonyms"), _file(tmp_path, "other/c.synonyms")]
    for files in ([tmp_path / f"{name}.synonyms"] for name in ("pipe", "huge", "none")):
        with pytest.raises(BadRequest, match=r"huge|pipe|none"), folder.staged(files):
            pytest.fail("staged")
    with pytest.raises(BadRequest, match=r"c\.synonyms"), folder.staged(twice):
        pytest.fail("staged")
    assert _contents(folder) == UNCHANGED


def test_a_folder_that_is_not_there_does_not_pass_for_an_empty_one(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    folder = replace(folder, path=tmp_path / "nowhere")
    for files in (folder.used, folder.all):
        with pytest.raises(FolderNotReadable, match="BLOGSEARCH_SYNONYMS_DIR"):
            files()
    with (
        pytest.raises(FolderNotWritable, match="BLOGSEARCH_SYNONYMS_DIR"),
        folder.staged([_file(tmp_path, "c.synonyms")]),
    ):
        pytest.fail("staged")


def test_a_read_only_folder_can_be_used_without_files_to_add(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    folder = replace(folder, path=Path("/proc"))  # not even root can write there
    with folder.staged([]) as copies:
        assert folder.install(copies) == []
    with pytest.raises(FolderNotWritable), folder.staged([_file(tmp_path, "c.synonyms")]):
        pytest.fail("staged")


def test_files_are_named_with_or_without_their_ending_and_put_away(folder: SynonymFolder) -> None:
    files = folder.named(["b", "a.synonyms", "b.synonyms"])
    assert [path.name for path in files] == ["b.synonyms", "a.synonyms"]
    for names in (["a", "c"], ["../synonyms/a"]):
        with pytest.raises(NotFound, match="a, b"):
            folder.named(names)
    folder.put_away(folder.named(["a"]))
    assert [path.name for path in folder.all()] == ["b.synonyms"]
    assert _contents(folder) == {"a.synonyms.old": "a, b", "b.synonyms": "c, d"}
