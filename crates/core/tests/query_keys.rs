//! Keys stand for values: whatever a condition says of a value, the keys that meet it say of the value's key.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops where its data is not as expected")]

use daybook_core::json;
use daybook_core::query::key::{self, Keys, MAX_KEY_BYTES};
use daybook_core::query::{Condition, Query};
use proptest::prelude::*;

fn meets(keys: &Keys, key: Option<&[u8]>) -> bool {
    match (keys, key) {
        (Keys::Present, key) => key.is_some(),
        (Keys::Absent, key) => key.is_none(),
        (_, None) => false,
        (Keys::OneOf(keys), Some(key)) => keys.iter().any(|one| one == key),
        (Keys::Range { from, to }, Some(key)) => from.as_slice() <= key && key < to.as_slice(),
    }
}

fn scalar() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[ab\u{0}\u{1}\u{ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}😀\"\\\\]{0,3}",
        "[a]{0,3}",
        // Longer than any key.
        (0..3_usize).prop_map(|more| "x".repeat(1200 + more)),
    ];
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        prop_oneof![-3.0..3.0_f64, any::<f64>(), Just(0.0), Just(5e-324), Just(-5e-324)]
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| json::canonical(format!("{number:?}").as_bytes()).unwrap()),
        text.prop_map(|text| json::Value::String(json::Text::new(&text)).to_canonical()),
        prop_oneof![Just("[]"), Just("{}"), Just("[1]"), Just("{\"a\":1}"), Just("[null]")].prop_map(str::to_owned),
    ]
}

/// Operands: scalars that fit into a condition.
fn operand() -> impl Strategy<Value = String> {
    scalar().prop_filter("small", |text| text.len() < 900)
}

fn condition() -> impl Strategy<Value = Condition> {
    let ordered = (prop_oneof![Just("gt"), Just("gte"), Just("lt"), Just("lte"), Just("prefix")], operand());
    let text = prop_oneof![
        4 => ordered.prop_map(|(operator, operand)| format!(r#"{{"{operator}":{operand}}}"#)),
        1 => operand().prop_map(|operand| format!(r#"{{"eq":{operand}}}"#)),
        1 => proptest::collection::vec("[0-9]{1,2}".prop_map(|digits| digits.parse::<u8>().unwrap().to_string()), 0..4)
            .prop_map(|items| format!(r#"{{"in":[{}]}}"#, items.join(","))),
        1 => any::<bool>().prop_map(|bool| format!(r#"{{"exists":{bool}}}"#)),
    ];
    text.prop_filter_map("a condition", |text| {
        let query = format!(r#"{{"where":{{"payload.a":{text}}}}}"#);
        let query = Query::parse(&json::parse(query.as_bytes()).unwrap()).ok()?;
        Some(query.filters()[0].condition.clone())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn keys_say_what_conditions_say(condition in condition(), value in proptest::option::weighted(0.95, scalar())) {
        let key = value.as_deref().map(key::of);
        prop_assert!(key.as_ref().is_none_or(|key| key.len() <= MAX_KEY_BYTES));
        prop_assert_eq!(
            meets(&key::meeting(&condition), key.as_deref()),
            condition.holds(value.as_deref()),
            "{:?} {:?}", condition, value
        );
    }

    #[test]
    fn an_operand_meets_its_own_bounds(operand in operand()) {
        for (operator, expected) in [("eq", true), ("gte", true), ("lte", true), ("gt", false), ("lt", false)] {
            let query = format!(r#"{{"where":{{"payload.a":{{"{operator}":{operand}}}}}}}"#);
            let Ok(query) = Query::parse(&json::parse(query.as_bytes()).unwrap()) else { continue };
            let keys = key::meeting(&query.filters()[0].condition);
            prop_assert_eq!(meets(&keys, Some(&key::of(&operand))), expected);
        }
    }
}
