"""The TypeScript declarations of `make types`, checked by the TypeScript compiler."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TSC = ["npx", "--yes", "--package", "typescript@5.9.3", "tsc", "--noEmit", "--strict"]

pytestmark = pytest.mark.skipif(shutil.which("npx") is None, reason="Node.js is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the declarations."""
    folder = tmp_path_factory.mktemp("types")
    target = folder / "blogsearch.d.ts"
    command = ["make", "-s", "types", f"TYPES={target}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def _compile(folder: Path, program: str) -> str:
    """What the compiler complains about."""
    (folder / "example.ts").write_text(program)
    command = [*TSC, "--lib", "es2022,dom", "--target", "es2022", "example.ts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr if done.returncode else ""


def test_the_example_of_the_documentation_compiles(folder: Path) -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text()
    programs = re.findall(r"```ts\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 1
    assert _compile(folder, programs[0]) == ""
