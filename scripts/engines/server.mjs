// An MCP server with one tool that writes down what it is asked: server.mjs LOG
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const log = process.argv[2];
const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
const tool = { name: 'ledger_status', description: 'Says how full the ledger is', inputSchema: { type: 'object', properties: {} } };

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  appendFileSync(log, `${method} key=${process.env.SEARCH_KEY ?? ''}\n`);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '1' } });
  } else if (method === 'tools/list') {
    answer(id, { tools: [tool] });
  } else if (id !== undefined) {
    answer(id, {});
  }
}
