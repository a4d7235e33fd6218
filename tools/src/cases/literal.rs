//! Numbers in case files.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A number as written: a JSON number, or a string such as `"0x7fc00000"` or `"-inf"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The number's text without quotes.
    pub text: String,
    /// Whether the number was written as a string.
    pub quoted: bool,
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        match raw.get().bytes().next() {
            Some(b'"') => {
                serde_json::from_str(raw.get()).map(|text| Literal { text, quoted: true }).map_err(D::Error::custom)
            }
            Some(b'-' | b'0'..=b'9') => Ok(Literal { text: raw.get().to_owned(), quoted: false }),
            _ => Err(D::Error::custom(format!("expected a number or a string, not `{}`", shorten(raw.get())))),
        }
    }
}

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        if self.quoted {
            return serializer.serialize_str(&self.text);
        }
        RawValue::from_string(self.text.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
