"""What the workflow of a release does before it publishes; `make release-dry-run` runs all of it.

python -m scripts.release check v0.2.0     the tag, the version and CHANGELOG.md agree
python -m scripts.release notes v0.2.0     the section of CHANGELOG.md
python -m scripts.release dry-run          every step that needs no registry, with the next version
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BIN = REPOSITORY / ".venv/bin"
MANIFEST = REPOSITORY / "deploy/kubernetes.yaml"
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?")


def version() -> str:
    """The version in pyproject.toml, which is the only place to change it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def notes(changelog: str, released: str) -> str:
    """The text of a version's section.

    Raises:
        ValueError: there is no such section, or it is empty.
    """
    match = re.search(rf"^## \[{re.escape(released)}\].*\n((?:(?!## \[).*\n?)*)", changelog, re.M)
    if not match or not match[1].strip():
        raise ValueError(f"CHANGELOG.md has no section [{released}], or it is empty.")
    return match[1].strip() + "\n"


def problems(tag: str) -> list[str]:
    """Why this tag cannot be released."""
    released, complaints = version(), []
    if not _SEMVER.fullmatch(released):
        complaints.append(f"The version {released} in pyproject.toml is not MAJOR.MINOR.PATCH.")
    if tag != f"v{released}":
        complaints.append(f"The tag {tag} is not v and the version in pyproject.toml, {released}.")
    try:
        notes((REPOSITORY / "CHANGELOG.md").read_text(), released)
    except ValueError as error:
        complaints.append(str(error))
    if f"image: blogsearch:{released}\n" not in MANIFEST.read_text():
        complaints.append(f"deploy/kubernetes.yaml does not name the image blogsearch:{released}.")
    return complaints


def dry_run() -> None:
    """Run the steps that need no registry, and say which were not run."""
    skipped = ["uploading the wheel", "pushing and signing the image", "the second platform"]
    if complaints := problems(f"v{version()}"):
        sys.exit("\n".join(complaints))
    with tempfile.TemporaryDirectory() as folder:
        _run("make", "-s", "wheel", f"DIST={folder}")
        _run(str(BIN / "python"), "-m", "zipfile", "-t", *map(str, Path(folder).glob("*.whl")))
        _check_units(Path(folder), skipped)
    _run(str(BIN / "uv"), "tool", "run", "kubernetes-validate", "--strict", str(MANIFEST))
    if shutil.which("docker"):
        _run("docker", "compose", "--profile", "proxy", "config", "--quiet")
    else:
        skipped.append("docker compose config: there is no docker")
    if (
        shutil.which("docker")
        and not subprocess.run(["docker", "info"], capture_output=True).returncode
    ):
        _run("docker", "build", "--tag", f"blogsearch:{version()}", ".")
    else:
        skipped.append("building the image: no Docker engine runs")
    print("\nNot run here:", *skipped, sep="\n- ")


def _check_units(folder: Path, skipped: list[str]) -> None:
    if not shutil.which("systemd-analyze"):
        skipped.append("systemd-analyze verify: there is no systemd")
        return
    copies = []
    for unit in sorted((REPOSITORY / "deploy/systemd").iterdir()):
        copy = folder / unit.name
        # It checks that the command exists.
        copy.write_text(unit.read_text().replace("/usr/local/bin", str(BIN)))
        copies.append(str(copy))
    _run("systemd-analyze", "verify", *copies)


def _run(*words: str) -> None:
    print("+", *words, flush=True)
    done = subprocess.run(words, cwd=REPOSITORY)
    if done.returncode:
        sys.exit(f"This step failed: {' '.join(words)}")


def main() -> None:
    match sys.argv[1:]:
        case ["check", tag]:
            if complaints := problems(tag):
                sys.exit("\n".join(complaints))
        case ["notes", tag]:
            print(notes((REPOSITORY / "CHANGELOG.md").read_text(), tag.removeprefix("v")), end="")
        case ["dry-run"]:
            dry_run()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
