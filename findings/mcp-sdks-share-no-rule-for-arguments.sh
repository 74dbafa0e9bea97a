#!/usr/bin/env bash
# One would guess: a tool with a text, a list of tags and a number takes the same arguments, whichever of the official SDKs for MCP it is
# written with, as all three publish nearly the same JSON Schema for it and check arguments against it.
# What happens: an argument that the tool lacks (`tag` for `tags`) is an error in Go, and dropped without a word in Python and TypeScript, so that
# a model that asks for one tag gets the posts of all. The limit "10" is 10 in Python and an error in the others, and so are the tags
# '["rye"]' as text. Tags of null, as models send what they leave out, are an error in Python and TypeScript, and none in Go. A
# list that is empty in Go is null in the result ("hits":null), for which its schema has ["null","array"].
# Seen with: mcp 2.3.0 for Python, @modelcontextprotocol/server 2.4.0 with zod 4.6.7, github.com/modelcontextprotocol/go-sdk v1.8.0. Source: ten
# calls, each with the SDK's own client in one process.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mcp==2.3.0
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
go mod init calls 2> /dev/null
go get github.com/modelcontextprotocol/go-sdk/mcp@v1.8.0 2> /dev/null
cat > calls.json <<'JSON'
[{"query": "rye", "tag": "oats"}, {"query": "rye", "limit": "10"}, {"query": "rye", "tags": "[\"oats\"]"}, {"query": "rye", "tags": null}, {"query": 2024}]
JSON
cat > try.py <<'PY'
import asyncio, json
from mcp import Client
from mcp.server.mcpserver import MCPServer

server = MCPServer("search")


@server.tool()
def search(query: str, tags: list[str] = [], limit: int = 5) -> str:
    return f"{query} {tags} {limit}"


async def main():
    async with Client(server) as client:
        for call in json.load(open("calls.json")):
            result = await client.call_tool("search", call)
            print("Python", json.dumps(call), "error" if result.is_error else result.content[0].text)


asyncio.run(main())
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
const server = new McpServer({ name: "search", version: "1" });
const inputSchema = z.object({ query: z.string(), tags: z.array(z.string()).default([]), limit: z.number().int().default(5) });
server.registerTool("search", { inputSchema }, ({ query, tags, limit }) => ({ content: [{ type: "text", text: `${query} [${tags}] ${limit}` }] }));
const [one, other] = InMemoryTransport.createLinkedPair();
await server.connect(one);
const client = new Client({ name: "try", version: "1" });
await client.connect(other);
for (const call of JSON.parse(readFileSync("calls.json", "utf8"))) {
  const result = await client.callTool({ name: "search", arguments: call });
  console.log("TypeScript", JSON.stringify(call), result.isError ? "error" : result.content[0].text);
}
process.exit(0);
JS
cat > main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	Query string   `json:"query"`
	Tags  []string `json:"tags,omitempty"`
	Limit int      `json:"limit,omitempty"`
}

type found struct {
	Said string   `json:"said"`
	Hits []string `json:"hits"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "search", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search"}, func(_ context.Context, _ *mcp.CallToolRequest, given arguments) (*mcp.CallToolResult, found, error) {
		return nil, found{Said: fmt.Sprintf("%s %v %d", given.Query, given.Tags, given.Limit)}, nil
	})
	one, other := mcp.NewInMemoryTransports()
	must(server.Connect(ctx, one, nil))
	session := must(mcp.NewClient(&mcp.Implementation{Name: "try", Version: "1"}, nil).Connect(ctx, other, nil))
	var calls []map[string]any
	if err := json.Unmarshal(must(os.ReadFile("calls.json")), &calls); err != nil {
		panic(err)
	}
	for _, call := range calls {
		result := must(session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: call}))
		said := "error"
		if !result.IsError {
			said = string(must(json.Marshal(result.StructuredContent)))
		}
		fmt.Println("Go", string(must(json.Marshal(call))), said)
	}
}
GO
{ venv/bin/python try.py 2> /dev/null && node try.mjs && go run .; } | tee seen
diff seen - <<'SEEN'
Python {"query": "rye", "tag": "oats"} rye [] 5
Python {"query": "rye", "limit": "10"} rye [] 10
Python {"query": "rye", "tags": "[\"oats\"]"} rye ['oats'] 5
Python {"query": "rye", "tags": null} error
Python {"query": 2024} error
TypeScript {"query":"rye","tag":"oats"} rye [] 5
TypeScript {"query":"rye","limit":"10"} error
TypeScript {"query":"rye","tags":"[\"oats\"]"} error
TypeScript {"query":"rye","tags":null} error
TypeScript {"query":2024} error
Go {"query":"rye","tag":"oats"} error
Go {"limit":"10","query":"rye"} error
Go {"query":"rye","tags":"[\"oats\"]"} error
Go {"query":"rye","tags":null} {"hits":null,"said":"rye [] 0"}
Go {"query":2024} error
SEEN
