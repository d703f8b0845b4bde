//! The one-pass check and the slow, obvious one give the same answer for every line.
#![no_main]

use daybook_core::{CheckedLine, Digest, LineFault, Record};
use daybook_testkit::oracle::{self, Verdict};
use libfuzzer_sys::fuzz_target;

fn verdict(line: &[u8]) -> Verdict {
    match CheckedLine::check(line) {
        Ok(checked) => {
            let record = Record::from_checked(&checked);
            assert_eq!(record.line(), line);
            assert_eq!(record.payload_text().as_bytes(), checked.payload());
            Verdict::Accepted
        }
        Err(LineFault::NotUtf8) => Verdict::NotUtf8,
        Err(LineFault::InvalidJson) => Verdict::InvalidJson,
        Err(LineFault::UnsupportedVersion) => Verdict::UnsupportedVersion,
        Err(LineFault::Shape) => Verdict::Shape,
        Err(LineFault::InvalidSha) => Verdict::InvalidSha,
        Err(LineFault::NotCanonical) => Verdict::NotCanonical,
    }
}

/// A fuzzer cannot guess digests: gives the line the one that its other bytes have.
fn with_right_digest(line: &[u8]) -> Option<Vec<u8>> {
    let start = line.windows(8).rposition(|window| window == b",\"sha\":\"")?;
    let end = start + 8 + Digest::TEXT_LEN;
    let without = [line.get(..start)?, line.get(end + 1..)?].concat();
    let digest = Digest::of(&without).to_string();
    Some([line.get(..start + 8)?, digest.as_bytes(), line.get(end..)?].concat())
}

fuzz_target!(|line: &[u8]| {
    assert_eq!(verdict(line), oracle::check(line));
    if let Some(line) = with_right_digest(line) {
        assert_eq!(verdict(&line), oracle::check(&line));
    }
});
