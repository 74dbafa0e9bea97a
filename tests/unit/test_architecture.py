"""Imports point one way: app → indexer → analyzers. Nothing imports bench or devstack."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

MAY_IMPORT = {
    "analyzers": set(),
    "indexer": {"analyzers"},
    "app": {"indexer", "analyzers"},
    "bench": {"app", "indexer", "analyzers", "devstack"},
    "scripts": set(),
    "devstack": set(),
}
ROOMS = set(MAY_IMPORT)


def _modules(room: str) -> list[Path]:
    return sorted((REPOSITORY / room).rglob("*.py"))


def _imported(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, wherever in it, with the line."""
    package = path.relative_to(REPOSITORY).parent.parts
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module, node.lineno
            for alias in node.names:
                yield f"{module}.{alias.name}", node.lineno


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room}
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {module}"
        for path in _modules(room)
        for module, line in _imported(path)
        if module.partition(".")[0] in ROOMS - allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ["indexer", "analyzers"])
def test_only_the_application_reads_the_environment(room: str) -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in _modules(room)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\b(os\.environ|environb?\b\[|getenv)", line)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ["indexer", "analyzers"])
def test_engine_clients_are_handed_in_and_not_opened(room: str) -> None:
    wrong = []
    for path in _modules(room):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in {"Elasticsearch", "AsyncElasticsearch", "Redis", "StrictRedis"}:
                wrong.append(f"{path.relative_to(REPOSITORY)}:{node.lineno} calls {name}()")
    assert not wrong, "\n".join(wrong)


def test_rooms_inside_the_application_keep_their_order() -> None:
    """Searching and caching know nothing of HTTP views or the command line."""
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {module}"
        for inner in ("app/search", "app/cache")
        for path in sorted((REPOSITORY / inner).rglob("*.py"))
        for module, line in _imported(path)
        if re.match(r"app\.(views|commands|cli)\b", module)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_has_modules_to_check() -> None:
    """A room that was renamed would otherwise pass everything above."""
    assert not [room for room in ROOMS if not _modules(room)]
