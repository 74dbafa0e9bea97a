// Both TypeScript clients, in each mode they have, list and call both tools of the service at argv[2].
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.argv[2]);
const about = { name: "test", version: "1" };
const modern = (mode) => [new Client(about, mode && { versionNegotiation: { mode } }), new StreamableHTTPClientTransport(url)];
const modes = {
  "client": () => modern(),
  "client auto": () => modern("auto"),
  "client 2026-07-28": () => modern({ pin: "2026-07-28" }),
  "sdk": () => [new FormerClient(about), new FormerTransport(url)],
};
for (const [mode, make] of Object.entries(modes)) {
  const [client, transport] = make();
  await client.connect(transport);
  const { tools } = await client.listTools();
  const found = await client.callTool({ name: "search", arguments: { query: "pythn" } });
  const [first] = found.structuredContent.results;
  const post = await client.callTool({ name: "fetch", arguments: { id: first.id } });
  const wrong = await client.callTool({ name: "search", arguments: { query: "a", since: "soon" } });
  const unknown = await client.callTool({ name: "none", arguments: {} }).then(() => null, (error) => error.code);
  await client.close();
  console.log(JSON.stringify({
    mode, tools: tools.map((tool) => tool.name), first: first.id, post: post.structuredContent.id, wrong: wrong.isError, unknown,
  }));
}
