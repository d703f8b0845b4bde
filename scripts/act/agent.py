"""An agent in place of a model: it reads what earlier runs left, says so, appends one record, and leaves outputs."""

import asyncio
import glob
import json
import os

from mcp import Client, StdioServerParameters

# What each run leaves besides its record. The last one asks for a ledger that does not exist.
COMPACT = {"type": "ledger_request_compaction", "ledger": "triage", "reason": "many small shards"}
OUTPUTS = {
    "2": [COMPACT, {"type": "add_comment", "body": "run 2 says hello"}],
    "attack": [COMPACT, {"type": "add_comment", "body": "run attack says hello"}],
    "4": [{**COMPACT, "ledger": "elsewhere"}, {"type": "add_comment", "body": "run 4 says hello"}],
}


async def main():
    with open(os.environ["DAYBOOK_MCP_CONFIG"]) as file:
        server = json.load(file)["mcpServers"]["daybook"]
    with open(os.environ["DAYBOOK_PROMPT"]) as file:
        assert file.read().lstrip().startswith("# Triage the new issue"), "the prompt is not the source's"
    run = os.environ["RUN"]
    root = server["args"][server["args"].index("--memory-root") + 1]
    restored = glob.glob(f"{root}/triage/ledger/shards/*.jsonl")
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
    async with Client(parameters) as client:
        found = await client.call_tool("ledger_query", {"type": "triage"})
        text = " ".join(block.text for block in found.content)
        print("AGENT run", run, "reads", "a record written by run 1" if "written by run 1" in text else "nothing")
        payload = {"issue": 7, "area": "core", "reason": f"written by run {run}"}
        appended = await client.call_tool("ledger_append", {"type": "triage", "payload": payload})
        assert not appended.is_error, appended
        print("AGENT run", run, "appends a record")
    with open(os.environ["DAYBOOK_SAFE_OUTPUTS"], "a") as file:
        file.writelines(json.dumps(output) + "\n" for output in OUTPUTS.get(run, []))
    if run == "attack":
        open(restored[0], "w").close()
        print("AGENT run attack empties a shard")


asyncio.run(main())
