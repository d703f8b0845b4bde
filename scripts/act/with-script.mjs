// Prints a workflow source with a scripted engine in place of its own, and a ledger that is worth compacting after two
// runs: with-script.mjs SOURCE PYTHON AGENT
import { readFileSync } from 'node:fs';

const [source, python, agent] = process.argv.slice(2);
const text = readFileSync(source, 'utf8');
const engine = `engine:\n  id: custom\n  steps:\n    - name: A script in place of a model\n      run: '"${python}" "${agent}"'\n`;
const changes = [
    [/^engine: claude\n/m, engine],
    [/^    triage:\n/m, '    triage:\n      compaction: { min-segments: 2 }\n'],
];
const changed = changes.reduce((before, [line, instead]) => {
    if (!line.test(before)) throw new Error(`${source} has no line ${line}`);
    return before.replace(line, instead);
}, text);
process.stdout.write(changed);
