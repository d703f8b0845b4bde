//! Every member that the configuration refuses, shown in the source.
//!
//! The configuration names one fault at a time. The member that it names is taken out, which gives it its default, and
//! what is left is asked again, so that an author is told everything at once.

use daybook_core::config::{Config, ConfigFault, MAX_CONFIG_BYTES};
use serde_json::Value;

use crate::problem::{Place, Problem};
use crate::shape::Shape;

/// Most faults of one source; a source has no more members than this that can be wrong one by one.
const MAX_FAULTS: usize = 64;

/// The configuration and its text, if nothing is wrong with it; each fault becomes a problem.
pub(crate) fn check(shape: &mut Shape<'_>, wire: &mut Value) -> Option<(Config, Vec<u8>)> {
    let whole = wire.clone();
    let was_sound = shape.is_sound();
    for round in 0..MAX_FAULTS {
        let checked = Config::parse(wire.to_string().as_bytes()).and_then(|config| Ok((config.to_bytes()?, config)));
        let fault = match checked {
            Ok((bytes, config)) => return (round == 0).then_some((config, bytes)),
            Err(fault) => fault,
        };
        // Where a part could not be read, what refers to it looks wrong and is not.
        let refers = |member: &String| member.ends_with(".memory") || member.ends_with(".branch");
        let is_true = was_sound || !(fault.member().as_ref().is_none_or(refers));
        if is_true {
            shape.problem(match &fault {
                ConfigFault::TooLarge { bytes, .. } => too_large(shape, *bytes, &whole),
                _ => located(shape, &fault),
            });
        }
        if !fault.member().is_some_and(|member| remove(wire, &member)) {
            break;
        }
    }
    None
}

/// Shows in the source what the configuration refuses.
fn located(shape: &Shape<'_>, fault: &ConfigFault) -> Problem {
    let place = fault.member().map_or(Place::START, |member| shape.place_of(&member));
    Problem::new("not-allowed", place, fault.to_string())
}

/// Names the memory or ledger that takes most of a configuration that no job can be given.
fn too_large(shape: &Shape<'_>, bytes: usize, wire: &Value) -> Problem {
    let parts = |list: &'static str, key: &'static str| {
        let entries = wire[list].as_array().into_iter().flatten();
        entries.map(move |entry| {
            let member = format!("{list}[{}]", entry[key].as_str().unwrap_or_default());
            (entry.to_string().len(), member)
        })
    };
    let largest = parts("memories", "id").chain(parts("ledgers", "name")).max();
    let (size, member) = largest.unwrap_or_default();
    let message = format!(
        "the configuration has {bytes} bytes; allowed are {MAX_CONFIG_BYTES}; the largest part is {member} with {size} bytes"
    );
    Problem::new("config-too-large", shape.place_of(&member), message)
        .with_hint(Some("shorten its schema or script".to_owned()))
}

/// Takes a member out, as [`ConfigFault::member`] names it. A member that every entry has goes with its entry.
fn remove(wire: &mut Value, member: &str) -> bool {
    if let Some((list, value)) = member.split_once('=') {
        let Some((list, key)) = list.split_once("[]") else { return false };
        let at = parts(list).into_iter().try_fold(&mut *wire, |at, part| at.get_mut(part));
        return match (at, key.strip_prefix('.')) {
            (Some(Value::Array(entries)), Some(key)) => {
                let last = entries.iter().rposition(|entry| entry[key] == *value);
                last.map(|last| entries.remove(last)).is_some()
            }
            (Some(Value::Object(members)), None) => members.remove(value).is_some(),
            _ => false,
        };
    }
    let (entry, path) = match member.split_once("].") {
        Some((entry, path)) => match entry.split_once('[') {
            Some((list, name)) => (Some((list, name)), path),
            None => return false,
        },
        None => (None, member),
    };
    let mut path = parts(path);
    let Some(last) = path.pop() else { return false };
    let around = match entry {
        None => Some(&mut *wire),
        Some((list, name)) => {
            let entries = wire.get_mut(list).and_then(Value::as_array_mut);
            if matches!(last, "branch" | "id" | "name" | "script") && path.is_empty() {
                let found = entries.and_then(|entries| {
                    let at = entries.iter().rposition(|entry| entry["id"] == name || entry["name"] == name)?;
                    Some(entries.remove(at))
                });
                return found.is_some();
            }
            entries.and_then(|entries| entries.iter_mut().find(|entry| entry["id"] == name || entry["name"] == name))
        }
    };
    let around = path.into_iter().try_fold(around, |at, part| Some(at?.get_mut(part))).flatten();
    around.and_then(Value::as_object_mut).is_some_and(|members| members.remove(last).is_some())
}

fn parts(path: &str) -> Vec<&str> {
    path.split('.').filter(|part| !part.is_empty()).collect()
}
