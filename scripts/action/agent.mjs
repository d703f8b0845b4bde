// An agent in place of a model, over MCP: it asks for what is there, appends one record, and leaves one output.
// agent.mjs --text TEXT --mcp-config FILE --outputs FILE
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const string = { type: 'string' };
const { text, outputs, 'mcp-config': config } = parseArgs({ options: { text: string, outputs: string, 'mcp-config': string } }).values;
const { command, args } = JSON.parse(readFileSync(config, 'utf8')).mcpServers.daybook;
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let last = 0;

async function ask(method, params) {
  const id = ++last;
  send({ id, method, params });
  for (;;) {
    const { value, done } = await answers.next();
    if (done) throw new Error('the server went away');
    const answer = JSON.parse(value);
    if (answer.id === id) return answer.result;
  }
}

await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'script', version: '1' } });
send({ method: 'notifications/initialized' });
const found = await ask('tools/call', { name: 'ledger_query', arguments: {} });
console.log(`AGENT finds ${(JSON.stringify(found).match(/written by hand/g) ?? []).length > 0 ? 'a record' : 'nothing'}`);
const appended = await ask('tools/call', { name: 'ledger_append', arguments: { type: 'note', payload: { text } } });
if (appended.isError) throw new Error(JSON.stringify(appended));
console.log('AGENT appends a record');
appendFileSync(outputs, `${JSON.stringify({ type: 'say_hello', body: 'hello from a script' })}\n`);
server.stdin.end();
