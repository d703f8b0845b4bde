'use strict';
// Loads the author's script, calls its function once, and says on the third channel what came of it. Everything that is
// needed after the script has run is taken before: the script may change any object that it can reach.
(() => {
  const { readFileSync, writeSync } = require('node:fs');
  const { isBuiltin } = require('node:module');
  const vm = require('node:vm');
  const { stringify } = JSON;
  const { from } = Buffer;
  const wellFormed = Function.prototype.call.bind(String.prototype.toWellFormed);
  const exit = process.exit.bind(process);
  const builtin = require;
  const TEXT = 2000;
  const CHANNEL = 3;
  const request = JSON.parse(readFileSync(0, 'utf8'));
  const { nonce, use, script, input } = request;
  // `--eval` makes these global; a script is not to find another `require` than the one it is given.
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];

  const send = (frame) => {
    const bytes = from(`${nonce} ${stringify({ __proto__: null, ...frame })}\n`);
    for (let sent = 0; sent < bytes.length;) sent += writeSync(CHANNEL, bytes, sent);
  };

  const text = (thrown) => {
    try {
      let said = thrown;
      if (typeof thrown?.message === 'string') {
        const { name, message } = thrown;
        said = typeof name === 'string' && name !== 'Error' ? `${name}: ${message}` : message;
      }
      return wellFormed(`${said}`.slice(0, TEXT));
    } catch {
      return 'something that has no text';
    }
  };

  const only = (name) => {
    if (!isBuiltin(name)) throw new Error('a script may require only modules that are part of Node');
    return builtin(name);
  };

  // A text that does not compile as CommonJS is taken for an ES module.
  const load = async () => {
    let compiled;
    try {
      const importModuleDynamically = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
      compiled = vm.compileFunction(script, ['exports', 'require', 'module'], { filename: 'script.cjs', importModuleDynamically });
    } catch (fault) {
      const url = `data:text/javascript;base64,${from(`${script}\n//# sourceURL=script.mjs`).toString('base64')}`;
      try {
        return (await import(url)).default;
      } catch (other) {
        throw /^\s*(import|export)\b/m.test(script) ? other : fault;
      }
    }
    const module = { exports: {} };
    compiled.call(module.exports, module.exports, only, module);
    return typeof module.exports === 'function' ? module.exports : module.exports.default;
  };

  const run = async () => {
    let decide;
    try {
      decide = await load();
    } catch (thrown) {
      return { unusable: text(thrown) };
    }
    if (typeof decide !== 'function') return { unusable: `a function was expected, this gives ${typeof decide}` };
    let answer;
    try {
      answer = await decide(input);
    } catch (thrown) {
      return { threw: text(thrown) };
    }
    if (use === 'select') return { selection: answer };
    return { verdict: answer === undefined || answer === true ? 'accept' : answer === false ? 'refuse' : typeof answer };
  };

  // What is printed is out before the process ends, and a flood waits for its reader instead of filling the memory.
  for (const stream of [process.stdout, process.stderr]) stream._handle?.setBlocking?.(true);
  send({ ready: true });
  run().then((frame) => {
    try {
      send(frame);
    } catch (thrown) {
      send({ threw: text(thrown) });
    }
    // With the code that the script may have set.
    exit();
  });
})();
