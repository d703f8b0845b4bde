//! The JSON Schema of a source's settings, for editors: made from the tables that the compiler reads.
//!
//! It says what a key takes, not what a whole source means: everything that compiles meets it, and much that does not
//! compile fails it.

use daybook_core::detection::{FindingCode, Verdict};
use daybook_core::limits::Range;
use daybook_workflow::{Level, Scope};
use serde_json::{Map, Value, json};

use crate::keys::{ENGINE, ENGINE_IDS, Key, Kind, MEMORY, STEP, TOP, WORD};
use crate::trigger::{DANGEROUS, EVENTS, ROLES};

/// The schema (JSON Schema, draft 7) of the settings of a workflow source.
///
/// ```
/// let schema = daybook_compiler::schema();
/// assert_eq!(schema["properties"]["engine"]["anyOf"][0]["enum"][0], "claude");
/// ```
#[must_use]
pub fn schema() -> Value {
    let mut schema = table(TOP);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Settings of a Daybook workflow source");
    schema["required"] = json!(["on", "engine"]);
    schema["definitions"] = json!({
        "steps": { "type": "array", "items": step() },
        "env": { "type": ["object", "null"], "additionalProperties": { "$ref": "#/definitions/scalar" } },
        "scalar": { "type": ["string", "number", "boolean", "null"] },
        "memory": table(MEMORY),
    });
    schema
}

/// A map with the keys of a table.
fn table(table: &[Key]) -> Value {
    let keys: Map<String, Value> = table.iter().map(|key| (key.name.to_owned(), of_key(key))).collect();
    json!({ "type": ["object", "null"], "additionalProperties": false, "properties": keys })
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_kind(key.kind);
    let mut about = key.about.to_owned();
    if let Kind::Number(range) | Kind::KiB(range) | Kind::Bytes(range) = key.kind {
        about.push_str(&format!(" (default {})", range.default));
    }
    schema["description"] = about.into();
    schema
}

fn of_kind(kind: Kind) -> Value {
    let size =
        |range: Range| json!({ "anyOf": [whole(range), { "type": "string", "pattern": "^[0-9]+\\s*(B|KiB|MiB)$" }] });
    let list = |items: Value| json!({ "anyOf": [items, { "type": "array", "items": items }] });
    match kind {
        Kind::Text | Kind::Script => json!({ "type": "string" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
        Kind::Number(range) => whole(range),
        Kind::KiB(range) | Kind::Bytes(range) => size(range),
        Kind::Minutes(range) => {
            json!({ "type": "integer", "minimum": range.min.div_ceil(60), "maximum": range.max / 60 })
        }
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Scalar => json!({ "$ref": "#/definitions/scalar" }),
        Kind::Texts => list(json!({ "type": "string" })),
        Kind::Findings => findings(),
        Kind::Schema => json!({ "type": ["object", "boolean", "string"] }),
        Kind::FalseOr(keys) => json!({ "anyOf": [{ "const": false }, table(keys)] }),
        Kind::Map(keys) => table(keys),
        Kind::Named(pattern, keys) => json!({
            "type": ["object", "null"],
            "propertyNames": { "pattern": pattern },
            "additionalProperties": table(keys),
        }),
        Kind::Memories => {
            let memory = json!({ "$ref": "#/definitions/memory" });
            let each = json!({ "allOf": [memory, { "type": "object", "required": ["id"] }] });
            json!({ "anyOf": [{ "type": "boolean" }, memory, { "type": "array", "items": each }] })
        }
        Kind::Ignored | Kind::Free => json!({}),
        Kind::Events => events(),
        Kind::Condition => json!({ "type": ["string", "boolean"] }),
        Kind::Roles => {
            let roles: Vec<&str> = ROLES.iter().map(|row| row.0).chain(["all"]).collect();
            json!({ "anyOf": [{ "enum": roles }, { "type": "array", "minItems": 1, "items": { "enum": roles } }] })
        }
        Kind::Permissions(writes) => permissions(writes),
        Kind::Env => json!({ "$ref": "#/definitions/env" }),
        Kind::Runner => json!({ "type": ["string", "array", "object"] }),
        Kind::Steps => json!({ "$ref": "#/definitions/steps" }),
        Kind::Run => json!({ "type": "string", "not": { "pattern": "\\$\\{\\{" } }),
        Kind::Uses => json!({ "type": "string", "pattern": "^[^./$][^@]*@.+$" }),
        Kind::Engine => {
            let clis: Vec<&str> = ENGINE_IDS.into_iter().filter(|id| *id != "custom").collect();
            let mut whole = table(ENGINE);
            whole["type"] = json!("object");
            whole["required"] = json!(["id"]);
            json!({ "anyOf": [{ "enum": clis }, whole] })
        }
        Kind::Servers => json!({
            "type": ["object", "null"],
            "propertyNames": { "pattern": WORD, "not": { "const": "daybook" } },
            "additionalProperties": {
                "type": "object",
                "anyOf": [
                    { "required": ["command"], "properties": { "command": { "type": "string" } } },
                    { "required": ["url"], "properties": { "url": { "type": "string" } } },
                ],
            },
        }),
    }
}

fn whole(range: Range) -> Value {
    json!({ "type": "integer", "minimum": range.min, "maximum": range.max })
}

fn step() -> Value {
    let mut step = table(STEP);
    step["type"] = json!("object");
    step["oneOf"] = json!([{ "required": ["run"] }, { "required": ["uses"] }]);
    step
}

fn findings() -> Value {
    let codes: Vec<&str> = FindingCode::all().map(FindingCode::name).collect();
    let verdicts = [Verdict::Clean, Verdict::Suspicious, Verdict::Threat].map(Verdict::name);
    json!({ "type": "object", "propertyNames": { "enum": codes }, "additionalProperties": { "enum": verdicts } })
}

fn events() -> Value {
    let safe: Vec<&str> = EVENTS.iter().copied().filter(|event| !DANGEROUS.contains(event)).collect();
    let settings = |event: &&str| {
        if DANGEROUS.contains(event) {
            let reason =
                json!({ "type": "string", "description": "Why it is safe here to run with the repository's rights" });
            json!({ "type": "object", "required": ["reason"], "properties": { "reason": reason } })
        } else {
            json!({})
        }
    };
    let events: Map<String, Value> = EVENTS.iter().map(|event| ((*event).to_owned(), settings(event))).collect();
    json!({ "anyOf": [
        { "enum": safe },
        { "type": "array", "minItems": 1, "items": { "enum": safe } },
        { "type": "object", "minProperties": 1, "additionalProperties": false, "properties": events },
    ] })
}

fn permissions(writes: bool) -> Value {
    let levels = |scope: Scope| {
        let write = (writes && scope.has(Level::Write)).then_some("write");
        let read = scope.has(Level::Read).then_some("read");
        json!({ "enum": read.into_iter().chain(write).chain(["none"]).collect::<Vec<_>>() })
    };
    let scopes: Map<String, Value> = Scope::all().map(|scope| (scope.name().to_owned(), levels(scope))).collect();
    json!({ "type": ["object", "null"], "additionalProperties": false, "properties": scopes })
}
