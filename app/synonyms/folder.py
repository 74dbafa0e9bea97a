"""The folder of rule files: what is in it, and how files get into it and out of it.

A file is written beside its place, whole, and then renamed; nobody ever reads half of one.
"""

import filecmp
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from analyzers.rules import SUFFIX, rule_files
from analyzers.rules.parse import refusal
from app.errors import BadRequest, NotFound, ServiceError
from app.settings import Settings

_STAGED = ".staged-"


class FolderNotReadable(ServiceError):
    """The synonyms folder is not there, or may not be read."""

    code = "folder_not_readable"


class FolderNotWritable(ServiceError):
    """The synonyms folder cannot be changed by this process."""

    code = "folder_not_writable"


@dataclass(frozen=True, slots=True)
class SynonymFolder:
    """A folder of rule files and the names in it that are left out."""

    path: Path
    left_out: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> "SynonymFolder":
        """The folder that the settings name."""
        return cls(settings.synonyms_dir, settings.synonyms_left_out)

    def used(self) -> list[Path]:
        """The files that count, in the order in which they are read.

        Raises:
            FolderNotReadable: an index without any rules would be built without a word.
        """
        self._check_readable()
        return rule_files(self.path, self.left_out)

    def all(self) -> list[Path]:
        """The files that count, and those that are left out.

        Raises:
            FolderNotReadable: as for `used`.
        """
        self._check_readable()
        return rule_files(self.path)

    def unknown(self) -> list[str]:
        """Names that are to be left out and are not there."""
        there = {path.stem for path in self.all()}
        return sorted(name for name in self.left_out if name.removesuffix(SUFFIX) not in there)

    def _check_readable(self) -> None:
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise FolderNotReadable(
                f"The synonyms folder {self.path} cannot be read: {error.strerror or error}. "
                "Check BLOGSEARCH_SYNONYMS_DIR; for no synonyms at all, name an empty folder."
            ) from None

    @contextmanager
    def staged(self, files: Sequence[Path]) -> Iterator[list[Path]]:
        """Copies of rule files, on the folder's own disk so that a rename will do; gone afterwards.

        Raises:
            BadRequest: for names and files that cannot be rule files.
            FolderNotWritable: when nothing can be put into the folder.
        """
        if not files:  # the folder may be mounted read-only
            yield []
            return
        _check_names(files, self.left_out)
        try:
            for orphan in self.path.glob(f"{_STAGED}*"):
                shutil.rmtree(orphan, ignore_errors=True)
            stage = Path(tempfile.mkdtemp(dir=self.path, prefix=_STAGED))
        except OSError as error:
            raise self._not_writable(error) from None
        try:
            yield [_copied(file, stage) for file in files]
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def differing(self, copies: Sequence[Path]) -> tuple[str, ...]:
        """The names of those that will take the place of another file."""
        places = [(copy, self.path / copy.name) for copy in copies]
        return tuple(
            place.name
            for copy, place in places
            if place.is_file() and not filecmp.cmp(copy, place, shallow=False)
        )

    def install(self, copies: Sequence[Path]) -> None:
        """Moves staged copies to their places; without any the folder is not touched.

        Raises:
            FolderNotWritable: naming the file that could not be moved.
        """
        if not copies:
            return
        try:
            for copy in copies:
                copy.replace(self.path / copy.name)
            _sync(self.path)
        except OSError as error:
            raise self._not_writable(error) from None

    def named(self, names: Sequence[str]) -> list[Path]:
        """The files of these names, with or without `.synonyms`.

        Raises:
            NotFound: naming those that are not there, and those that are.
        """
        there = {path.name.removesuffix(SUFFIX): path for path in self.all()}
        wanted = [name.removesuffix(SUFFIX) for name in names]
        missing = [name for name in wanted if name not in there]
        if missing:
            raise NotFound(
                f"No rule file {', '.join(missing)} in {self.path}; "
                f"there are {', '.join(there) or 'none'}."
            )
        return [there[name] for name in dict.fromkeys(wanted)]

    def delete(self, files: Sequence[Path]) -> None:
        """Deletes rule files.

        Raises:
            FolderNotWritable: naming the file that could not be deleted.
        """
        try:
            for file in files:
                file.unlink(missing_ok=True)
            _sync(self.path)
        except OSError as error:
            raise self._not_writable(error) from None

    def check_writable(self) -> None:
        """Whether files can be deleted.

        Raises:
            FolderNotWritable: when they cannot.
        """
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise self._not_writable(PermissionError(13, "Permission denied"))

    def _not_writable(self, error: OSError) -> FolderNotWritable:
        return FolderNotWritable(
            f"The synonyms folder {self.path} cannot be changed: {error.strerror or error}. "
            "Check its permissions, or set BLOGSEARCH_SYNONYMS_DIR to a folder of your own."
        )


def check_twice(files: Sequence[Path]) -> None:
    """Refuses two files of one name: in the folder there is room for one.

    Raises:
        BadRequest: naming them.
    """
    twice = [name for name, count in Counter(path.name for path in files).items() if count > 1]
    if twice:
        raise BadRequest(f"Two files are called {', '.join(twice)}; rename one of them.")


def _check_names(files: Sequence[Path], left_out: Collection[str]) -> None:
    check_twice(files)
    for file in files:
        if not file.name.endswith(SUFFIX) or file.name.startswith("."):
            raise BadRequest(f"{file} cannot be loaded: rule files are called NAME{SUFFIX}.")
        if {file.name, file.stem} & set(left_out):
            raise BadRequest(
                f"{file.name} is left out by BLOGSEARCH_SYNONYMS_WITHOUT; "
                "take it out of that setting first."
            )


def _copied(file: Path, stage: Path) -> Path:
    try:
        refused = refusal(file)
        if refused is not None:
            raise BadRequest(f"{file} {refused[1]} {refused[2]}")
        copy = stage / file.name
        with file.open("rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror or error}.") from None
    return copy


def _sync(folder: Path) -> None:
    """Makes renames and deletions survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
