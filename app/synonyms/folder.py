"""The folder of rule files: what is in it, and how files are added and deleted.

A file is first copied to a hidden folder inside it and then renamed, so that no reader ever sees
an incomplete file.
"""

import filecmp
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from analyzers.rules.parse import SUFFIX, is_for, refusal, rule_files
from app.errors import BadRequest, FolderNotReadable, FolderNotWritable, NotFound
from app.settings import Settings

_STAGED = ".staged-"  # and the alias: several indices may share a folder


@dataclass(frozen=True, slots=True)
class SynonymFolder:
    """A folder of rule files, the names in it to leave out, and alias and language of the index."""

    path: Path
    left_out: frozenset[str]
    language: str
    alias: str

    @classmethod
    def of(cls, settings: Settings) -> "SynonymFolder":
        """The folder of the settings."""
        return cls(
            settings.synonyms_dir, settings.synonyms_left_out, settings.language, settings.index
        )

    def used(self) -> list[Path]:
        """The files in use, in the order in which they are read.

        Raises:
            FolderNotReadable: otherwise an index without rules would be built silently.
        """
        self._check_readable()
        return rule_files(self.path, self.left_out, self.language)

    def all(self) -> list[Path]:
        """The files in use, those that are left out and those for other languages.

        Raises:
            FolderNotReadable: as for `used`.
        """
        self._check_readable()
        return rule_files(self.path)

    def unknown(self) -> list[str]:
        """Names to leave out that are not in the folder."""
        names = {path.stem for path in self.all()}
        return sorted(name for name in self.left_out if name.removesuffix(SUFFIX) not in names)

    def _check_readable(self) -> None:
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise FolderNotReadable(
                f"The synonyms folder {self.path} cannot be read: {error.strerror or error}. "
                "Check BLOGSEARCH_SYNONYMS_DIR; to use no synonyms, name an empty folder."
            ) from None

    @contextmanager
    def staged(self, files: Sequence[Path]) -> Iterator[list[Path]]:
        """Copies of rule files on the folder's own file system; deleted afterwards.

        The caller holds the lock of the index.

        Raises:
            BadRequest: a name or a file that cannot be a rule file.
            FolderNotWritable: nothing can be added to the folder.
        """
        if not files:  # the folder may be read-only
            yield []
            return
        self._check_own()
        self._check_usable(files)
        stage = self.path / f"{_STAGED}{self.alias}"
        try:
            shutil.rmtree(stage, ignore_errors=True)  # left by a process that was killed
            stage.mkdir(mode=0o700)
        except OSError as error:
            raise self._not_writable(error) from None
        try:
            yield [_copied(file, stage) for file in files]
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def differing(self, copies: Sequence[Path]) -> tuple[str, ...]:
        """The names of the copies that will replace a file with another content."""
        places = [(copy, self.path / copy.name) for copy in copies]
        return tuple(
            place.name
            for copy, place in places
            if place.is_file() and not filecmp.cmp(copy, place, shallow=False)
        )

    def install(self, copies: Sequence[Path]) -> None:
        """Moves staged copies into the folder; without any, the folder is not touched.

        Raises:
            FolderNotWritable: a file could not be moved.
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
        """The files with these names, given with or without `.synonyms`.

        Raises:
            NotFound: naming the missing files, and those that exist.
        """
        by_name = {path.name.removesuffix(SUFFIX): path for path in self.all()}
        wanted = [name.removesuffix(SUFFIX) for name in names]
        missing = [name for name in wanted if name not in by_name]
        if missing:
            raise NotFound(
                f"No rule file {', '.join(missing)} in {self.path}; "
                f"the folder has {', '.join(by_name) or 'none'}."
            )
        return [by_name[name] for name in dict.fromkeys(wanted)]

    def delete(self, files: Sequence[Path]) -> None:
        """Deletes rule files.

        Raises:
            FolderNotWritable: a file could not be deleted.
        """
        try:
            for file in files:
                file.unlink(missing_ok=True)
            _sync(self.path)
        except OSError as error:
            raise self._not_writable(error) from None

    def check_writable(self) -> None:
        """Raises FolderNotWritable when files cannot be deleted."""
        self._check_own()
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise self._not_writable(PermissionError(13, "Permission denied"))

    def _check_own(self) -> None:
        """Raises FolderNotWritable for the folder of the installed package."""
        if "site-packages" in self.path.parts:
            raise FolderNotWritable(
                f"The synonyms folder {self.path} is a part of the installed package: an upgrade "
                f"replaces it. Copy it to a folder of your own (`cp -r {self.path} synonyms`), and "
                "set BLOGSEARCH_SYNONYMS_DIR to that folder."
            )

    def _check_usable(self, files: Sequence[Path]) -> None:
        check_unique_names(files)
        for file in files:
            if not file.name.endswith(SUFFIX) or file.name.startswith("."):
                raise BadRequest(
                    f"{file} cannot be loaded: the name of a rule file is NAME{SUFFIX}."
                )
            if {file.name, file.stem} & self.left_out:
                raise BadRequest(
                    f"{file.name} is left out by BLOGSEARCH_SYNONYMS_WITHOUT; "
                    "remove it from that setting first."
                )
            if not is_for(file, self.language):
                raise BadRequest(
                    f"{file.name} is not for {self.language} posts (BLOGSEARCH_LANGUAGE); "
                    "change its comment `# language: …` if it is."
                )

    def _not_writable(self, error: OSError) -> FolderNotWritable:
        return FolderNotWritable(
            f"The synonyms folder {self.path} cannot be changed: {error.strerror or error}. "
            "Check its permissions, or set BLOGSEARCH_SYNONYMS_DIR to a folder of your own."
        )


def check_unique_names(files: Sequence[Path]) -> None:
    """Refuses two files with the same name: the folder can hold only one of them.

    Raises:
        BadRequest: naming the files.
    """
    twice = [name for name, count in Counter(path.name for path in files).items() if count > 1]
    if twice:
        raise BadRequest(f"Two files have the name {', '.join(twice)}; rename one of them.")


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
    """Makes renames and deletions durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
