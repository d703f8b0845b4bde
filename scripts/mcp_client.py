"""Plays the agent with the Python MCP SDK: lists the tools and appends one record."""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters

TOOLS = ["ledger_append", "ledger_get", "ledger_query", "ledger_status"]


async def main() -> None:
    with open(os.environ["DAYBOOK_MCP_CONFIG"], encoding="utf-8") as file:
        server = json.load(file)["mcpServers"]["daybook"]
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
    async with Client(parameters) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        assert tools == TOOLS, tools
        payload = {"issue": 7, "reason": "appended by the Python SDK"}
        result = await client.call_tool("ledger_append", {"type": "note", "payload": payload})
        assert not result.is_error, result
        assert result.structured_content["sha"].startswith("sha256:"), result


asyncio.run(main())
