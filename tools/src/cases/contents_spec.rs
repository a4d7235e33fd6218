//! The keys of case files that give an array's elements, in one of several forms.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::literal::Literal;

/// The forms of an array's elements.
pub(super) struct Contents<'a> {
    pub data: Option<&'a Vec<Literal>>,
    pub bits: Option<&'a str>,
    pub file: Option<&'a Path>,
    pub at: Option<u64>,
    pub table: Option<&'a str>,
    pub zeros: Option<u64>,
    pub fill: Option<&'a Literal>,
    pub len: Option<u64>,
}

impl Contents<'_> {
    /// Number of forms in use, which must be one.
    pub fn count(&self) -> usize {
        let Self { data, bits, file, table, zeros, fill, .. } = self;
        let given = [data.is_some(), bits.is_some(), file.is_some(), table.is_some(), zeros.is_some(), fill.is_some()];
        given.into_iter().filter(|&given| given).count()
    }
}

/// Defines a struct with the forms of an array's elements among its keys: those before the forms, the forms, those after them. (Serde's `flatten`
/// would lose the numbers' text, and with it unknown keys would pass.)
macro_rules! with_contents {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$before_meta:meta])* pub $before:ident: $before_ty:ty,)* .. $($(#[$after_meta:meta])* pub $after:ident: $after_ty:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$before_meta])* pub $before: $before_ty,)*
            /// The elements.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub data: Option<Vec<$crate::cases::literal::Literal>>,
            /// File with the bytes, little-endian.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub file: Option<std::path::PathBuf>,
            /// First byte to use of the file, for `len` elements. By default, the whole file is used.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub at: Option<u64>,
            /// Bit patterns in hexadecimal, one for each element, separated by blanks.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bits: Option<String>,
            /// Name of a table of the case file.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub table: Option<String>,
            /// Number of elements that are all zero.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub zeros: Option<u64>,
            /// The value of all `len` elements.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub fill: Option<$crate::cases::literal::Literal>,
            /// The number of elements, for `fill` and `at`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub len: Option<u64>,
            $($(#[$after_meta])* pub $after: $after_ty,)*
        }

        impl $name {
            /// The forms of the elements.
            pub(super) fn contents(&self) -> $crate::cases::contents_spec::Contents<'_> {
                $crate::cases::contents_spec::Contents {
                    data: self.data.as_ref(),
                    bits: self.bits.as_deref(),
                    file: self.file.as_deref(),
                    at: self.at,
                    table: self.table.as_deref(),
                    zeros: self.zeros,
                    fill: self.fill.as_ref(),
                    len: self.len,
                }
            }
        }
    };
}
pub(super) use with_contents;

with_contents! {
    /// Contents of a module variable, or a table.
    pub struct GlobalSpec {
        /// Element type.
        #[serde(rename = "type")]
        pub ty: String,
        ..
    }
}

/// Arrays shared by several cases of a file, by name.
pub type Tables = BTreeMap<String, GlobalSpec>;
