"""The Python client, in each mode it has, lists and calls both tools of the service at argv[1].

Runs in a virtual environment of its own, which has `mcp`.
"""

import asyncio
import json
import sys

from mcp import MCPError
from mcp.client import Client


async def main(url: str) -> None:
    for mode in ("legacy", "auto", "2026-07-28"):
        async with Client(url, mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("search", {"query": "pythn"})
            first = found.structured_content["results"][0]["id"]
            post = await client.call_tool("fetch", {"id": first})
            wrong = await client.call_tool("search", {"query": "a", "since": "soon"})
            unknown = None
            try:
                await client.call_tool("none", {})
            except MCPError as error:
                unknown = error.code
        said = {"mode": mode, "tools": tools, "first": first, "unknown": unknown}
        said |= {"post": post.structured_content["id"], "wrong": wrong.is_error}
        print(json.dumps(said))


asyncio.run(main(sys.argv[1]))
