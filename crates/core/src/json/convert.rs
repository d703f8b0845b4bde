//! Between our tree and `serde_json`'s, for the edges that speak it.

use super::text::Text;
use super::{JsonFault, MAX_DEPTH, Value, number};

impl TryFrom<&serde_json::Value> for Value {
    type Error = JsonFault;

    /// Takes a value by the write rules.
    fn try_from(value: &serde_json::Value) -> Result<Self, JsonFault> {
        from_serde(value, 0)
    }
}

fn from_serde(value: &serde_json::Value, depth: usize) -> Result<Value, JsonFault> {
    if depth > MAX_DEPTH {
        return Err(JsonFault::TooDeep);
    }
    Ok(match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(bool) => Value::Bool(*bool),
        serde_json::Value::Number(value) => {
            let spelling = value.to_string();
            let number = spelling.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or(JsonFault::Overflow)?;
            if number::is_integer_spelling(&spelling) && !number::integer_is_kept(&spelling, number) {
                return Err(JsonFault::InexactInteger);
            }
            Value::Number(number)
        }
        serde_json::Value::String(text) => Value::String(Text::new(text)),
        serde_json::Value::Array(items) => {
            Value::Array(items.iter().map(|item| from_serde(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        serde_json::Value::Object(members) => {
            let mut members = members
                .iter()
                .map(|(key, value)| Ok((Text::new(key), from_serde(value, depth + 1)?)))
                .collect::<Result<Vec<_>, JsonFault>>()?;
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(members)
        }
    })
}
