// Lets packages that import JSON without saying so be loaded.
import { register } from 'node:module';

register(
  'data:text/javascript,' +
    encodeURIComponent(`
      import { readFileSync } from 'node:fs';
      import { fileURLToPath } from 'node:url';
      export async function load(url, context, next) {
        if (!url.endsWith('.json')) return next(url, context);
        const source = 'export default ' + readFileSync(fileURLToPath(url), 'utf8');
        return { format: 'module', source, shortCircuit: true };
      }
    `),
);
