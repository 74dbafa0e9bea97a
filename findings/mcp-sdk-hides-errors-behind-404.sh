#!/usr/bin/env bash
# Guess: a JSON-RPC error is a JSON-RPC error, whatever the HTTP status; 404 suits "no such method" best.
# Seen (@modelcontextprotocol/sdk 1.32.2, November 2026): with status 200 the caller gets an McpError with its code; with 404 the
# same body gives an error of the transport whose code is the HTTP status. The revision of 2026-07-28 asks for 404 there, so a
# server of both eras needs two statuses for one error.
# Source: run against a server that answers a request with either status.
set -euo pipefail
command -v npm > /dev/null || { echo "needs Node.js with npm"; exit 2; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2
cat > try.mjs <<'JS'
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
let status = 200;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  if (request.method !== "POST") return response.writeHead(405).end();
  const { id, method } = JSON.parse(text);
  if (id === undefined) return response.writeHead(202).end();
  const say = (code, body) => response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  if (method === "initialize") return say(200, { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  say(status, { error: { code: -32601, message: "no such method" } });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
for (status of [200, 404]) {
  const client = new Client({ name: "try", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(url));
  const error = await client.listTools().catch((error) => error);
  console.log(status, error.constructor.name, error.code);
}
process.exit(0);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
200 McpError -32601
404 StreamableHTTPError 404
SEEN
