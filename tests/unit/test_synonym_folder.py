"""The synonyms folder: files are added completely or not at all."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import BadRequest, FolderNotReadable, FolderNotWritable, NotFound
from app.settings import Settings
from app.synonyms.folder import SynonymFolder


@pytest.fixture
def folder(tmp_path: Path) -> SynonymFolder:
    path = tmp_path / "synonyms"
    path.mkdir()
    (path / "a.synonyms").write_text("a, b")
    (path / "b.synonyms").write_text("c, d")
    return SynonymFolder(path, frozenset(), "english", "posts")


def _file(tmp_path: Path, name: str, text: str = "x, y") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def _everything(folder: SynonymFolder) -> list[str]:
    return sorted(path.name for path in folder.path.iterdir())


def test_names_are_left_out_by_the_setting(folder: SynonymFolder) -> None:
    settings = Settings(synonyms_dir=folder.path, synonyms_without=" b , c.synonyms")
    rules = SynonymFolder.of(settings)
    assert rules.left_out == {"b", "c.synonyms"}
    assert [path.name for path in rules.used()] == ["a.synonyms"]
    assert [path.name for path in rules.all()] == ["a.synonyms", "b.synonyms"]


def test_staged_files_are_not_read_until_they_are_installed(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    files = [_file(tmp_path, "b.synonyms"), _file(tmp_path, "c.synonyms")]
    with folder.staged(files) as copies:
        assert [copy.read_text() for copy in copies] == ["x, y", "x, y"]
        assert [path.name for path in folder.used()] == ["a.synonyms", "b.synonyms"]
        assert (folder.path / "b.synonyms").read_text() == "c, d"
        folder.install(copies)
    assert _everything(folder) == ["a.synonyms", "b.synonyms", "c.synonyms"]
    assert (folder.path / "b.synonyms").read_text() == "x, y"


def test_only_files_with_another_content_are_replaced(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    files = [
        _file(tmp_path, "a.synonyms", "a, b"),
        _file(tmp_path, "b.synonyms"),
        _file(tmp_path, "c.synonyms"),
    ]
    with folder.staged(files) as copies:
        assert folder.differing(copies) == ("b.synonyms",)


def test_a_failure_leaves_the_folder_as_it_was(folder: SynonymFolder, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), folder.staged([_file(tmp_path, "b.synonyms")]):
        raise RuntimeError
    assert _everything(folder) == ["a.synonyms", "b.synonyms"]
    assert (folder.path / "b.synonyms").read_text() == "c, d"


def test_stale_copies_are_deleted(folder: SynonymFolder, tmp_path: Path) -> None:
    stale = folder.path / ".staged-posts"
    stale.mkdir()
    (stale / "x.synonyms").write_text("half a")
    with folder.staged([_file(tmp_path, "c.synonyms")]):
        assert [path.name for path in stale.iterdir()] == ["c.synonyms"]
    assert not stale.exists()


def test_indices_that_share_a_folder_do_not_disturb_each_other(
    folder: SynonymFolder, tmp_path: Path
) -> None:
    other = replace(folder, alias="posts-2")
    with folder.staged([_file(tmp_path, "c.synonyms")]) as copies:
        with other.staged([_file(tmp_path, "d.synonyms")]):
            assert [copy.read_text() for copy in copies] == ["x, y"]
        folder.install(copies)
    assert _everything(folder) == ["a.synonyms", "b.synonyms", "c.synonyms"]


def test_a_file_of_the_folder_itself_can_be_loaded(folder: SynonymFolder) -> None:
    with folder.staged([folder.path / "a.synonyms"]) as copies:
        folder.install(copies)
    assert (folder.path / "a.synonyms").read_text() == "a, b"


@pytest.mark.parametrize("name", ["words.txt", ".hidden.synonyms", "plain"])
def test_only_rule_files_are_staged(folder: SynonymFolder, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest), folder.staged([_file(tmp_path, name)]):
        pytest.fail("staged")
    assert _everything(folder) == ["a.synonyms", "b.synonyms"]


def test_two_files_with_the_same_name_are_refused(folder: SynonymFolder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    files = [_file(tmp_path, "c.synonyms"), _file(tmp_path / "other", "c.synonyms")]
    with pytest.raises(BadRequest, match=r"c\.synonyms"), folder.staged(files):
        pytest.fail("staged")


def test_a_file_that_is_left_out_is_refused(folder: SynonymFolder, tmp_path: Path) -> None:
    folder = SynonymFolder(folder.path, frozenset({"c"}), "english", "posts")
    with (
        pytest.raises(BadRequest, match="BLOGSEARCH_SYNONYMS_WITHOUT"),
        folder.staged([_file(tmp_path, "c.synonyms")]),
    ):
        pytest.fail("staged")


def test_files_for_another_language_are_refused(folder: SynonymFolder, tmp_path: Path) -> None:
    file = _file(tmp_path, "c.synonyms", "# language: german, russian\nx, y")
    with pytest.raises(BadRequest, match="BLOGSEARCH_LANGUAGE"), folder.staged([file]):
        pytest.fail("staged")


def test_unreadable_files_are_refused(folder: SynonymFolder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.synonyms")
    huge = tmp_path / "huge.synonyms"
    with huge.open("wb") as handle:
        handle.truncate(2**30)
    for name in ("pipe", "huge", "none"):
        with pytest.raises(BadRequest), folder.staged([tmp_path / f"{name}.synonyms"]):
            pytest.fail("staged")
    assert _everything(folder) == ["a.synonyms", "b.synonyms"]


def test_a_missing_folder_is_not_writable(tmp_path: Path) -> None:
    folder = SynonymFolder(tmp_path / "nowhere", frozenset(), "english", "posts")
    with (
        pytest.raises(FolderNotWritable, match="BLOGSEARCH_SYNONYMS_DIR"),
        folder.staged([_file(tmp_path, "c.synonyms")]),
    ):
        pytest.fail("staged")


def test_a_folder_that_is_not_there_does_not_pass_for_an_empty_one(tmp_path: Path) -> None:
    folder = SynonymFolder(tmp_path / "nowhere", frozenset(), "english", "posts")
    for files in (folder.used, folder.all):
        with pytest.raises(FolderNotReadable, match="BLOGSEARCH_SYNONYMS_DIR"):
            files()


def test_names_to_leave_out_that_do_not_exist_are_known(folder: SynonymFolder) -> None:
    assert (
        SynonymFolder(folder.path, frozenset({"a", "b.synonyms"}), "english", "posts").unknown()
        == []
    )
    assert SynonymFolder(folder.path, frozenset({"a", "tec"}), "english", "posts").unknown() == [
        "tec"
    ]


def test_a_read_only_folder_can_be_used_without_files_to_add(tmp_path: Path) -> None:
    folder = SynonymFolder(
        Path("/proc"), frozenset(), "english", "posts"
    )  # not even root can write there
    with folder.staged([]) as copies:
        folder.install(copies)
    with pytest.raises(FolderNotWritable), folder.staged([_file(tmp_path, "c.synonyms")]):
        pytest.fail("staged")


def test_files_are_named_with_or_without_their_ending(folder: SynonymFolder) -> None:
    files = folder.named(["b", "a.synonyms", "b.synonyms"])
    assert [path.name for path in files] == ["b.synonyms", "a.synonyms"]
    with pytest.raises(NotFound, match="a, b"):
        folder.named(["a", "c"])
    with pytest.raises(NotFound):
        folder.named(["../synonyms/a"])


def test_deleted_files_are_gone(folder: SynonymFolder) -> None:
    folder.delete(folder.named(["a"]))
    assert _everything(folder) == ["b.synonyms"]
