// Prints a workflow source with a scripted engine in place of its own: with-script.mjs SOURCE PYTHON AGENT
import { readFileSync } from 'node:fs';

const [source, python, agent] = process.argv.slice(2);
const text = readFileSync(source, 'utf8');
const engine = `engine:\n  id: custom\n  steps:\n    - name: A script in place of a model\n      run: '"${python}" "${agent}"'\n`;
const changed = text.replace(/^engine: claude\n/m, engine);
if (changed === text) throw new Error(`${source} has no line "engine: claude"`);
process.stdout.write(changed);
