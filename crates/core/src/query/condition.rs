//! What a filter asks of the value that it finds.

use std::cmp::Ordering;

use crate::json::units;

/// A value to compare with, as its canonical text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand(Box<str>);

/// How `gt`, `gte`, `lt` and `lte` compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Above the operand.
    Above,
    /// Above it, or the same.
    AtLeast,
    /// Below the operand.
    Below,
    /// Below it, or the same.
    AtMost,
}

/// One condition. Values of different kinds are never equal and have no order; strings order by UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The same value; members of objects have no order.
    Equal(Operand),
    /// One of these values.
    OneOf(Vec<Operand>),
    /// Whether there is a value at all; `null` is one.
    Exists(bool),
    /// A string that begins with this string.
    Prefix(Operand),
    /// A string or number in this relation to one of its kind.
    Ordered(Order, Operand),
}

impl Operand {
    pub(super) fn new(canonical: String) -> Self {
        Self(canonical.into())
    }

    /// The canonical text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Order {
    const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Above => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
            Self::Below => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
        }
    }
}

impl Condition {
    /// Whether a value, given as its canonical text, meets the condition; `None` where there is no value.
    #[must_use]
    pub fn holds(&self, found: Option<&str>) -> bool {
        match self {
            Self::Exists(expected) => found.is_some() == *expected,
            Self::Equal(operand) => found == Some(operand.text()),
            Self::OneOf(operands) => operands.iter().any(|operand| found == Some(operand.text())),
            Self::Prefix(operand) => found.is_some_and(|found| starts_with(found, operand.text())),
            Self::Ordered(order, operand) => {
                found.and_then(|found| compare(found, operand.text())).is_some_and(|ordering| order.holds(ordering))
            }
        }
    }
}

/// The spelling inside the quotes of a string's canonical text.
pub(super) fn spelling(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

/// The number that a canonical text spells.
pub(super) fn number(text: &str) -> Option<f64> {
    matches!(text.as_bytes().first(), Some(b'-' | b'0'..=b'9')).then(|| text.parse().ok()).flatten()
}

fn starts_with(found: &str, prefix: &str) -> bool {
    let (Some(found), Some(prefix)) = (spelling(found), spelling(prefix)) else { return false };
    let mut found = units(found.as_bytes());
    units(prefix.as_bytes()).all(|unit| found.next() == Some(unit))
}

fn compare(found: &str, operand: &str) -> Option<Ordering> {
    match (spelling(found), spelling(operand)) {
        (Some(found), Some(operand)) => Some(units(found.as_bytes()).cmp(units(operand.as_bytes()))),
        (None, None) => number(found)?.partial_cmp(&number(operand)?),
        _ => None,
    }
}
