//! Writes the results of a device into case files as expected results.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::ser::Formatter;

use super::contents_spec::Tables;
use super::images::Image;
use super::literal::Literal;
use super::prepare::{Argument, Check, Expectation, Prepared, Subject};
use super::spec::{CaseFile, CaseSpec, ExpectSpec, Form};
use super::{Backend, CaseError, Outputs, Result, Scalar, prepare, spec};

/// Runs every case of a file that doesn't expect an error, and rewrites the file with the results. Returns the number
/// of recorded cases.
///
/// Results named in `expect` are updated. A case without `expect` gets every buffer that the kernel changed.
pub fn record_file(file: &Path, backend: &mut dyn Backend) -> Result<usize> {
    let mut loaded = spec::load(file)?;
    let mut recorded = 0;
    for index in 0..loaded.cases.len() {
        let (path, tables) = (loaded.path(index), Arc::clone(&loaded.tables));
        let case = &mut loaded.cases[index];
        if case.error.is_none() {
            record(case, &tables, file, &path, backend)?;
            recorded += 1;
        }
    }
    let wrong = |error: io::Error| CaseError::new(file, "", error.to_string());
    let text = to_text(&loaded).map_err(|error| CaseError::new(file, "", error.to_string()))?;
    fs::write(file, text).map_err(wrong)?;
    Ok(recorded)
}

fn record(case: &mut CaseSpec, tables: &Tables, file: &Path, path: &str, backend: &mut dyn Backend) -> Result {
    let wrong = |message: String| CaseError::new(file, path, message);
    let prepared = prepare::prepare(case, tables, file, path, &OnceLock::new())?;
    let outputs = backend.run(&prepared).map_err(|failure| wrong(failure.to_string()))?;
    match (&mut case.expect, &prepared.expectation) {
        (Some(expects), Expectation::Results(checks)) => {
            for (expect, check) in expects.iter_mut().zip(checks) {
                refresh(expect, check, &outputs, file).map_err(wrong)?;
            }
        }
        (expect, _) => {
            let changed = changed(&prepared, &outputs);
            if changed.is_empty() {
                return Err(wrong("the kernel changed no buffer or image: there is nothing to expect".to_owned()));
            }
            *expect = Some(changed);
        }
    }
    Ok(())
}

fn refresh(expect: &mut ExpectSpec, check: &Check, outputs: &Outputs, file: &Path) -> Result<(), String> {
    let ty = check.expected.ty;
    let start = check.offset * ty.size();
    let bytes = outputs.bytes(&check.subject).get(start..start + check.expected.bytes.len());
    let bytes = bytes.ok_or_else(|| format!("{}: too few bytes were returned", check.subject))?;
    if let Some(name) = &expect.file {
        let path = file.parent().unwrap_or(Path::new("")).join(name);
        return write_part(&path, expect.at, bytes).map_err(|error| format!("{}: {error}", path.display()));
    }
    if expect.bits.is_some() {
        expect.bits = Some(bit_patterns(ty, bytes));
        return Ok(());
    }
    (expect.zeros, expect.fill, expect.len, expect.table) = (None, None, None, None);
    expect.data = Some(literals(ty, bytes));
    Ok(())
}

/// Writes bytes into an existing file at a position, or as a new file.
fn write_part(path: &Path, at: Option<u64>, bytes: &[u8]) -> io::Result<()> {
    let Some(at) = at else { return fs::write(path, bytes) };
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// The buffers and images that have changed.
fn changed(case: &Prepared, outputs: &Outputs) -> Vec<ExpectSpec> {
    let mut list = Vec::new();
    for (index, arg) in case.args.iter().enumerate() {
        let after = outputs.bytes(&Subject::Arg(index));
        if let Argument::Buffer(array) = arg
            && array.bytes != after
        {
            list.push(ExpectSpec { arg: Some(index), data: Some(literals(array.ty, after)), ..Default::default() });
        }
    }
    for (name, Image { contents, .. }) in &case.textures.images {
        let after = outputs.bytes(&Subject::Image(name.clone()));
        if contents.bytes != after {
            let (image, data) = (Some(name.clone()), Some(literals(contents.ty, after)));
            list.push(ExpectSpec { image, data, ..Default::default() });
        }
    }
    list
}

/// Floats as bit patterns, which don't depend on decimal conversions.
fn literals(ty: Scalar, bytes: &[u8]) -> Vec<Literal> {
    let literal = |bits| match ty.is_float() {
        true => Literal { text: ty.show_bits(bits), quoted: true },
        false => Literal { text: ty.show(bits), quoted: false },
    };
    ty.elements(bytes).map(literal).collect()
}

/// The form that [`prepare`](super::prepare) reads, with repetitions abbreviated.
fn bit_patterns(ty: Scalar, bytes: &[u8]) -> String {
    let elements: Vec<u64> = ty.elements(bytes).collect();
    let word = |run: &[u64]| {
        let digits = format!("{:0width$x}", run[0], width = 2 * ty.size());
        if run.len() > 1 { format!("{digits}*{}", run.len()) } else { digits }
    };
    elements.chunk_by(|a, b| a == b).map(word).collect::<Vec<_>>().join(" ")
}

/// The text of the file: each case of an array and each table on a line of its own.
fn to_text(file: &CaseFile) -> serde_json::Result<String> {
    let cases: Vec<String> = file.cases.iter().map(line).collect::<Result<_, _>>()?;
    let cases = cases.join(",\n  ");
    Ok(match file.form {
        Form::One => format!("{cases}\n"),
        Form::Array => format!("[\n  {cases}\n]\n"),
        Form::WithTables => {
            let table = |(name, table)| Ok(format!("{}: {}", line(name)?, line(table)?));
            let tables: Vec<String> = file.tables.iter().map(table).collect::<serde_json::Result<_>>()?;
            format!("{{\"tables\": {{\n  {}\n}}, \"cases\": [\n  {cases}\n]}}\n", tables.join(",\n  "))
        }
    })
}

fn line(part: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    part.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Spaced))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// Formats one line, with a blank after each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Failure, Verdict};
    use super::*;

    /// Returns each buffer with every byte incremented.
    struct Increment;

    impl Backend for Increment {
        fn name(&self) -> String {
            "increment".to_owned()
        }

        fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure> {
            let buffer = |arg: &Argument| match arg {
                Argument::Buffer(array) => Some(array.bytes.iter().map(|byte| byte.wrapping_add(1)).collect()),
                _ => None,
            };
            let image = |(name, image): (&String, &Image)| {
                (name.clone(), image.contents.bytes.iter().map(|byte| byte.wrapping_add(1)).collect())
            };
            let images = case.textures.images.iter().map(image).collect();
            Ok(Outputs { buffers: case.args.iter().map(buffer).collect(), images, ..Default::default() })
        }
    }

    fn recorded(cases: &str) -> (tempfile::TempDir, String) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("c.json");
        fs::write(directory.path().join("k.ptx"), "").unwrap();
        fs::write(directory.path().join("out.bin"), [0, 0]).unwrap();
        fs::write(&file, cases).unwrap();
        record_file(&file, &mut Increment).unwrap();
        for case in Case::load(&file).unwrap().iter().filter(|case| case.spec.error.is_none()) {
            assert_eq!(case.run(&mut Increment), Verdict::Passed);
        }
        let text = fs::read_to_string(&file).unwrap();
        (directory, text)
    }

    const HEAD: &str = r#""name": "c", "ptx": "k.ptx", "entry": "k", "grid": [1, 1, 1], "block": [1, 1, 1]"#;

    #[test]
    fn a_case_without_expectation_gets_what_changed() {
        let args = r#""args": [{"type": "f32", "data": [0.50]}, {"type": "s8", "data": [-1, 127]}, {"null": true}]"#;
        let (_directory, text) = recorded(&format!("{{{HEAD}, {args}}}"));
        let expect = r#""expect": [{"arg": 0, "data": ["0x40010101"]}, {"arg": 1, "data": [0, -128]}]"#;
        assert_eq!(text, format!("{{{HEAD}, {args}, {expect}}}\n"));
    }

    #[test]
    fn images_count_as_buffers_do() {
        let image =
            r#""images": {"i": {"format": "snorm8", "shape": "2d", "size": [2, 1], "surface": true, "data": [-1, 7]}}"#;
        let args = r#""args": [{"surface": "i"}]"#;
        let (_directory, text) = recorded(&format!("{{{HEAD}, {image}, {args}}}"));
        assert_eq!(text, format!("{{{HEAD}, {image}, {args}, {}}}\n", r#""expect": [{"image": "i", "data": [0, 8]}]"#));
    }

    #[test]
    fn an_expectation_is_refreshed_where_it_looks() {
        let args = r#""args": [{"type": "u8", "data": [1, 2, 3]}]"#;
        let expect =
            |first: &str| format!(r#""expect": [{{"arg": 0, "offset": 1, {first}}}, {{"arg": 0, "file": "out.bin"}}]"#);
        let (directory, text) = recorded(&format!("[{{{HEAD}, {args}, {}}}]", expect(r#""fill": 0, "len": 2"#)));
        assert_eq!(text, format!("[\n  {{{HEAD}, {args}, {}}}\n]\n", expect(r#""data": [3, 4]"#)));
        assert_eq!(fs::read(directory.path().join("out.bin")).unwrap(), [2, 3]);
    }

    #[test]
    fn the_form_of_a_file_stays() {
        let text = |bits: &str, part: &str| {
            format!(
                r#"{{"tables": {{
  "a": {{"type": "u16", "bits": "0000*3 0001"}}
}}, "cases": [
  {{{HEAD}, "args": [{{"type": "u16", "table": "a"}}], "expect": [{{"arg": 0, "bits": "{bits}"}}, {{"arg": 0, {part}}}]}}
]}}
"#
            )
        };
        let part = r#""file": "out.bin", "at": 1, "len": 1"#;
        let bytes = [r#""type": "u8", "#, part].concat();
        let (directory, recorded) = recorded(&text("0000*4", &bytes));
        assert_eq!(recorded, text("0101*3 0102", &bytes));
        assert_eq!(fs::read(directory.path().join("out.bin")).unwrap(), [0, 1]);
    }

    #[test]
    fn cases_that_wait_for_an_error_stay_as_they_are() {
        let text = format!(r#"{{{HEAD}, "args": [], "error": "no"}}{}"#, "\n");
        assert_eq!(recorded(&text).1, text);
    }

    #[test]
    fn a_kernel_that_does_nothing_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("c.json");
        fs::write(directory.path().join("k.ptx"), "").unwrap();
        fs::write(&file, format!(r#"{{{HEAD}, "args": [{{"type": "u8", "value": 1}}]}}"#)).unwrap();
        let error = record_file(&file, &mut Increment).unwrap_err();
        assert!(error.message.contains("changed no buffer or image"), "{error}");
    }
}
