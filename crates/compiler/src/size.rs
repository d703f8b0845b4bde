//! Sizes with a unit.

use crate::yaml::Data;

/// A size in KiB: a bare number counts KiB. `None` where it is no size or no whole number of KiB.
pub(crate) fn kib(data: &Data) -> Option<u64> {
    match data {
        Data::Number(number) => number.as_u64(),
        Data::Text(text) => parse(text).filter(|bytes| bytes % 1024 == 0).map(|bytes| bytes / 1024),
        _ => None,
    }
}

/// A size in bytes: a bare number counts bytes.
pub(crate) fn bytes(data: &Data) -> Option<u64> {
    match data {
        Data::Number(number) => number.as_u64(),
        Data::Text(text) => parse(text),
        _ => None,
    }
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "B" => 1,
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-7-02, DB-10-12
    #[test]
    fn a_unit_is_taken_at_its_word() {
        let text = |text: &str| Data::Text(text.to_owned());
        assert_eq!((kib(&text("100KiB")), bytes(&text("100 KiB"))), (Some(100), Some(102_400)));
        assert_eq!((kib(&text("2MiB")), bytes(&text("7B"))), (Some(2048), Some(7)));
        for wrong in
            ["100", "100kb", "100KB", "1.5KiB", "KiB", "-1KiB", "99999999999999999999KiB", "18446744073709551615KiB"]
        {
            assert_eq!((kib(&text(wrong)), bytes(&text(wrong))), (None, None), "{wrong}");
        }
        assert_eq!(kib(&text("100B")), None);
        assert_eq!((kib(&Data::Number(5.into())), bytes(&Data::Number(5.into()))), (Some(5), Some(5)));
    }
}
