//! Keys: byte strings whose order and equality are those of conditions, for an index that knows bytes only.
//!
//! A key is a tag for the kind of a value, then: eight bytes of a number in ascending order, the UTF-16 units of a
//! string, or the canonical text of a container. Every condition on values is one range of keys or a few single ones.

use super::condition::{number, spelling};
use super::{Condition, MAX_CONDITION_BYTES, Operand, Order};
use crate::json::units;

/// Longest key. A longer one is cut: no operand is as long, so a cut key compares with all of them as the whole would.
pub const MAX_KEY_BYTES: usize = 1 + 2 * MAX_CONDITION_BYTES + 1;

const NULL: u8 = 0x10;
const FALSE: u8 = 0x20;
const TRUE: u8 = 0x21;
const NUMBER: u8 = 0x30;
const STRING: u8 = 0x40;
const CONTAINER: u8 = 0x50;

/// Which keys meet a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Any key.
    Present,
    /// No key: there is no value.
    Absent,
    /// One of these.
    OneOf(Vec<Vec<u8>>),
    /// All from `from` on, up to but not including `to`.
    Range {
        /// The first.
        from: Vec<u8>,
        /// The first that is too high.
        to: Vec<u8>,
    },
}

/// The key of a value, given as its canonical text.
#[must_use]
pub fn of(text: &str) -> Vec<u8> {
    let mut key = match text {
        "null" => vec![NULL],
        "false" => vec![FALSE],
        "true" => vec![TRUE],
        _ => match (spelling(text), number(text)) {
            (Some(spelling), _) => string(spelling),
            (None, Some(number)) => [&[NUMBER], ascending(number).as_slice()].concat(),
            (None, None) => [&[CONTAINER], text.as_bytes()].concat(),
        },
    };
    key.truncate(MAX_KEY_BYTES);
    key
}

fn string(spelling: &str) -> Vec<u8> {
    let mut key = vec![STRING];
    key.extend(units(spelling.as_bytes()).take(MAX_KEY_BYTES).flat_map(u16::to_be_bytes));
    key
}

/// The bits of a double so that their order as bytes is the order of numbers.
fn ascending(number: f64) -> [u8; 8] {
    // Canonical text has one zero.
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let negative = bits >> 63 == 1;
    (if negative { !bits } else { bits | 1 << 63 }).to_be_bytes()
}

/// The keys of the values that meet a condition.
#[must_use]
pub fn meeting(condition: &Condition) -> Keys {
    let one_of = |operands: &[Operand]| Keys::OneOf(operands.iter().map(|operand| of(operand.text())).collect());
    match condition {
        Condition::Exists(true) => Keys::Present,
        Condition::Exists(false) => Keys::Absent,
        Condition::Equal(operand) => one_of(std::slice::from_ref(operand)),
        Condition::OneOf(operands) => one_of(operands),
        Condition::Prefix(operand) => {
            let from = of(operand.text());
            Keys::Range { to: above_all_with(&from), from }
        }
        Condition::Ordered(order, operand) => {
            let key = of(operand.text());
            let tag = key.first().copied().unwrap_or(NULL);
            let (lowest, highest) = (vec![tag], vec![tag + 1]);
            match order {
                Order::Above => Keys::Range { from: next(key), to: highest },
                Order::AtLeast => Keys::Range { from: key, to: highest },
                Order::Below => Keys::Range { from: lowest, to: key },
                Order::AtMost => Keys::Range { from: lowest, to: next(key) },
            }
        }
    }
}

/// The lowest key above this one.
fn next(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}

/// The lowest key above all that begin with this one.
fn above_all_with(prefix: &[u8]) -> Vec<u8> {
    let mut key = prefix.to_vec();
    // The tag is not the highest byte, so this ends with a key.
    while key.pop_if(|last| *last == u8::MAX).is_some() {}
    if let Some(last) = key.last_mut() {
        *last += 1;
    }
    key
}
