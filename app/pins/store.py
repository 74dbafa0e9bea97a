"""Keeps the pin files in the state index, where neither a swap nor a lost Redis loses them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from analyzers.languages import Language
from app.errors import Conflict, NotFound
from app.pins.files import SUFFIX, PinFile, parse
from app.search.pins import NO_PINS, PinRule, Pins
from indexer.state import ensure_state, state_index

_ID = "pins"
_BATCH = 1000  # oids per request

Json = dict[str, Any]


class PinStore:
    """The pin files of an alias; `current` are the rules read last. Threads may share it."""

    def __init__(self, client: Elasticsearch, alias: str, language: Language) -> None:
        self._client = client
        self._alias = alias
        self._language = language
        self.current = NO_PINS
        self._version: tuple[int, int] | None = None

    def version_search(self) -> tuple[Json, Json]:
        """The header and body of a search for the version of the stored rules, which finds nothing
        where there is no state index."""
        header = {"index": state_index(self._alias), "ignore_unavailable": True}
        ids = {"ids": {"values": [_ID]}}
        body = {"query": ids, "_source": False, "seq_no_primary_term": True, "size": 1}
        return header, body

    def is_current(self, response: Json) -> bool:
        """Whether the rules read last are those stored, by the response to `version_search`."""
        hits = response["hits"]["hits"]
        return (_version(hits[0]) if hits else None) == self._version

    def read(self) -> Pins:
        """The rules as they are stored now. Exceptions of the client pass through.

        Stored files without a valid rule have none: they were checked before they were stored.
        """
        stored = self._get()
        if stored is None:
            self.current, self._version = NO_PINS, None
        else:
            rules, _ = parse(_files(stored), self._language)
            self.current, self._version = Pins(rules), _version(stored)
        return self.current

    def files(self) -> list[PinFile]:
        """The stored files in the order of their names."""
        stored = self._get()
        return _files(stored) if stored else []

    def save(self, files: Sequence[PinFile]) -> tuple[str, ...]:
        """Store files beside those that are there, or in place of those with their names.

        Returns:
            The names of the files that were replaced by others.

        Raises:
            Conflict: another process stored files at the same time.
        """
        stored = self._get()
        by_name = {file.name: file for file in _files(stored)} if stored else {}
        replaced = [
            file.name for file in files if file.name in by_name and by_name[file.name] != file
        ]
        self._put({**by_name, **{file.name: file for file in files}}.values(), stored)
        return tuple(replaced)

    def remove(self, names: Sequence[str]) -> None:
        """Delete files by their names, given with or without `.pins`.

        Raises:
            NotFound: naming the missing files, and those that exist.
            Conflict: another process stored files at the same time.
        """
        if not names:
            return
        stored = self._get()
        by_name = (
            {file.name.removesuffix(SUFFIX): file for file in _files(stored)} if stored else {}
        )
        wanted = {name.removesuffix(SUFFIX) for name in names}
        if missing := sorted(wanted - by_name.keys()):
            raise NotFound(
                f"No pin file {', '.join(missing)}; there are {', '.join(by_name) or 'none'}."
            )
        self._put([file for name, file in by_name.items() if name not in wanted], stored)

    def existing(self, rules: Iterable[PinRule]) -> Collection[str] | None:
        """Those of the posts named by rules that are in the live index; None without an index."""
        oids = list(dict.fromkeys(oid for rule in rules for oid in rule.first + rule.never))
        oids_found: set[str] = set()
        for start in range(0, len(oids), _BATCH):
            batch = [{"term": {"kind": "post"}}, {"terms": {"oid": oids[start : start + _BATCH]}}]
            try:
                response = self._client.search(
                    index=self._alias,
                    query={"bool": {"filter": batch}},
                    size=_BATCH,
                    source_includes=["oid"],
                    allow_partial_search_results=False,
                )
            except NotFoundError:
                return None
            oids_found.update(hit["_source"]["oid"] for hit in response["hits"]["hits"])
        return oids_found

    def _get(self) -> Json | None:
        """The stored document; None if there is none."""
        try:
            stored: Json = self._client.get(index=state_index(self._alias), id=_ID).body
        except NotFoundError:
            return None
        return stored

    def _put(self, files: Iterable[PinFile], replaces: dict[str, Any] | None) -> None:
        stored = sorted(files, key=lambda file: file.name)
        document = {
            "what": "pins",
            "files": [{"name": file.name, "text": file.text} for file in stored],
        }
        condition: dict[str, Any] = {"op_type": "create"}
        if replaces:
            sequence, term = _version(replaces)
            condition = {"if_seq_no": sequence, "if_primary_term": term}
        try:
            self._client.index(
                index=ensure_state(self._client, self._alias),
                id=_ID,
                document=document,
                refresh=True,  # every search looks for the version
                **condition,
            )
        except ConflictError:
            raise Conflict(
                "Another process changed the pinned results at the same time. Run it again."
            ) from None


def _version(stored: Json) -> tuple[int, int]:
    return stored["_seq_no"], stored["_primary_term"]


def _files(stored: dict[str, Any]) -> list[PinFile]:
    return [PinFile(file["name"], file["text"]) for file in stored["_source"]["files"]]
