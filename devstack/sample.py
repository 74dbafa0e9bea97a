"""Sees to it that `make run` has the sample posts to search, without touching other posts."""

import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from elasticsearch import ApiError, Elasticsearch, TransportError

from devstack.errors import DevstackError
from devstack.places import Places
from devstack.talk import say

REPOSITORY = Path(__file__).resolve().parent.parent
_POSTS = REPOSITORY / "sample" / "posts.jsonl"
_MADE_OF = ("sample/*.jsonl", "synonyms/*.synonyms", "analyzers/*.py", "indexer/**/*.py")


def index_sample(command: Path, places: Places, environment: Mapping[str, str]) -> None:
    """Index the sample posts where there is nothing to search, or only an older build of them.

    An index that somebody built of posts of their own stays as it is. `command` is the
    `blogsearch` of the virtual environment, `environment` what it is run with.

    Raises:
        DevstackError: indexing failed.
    """
    alias = environment.get("BLOGSEARCH_INDEX") or "blog"
    notes = places.folder / "sample.json"
    digest = _digest()
    try:
        live = _live(alias, environment)
        if live is not None:
            known = _read(notes)
            if live not in known:
                say(f"the index {alias!r} holds posts already; they are left alone")
                return
            if known[live] == digest:
                say(f"the index {alias!r} holds the sample posts")
                return
        say(f"indexing the sample posts into {alias!r} …")
        done = subprocess.run([command, "reindex", str(_POSTS)], env=dict(environment), check=False)
        if done.returncode != 0:
            raise DevstackError(f"`blogsearch reindex {_POSTS}` failed; what it said is above.")
        if (built := _live(alias, environment)) is not None:
            notes.write_text(json.dumps({built: digest}))
    except (ApiError, TransportError) as error:
        raise DevstackError(f"Elasticsearch failed while looking for {alias!r}: {error}") from None


def _live(alias: str, environment: Mapping[str, str]) -> str | None:
    """The id of the index behind the alias: no name, which another Elasticsearch may have too."""
    with Elasticsearch(
        environment["ELASTICSEARCH_URL"].split(","),
        api_key=environment.get("ELASTICSEARCH_API_KEY") or None,
        request_timeout=30,
    ) as client:
        if not client.indices.exists_alias(name=alias):
            return None
        for found in client.indices.get_settings(index=alias).values():
            return str(found["settings"]["index"]["uuid"])
    return None


def _read(notes: Path) -> dict[str, str]:
    try:
        return dict(json.loads(notes.read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def _digest() -> str:
    """Of everything that decides what the index looks like."""
    whole = hashlib.sha256()
    for pattern in _MADE_OF:
        for path in sorted(REPOSITORY.glob(pattern)):
            whole.update(path.relative_to(REPOSITORY).as_posix().encode() + b"\0")
            whole.update(path.read_bytes())
    return whole.hexdigest()
