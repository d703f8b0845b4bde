//! The tree of a JSON text, ready to be printed canonically.

use super::number;
use super::text::Text;

/// A JSON value whose canonical text is determined: numbers finite, keys unique and in canonical order.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite double.
    Number(f64),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Value>),
    /// An object, members in canonical order.
    Object(Vec<(Text, Value)>),
}

impl Value {
    /// The canonical text (FORMATS §1).
    #[must_use]
    pub fn to_canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Appends the canonical text.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => number::write(*number, out),
            Self::String(text) => write_quoted(text, out),
            Self::Array(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (position, (key, value)) in members.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    write_quoted(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Whether every number in it is finite, as in all that canonical text can say.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Number(number) => number.is_finite(),
            Self::Array(items) => items.iter().all(Self::is_finite),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_finite()),
            _ => true,
        }
    }

    /// Depth of the deepest value below this one: 0 for a scalar or an empty container.
    #[must_use]
    pub fn nesting(&self) -> usize {
        let below =
            |values: &mut dyn Iterator<Item = &Self>| values.map(|value| 1 + value.nesting()).max().unwrap_or(0);
        match self {
            Self::Array(items) => below(&mut items.iter()),
            Self::Object(members) => below(&mut members.iter().map(|(_, value)| value)),
            _ => 0,
        }
    }
}

fn write_quoted(text: &Text, out: &mut String) {
    out.push('"');
    out.push_str(text.spelling());
    out.push('"');
}
