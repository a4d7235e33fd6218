//! A module in several variants, each made for another device, in one file: whoever loads it takes the one that fits.

use serde::{Deserialize, Serialize};

use crate::Interface;

/// Variants of one module. As a file it is JSON; `docs/interface.md` has its form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// Version of this form.
    pub format: u32,
    /// The variants. Of those that fit a device equally well, the first is taken.
    pub variants: Vec<Variant>,
}

/// A translated module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its description, with all that it needs of a device.
    pub interface: Interface,
    /// Its words; in JSON the base64 form of their bytes, little endian.
    #[serde(with = "base64_words")]
    pub spirv: Vec<u32>,
}

impl Bundle {
    /// The value of [`Bundle::format`] that this version writes.
    pub const FORMAT: u32 = 1;

    /// A bundle of these variants.
    pub fn new(variants: impl IntoIterator<Item: Into<Variant>>) -> Self {
        Self { format: Self::FORMAT, variants: variants.into_iter().map(Into::into).collect() }
    }
}

mod base64_words {
    //! The alphabet is that of RFC 4648, section 4, with padding.
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    pub fn serialize<S: Serializer>(words: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for group in bytes.chunks(3) {
            let number =
                (0..3).fold(0_usize, |number, i| number << 8 | usize::from(group.get(i).copied().unwrap_or(0)));
            for place in 0..4 {
                // Six bits: within the alphabet.
                let digit = ALPHABET[number >> (18 - 6 * place) & 63];
                text.push(if place <= group.len() { char::from(digit) } else { '=' });
            }
        }
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(deserializer)?;
        decode(text.as_bytes()).ok_or_else(|| D::Error::custom("expected 32-bit words in base64"))
    }

    fn decode(text: &[u8]) -> Option<Vec<u32>> {
        let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
        if !text.len().is_multiple_of(4) {
            return None;
        }
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for group in digits.chunks(4) {
            let mut number = 0_u32;
            for place in 0..4 {
                let digit = group.get(place).map_or(Some(0), |digit| ALPHABET.iter().position(|known| known == digit));
                // At most 63.
                number = number << 6 | digit? as u32;
            }
            let [_, a, b, c] = number.to_be_bytes();
            bytes.extend([a, b, c].iter().take(group.len() * 6 / 8));
        }
        let (words, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn encode(words: &[u32]) -> String {
            let value = serialize(words, serde_json::value::Serializer).unwrap();
            value.as_str().unwrap().to_owned()
        }

        /// RFC 4648, section 10, as far as those are whole words, and by hand.
        #[test]
        fn known_texts() {
            for (words, text) in [
                (&[][..], ""),
                (&[u32::from_le_bytes(*b"foob")], "Zm9vYg=="),
                (&[u32::from_le_bytes(*b"foob"), u32::from_le_bytes(*b"ar\0\0")], "Zm9vYmFyAAA="),
                (&[0, u32::MAX, 0xfbff], "AAAAAP//////+wAA"),
            ] {
                assert_eq!(encode(words), text);
                assert_eq!(decode(text.as_bytes()).as_deref(), Some(words));
            }
        }

        #[test]
        fn wrong_texts() {
            for text in ["Zm9vY", "Zm9vYmFy", "Zm9v Yg=", "Zm9=YQ==", "=", "====", "Zg==", "Zm9vYg==\n", "\u{e9}AA"] {
                assert_eq!(decode(text.as_bytes()), None, "{text}");
            }
        }
    }
}
