//! Canonical JSON (FORMATS §1): ECMAScript's `JSON.stringify` over ordered keys.
//!
//! [`walk`] checks that bytes *are* canonical, in one pass and without a tree. [`Value`] is the tree for the two
//! occasions that need one: building a record, and saying precisely what is wrong with a refused line.

mod convert;
mod number;
mod parse;
mod text;
mod value;
pub(crate) mod walk;

pub use parse::{JsonFault, parse, parse_to_depth};
pub use text::Text;
pub use value::Value;

pub(crate) use parse::parse_as_ecmascript;
pub(crate) use text::{decode, units};

/// Deepest nesting of a value below the root of a JSON text that is read (FORMATS §1): the root is at depth 0.
pub const MAX_DEPTH: usize = 32;

/// Canonical text of a JSON text (FORMATS §1, write rules).
///
/// # Errors
/// [`JsonFault`] where the text is not JSON or has no canonical form that says the same.
///
/// ```
/// use daybook_core::json::canonical;
/// assert_eq!(canonical(br#"{ "b": 1e21, "10": 1.0, "2": "\u00e9" }"#)?, r#"{"2":"é","10":1,"b":1e+21}"#);
/// # Ok::<(), daybook_core::json::JsonFault>(())
/// ```
// DB-2-01
pub fn canonical(text: &[u8]) -> Result<String, JsonFault> {
    Ok(parse(text)?.to_canonical())
}
