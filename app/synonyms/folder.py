"""The folder of rule files: what is in it, and how files are added and removed.

A file is first copied to a hidden folder inside it and then renamed, so that no reader ever sees
an incomplete file. The former file stays beside it as `NAME.synonyms.old`.
"""

import filecmp
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from analyzers.languages import LANGUAGES, Language
from analyzers.rules.parse import SUFFIX, is_for, refusal, rule_files
from app.errors import BadRequest, FolderNotReadable, FolderNotWritable, NotFound
from app.settings import Settings

OLD = ".old"
_STAGED = ".staged-"  # and the alias: several indices may share a folder


@dataclass(frozen=True, slots=True)
class SynonymFolder:
    """A folder of rule files, the names in it to leave out, and alias and language of the index."""

    path: Path
    left_out: frozenset[str]
    language: Language
    alias: str

    @classmethod
    def of(cls, settings: Settings) -> "SynonymFolder":
        """The folder of the settings."""
        language = LANGUAGES[settings.language]
        return cls(settings.synonyms_dir, settings.synonyms_left_out, language, settings.index)

    def used(self) -> list[Path]:
        """The files in use, in the order in which they are read.

        Raises:
            FolderNotReadable: otherwise an index without rules would be built silently.
        """
        self._check_readable()
        return rule_files(self.path, self.left_out, self.language.name)

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
        self._check_usable(files)
        stage = self.path / f"{_STAGED}{self.alias}"
        with self._changes():
            shutil.rmtree(stage, ignore_errors=True)  # left by a process that was killed
            stage.mkdir(mode=0o700)
        try:
            yield [_copied(file, stage) for file in files]
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def install(self, copies: Sequence[Path]) -> list[Path]:
        """Moves staged copies into the folder; returns the files that had another content.

        Raises:
            FolderNotWritable: a file could not be moved.
        """
        replaced = []
        with self._changes():
            for copy in copies:
                place = self.path / copy.name
                if place.is_file() and not filecmp.cmp(copy, place, shallow=False):
                    shutil.copyfile(place, f"{place}{OLD}")
                    replaced.append(place)
                copy.replace(place)
        return replaced

    def put_away(self, files: Sequence[Path]) -> None:
        """Renames rule files, so that they are not read.

        Raises:
            FolderNotWritable: a file could not be renamed.
        """
        with self._changes():
            for file in files:
                file.replace(f"{file}{OLD}")

    def check_writable(self) -> None:
        """Raises FolderNotWritable when files cannot be renamed."""
        with self._changes():
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied")

    @contextmanager
    def _changes(self) -> Iterator[None]:
        if "site-packages" in self.path.parts:
            raise FolderNotWritable(
                f"The synonyms folder {self.path} is a part of the installed package: an upgrade "
                f"replaces it. Copy it to a folder of your own (`cp -r {self.path} synonyms`), and "
                "set BLOGSEARCH_SYNONYMS_DIR to that folder."
            )
        try:
            yield
        except OSError as error:
            raise FolderNotWritable(
                f"The synonyms folder {self.path} cannot be changed: {error.strerror or error}. "
                "Check its permissions, or set BLOGSEARCH_SYNONYMS_DIR to a folder of your own."
            ) from None

    def _check_readable(self) -> None:
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise FolderNotReadable(
                f"The synonyms folder {self.path} cannot be read: {error.strerror or error}. "
                "Check BLOGSEARCH_SYNONYMS_DIR; to use no synonyms, name an empty folder."
            ) from None

    def _check_usable(self, files: Sequence[Path]) -> None:
        check_unique_names(files)
        for file in files:
            if not file.name.endswith(SUFFIX) or file.name.startswith("."):
                raise BadRequest(
                    f"{file} cannot be loaded: the name of a rule file is NAME{SUFFIX}. "
                    f"`blogsearch synonyms check {file}` says what else is wrong."
                )
            if {file.name, file.stem} & self.left_out:
                raise BadRequest(
                    f"{file.name} is left out by BLOGSEARCH_SYNONYMS_WITHOUT; "
                    "remove it from that setting first."
                )
            if not is_for(file, self.language.name):
                raise BadRequest(
                    f"{file.name} is not for {self.language.name} posts (BLOGSEARCH_LANGUAGE); "
                    "change its comment `# language: …` if it is."
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
        if refused is None:
            return Path(shutil.copyfile(file, stage / file.name))
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror or error}.") from None
    raise BadRequest(f"{file} {refused[1]} {refused[2]}")
