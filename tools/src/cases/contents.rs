//! Contents of buffers, variables and images: converts the numbers of a case to bytes.

use std::fs;
use std::path::{Path, PathBuf};

use super::Scalar;
use super::contents_spec::{Contents, GlobalSpec, Tables};

/// Maximum bytes of a buffer in a case. A larger number is probably a mistake.
pub const MAX_BUFFER_BYTES: u64 = 1 << 34;

/// Typed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Element type.
    pub ty: Scalar,
    /// Elements, little endian.
    pub bytes: Vec<u8>,
}

/// The result of reading a case file.
pub type Result<T = (), E = CaseError> = std::result::Result<T, E>;

/// An error in a case file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}{message}", file.display(), if place.is_empty() { String::new() } else { format!("{place}: ") })]
pub struct CaseError {
    /// The case file.
    pub file: PathBuf,
    /// JSON path of the wrong part, such as `$[2].args[0]`; empty for the whole file.
    pub place: String,
    /// The error.
    pub message: String,
}

impl CaseError {
    pub(super) fn new(file: &Path, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), message: message.into() }
    }
}

/// The position of a part of a case, for messages and for relative paths.
#[derive(Clone, Copy)]
pub(super) struct CasePath<'a> {
    pub file: &'a Path,
    pub tables: &'a Tables,
    pub path: &'a str,
}

impl CasePath<'_> {
    pub fn error(self, message: impl Into<String>) -> CaseError {
        CaseError::new(self.file, self.path, message)
    }

    /// Runs an action at a position below this one.
    pub fn at<T>(self, key: &str, action: impl FnOnce(CasePath<'_>) -> Result<T>) -> Result<T> {
        let path = format!("{}{key}", self.path);
        action(CasePath { path: &path, ..self })
    }

    /// The folder that relative paths start from.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    pub fn read(self, path: &Path) -> Result<Vec<u8>> {
        let path = self.folder().join(path);
        let wrong = |message: String| self.error(format!("{}: {message}", path.display()));
        let size = fs::metadata(&path).map_err(|error| wrong(error.to_string()))?.len();
        if size > MAX_BUFFER_BYTES {
            return Err(wrong(format!("{size} bytes are more than the limit of a buffer ({MAX_BUFFER_BYTES})")));
        }
        fs::read(&path).map_err(|error| wrong(error.to_string()))
    }
}

/// The elements that the forms describe, one of which must be given.
pub(super) fn read(contents: &Contents<'_>, place: CasePath<'_>, ty: Scalar) -> Result<Array> {
    if contents.count() != 1 {
        return Err(place.error("expected exactly one of `data`, `bits`, `file`, `table`, `zeros` and `fill`"));
    }
    if contents.at.is_some() && contents.file.is_none() {
        return Err(place.error("`at` and `file` go together"));
    }
    if (contents.fill.is_some() || contents.at.is_some()) != contents.len.is_some() {
        return Err(place.error("`len` and `fill` or `at` go together"));
    }
    let mut bytes = Vec::new();
    if let Some(data) = contents.data {
        for (index, literal) in data.iter().enumerate() {
            let key = format!(".data[{index}]");
            let bits = ty.parse(&literal.text);
            bytes.extend(ty.to_bytes(bits.or_else(|message| place.at(&key, |place| Err(place.error(message))))?));
        }
    } else if let Some(text) = contents.bits {
        bytes = place.at(".bits", |place| bit_patterns(place, text, ty))?;
    } else if let Some(file) = contents.file {
        bytes = place.at(".file", |place| place.read(file))?;
        if let Some(start) = contents.at {
            bytes = place.at(".at", |place| part(place, &bytes, start, contents.len.unwrap_or(0), ty))?;
        }
    } else if let Some(name) = contents.table {
        bytes = place.at(".table", |place| table(place, name))?;
    } else if let Some(fill) = contents.fill {
        let bits = place.at(".fill", |place| ty.parse(&fill.text).map_err(|message| place.error(message)))?;
        let len = array_len(place, contents.len.unwrap_or(0), ty)?;
        bytes = ty.to_bytes(bits).collect::<Vec<u8>>().repeat(len);
    } else {
        bytes = vec![0; array_len(place, contents.zeros.unwrap_or(0), ty)? * ty.size()];
    }
    if bytes.len() % ty.size() != 0 {
        return Err(place.error(format!("{} bytes are not a whole number of {ty} elements", bytes.len())));
    }
    Ok(Array { ty, bytes })
}

/// Words such as `3f800000` and `00000000*12`: bit patterns of the type's full width, with a repeat count.
fn bit_patterns(place: CasePath<'_>, text: &str, ty: Scalar) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_ascii_whitespace() {
        let (digits, count) = word.split_once('*').unwrap_or((word, "1"));
        let full = digits.len() == 2 * ty.size() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bits = u64::from_str_radix(digits, 16).ok().filter(|_| full);
        let bits =
            bits.ok_or_else(|| place.error(format!("`{word}`: expected {} hexadecimal digits", 2 * ty.size())))?;
        let count = count.parse().map_err(|_| place.error(format!("`{word}`: expected a number after `*`")))?;
        let most = (MAX_BUFFER_BYTES - bytes.len() as u64) / ty.size() as u64;
        if count > most {
            return Err(place.error(format!("`{word}`: more than the limit of a buffer ({MAX_BUFFER_BYTES} bytes)")));
        }
        bytes.extend(ty.to_bytes(bits).collect::<Vec<u8>>().repeat(array_len(place, count, ty)?));
    }
    Ok(bytes)
}

/// `len` elements from a file's bytes, from byte `start` on.
fn part(place: CasePath<'_>, bytes: &[u8], start: u64, len: u64, ty: Scalar) -> Result<Vec<u8>> {
    let size = array_len(place, len, ty)?;
    let start = usize::try_from(start).ok();
    let part = start.and_then(|start| bytes.get(start..start.checked_add(size * ty.size())?));
    part.map(<[u8]>::to_vec).ok_or_else(|| place.error(format!("the file is too short: it has {} bytes", bytes.len())))
}

/// The bytes of a table.
fn table(place: CasePath<'_>, name: &str) -> Result<Vec<u8>> {
    let table = place.tables.get(name).ok_or_else(|| place.error(format!("there is no table `{name}`")))?;
    // Tables can't refer to tables, which could lead to a cycle.
    let tables = Tables::new();
    let path = format!("$.tables.{name}");
    Ok(global_array(CasePath { path: &path, tables: &tables, ..place }, table)?.bytes)
}

pub(super) fn array_len(place: CasePath<'_>, len: u64, ty: Scalar) -> Result<usize> {
    match len.checked_mul(ty.size() as u64) {
        Some(bytes) if bytes <= MAX_BUFFER_BYTES => {
            usize::try_from(len).map_err(|_| place.error("more elements than this machine can address"))
        }
        _ => Err(place.error(format!("{len} elements are more than the limit of a buffer ({MAX_BUFFER_BYTES} bytes)"))),
    }
}

pub(super) fn global_array(place: CasePath<'_>, spec: &GlobalSpec) -> Result<Array> {
    let ty = scalar(place, &spec.ty)?;
    read(&spec.contents(), place, ty)
}

pub(super) fn scalar(place: CasePath<'_>, name: &str) -> Result<Scalar> {
    place.at(".type", |place| name.parse().map_err(|message: String| place.error(message)))
}

/// Bytes from pairs of hexadecimal digits; `None` for any other text, including an empty one.
pub fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    hex::decode(text).ok().filter(|bytes| !bytes.is_empty())
}
