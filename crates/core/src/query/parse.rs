//! From the arguments of a call to a query: strict, and without an echo of what was wrong.

use super::{
    Condition, FieldPath, Filter, MAX_ALTERNATIVES, MAX_CONDITION_BYTES, MAX_FILTERS, MAX_LIMIT, MEMBERS, Operand,
    Order, Query,
};
use crate::digest::Digest;
use crate::json::{Text, Value};
use crate::line::MAX_TYPE_UNITS;

/// Why a query is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryFault {
    /// Not an object, or a member that is not known.
    #[error("the arguments of a query are type, where, limit and after")]
    Members,
    /// The type is no possible type.
    #[error("type must be a string of 1 to {MAX_TYPE_UNITS} UTF-16 units")]
    Kind,
    /// The limit is out of range.
    #[error("limit must be a whole number from 1 to {MAX_LIMIT}")]
    Limit,
    /// The cursor is no digest.
    #[error("after must be sha256: and 64 hexadecimal digits")]
    After,
    /// `where` is no object, or has too many members.
    #[error("where must be an object of at most {MAX_FILTERS} members")]
    Where,
    /// A member of `where` is no path.
    #[error(
        "a path in where must be payload. and one to eight names with dots between them, such as payload.issue.state"
    )]
    Path,
    /// A filter is no object with one member.
    #[error("a filter must be an object with one operator, such as {{\"eq\": 1}}")]
    Predicate,
    /// The operator is not known.
    #[error("an operator must be one of eq, in, exists, prefix, gt, gte, lt, lte")]
    Operator,
    /// The operand takes too many bytes.
    #[error("a filter must have at most {MAX_CONDITION_BYTES} bytes")]
    Size,
    /// The operand of `in`.
    #[error("in must be an array of at most {MAX_ALTERNATIVES} values")]
    Alternatives,
    /// The operand of `exists`.
    #[error("exists must be true or false")]
    Exists,
    /// The operand of `prefix`.
    #[error("prefix must be a string")]
    Prefix,
    /// The operand of `gt`, `gte`, `lt` or `lte`.
    #[error("gt, gte, lt and lte compare with a string or a number")]
    Ordered,
}

impl QueryFault {
    /// The code by which replies name the fault.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Members => "unknown-argument",
            Self::Kind | Self::Limit | Self::After => "invalid-argument",
            _ => "invalid-filter",
        }
    }
}

pub(super) fn query(arguments: &Value) -> Result<Query, QueryFault> {
    let Value::Object(members) = arguments else { return Err(QueryFault::Members) };
    let mut query = Query::default();
    for (name, value) in members {
        match name.spelling() {
            "type" => query.kind = Some(kind(value)?),
            "limit" => query.limit = limit(value)?,
            "after" => query.after = Some(after(value)?),
            "where" => query.filters = filters(value)?,
            _ => return Err(QueryFault::Members),
        }
    }
    debug_assert!(members.len() <= MEMBERS.len());
    Ok(query)
}

fn kind(value: &Value) -> Result<String, QueryFault> {
    let Value::String(text) = value else { return Err(QueryFault::Kind) };
    if !(1..=MAX_TYPE_UNITS).contains(&text.utf16_len()) {
        return Err(QueryFault::Kind);
    }
    text.to_str().map(std::borrow::Cow::into_owned).ok_or(QueryFault::Kind)
}

fn limit(value: &Value) -> Result<usize, QueryFault> {
    let Value::Number(_) = value else { return Err(QueryFault::Limit) };
    // A whole number in range is spelled with up to three digits.
    let limit = value.to_canonical().parse().map_err(|_| QueryFault::Limit)?;
    if (1..=MAX_LIMIT).contains(&limit) { Ok(limit) } else { Err(QueryFault::Limit) }
}

fn after(value: &Value) -> Result<Digest, QueryFault> {
    let Value::String(text) = value else { return Err(QueryFault::After) };
    text.spelling().parse().map_err(|_| QueryFault::After)
}

fn filters(value: &Value) -> Result<Vec<Filter>, QueryFault> {
    let Value::Object(members) = value else { return Err(QueryFault::Where) };
    if members.len() > MAX_FILTERS {
        return Err(QueryFault::Where);
    }
    members.iter().map(|(path, condition)| filter(path, condition)).collect()
}

fn filter(path: &Text, predicate: &Value) -> Result<Filter, QueryFault> {
    let path = FieldPath::parse(path.spelling()).ok_or(QueryFault::Path)?;
    let Value::Object(members) = predicate else { return Err(QueryFault::Predicate) };
    let [(operator, value)] = members.as_slice() else { return Err(QueryFault::Predicate) };
    let condition = match operator.spelling() {
        "eq" => Condition::Equal(operand(value)),
        "in" => one_of(value)?,
        "exists" => match value {
            Value::Bool(expected) => Condition::Exists(*expected),
            _ => return Err(QueryFault::Exists),
        },
        "prefix" => match value {
            Value::String(_) => Condition::Prefix(operand(value)),
            _ => return Err(QueryFault::Prefix),
        },
        "gt" => ordered(Order::Above, value)?,
        "gte" => ordered(Order::AtLeast, value)?,
        "lt" => ordered(Order::Below, value)?,
        "lte" => ordered(Order::AtMost, value)?,
        _ => return Err(QueryFault::Operator),
    };
    if predicate.to_canonical().len() > MAX_CONDITION_BYTES {
        return Err(QueryFault::Size);
    }
    Ok(Filter { path, condition })
}

fn operand(value: &Value) -> Operand {
    Operand::new(value.to_canonical())
}

fn one_of(value: &Value) -> Result<Condition, QueryFault> {
    match value {
        Value::Array(items) if items.len() <= MAX_ALTERNATIVES => {
            Ok(Condition::OneOf(items.iter().map(operand).collect()))
        }
        _ => Err(QueryFault::Alternatives),
    }
}

fn ordered(order: Order, value: &Value) -> Result<Condition, QueryFault> {
    match value {
        Value::String(_) | Value::Number(_) => Ok(Condition::Ordered(order, operand(value))),
        _ => Err(QueryFault::Ordered),
    }
}
