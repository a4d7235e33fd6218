//! Launch cases in the form of a JSON file, before any other files are read.
//!
//! The types mirror the file and store numbers as text, so that reading and writing a file loses nothing.
//! [`super::prepare`] gives them their meaning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptx2spv_translator::Math;
use serde::{Deserialize, Serialize};

use super::contents_spec::{GlobalSpec, Tables, with_contents};
use super::image_spec::{ImageSpec, ObjectSpec, TextureSpec};
use super::literal::Literal;
use super::{CaseError, Result};

/// A launch case. The comments describe the keys; `tools/README.md` describes the form.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSpec {
    /// Name, unique within its file.
    pub name: String,
    /// PTX file, relative to the case file.
    pub ptx: PathBuf,
    /// Name of the kernel.
    pub entry: String,
    /// Blocks in x, y and z.
    #[serde(default = "ones")]
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    #[serde(default = "ones")]
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z, if the launch sets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<[u32; 3]>,
    /// Whether the launch is cooperative: blocks may wait for each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_shared_bytes: u32,
    /// The accuracy of float arithmetic, whatever the other cases' is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub math: Option<Math>,
    /// Contents of module variables, written before the launch.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub globals: BTreeMap<String, GlobalSpec>,
    /// Memory for textures and surfaces, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, ImageSpec>,
    /// Objects that texture, surface and sampler references of the module are bound to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: BTreeMap<String, ObjectSpec>,
    /// The kernel's arguments in order.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// The expected results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Vec<ExpectSpec>>,
    /// Instead of `expect`: the case must be refused with a message that contains this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

with_contents! {
    /// A kernel argument: a buffer (`data`, `bits`, `file`, `table`, `zeros` or `fill`), a `value`, `null`, or the handle of a
    /// `texture`, a `surface` or a `sampler`.
    #[derive(Default)]
    pub struct ArgSpec {
        /// Element type, or `bytes` for a struct by value.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        pub ty: Option<String>,
        ..
        /// A number passed by value, or hexadecimal digits for `bytes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub value: Option<Literal>,
        /// `true` for the null pointer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub null: bool,
        /// A texture's handle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub texture: Option<TextureSpec>,
        /// A surface's handle: the name of its image.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub surface: Option<String>,
        /// A sampler's handle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sampler: Option<TextureSpec>,
        /// A buffer of handles.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub handles: Option<Vec<ObjectSpec>>,
    }
}

with_contents! {
    /// Expected contents of a buffer, a module variable or an image after the launch.
    #[derive(Default)]
    pub struct ExpectSpec {
        /// Index of the argument to check, which must be a buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub arg: Option<usize>,
        /// Name of the module variable to check.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub global: Option<String>,
        /// Name of the image to check.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub image: Option<String>,
        /// Type of the comparison; by default that of the argument, of the `globals` entry or of the image's channels.
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        pub ty: Option<String>,
        /// First element to compare.
        #[serde(default, skip_serializing_if = "is_zero_u64")]
        pub offset: u64,
        ..
        /// Maximum distance of floats, in representable values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ulp: Option<u64>,
        /// Maximum absolute error of floats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub abs: Option<f64>,
        /// Maximum error of floats, relative to the expected value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rel: Option<f64>,
        /// The comparison of NaNs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nan: Option<NanRule>,
    }
}

/// The rule by which NaNs compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NanRule {
    /// All NaNs are equal.
    #[default]
    Any,
    /// Sign and payload are compared.
    Bits,
}

/// A case file.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// The form of the file.
    pub form: Form,
    /// The tables, empty unless the form is [`Form::WithTables`].
    pub tables: Arc<Tables>,
    /// The cases in order.
    pub cases: Vec<CaseSpec>,
}

/// The forms of a case file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One case.
    One,
    /// An array of cases.
    Array,
    /// An object with `tables` and `cases`.
    WithTables,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithTables {
    tables: Tables,
    cases: Vec<CaseSpec>,
}

impl CaseFile {
    /// JSON path of a case, by its index.
    pub fn path(&self, index: usize) -> String {
        match self.form {
            Form::One => "$".to_owned(),
            Form::Array => format!("$[{index}]"),
            Form::WithTables => format!("$.cases[{index}]"),
        }
    }
}

/// Reads a case file.
pub fn load(file: &Path) -> Result<CaseFile> {
    let text = fs::read_to_string(file).map_err(|error| CaseError::new(file, "", error.to_string()))?;
    parse(file, &text)
}

/// [`load`] on a text that was read already; `file` is for messages.
pub fn parse(file: &Path, text: &str) -> Result<CaseFile> {
    /// A key of an object with tables, which cases don't have.
    #[derive(Deserialize)]
    struct Probe {
        cases: Option<serde::de::IgnoredAny>,
    }
    let no_tables = Arc::default();
    if text.trim_start().starts_with('[') {
        return Ok(CaseFile { form: Form::Array, tables: no_tables, cases: parse_json(file, text)? });
    }
    if serde_json::from_str::<Probe>(text).is_ok_and(|probe| probe.cases.is_some()) {
        let WithTables { tables, cases } = parse_json(file, text)?;
        return Ok(CaseFile { form: Form::WithTables, tables: Arc::new(tables), cases });
    }
    Ok(CaseFile { form: Form::One, tables: no_tables, cases: vec![parse_json(file, text)?] })
}

fn parse_json<T: for<'de> Deserialize<'de>>(file: &Path, text: &str) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = match error.path().to_string() {
            path if path == "." => "$".to_owned(),
            path if path.starts_with('[') => format!("${path}"),
            path => format!("$.{path}"),
        };
        CaseError::new(file, place, error.into_inner().to_string())
    })?;
    deserializer.end().map_err(|error| CaseError::new(file, "", error.to_string()))?;
    Ok(value)
}

fn ones() -> [u32; 3] {
    [1; 3]
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_zero_u64(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        parse(Path::new("dir/x.json"), text).expect_err(text).to_string()
    }

    #[test]
    fn an_object_and_an_array_both_load() {
        let one = r#"{"name": "a", "ptx": "a.ptx", "entry": "k", "args": [{"type": "f32", "data": [1.50, "nan"]}]}"#;
        let file = parse(Path::new("x.json"), one).unwrap();
        let data = file.cases[0].args[0].data.as_ref().unwrap();
        assert_eq!(data[0], Literal { text: "1.50".into(), quoted: false });
        assert_eq!(data[1], Literal { text: "nan".into(), quoted: true });
        assert_eq!(file.cases[0].grid, [1, 1, 1]);
        assert_eq!(parse(Path::new("x.json"), &format!(" [{one}, {one}]")).unwrap().cases.len(), 2);
    }

    #[test]
    fn errors_name_the_file_and_the_place() {
        let message = error_of(r#"[{"name": "a", "ptx": "a", "entry": "k", "args": [{"tpye": "f32"}]}]"#);
        assert!(message.starts_with("dir/x.json: $[0].args[0]"), "{message}");
        assert!(message.contains("unknown field `tpye`"), "{message}");
        let message = error_of(r#"{"name": "a", "ptx": "a", "entry": "k", "args": [{"data": [1, true]}]}"#);
        assert!(message.contains("$.args[0].data[1]: expected a number or a string, not `true`"), "{message}");
        assert!(error_of(r#"{"name": "a"}"#).contains("missing field `ptx`"));
        assert!(error_of(r#"{"name": "a", "ptx": "a", "entry": "k"} x"#).contains("trailing"));
        assert!(error_of(r#"{"name": "a", "ptx": "a", "entry": "k", "grid": [1, -2, 1]}"#).contains("$.grid[1]"));
        assert!(error_of("").contains("EOF"));
    }

    #[test]
    fn numbers_are_written_as_they_were_read() {
        let text = r#"{"data":[1.50,1e400,"0x01",18446744073709551616]}"#;
        let arg: ArgSpec = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&arg).unwrap(), text);
    }
}
