"""Makes the calls of a script with the Python MCP SDK and prints the answers: clients_python.py MODE CALLS COMMAND …"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode: str, calls: str, command: list[str]) -> None:
    with open(calls, encoding="utf-8") as file:
        script = json.load(file)
    answers = []
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), mode=mode) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        for call in script:
            result = await client.call_tool(call["tool"], call["arguments"])
            answers.append(json.loads(result.content[0].text) if result.is_error else result.structured_content)
    json.dump({"tools": tools, "answers": answers}, sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
