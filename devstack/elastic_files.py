"""The configuration of an Elasticsearch that runs as a plain process, and its command line."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from devstack.places import Places

_HEAP = "-Xms1g -Xmx1g"
"""Enough for the tests and some 100,000 posts; fits beside a browser on a small machine."""


def prepare(
    places: Places, home: Path, jdk: Path, port: int, environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Write the configuration; the command and what it needs in its environment.

    Nothing is written below `home`: instances share it, and its user may only read it.
    """
    config = places.own(places.folder / "elasticsearch-config")
    shutil.copyfile(home / "config" / "log4j2.properties", config / "log4j2.properties")
    options = (home / "config" / "jvm.options").read_text().splitlines(keepends=True)
    # Up to 2 GB of garbage collector's diary are of no use here.
    kept = [line for line in options if not line.startswith("-Xlog:gc")]
    (config / "jvm.options").write_text("".join(kept))
    folders = {
        name: places.own(places.folder / f"elasticsearch-{name}")
        for name in ("data", "logs", "tmp")
    }
    settings = config / "elasticsearch.yml"
    settings.write_text(
        "\n".join(
            [
                "cluster.name: blogsearch-devstack",
                f"node.name: {places.instance}",
                "discovery.type: single-node",
                "network.host: 127.0.0.1",
                f"http.port: {port}",
                f"path.data: {folders['data']}",
                f"path.logs: {folders['logs']}",
                "# One machine, one user, nothing but this machine can connect.",
                "xpack.security.enabled: false",
                "# A developer's disk is often 95 % full; Elasticsearch would stop writing.",
                "cluster.routing.allocation.disk.threshold_enabled: false",
                "",
            ]
        )
    )
    for path in config.iterdir():
        places.give(path)
    extra = {
        "ES_JAVA_HOME": str(jdk),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folders["tmp"]),
        "ES_JAVA_OPTS": environment.get("ES_JAVA_OPTS") or _HEAP,
    }
    return [str(home / "bin" / "elasticsearch")], extra
