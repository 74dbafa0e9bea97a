#!/usr/bin/env bash
# Guess: a client library whose changelog names the revision of 2026-07-28 opens with it.
# Seen (@modelcontextprotocol/client 2.4.0, November 2026): without an option it opens with `initialize` and 2025-11-25, and sends
# no header of the new revision; `versionNegotiation: {mode: "auto"}` opens with `server/discover`. A server of the new revision
# alone is invisible to it.
# Source: run against a server of ten lines that records what comes first.
set -euo pipefail
command -v npm > /dev/null || { echo "needs Node.js with npm"; exit 2; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund @modelcontextprotocol/client@2.4.0
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
const seen = [];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  const { method, params } = text ? JSON.parse(text) : {};
  seen.push([method, params?.protocolVersion ?? params?._meta?.["io.modelcontextprotocol/protocolVersion"], request.headers["mcp-method"] ?? "-"]);
  response.writeHead(500).end();
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
for (const options of [undefined, { versionNegotiation: { mode: "auto" } }]) {
  seen.length = 0;
  await new Client({ name: "try", version: "1" }, options).connect(new StreamableHTTPClientTransport(url)).catch(() => {});
  console.log(options ? "auto" : "as it comes", seen[0].join(" "));
}
server.close();
process.exit(0);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
as it comes initialize 2025-11-25 -
auto server/discover 2026-07-28 server/discover
SEEN
