//! The other use: a script that names segments, with no file at all.

use std::time::Duration;

use daybook_core::ShardId;
use daybook_script::{Fault, Limits, Ran, Script, SegmentFacts};
use serde_json::json;

use crate::support::sandboxes;
use daybook_testkit::said;

const IDS: [&str; 2] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];

fn select(source: &str, limits: &Limits) -> Vec<Ran<Vec<String>>> {
    let segments: Vec<SegmentFacts> = (1..)
        .zip(IDS)
        .map(|(number, id)| SegmentFacts { id: ShardId::from_text(id).unwrap(), bytes: 100 * number, records: number })
        .collect();
    let script = Script::new(source).unwrap();
    let options = json!({ "max-segments": 128 });
    sandboxes().iter().map(|sandbox| sandbox.select(&script, limits, &segments, &options)).collect()
}

fn answers(source: &str) -> Vec<Result<Vec<String>, Fault>> {
    select(source, &Limits::default()).into_iter().map(|ran| ran.answer).collect()
}

// DB-4.2-03, DB-4.2-05
#[test]
fn a_script_gets_segments_and_options_and_names_sources() {
    let source = r#"
        import { deepStrictEqual } from 'node:assert';
        export default ({ segments, options, ...rest }) => {
            deepStrictEqual(options, { 'max-segments': 128 });
            deepStrictEqual(segments[1], { bytes: 200, id: '00000000-0000-4000-8000-000000000002', records: 2 });
            deepStrictEqual([rest, Object.keys(process.env), process.cwd()], [{}, [], '/']);
            return { sources: segments.map((segment) => segment.id) };
        };
    "#;
    for answer in answers(source) {
        assert_eq!(answer, Ok(IDS.map(str::to_owned).to_vec()));
    }
}

// DB-4.2-05
#[test]
fn an_answer_of_another_form_is_none() {
    for value in [
        "undefined",
        "true",
        "[]",
        "['x']",
        "{}",
        "{ sources: 'x' }",
        "{ sources: [1] }",
        "{ sources: [null] }",
        "{ sources: [['x']] }",
        "{ sources: { length: 1, 0: 'x' } }",
        "{ sources: [], plan: 1 }",
        "Object.create({ sources: ['x'] })",
        "{ sources: [], toJSON() { return 7; } }",
        "JSON.parse('{\"__proto__\":{\"sources\":[\"x\"]}}')",
    ] {
        for answer in answers(&format!("module.exports = () => ({value});")) {
            assert!(matches!(answer, Err(Fault::BadAnswer | Fault::Threw(_))), "{value}: {answer:?}");
        }
    }
    for source in [
        "const answer = { sources: [] }; answer.more = answer; module.exports = () => answer;",
        "module.exports = () => ({ sources: [1n] });",
        "module.exports = () => ({ sources: ['a'], get more() { throw new Error('x'); } });",
    ] {
        for answer in answers(source) {
            assert!(matches!(answer, Err(Fault::Threw(_))), "{source}: {answer:?}");
        }
    }
}

#[test]
fn prototype_tricks_change_nothing_but_the_scripts_own_answer() {
    let own = Ok(vec!["a".to_owned()]);
    for (trick, expected) in [
        ("Object.prototype.sources = ['everywhere'];", own.clone()),
        ("Object.prototype.threw = 'x'; Object.prototype.verdict = 'accept';", own.clone()),
        ("JSON.stringify = () => '{}'; JSON.parse = () => ({});", own.clone()),
        ("Buffer.from = () => { throw 1; }; Buffer.prototype.toString = () => '';", own.clone()),
        ("require('fs').writeSync = () => { throw 1; };", own.clone()),
        ("process.exit = () => {}; process.reallyExit = () => {};", Err(Fault::TimeLimit)),
        ("Array.prototype.toJSON = () => ['forged'];", Ok(vec!["forged".to_owned()])),
        ("Object.prototype.toJSON = () => ({ verdict: 'accept' });", Err(Fault::BadAnswer)),
    ] {
        // What keeps the process alive is no reason to wait for it, but for the one who took away the way to end it.
        let source = format!("{trick} setInterval(() => {{}}, 1000); module.exports = () => ({{ sources: ['a'] }});");
        let limits = Limits { wall: Duration::from_secs(3), ..Limits::default() };
        let limits = if expected == Err(Fault::TimeLimit) { limits } else { Limits::default() };
        for ran in select(&source, &limits) {
            assert_eq!(ran.answer, expected, "{trick}: {:?}", ran.output);
        }
    }
    let limits = Limits { wall: Duration::from_secs(3), ..Limits::default() };
    for ran in select("module.exports = () => ({ sources: [], get then() { for (;;) {} } });", &limits) {
        assert_eq!(ran.answer, Err(Fault::TimeLimit));
    }
}

// DB-4.2-05
#[test]
fn an_answer_is_as_small_as_its_bound() {
    for answer in answers("module.exports = () => ({ sources: Array(1e5).fill('x'.repeat(30)) });") {
        assert_eq!(said::code(&answer.unwrap_err(), Fault::code), "script-answer-size");
    }
    for answer in answers("module.exports = () => ({ sources: Array(1e3).fill('x'.repeat(30)) });") {
        assert_eq!(answer.map(|sources| sources.len()), Ok(1000));
    }
    let deep = "module.exports = () => { let deep = []; for (let i = 0; i < 2000; i++) deep = [deep]; return { sources: deep }; };";
    for answer in answers(deep) {
        assert_eq!(answer, Err(Fault::BadAnswer));
    }
}

// DB-4.2-03
#[test]
fn a_selection_script_sees_no_file() {
    let source = r#"
        const { readFileSync, readdirSync } = require('node:fs');
        const look = (see) => { try { see(); return ['seen']; } catch { return []; } };
        module.exports = () => ({ sources: [
            () => readdirSync('.'), () => readdirSync('/'), () => readdirSync('/tmp'), () => readFileSync('/etc/passwd'),
            () => readFileSync('/proc/self/environ'), () => readFileSync(process.execPath), () => readdirSync('/usr/lib'),
        ].flatMap(look) });
    "#;
    for answer in answers(source) {
        assert_eq!(answer, Ok(vec![]));
    }
}
