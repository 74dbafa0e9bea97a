"""Today's clients of the Model Context Protocol use `/mcp` for real: `make test-clients`.

Needs Node.js and npm; installs the pinned clients into a temporary folder.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from werkzeug.serving import make_server

from app import create_app
from app.settings import Settings

HERE = Path(__file__).parent
NPM = (
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/conformance@0.1.16",
    "node@22.23.3",  # the conformance suite does not run on Node.js 20
)
PYTHON = "mcp==2.3.0"
MODES = {"client", "client auto", "client 2026-07-28", "sdk"}
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""Those of the suite that a server of two tools can pass; the others want tools of their own."""


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, encoding="utf-8", check=False, cwd=cwd
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all clients."""
    if not shutil.which("npm"):
        pytest.fail("make test-clients needs Node.js with npm")
    folder = tmp_path_factory.mktemp("clients")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--no-audit", "--no-fund", *NPM, cwd=folder)
    shutil.copy(HERE / "clients.mjs", folder)
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", PYTHON)
    return folder


@pytest.fixture
def url(sample_alias: str, own_settings: Settings) -> Iterator[str]:
    settings = replace(own_settings, index=sample_alias, cors_origins="", rate_limit="")
    server = make_server("127.0.0.1", 0, create_app(settings), threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def check(output: str, modes: set[str]) -> None:
    said = [json.loads(line) for line in output.splitlines()]
    assert {one["mode"] for one in said} == modes
    for one in said:
        assert one["tools"] == ["search", "fetch"]
        assert one["post"] == one["first"]
        assert (one["wrong"], one["unknown"]) == (True, -32602), one


def test_typescript(installed: Path, url: str) -> None:
    node = installed / "node_modules/node/bin/node"
    check(run(node, "clients.mjs", url, cwd=installed), MODES)


def test_python(installed: Path, url: str) -> None:
    output = run(installed / "venv/bin/python", HERE / "client.py", url)
    check(output, {"legacy", "auto", "2026-07-28"})


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_conformance(installed: Path, url: str, scenario: str) -> None:
    node = installed / "node_modules/node/bin/node"
    suite = installed / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    output = run(node, suite, "server", "--url", url, "--scenario", scenario, cwd=installed)
    assert " 0 failed" in output
