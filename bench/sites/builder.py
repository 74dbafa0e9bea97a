"""Builds sites with their generators, which are installed from PyPI or npm."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench.sites.corpus import Post
from bench.sites.generators import Build


def build_site(name: str, build: Build, posts: list[Post], work: Path) -> Path:
    """The folder that the generator built; it is built once.

    Raises:
        RuntimeError: that failed, with what was printed.
    """
    folder = work / _slug(name)
    if not (folder / build.output).is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        build.write(folder, posts)
        try:
            generate(build, folder, work / "tools")
        except RuntimeError:
            shutil.rmtree(folder)  # or what is there would be taken for the site
            raise
    return folder / build.output


def generate(build: Build, folder: Path, tools: Path) -> None:
    """Run the generator in the folder of the sources.

    Raises:
        RuntimeError: that failed, or it is not there.
    """
    installed = _installed(build, tools)
    modules = installed / "node_modules"
    if modules.is_dir():
        (folder / "node_modules").symlink_to(modules)
    path = os.pathsep.join([str(installed / "bin"), str(modules / ".bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "CI": "1"}
    try:
        _run(["sh", "-c", build.command], folder, environment)
    except RuntimeError as error:
        hint = f"\nIt needs: apt-get install {' '.join(build.debian)}" if build.debian else ""
        raise RuntimeError(f"{error}{hint}") from None
    if not (folder / build.output).is_dir():
        raise RuntimeError(f"{build.command} did not write {build.output}")


def _installed(build: Build, folder: Path) -> Path:
    """The folder with the programs of a build."""
    packages, uv = build.pypi or build.npm, [sys.executable, "-m", "uv"]
    tools = folder.resolve() / _slug((packages or ("system",))[0])
    if not packages or tools.exists():
        return tools
    tools.mkdir(parents=True)
    try:
        if build.pypi:
            python = str(tools / "bin" / "python")
            _run([*uv, "venv", "--quiet", str(tools)], tools)
            _run([*uv, "pip", "install", "--quiet", "--python", python, *packages], tools)
        else:
            (tools / "package.json").write_text('{"private": true}')
            _run(["npm", "install", "--no-audit", "--no-fund", *packages], tools)
    except RuntimeError:
        shutil.rmtree(tools)
        raise
    return tools


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        printed = f"{run.stderr[-3000:]}{run.stdout[-2000:]}"
        raise RuntimeError(f"{' '.join(command)}: {printed}")


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")
