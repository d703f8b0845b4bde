//! How long ago an instant was, and instants as people name them.

use daybook_core::timestamp;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Units of an age: from which age on, in milliseconds, the unit's length, and its name.
const UNITS: [(i64, i64, &str); 7] = [
    (2 * 365 * DAY, 365 * DAY, "year"),
    (60 * DAY, 30 * DAY, "month"),
    (14 * DAY, 7 * DAY, "week"),
    (2 * DAY, DAY, "day"),
    (2 * HOUR, HOUR, "hour"),
    (2 * MINUTE, MINUTE, "minute"),
    (0, SECOND, "second"),
];

/// The age of a canonical instant at `now` (milliseconds since 1970), in one unit.
#[must_use]
pub fn ago(timestamp: &str, now: i64) -> String {
    let Some(then) = timestamp::to_unix_millis(timestamp) else { return "at no time".to_owned() };
    let age = now.saturating_sub(then);
    if age < 0 {
        return format!("in {}", spelled(-age));
    }
    format!("{} ago", spelled(age))
}

/// The age in whole seconds; negative for what lies in the future.
#[must_use]
pub fn seconds(timestamp: &str, now: i64) -> i64 {
    timestamp::to_unix_millis(timestamp).map_or(0, |then| now.saturating_sub(then).div_euclid(SECOND))
}

fn spelled(age: i64) -> String {
    let (_, length, name) = UNITS.into_iter().find(|(from, ..)| age >= *from).unwrap_or((0, SECOND, "second"));
    let count = age / length;
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// Reads an instant as a person names it: a canonical one, a day (`2026-03-01`), or an age (`90s`, `30m`, `12h`, `3d`,
/// `2w`) before `now`. The result is canonical.
#[must_use]
pub fn instant(text: &str, now: i64) -> Option<String> {
    if timestamp::is_canonical(text.as_bytes()) {
        return Some(text.to_owned());
    }
    let day = format!("{text}T00:00:00.000Z");
    if timestamp::is_canonical(day.as_bytes()) {
        return Some(day);
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let length = match unit {
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        "w" => 7 * DAY,
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let age = number.parse::<i64>().ok().filter(|_| is_number)?.checked_mul(length)?;
    timestamp::from_unix_millis(now.checked_sub(age)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-03-04T12:00:00.000Z";

    fn now() -> i64 {
        timestamp::to_unix_millis(NOW).unwrap()
    }

    #[test]
    fn an_age_is_told_in_the_unit_that_a_person_would_use() {
        for (then, expected) in [
            (NOW, "0 seconds ago"),
            ("2026-03-04T11:59:59.000Z", "1 second ago"),
            ("2026-03-04T11:58:00.001Z", "119 seconds ago"),
            ("2026-03-04T11:58:00.000Z", "2 minutes ago"),
            ("2026-03-04T02:00:00.000Z", "10 hours ago"),
            ("2026-02-25T12:00:00.000Z", "7 days ago"),
            ("2026-02-04T12:00:00.000Z", "4 weeks ago"),
            ("2025-12-04T12:00:00.000Z", "3 months ago"),
            ("2020-03-04T12:00:00.000Z", "6 years ago"),
            ("2026-03-06T12:00:00.000Z", "in 2 days"),
            ("never", "at no time"),
        ] {
            assert_eq!(ago(then, now()), expected, "{then}");
        }
        assert_eq!(seconds("2026-03-04T12:00:00.500Z", now()), -1);
    }

    #[test]
    fn instants_are_days_ages_or_canonical() {
        for (text, expected) in [
            (NOW, Some(NOW)),
            ("2026-03-01", Some("2026-03-01T00:00:00.000Z")),
            ("90s", Some("2026-03-04T11:58:30.000Z")),
            ("2w", Some("2026-02-18T12:00:00.000Z")),
            ("2026-02-30", None),
            ("3", None),
            ("d", None),
            ("-1d", None),
            ("+1d", None),
            ("1y", None),
            ("", None),
            ("1é", None),
            ("99999999999999999d", None),
        ] {
            assert_eq!(instant(text, now()).as_deref(), expected, "{text}");
        }
    }
}
