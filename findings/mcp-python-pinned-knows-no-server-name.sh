#!/usr/bin/env bash
# Guess: since each result of 2026-07-28 names the server in its `_meta`, a client that pins the revision knows the name after
# its first call.
# Seen (mcp 2.3.0 for Python, November 2026): `server_info` stays None; with mode "auto" it is known, from `server/discover`.
# Source: run against a server that names itself in every result.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mcp==2.3.0
cat > try.py <<'PY'
import asyncio, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from mcp.client import Client

NAME = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "named", "version": "1"}}}
KEPT = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", **NAME}

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        discovered = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        result = {"tools": []} if sent["method"] == "tools/list" else discovered
        body = json.dumps({"jsonrpc": "2.0", "id": sent["id"], "result": {**result, **KEPT}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
Thread(target=server.serve_forever, daemon=True).start()

async def main():
    for mode in ("auto", "2026-07-28"):
        async with Client(f"http://127.0.0.1:{server.server_address[1]}/mcp", mode=mode) as client:
            await client.list_tools()
            print(mode, client.server_info.name if client.server_info else None)

asyncio.run(main())
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
auto named
2026-07-28 None
SEEN
