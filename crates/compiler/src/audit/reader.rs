//! The only place that knows the crate which reads printed workflows back.

use serde_json::{Map, Number, Value};

use super::MAX_WORKFLOW_BYTES;

/// Reads a workflow as plain data. Tags, repeated keys and keys that are no texts are refused.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    if text.len() > MAX_WORKFLOW_BYTES {
        return Err(format!("the workflow has {} bytes; allowed are {MAX_WORKFLOW_BYTES}", text.len()));
    }
    let value: serde_yaml::Value = serde_yaml::from_str(text).map_err(|fault| format!("no YAML: {fault}"))?;
    let value = plain(value)?;
    match value.get("jobs") {
        Some(Value::Object(_)) => Ok(value),
        _ => Err("no workflow: it has no jobs".to_owned()),
    }
}

fn plain(value: serde_yaml::Value) -> Result<Value, String> {
    Ok(match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(value) => value.into(),
        serde_yaml::Value::Number(number) => {
            let exact = number.as_u64().map(Number::from).or_else(|| number.as_i64().map(Number::from));
            exact.map_or_else(|| Value::from(number.to_string()), Value::Number)
        }
        serde_yaml::Value::String(text) => text.into(),
        serde_yaml::Value::Sequence(values) => Value::Array(values.into_iter().map(plain).collect::<Result<_, _>>()?),
        serde_yaml::Value::Mapping(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let key = match key {
                    serde_yaml::Value::String(key) => key,
                    // The key `on` of readers of YAML 1.1.
                    serde_yaml::Value::Bool(true) => "on".to_owned(),
                    other => return Err(format!("a key is no text: {other:?}")),
                };
                if key == "<<" {
                    return Err("merge keys are not allowed".to_owned());
                }
                map.insert(key, plain(value)?);
            }
            map.into()
        }
        serde_yaml::Value::Tagged(_) => return Err("tags are not allowed".to_owned()),
    })
}

/// Every job with its key.
pub(crate) fn jobs(workflow: &Value) -> impl Iterator<Item = (&str, &Value)> {
    workflow["jobs"].as_object().into_iter().flatten().map(|(id, job)| (id.as_str(), job))
}

/// The steps of a job.
pub(crate) fn steps(job: &Value) -> &[Value] {
    job["steps"].as_array().map_or(&[], Vec::as_slice)
}

/// The members of an object.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// Every text in a value.
pub(crate) fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// A scalar as an action or a script gets it.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
