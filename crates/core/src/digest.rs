//! SHA-256 values and the one place that hashes.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::Digest as _;

const PREFIX: &str = "sha256:";
const HEX: &[u8; 16] = b"0123456789abcdef";

/// A SHA-256 value. Its text form is `sha256:` and 64 lower-case hexadecimal digits (FORMATS §2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

/// The text is not `sha256:` followed by 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected sha256: and 64 lower-case hexadecimal digits")]
pub struct DigestSyntax;

impl Digest {
    /// Length of the text form in bytes.
    pub const TEXT_LEN: usize = PREFIX.len() + 64;

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The 32 raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A digest from its 32 raw bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the text form from bytes; `None` where it is anything else.
    #[must_use]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let hex: &[u8; 64] = text.strip_prefix(PREFIX.as_bytes())?.try_into().ok()?;
        let mut out = [0_u8; 32];
        let mut valid = 0_u8;
        for (byte, pair) in out.iter_mut().zip(hex.as_chunks::<2>().0) {
            let [high, low] = pair.map(hex_value);
            valid |= high | low;
            *byte = (high << 4) | (low & 0x0f);
        }
        (valid & 0x80 == 0).then_some(Self(out))
    }

    /// The 64 hexadecimal digits without the prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        self.text().as_str().get(PREFIX.len()..).unwrap_or_default().to_owned()
    }

    fn first_eight(&self) -> u64 {
        self.0.first_chunk::<8>().map_or(0, |first| u64::from_be_bytes(*first))
    }

    fn text(&self) -> Text {
        let mut text = [0_u8; Self::TEXT_LEN];
        let (prefix, digits) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [hex_digit(byte >> 4), hex_digit(byte & 15)];
        }
        Text(text)
    }
}

/// The value of a lower-case hexadecimal digit; the top bit is set for any other byte.
const fn hex_value(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => 0x80,
    }
}

fn hex_digit(nibble: u8) -> u8 {
    HEX.get(usize::from(nibble)).copied().unwrap_or(b'0')
}

/// The text form.
struct Text([u8; Digest::TEXT_LEN]);

impl Text {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

// The order of the bytes. The first eight nearly always decide, and lists of digests are sorted a lot.
impl Ord for Digest {
    fn cmp(&self, other: &Self) -> Ordering {
        self.first_eight().cmp(&other.first_eight()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// Eight bytes of a digest identify it: finding two records that agree in them costs as much as 2^32 hashes,
// and the map that uses this is keyed besides.
impl std::hash::Hash for Digest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.first_eight());
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text().as_str())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Digest {
    type Err = DigestSyntax;

    fn from_str(text: &str) -> Result<Self, DigestSyntax> {
        Self::from_text(text.as_bytes()).ok_or(DigestSyntax)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Digest;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a digest")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// SHA-256 over bytes that arrive in pieces.
#[derive(Clone, Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything added.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hasher")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips_and_is_strict() {
        let digest = Digest::of(b"");
        let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        for wrong in [&text[7..], &text[..70], &text.to_uppercase(), &format!("{text}\n"), &text.replace('e', "g")] {
            assert_eq!(wrong.parse::<Digest>(), Err(DigestSyntax), "{wrong}");
        }
    }
}
