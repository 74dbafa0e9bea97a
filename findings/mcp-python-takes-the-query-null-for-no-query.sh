#!/usr/bin/env bash
# One would guess: a tool of the Python SDK for MCP with `query: str | None` gets the text that the client sent, as one with `query: str`
# does.
# What happens: the SDK parses each text as JSON before it validates it, unless the annotation is `str` itself. It is meant for clients
# that send a list as text. With `str | None` the query "null" is None, which is no query, so that a search for null returns what it
# returns without words; a query in brackets or braces ("[1]", "{}") is an error that says "Input should be a valid string". 2024 and true
# stay text, and so does everything with `query: str`. An argument that the tool does not have is dropped without an error.
# Seen with: mcp 2.3.0 for Python, as server and client. Source: issue 3055 of modelcontextprotocol/python-sdk reports it for objects and
# lists; null is not mentioned there. Eight queries.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mcp==2.3.0
cat > try.py <<'PY'
import asyncio
from mcp import Client
from mcp.server.mcpserver import MCPServer

server = MCPServer("search")


@server.tool()
def optional(query: str | None = None) -> str:
    return repr(query)


@server.tool()
def required(query: str) -> str:
    return repr(query)


async def main():
    async with Client(server) as client:
        for tool in ("optional", "required"):
            for query in ("null", "[1]", '["rye"]', "{}", "2024", "true", "rye"):
                result = await client.call_tool(tool, {"query": query})
                text = result.content[0].text
                print(f"{tool} {query}:", "error, valid string wanted" if result.is_error and "valid string" in text else text)
        print("another name:", (await client.call_tool("optional", {"q": "rye"})).content[0].text)


asyncio.run(main())
PY
venv/bin/python try.py 2> /dev/null | tee seen
diff seen - <<'SEEN'
optional null: None
optional [1]: error, valid string wanted
optional ["rye"]: error, valid string wanted
optional {}: error, valid string wanted
optional 2024: '2024'
optional true: 'true'
optional rye: 'rye'
required null: 'null'
required [1]: '[1]'
required ["rye"]: '["rye"]'
required {}: '{}'
required 2024: '2024'
required true: 'true'
required rye: 'rye'
another name: None
SEEN
