"""Imports point one way: app → indexer → analyzers. Nothing imports bench, devstack or scripts."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

# Package: the packages of this repository that it may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "analyzers": set(),
    "indexer": {"analyzers"},
    "app": {"indexer", "analyzers"},
    "bench": {"app", "indexer", "analyzers", "devstack"},
    "devstack": set(),
    "scripts": {"app", "indexer", "analyzers"},
}

# Subpackage of app: the parts of app that it must not import.
MUST_NOT_IMPORT = {
    "app/search": {"app.cache", "app.cli", "app.commands", "app.service", "app.views"},
    "app/cache": {"app.search", "app.cli", "app.commands", "app.service", "app.views"},
    "app/views": {"app.cli", "app.commands"},
}

# Calls that open a connection to an engine.
CLIENTS = {"Elasticsearch", "AsyncElasticsearch", "Redis", "StrictRedis", "from_url"}


@cache
def _modules(package: str) -> list[tuple[Path, ast.Module]]:
    paths = sorted((REPOSITORY / package).rglob("*.py"))
    assert paths, f"{package} has no modules"
    return [(path.relative_to(REPOSITORY), ast.parse(path.read_text())) for path in paths]


def _imports(path: Path, module: ast.Module) -> Iterator[tuple[str, int]]:
    """Every name that a module imports, at any depth, with its line."""
    package = path.parent.parts
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}", node.lineno


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    forbidden = MAY_IMPORT.keys() - MAY_IMPORT[package] - {package}
    wrong = [
        f"{path}:{line} imports {name}"
        for path, module in _modules(package)
        for name, line in _imports(path, module)
        if name.partition(".")[0] in forbidden
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", MUST_NOT_IMPORT)
def test_the_parts_of_the_application_keep_their_order(package: str) -> None:
    wrong = [
        f"{path}:{line} imports {name}"
        for path, module in _modules(package)
        for name, line in _imports(path, module)
        if any(f"{name}.".startswith(f"{part}.") for part in MUST_NOT_IMPORT[package])
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ["indexer", "analyzers"])
def test_only_the_application_reads_the_environment(package: str) -> None:
    names = {"environ", "environb", "getenv", "getenvb"}
    wrong = [
        f"{path}:{node.lineno}"
        for path, module in _modules(package)
        for node in ast.walk(module)
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.Name) and node.id in names)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ["indexer", "analyzers", "app/search"])
def test_clients_are_arguments(package: str) -> None:
    wrong = [
        f"{path}:{node.lineno} calls {ast.unparse(node.func)}()"
        for path, module in _modules(package)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in CLIENTS
    ]
    assert not wrong, "\n".join(wrong)


def test_the_architecture_page_names_every_package() -> None:
    packages = {
        path.parent.relative_to(REPOSITORY).as_posix()
        for part in ("app", "indexer", "analyzers")
        for path in (REPOSITORY / part).glob("*/__init__.py")
    }
    assert packages
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    assert [package for package in sorted(packages) if f"{package}/" not in page] == []
