//! From the wire form to the checked form and back.

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_json::{Map, Value, json};

use super::detection;
use super::names::NAME_RULE;
use super::ranges::{
    MAX_FILE_COUNT, MAX_FILE_SIZE, MAX_PATCH_SIZE, MAX_SEGMENTS, MIN_SEGMENTS, MUTATIONS, REQUESTS, TIMEOUT,
};
use super::{
    BranchName, Compaction, Config, ConfigFault, LedgerConfig, MAX_CONFIG_BYTES, MemoryConfig, Name, PROFILES,
    SafeOutputs, Schedule, Validation,
};
use crate::json::canonical;
use crate::limits::{Bytes, Configured, Count, Limits, Range};
use crate::policy::patterns;

pub(super) const DEFAULT_EXTENSIONS: [&str; 5] = [".json", ".jsonl", ".txt", ".md", ".csv"];
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 512;

/// Most memories, ledgers, patterns or endings in one list.
const MAX_LIST: usize = 64;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Wire {
    version: u64,
    workflow: String,
    #[serde(default)]
    memories: Vec<WireMemory>,
    #[serde(default)]
    ledgers: Vec<WireLedger>,
    #[serde(default)]
    safe_outputs: WireSafeOutputs,
    #[serde(default)]
    detection: detection::Wire,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireMemory {
    id: String,
    branch: String,
    file_glob: Option<Vec<String>>,
    allowed_extensions: Option<Vec<String>>,
    max_file_size: Option<u64>,
    max_file_count: Option<u64>,
    max_patch_size: Option<u64>,
    create_orphan: Option<bool>,
    description: Option<String>,
    validation: Option<WireValidation>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireValidation {
    script: String,
    timeout_seconds: Option<u64>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireLedger {
    name: String,
    memory: Option<String>,
    profile: Option<String>,
    schema: Option<Value>,
    read_only: Option<bool>,
    max_shards: Option<u64>,
    max_segment_kb: Option<u64>,
    max_record_kb: Option<u64>,
    max_patch_kb: Option<u64>,
    #[serde(default)]
    compaction: WireCompaction,
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireCompactionObject {
    schedule: Option<String>,
    min_segments: Option<u64>,
    max_segments: Option<u64>,
    script: Option<String>,
}

/// `false` or an object; absent means an object without members.
enum WireCompaction {
    Off,
    On(WireCompactionObject),
}

impl Default for WireCompaction {
    fn default() -> Self {
        Self::On(WireCompactionObject::default())
    }
}

impl<'de> Deserialize<'de> for WireCompaction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FalseOrObject;

        impl<'de> Visitor<'de> for FalseOrObject {
            type Value = WireCompaction;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("false or an object for compaction")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<WireCompaction, E> {
                if value { Err(E::invalid_value(de::Unexpected::Bool(true), &self)) } else { Ok(WireCompaction::Off) }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WireCompaction, A::Error> {
                WireCompactionObject::deserialize(MapAccessDeserializer::new(map)).map(WireCompaction::On)
            }
        }

        deserializer.deserialize_any(FalseOrObject)
    }
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct WireSafeOutputs {
    ledger_mutation: WireMax,
    ledger_request_compaction: WireMax,
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireMax {
    max: Option<u64>,
}

pub(super) fn parse(text: &[u8]) -> Result<Config, ConfigFault> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigFault::TooLarge { bytes: text.len(), largest: "not looked at".to_owned() });
    }
    let wire: Wire = serde_json::from_slice(text).map_err(|fault| ConfigFault::Shape(fault.to_string()))?;
    // A repeated key inside a schema or a map, which the reader above would let pass, has no canonical text.
    canonical(text).map_err(|fault| ConfigFault::Shape(fault.to_string()))?;
    if wire.version != 1 {
        return Err(fault("version", &wire.version.to_string(), "1"));
    }
    let workflow = name("workflow", &wire.workflow)?;
    for (member, len) in [("memories", wire.memories.len()), ("ledgers", wire.ledgers.len())] {
        short_list(member, len)?;
    }
    let mut memories = Vec::new();
    for raw in wire.memories {
        add_memory(&mut memories, memory(raw)?)?;
    }
    let mut ledgers: Vec<LedgerConfig> = Vec::new();
    for raw in wire.ledgers {
        let name = name("ledgers[].name", &raw.name)?;
        if ledgers.iter().any(|other| other.name.collides(&name)) {
            return Err(fault("ledgers[].name", name.as_str(), "names that differ in more than case"));
        }
        let ledger = ledger(name, raw, &mut memories)?;
        if ledgers.iter().any(|other| other.memory == ledger.memory) {
            let member = format!("ledgers[{}].memory", ledger.name);
            return Err(fault(&member, ledger.memory.as_str(), "a memory without another ledger"));
        }
        ledgers.push(ledger);
    }
    let safe = wire.safe_outputs;
    let safe_outputs = SafeOutputs {
        ledger_mutation_max: Count::new(number("safe-outputs.ledger-mutation", MUTATIONS, safe.ledger_mutation.max)?),
        ledger_request_compaction_max: Count::new(number(
            "safe-outputs.ledger-request-compaction",
            REQUESTS,
            safe.ledger_request_compaction.max,
        )?),
    };
    Ok(Config { workflow, memories, ledgers, safe_outputs, detection: detection::check(wire.detection)? })
}

fn add_memory(memories: &mut Vec<MemoryConfig>, memory: MemoryConfig) -> Result<(), ConfigFault> {
    if memories.iter().any(|other| other.id.collides(&memory.id)) {
        return Err(fault("memories[].id", memory.id.as_str(), "ids that differ in more than case"));
    }
    if memories.iter().any(|other| other.branch.collides(&memory.branch)) {
        let member = format!("memories[{}].branch", memory.id);
        return Err(fault(&member, memory.branch.as_str(), "a branch that no other memory uses or is a folder of"));
    }
    memories.push(memory);
    Ok(())
}

fn memory(raw: WireMemory) -> Result<MemoryConfig, ConfigFault> {
    let id = name("memories[].id", &raw.id)?;
    let at = |member: &str| format!("memories[{id}].{member}");
    let branch = BranchName::parse(&raw.branch).map_err(|rule| fault(&at("branch"), &raw.branch, rule))?;
    let file_glob = raw.file_glob.unwrap_or_default();
    short_list(&at("file-glob"), file_glob.len())?;
    for pattern in &file_glob {
        let rule = glob_rule(pattern, &branch)
            .or_else(|| patterns(std::slice::from_ref(pattern)).err().map(|_| "a pattern such as \"notes/*.md\""));
        if let Some(rule) = rule {
            return Err(fault(&at("file-glob"), pattern, rule));
        }
    }
    let defaults = || DEFAULT_EXTENSIONS.map(str::to_owned).to_vec();
    let allowed_extensions = raw.allowed_extensions.unwrap_or_else(defaults);
    short_list(&at("allowed-extensions"), allowed_extensions.len())?;
    if let Some(ending) = allowed_extensions.iter().find(|ending| !is_extension(ending)) {
        return Err(fault(&at("allowed-extensions"), ending, "endings such as \".json\""));
    }
    let validation = raw
        .validation
        .map(|wire| {
            let timeout_seconds = number(&at("validation"), TIMEOUT, wire.timeout_seconds)?;
            Ok(Validation { script: wire.script, timeout_seconds })
        })
        .transpose()?;
    let description = raw.description;
    if let Some(text) = description.as_ref().filter(|text| text.is_empty() || text.chars().count() > MAX_DESCRIPTION) {
        return Err(fault(&at("description"), text, "a text of 1 to 512 characters"));
    }
    let own = format!("memories[{id}]");
    Ok(MemoryConfig {
        max_file_size: Bytes::new(number(&own, MAX_FILE_SIZE, raw.max_file_size)?),
        max_file_count: Count::new(number(&own, MAX_FILE_COUNT, raw.max_file_count)?),
        max_patch_size: Bytes::new(number(&own, MAX_PATCH_SIZE, raw.max_patch_size)?),
        create_orphan: raw.create_orphan.unwrap_or(true),
        description,
        id,
        branch,
        file_glob,
        allowed_extensions,
        validation,
    })
}

fn ledger(ledger: Name, raw: WireLedger, memories: &mut Vec<MemoryConfig>) -> Result<LedgerConfig, ConfigFault> {
    let at = |member: &str| format!("ledgers[{ledger}].{member}");
    let memory = if let Some(id) = raw.memory {
        let known = memories.iter().find(|memory| memory.id.as_str() == id);
        known.ok_or_else(|| fault(&at("memory"), &id, "the id of a memory above"))?.id.clone()
    } else {
        // FORMATS §6: a ledger that names no memory lives on a branch of its own.
        let own = format!("ledgers/{ledger}");
        let branch = BranchName::parse(&own).map_err(|rule| fault(&at("name"), &own, rule))?;
        add_memory(memories, MemoryConfig::with_defaults(ledger.clone(), branch))?;
        ledger.clone()
    };
    let profile = raw.profile.unwrap_or_else(|| "records".to_owned());
    if !PROFILES.contains(&profile.as_str()) {
        return Err(fault(&at("profile"), &profile, &PROFILES.join(", ")));
    }
    if let Some(schema) = &raw.schema
        && !(schema.is_object() || schema.is_boolean())
    {
        return Err(fault(&at("schema"), &schema.to_string(), "a JSON Schema: an object, true or false"));
    }
    let limits = Limits::new(Configured {
        max_shards: raw.max_shards,
        max_segment_kb: raw.max_segment_kb,
        max_record_kb: raw.max_record_kb,
        max_patch_kb: raw.max_patch_kb,
    })
    .map_err(|fault| ConfigFault::Limit { name: ledger.to_string(), fault })?;
    let compaction = match raw.compaction {
        WireCompaction::Off => None,
        WireCompaction::On(wire) => Some(compaction(&at("compaction"), wire)?),
    };
    Ok(LedgerConfig {
        memory,
        profile,
        schema: raw.schema,
        read_only: raw.read_only.unwrap_or(false),
        limits,
        compaction,
        name: ledger,
    })
}

fn compaction(at: &str, wire: WireCompactionObject) -> Result<Compaction, ConfigFault> {
    let min = number(at, MIN_SEGMENTS, wire.min_segments)?;
    let max = number(at, MAX_SEGMENTS, wire.max_segments.or(Some(MAX_SEGMENTS.default.max(min))))?;
    if max < min {
        return Err(fault(&format!("{at}.max-segments"), &max.to_string(), "at least min-segments"));
    }
    let schedule = match wire.schedule.as_deref() {
        None | Some("daily") => Schedule::Daily,
        Some("weekly") => Schedule::Weekly,
        Some("manual") => Schedule::Manual,
        Some(other) => return Err(fault(&format!("{at}.schedule"), other, "daily, weekly or manual")),
    };
    Ok(Compaction { schedule, min_segments: Count::new(min), max_segments: Count::new(max), script: wire.script })
}

fn glob_rule(pattern: &str, branch: &BranchName) -> Option<&'static str> {
    if pattern.is_empty() || pattern.len() > 256 || pattern.chars().any(char::is_control) {
        return Some("a pattern of 1 to 256 bytes without control characters");
    }
    if pattern.starts_with('/') || pattern.contains('\\') || pattern.split('/').any(|part| part == "..") {
        return Some("a pattern relative to the memory's folder, with / between its parts and without ..");
    }
    // A pattern that carries the branch name matches nothing, and nothing is what would then be kept.
    let of_branch = pattern.strip_prefix(branch.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    of_branch.then_some("a pattern relative to the memory's folder, without the branch name")
}

fn is_extension(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.strip_prefix('.').is_some_and(|rest| !rest.is_empty() && rest.len() <= 32 && rest.bytes().all(allowed))
}

fn name(member: &str, text: &str) -> Result<Name, ConfigFault> {
    Name::parse(text).ok_or_else(|| fault(member, text, NAME_RULE))
}

fn number(at: &str, range: Range, value: Option<u64>) -> Result<u64, ConfigFault> {
    let value = value.unwrap_or(range.default);
    if (range.min..=range.max).contains(&value) {
        return Ok(value);
    }
    let allowed = format!("{} to {}", range.min, range.max);
    Err(fault(&format!("{at}.{}", range.key), &value.to_string(), &allowed))
}

fn short_list(member: &str, len: usize) -> Result<(), ConfigFault> {
    if len <= MAX_LIST { Ok(()) } else { Err(fault(member, &format!("{len} entries"), "at most 64 entries")) }
}

pub(super) fn fault(member: &str, value: &str, allowed: &str) -> ConfigFault {
    let value = value.chars().take(128).collect();
    ConfigFault::Member { member: member.to_owned(), value, allowed: allowed.to_owned() }
}

pub(super) fn print(config: &Config) -> Result<Vec<u8>, ConfigFault> {
    let memories: Vec<Value> = config.memories.iter().map(print_memory).collect();
    let ledgers: Vec<Value> = config.ledgers.iter().map(print_ledger).collect();
    let document = json!({
        "version": 1,
        "workflow": config.workflow.as_str(),
        "memories": memories,
        "ledgers": ledgers,
        "safe-outputs": {
            "ledger-mutation": { "max": config.safe_outputs.ledger_mutation_max.get() },
            "ledger-request-compaction": { "max": config.safe_outputs.ledger_request_compaction_max.get() },
        },
        "detection": detection::print(&config.detection),
    });
    let text = canonical(document.to_string().as_bytes()).map_err(|fault| ConfigFault::Shape(fault.to_string()))?;
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigFault::TooLarge { bytes: text.len(), largest: largest_part(&memories, &ledgers) });
    }
    Ok(text.into_bytes())
}

fn print_memory(memory: &MemoryConfig) -> Value {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| members.insert(name.to_owned(), value);
    set("id", memory.id.as_str().into());
    set("branch", memory.branch.as_str().into());
    set("file-glob", json!(memory.file_glob));
    set("allowed-extensions", json!(memory.allowed_extensions));
    set("max-file-size", memory.max_file_size.get().into());
    set("max-file-count", memory.max_file_count.get().into());
    set("max-patch-size", memory.max_patch_size.get().into());
    set("create-orphan", memory.create_orphan.into());
    if let Some(description) = &memory.description {
        set("description", description.as_str().into());
    }
    if let Some(validation) = &memory.validation {
        set("validation", json!({ "script": validation.script, "timeout-seconds": validation.timeout_seconds }));
    }
    members.into()
}

fn print_ledger(ledger: &LedgerConfig) -> Value {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| members.insert(name.to_owned(), value);
    set("name", ledger.name.as_str().into());
    set("memory", ledger.memory.as_str().into());
    set("profile", ledger.profile.as_str().into());
    if let Some(schema) = &ledger.schema {
        set("schema", schema.clone());
    }
    set("read-only", ledger.read_only.into());
    set("max-shards", ledger.limits.max_shards().get().into());
    set("max-segment-kb", (ledger.limits.max_segment().get() / 1024).into());
    set("max-record-kb", (ledger.limits.max_record().get() / 1024).into());
    set("max-patch-kb", (ledger.limits.max_patch().get() / 1024).into());
    let compaction = ledger.compaction.as_ref().map_or(Value::Bool(false), |compaction| {
        let mut object = json!({
            "schedule": compaction.schedule,
            "min-segments": compaction.min_segments.get(),
            "max-segments": compaction.max_segments.get(),
        });
        if let (Some(script), Some(members)) = (&compaction.script, object.as_object_mut()) {
            members.insert("script".to_owned(), script.as_str().into());
        }
        object
    });
    set("compaction", compaction);
    members.into()
}

/// Which memory or ledger takes most of the text.
fn largest_part(memories: &[Value], ledgers: &[Value]) -> String {
    let memories = memories.iter().map(|part| ("memories", "id", part));
    let ledgers = ledgers.iter().map(|part| ("ledgers", "name", part));
    let largest = memories.chain(ledgers).max_by_key(|(_, _, part)| part.to_string().len());
    largest.map_or_else(
        || "none".to_owned(),
        |(list, key, part)| {
            let name = part.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("{list}[{name}] with {} bytes", part.to_string().len())
        },
    )
}
