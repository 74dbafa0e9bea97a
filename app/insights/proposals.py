"""Proposes synonym rules: from a search that found nothing to the one tried next that succeeded."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzers.rules.parse import Words, normalise, words
from app.errors import FolderNotReadable
from app.insights.counts import Report
from app.insights.sessions import Pair
from app.synonyms.folder import SynonymFolder
from app.synonyms.loader import Loader

FILE = "insights.synonyms"
"""The rule file that proposals are added to."""

_HEADING = "# Rules from /insights: a search that found nothing => the one that succeeded next.\n"
_MOST = 20  # rules that are checked at a time
_LEAST_TIMES = 2  # a visitor may simply have looked for something else next
_MAX_WORDS = 3  # of each side; longer ones are sentences


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule, the searches that it comes from, and how often one followed the other."""

    rule: str
    failed: str
    succeeded: str
    times: int


def proposals(report: Report, loader: Loader, folder: SynonymFolder) -> list[Proposal]:
    """Rules for the most frequent pairs that `synonyms check` has passed without a finding.

    Raises:
        FolderNotReadable: the folder of rule files, or the file of proposals, cannot be read.
        indexer.errors.IndexingError: another program uses the name of the alias.
        elasticsearch.ApiError, elasticsearch.TransportError: from the check.
    """
    proposed = candidates(report.pairs)[:_MOST]
    if not proposed:
        return []
    before = text_of(folder).count("\n")
    with tempfile.TemporaryDirectory() as temporary:
        file = write(folder, [proposal.rule for proposal in proposed], Path(temporary))
        result = loader.check([file], folder.used())
    refused = {finding.line for finding in result.findings if finding.file == FILE}
    return [proposal for line, proposal in enumerate(proposed, before + 1) if line not in refused]


def text_of(folder: SynonymFolder) -> str:
    """What the rule file of proposals has now; a heading if there is none.

    Raises:
        FolderNotReadable: it cannot be read, or is not UTF-8.
    """
    path = folder.path / FILE
    try:
        text = path.read_text("utf-8") if path.is_file() else _HEADING
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise FolderNotReadable(f"{path} cannot be read: {reason}.") from None
    return text if text.endswith("\n") else f"{text}\n"


def write(folder: SynonymFolder, rules: Sequence[str], into: Path) -> Path:
    """A copy of the rule file of proposals with further rules, in another folder."""
    file = into / FILE
    file.write_text(text_of(folder) + "".join(f"{rule}\n" for rule in rules), "utf-8")
    return file


def candidates(pairs: Iterable[tuple[Pair, int]]) -> list[Proposal]:
    """A rule for each pair that came often enough and differs in some words; the first rule for
    each left side."""
    by_left_side: dict[str, Proposal] = {}
    for (failed, succeeded), times in pairs:
        sides = _different(failed, succeeded) if times >= _LEAST_TIMES else None
        if sides:
            left, right = sides
            by_left_side.setdefault(left, Proposal(f"{left} => {right}", failed, succeeded, times))
    return list(by_left_side.values())


def _different(failed: str, succeeded: str) -> tuple[str, str] | None:
    """The words that differ; None if words were only added or left out."""
    if '"' in failed + succeeded or " -" in f" {failed} {succeeded}":
        return None
    before, after = _words(failed), _words(succeeded)
    left = [word for word in before if word not in after]
    right = [word for word in after if word not in before]
    if not (0 < len(left) <= _MAX_WORDS and 0 < len(right) <= _MAX_WORDS):
        return None
    return " ".join(left), " ".join(right)


def _words(text: str) -> Words:
    parts = words(normalise(text)) if text.strip() else ()
    return tuple(word for word in parts if any(map(str.isalnum, word)))
