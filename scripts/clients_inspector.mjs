// Makes the calls of a script with the MCP inspector, one process each, and prints the answers:
// clients_inspector.mjs INSPECTOR CONFIG CALLS
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [inspector, config, calls] = process.argv.slice(2);
const inspect = (...args) => {
    const run = spawnSync(inspector, ["--cli", "--config", config, "--server", "daybook", ...args], {
        encoding: "utf8",
        env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: "memory" },
    });
    // A refused call makes the inspector end with an error; its answer is printed all the same.
    if (!run.stdout.trim()) throw new Error(`the inspector says nothing: ${run.stderr}`);
    return JSON.parse(run.stdout);
};

const tools = inspect("--method", "tools/list").tools.map((tool) => tool.name).sort();
const answers = JSON.parse(readFileSync(calls, "utf8")).map(({ tool, arguments: given }) => {
    const args = Object.entries(given).flatMap(([name, value]) => ["--tool-arg", `${name}=${JSON.stringify(value)}`]);
    const result = inspect("--method", "tools/call", "--tool-name", tool, ...args);
    return result.isError ? JSON.parse(result.content[0].text) : result.structuredContent;
});
process.stdout.write(JSON.stringify({ tools, answers }));
