//! Canonical instants: `YYYY-MM-DDTHH:MM:SS.mmmZ` (§2, FORMATS §2).

use chrono::{DateTime, NaiveDate, SecondsFormat};

/// Length of a canonical instant in bytes.
pub const LEN: usize = 24;

/// Whether `text` is a canonical instant that exists in the calendar.
// DB-2-05
#[must_use]
pub fn is_canonical(text: &[u8]) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] =
        text
    else {
        return false;
    };
    let number = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0_u32, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(&[y1, y2, y3, y4]), number(&[m1, m2]), number(&[d1, d2])) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(&[h1, h2]), number(&[n1, n2]), number(&[s1, s2])) else {
        return false;
    };
    number(&[f1, f2, f3]).is_some()
        && hour < 24
        && minute < 60
        && second < 60
        && i32::try_from(year).is_ok_and(|year| NaiveDate::from_ymd_opt(year, month, day).is_some())
}

/// The canonical text of `millis` milliseconds since 1970; `None` outside the years 0000 to 9999.
#[must_use]
pub fn from_unix_millis(millis: i64) -> Option<String> {
    let text = DateTime::from_timestamp_millis(millis)?.to_rfc3339_opts(SecondsFormat::Millis, true);
    is_canonical(text.as_bytes()).then_some(text)
}

/// Milliseconds since 1970 of a canonical instant.
#[must_use]
pub fn to_unix_millis(text: &str) -> Option<i64> {
    is_canonical(text.as_bytes()).then(|| DateTime::parse_from_rfc3339(text).ok())?.map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-2-05
    #[test]
    fn accepts_real_instants_only() {
        for good in ["2026-03-01T12:00:01.000Z", "2024-02-29T23:59:59.999Z", "0000-01-01T00:00:00.000Z"] {
            assert!(is_canonical(good.as_bytes()), "{good}");
            assert_eq!(from_unix_millis(to_unix_millis(good).unwrap()).as_deref(), Some(good));
        }
        for wrong in [
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-03-01T24:00:00.000Z",
            "2016-12-31T23:59:60.000Z",
            "2026-03-01T12:00:01.00Z",
            "2026-03-01 12:00:01.000Z",
            "2026-03-01T12:00:01.000z",
            "+10000-01-01T00:00:00.00Z",
        ] {
            assert!(!is_canonical(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(from_unix_millis(i64::MAX), None);
    }
}
