//! What counts as consent, and what a refusal says.

use daybook_script::{Fault, Foreign, Limits};

use crate::support::{World, sandboxes};

/// The answer of a script, the same on every Node.
fn answer(source: &str) -> Result<(), Fault> {
    let mut answers = sandboxes().iter().map(|sandbox| {
        let ran = World::new().validate(sandbox, source, &Limits::default());
        println!("Node {}: {source:?} printed {:?}", sandbox.version(), ran.output);
        ran.answer
    });
    let first = answers.next().expect("there is a Node");
    assert!(answers.all(|other| other == first), "{source}");
    first
}

// DB-4.1-01
#[test]
fn nothing_and_true_are_consent_from_either_kind_of_module() {
    for source in [
        "module.exports = () => {};",
        "module.exports = () => true;",
        "module.exports = async () => { await null; };",
        "exports.default = () => true;",
        "export default () => true;",
        "export default async () => {};",
        "import { readFileSync } from 'node:fs';\nconst limit = await 7;\nexport default () => limit === 7;",
        "const { join } = require('path'); module.exports = () => join('a', 'b') === 'a/b';",
    ] {
        assert_eq!(answer(source), Ok(()), "{source}");
    }
}

#[test]
fn false_is_a_refusal_and_other_values_are_no_answer() {
    assert_eq!(answer("module.exports = () => false;"), Err(Fault::Refused));
    assert_eq!(answer("export default async () => false;"), Err(Fault::Refused));
    for value in ["1", "0", "'true'", "null", "{}", "[]", "new Boolean(true)", "() => true", "10n", "Symbol()"] {
        assert_eq!(answer(&format!("module.exports = () => ({value});")), Err(Fault::BadAnswer), "{value}");
    }
}

#[test]
fn what_is_thrown_is_told_and_nothing_else_of_it() {
    let threw = |source: &str| match answer(source) {
        Err(Fault::Threw(text)) => text.raw().to_owned(),
        other => panic!("{source}: {other:?}"),
    };
    assert_eq!(threw("module.exports = () => { throw new Error('total above 10'); };"), "total above 10");
    assert_eq!(threw("module.exports = async () => { throw new TypeError('x'); };"), "TypeError: x");
    assert_eq!(threw("module.exports = () => { throw 'a text'; };"), "a text");
    assert_eq!(threw("module.exports = () => Promise.reject();"), "undefined");
    assert_eq!(
        threw("module.exports = () => { throw { get message() { throw 1; } }; };"),
        "something that has no text"
    );
    assert_eq!(threw("module.exports = () => { throw 'x'.repeat(1e6); };").len(), 2000);
    assert_eq!(threw("module.exports = () => { throw '\\ud800'; };"), "\u{fffd}");
    assert_eq!(
        threw("module.exports = () => { (function f() { f(); })(); };"),
        "RangeError: Maximum call stack size exceeded"
    );
}

#[test]
fn a_script_that_does_not_load_says_why() {
    for (source, says) in [
        ("module.exports = (", "SyntaxError: Unexpected end of input"),
        ("export default (", "SyntaxError: Unexpected end of input"),
        ("", "a function was expected, this gives undefined"),
        ("module.exports = 7;", "a function was expected, this gives undefined"),
        ("export default 7;", "a function was expected, this gives number"),
        ("throw new Error('at once');", "at once"),
        ("require('./helper.js');", "a script may require only modules that are part of Node"),
        ("require('lodash');", "a script may require only modules that are part of Node"),
    ] {
        assert_eq!(answer(source), Err(Fault::ScriptUnusable(Foreign::new(says))), "{source}");
    }
}

// DB-4.1-04
#[test]
fn ending_the_process_is_never_consent() {
    for exit in ["process.exit(0)", "process.exit()", "process.reallyExit(0)", "process.exitCode = 0; process.exit()"] {
        assert_eq!(answer(&format!("{exit};")), Err(Fault::NoAnswer), "{exit}");
        assert_eq!(answer(&format!("module.exports = () => {{ {exit}; }};")), Err(Fault::NoAnswer), "{exit}");
    }
    assert_eq!(answer("module.exports = () => new Promise(() => {});"), Err(Fault::NoAnswer));
    assert_eq!(answer("process.exit(3);"), Err(Fault::Exited { code: 3 }));
    assert_eq!(
        answer("module.exports = () => { process.exitCode = 3; return true; };"),
        Err(Fault::Exited { code: 3 })
    );
    let handler = "module.exports = () => { process.on('exit', () => { process.exitCode = 4; }); };";
    assert_eq!(answer(handler), Err(Fault::Exited { code: 4 }));
    let later = "module.exports = () => new Promise(() => setTimeout(() => { throw new Error('later'); }, 1));";
    assert_eq!(answer(later), Err(Fault::Exited { code: 1 }));
    assert_eq!(
        answer("module.exports = () => { Promise.reject(1); return new Promise(() => {}); };"),
        Err(Fault::Exited { code: 1 })
    );
    assert_eq!(answer("module.exports = () => process.abort();"), Err(Fault::Died { signal: 6 }));
    assert_eq!(answer("module.exports = () => process.kill(process.pid, 'SIGKILL');"), Err(Fault::Died { signal: 9 }));
}

// DB-4.1-03
#[test]
fn a_script_is_given_the_tree_its_files_and_the_run() {
    let source = r#"
        const { readFileSync, readdirSync } = require('node:fs');
        const { deepStrictEqual, strictEqual } = require('node:assert');
        module.exports = ({ root, files, run, ...rest }) => {
            deepStrictEqual(files, [{ bytes: 12, path: 'facts/one.json' }, { bytes: 6, path: 'notes.md' }]);
            deepStrictEqual(run, { branch: 'memory/notes', id: 'run 7', memory: 'notes' });
            deepStrictEqual(rest, {});
            strictEqual(process.cwd(), root);
            strictEqual(readFileSync(`${root}/notes.md`, 'utf8'), 'hello\n');
            strictEqual(readFileSync('facts/one.json', 'utf8'), '{"total":1}\n');
            strictEqual(readdirSync(root, { recursive: true }).length, 3);
            deepStrictEqual(Object.keys(process.env), []);
        };
    "#;
    assert_eq!(answer(source), Ok(()));
}

#[test]
fn what_a_script_prints_is_kept_in_its_order() {
    for sandbox in sandboxes() {
        let source = "module.exports = () => { console.log('one'); console.error('two'); process.stdout.write('::error::three'); return false; };";
        let ran = World::new().validate(sandbox, source, &Limits::default());
        assert_eq!(ran.answer, Err(Fault::Refused));
        assert_eq!(ran.output.raw(), "one\ntwo\n::error::three");
    }
}
