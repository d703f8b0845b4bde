"""An agent in place of a model: it reads what earlier runs left, says so, and appends one record."""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters


async def main():
    with open(os.environ["DAYBOOK_MCP_CONFIG"]) as file:
        server = json.load(file)["mcpServers"]["daybook"]
    with open(os.environ["DAYBOOK_PROMPT"]) as file:
        assert file.read().lstrip().startswith("# Triage the new issue"), "the prompt is not the source's"
    run = os.environ["RUN"]
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
    async with Client(parameters) as client:
        found = await client.call_tool("ledger_query", {"type": "triage"})
        text = " ".join(block.text for block in found.content)
        print("AGENT run", run, "reads", "a record written by run 1" if "written by run 1" in text else "nothing")
        payload = {"issue": 7, "area": "core", "reason": f"written by run {run}"}
        appended = await client.call_tool("ledger_append", {"type": "triage", "payload": payload})
        assert not appended.is_error, appended
        print("AGENT run", run, "appends a record")


asyncio.run(main())
