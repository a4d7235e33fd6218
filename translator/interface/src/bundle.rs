//! A module in several variants for different devices, in one file. The loader takes a variant that suits the device.

use serde::{Deserialize, Serialize};

use crate::interface::Interface;

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
    use base64::{Engine, prelude::BASE64_STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(words: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(deserializer)?;
        decode(&text).ok_or_else(|| D::Error::custom("expected 32-bit words in base64"))
    }

    fn decode(text: &str) -> Option<Vec<u32>> {
        let bytes = BASE64_STANDARD.decode(text).ok()?;
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
                assert_eq!(decode(text).as_deref(), Some(words));
            }
        }

        #[test]
        fn wrong_texts() {
            for text in ["Zm9vY", "Zm9vYmFy", "Zm9v Yg=", "Zm9=YQ==", "=", "====", "Zg==", "Zm9vYg==\n", "\u{e9}AA"] {
                assert_eq!(decode(text), None, "{text}");
            }
        }
    }
}
