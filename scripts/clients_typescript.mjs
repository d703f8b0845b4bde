// Makes the calls of a script with the TypeScript MCP SDK and prints the answers: clients_typescript.mjs MODULES CALLS COMMAND …
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, calls, command, ...args] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/index.js`);
const load = (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "clients", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const tools = (await client.listTools()).tools.map((tool) => tool.name).sort();
const answers = [];
for (const { tool, arguments: given } of JSON.parse(readFileSync(calls, "utf8"))) {
    // The SDK checks structured content against the tool's output schema.
    const result = await client.callTool({ name: tool, arguments: given });
    answers.push(result.isError ? JSON.parse(result.content[0].text) : result.structuredContent);
}
await client.close();
process.stdout.write(JSON.stringify({ tools, answers }));
