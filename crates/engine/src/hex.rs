//! Byte strings of fixed length in lower-case hexadecimal, for everything that people and other
//! programs read: seeds, commitments, keys, the ids of games.

#[cfg(feature = "schema")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// `N` bytes that print and parse as hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline, with = "String", extend("pattern" = hex_pattern(N))))]
pub struct Hex<const N: usize>(pub [u8; N]);

/// The error for a text that is not exactly `N` bytes of hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseHexError;

impl fmt::Display for ParseHexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not hexadecimal of the expected length")
    }
}

impl core::error::Error for ParseHexError {}

impl<const N: usize> Default for Hex<N> {
    /// Returns zeros.
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |four_bits: u8| DIGITS[usize::from(four_bits)];
        let digits = self.0.map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        f.write_str(core::str::from_utf8(digits.as_flattened()).map_err(|_| fmt::Error)?)
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> FromStr for Hex<N> {
    type Err = ParseHexError;

    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        let digits = text.as_bytes();
        if digits.len() != 2 * N {
            return Err(ParseHexError);
        }
        let mut bytes = [0; N];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// Returns the regular expression for `bytes` bytes of lower-case hexadecimal.
#[cfg(feature = "schema")]
fn hex_pattern(bytes: usize) -> String {
    alloc::format!("^[0-9a-f]{{{}}}$", 2 * bytes)
}

fn digit(ascii: u8) -> Result<u8, ParseHexError> {
    match ascii {
        b'0'..=b'9' => Ok(ascii - b'0'),
        b'a'..=b'f' => Ok(ascii - b'a' + 10),
        b'A'..=b'F' => Ok(ascii - b'A' + 10),
        _ => Err(ParseHexError),
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HexVisitor)
    }
}

/// Reads hexadecimal text, and the bytes themselves from binary formats.
struct HexVisitor<const N: usize>;

impl<const N: usize> Visitor<'_> for HexVisitor<N> {
    type Value = Hex<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string of {N} bytes in hexadecimal")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Hex<N>, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Hex<N>, E> {
        bytes.try_into().map(Hex).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hex, ParseHexError};
    use alloc::string::ToString;

    #[test]
    fn prints_what_it_parses() {
        let bytes: Hex<3> = "00fFa1".parse().unwrap();
        assert_eq!(bytes, Hex([0x00, 0xff, 0xa1]));
        assert_eq!(bytes.to_string(), "00ffa1");
    }

    #[test]
    fn refuses_another_length_and_foreign_digits() {
        assert_eq!("00ff".parse::<Hex<3>>(), Err(ParseHexError));
        assert_eq!("00fg00".parse::<Hex<3>>(), Err(ParseHexError));
        assert_eq!("é0000".parse::<Hex<3>>(), Err(ParseHexError));
    }
}
