//! The results of a launch: as text, as JSON, and in files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use ptx2spv::cases::images::{Image, Textures};
use ptx2spv::cases::prepare::{Argument, Expectation, Prepared, Subject};
use ptx2spv::cases::{Outputs, Scalar};
use ptx2spv::cli::UsageError;
use ptx2spv::picture::Picture;
use ptx2spv_runtime::Finding;
use serde::Serialize;
use serde_json::Value;

/// A launch in the output of `--json`.
#[derive(Default, Serialize)]
pub struct Report {
    /// The device's name.
    pub device: String,
    /// The launch case, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    pub kernel: String,
    /// Whether the case passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// The reason if the case did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Buffers and variables.
    pub results: Vec<Elements>,
    /// The number of times that `pmevent` was executed, for each event.
    pub counters: Vec<u64>,
    /// Findings of the reference device.
    pub findings: Vec<String>,
    pub trace: Vec<String>,
    /// The kernel's output.
    pub output: String,
}

/// The elements of a buffer or variable.
#[derive(Serialize)]
pub struct Elements {
    /// The argument's index, followed by those of struct members: `2`, `0.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    arg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    global: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(rename = "type")]
    ty: String,
    /// Numbers. Infinities and NaNs are text, as in launch cases.
    data: Vec<Value>,
}

impl Report {
    /// Adds the results of a launch.
    pub fn add(&mut self, case: &Prepared, outputs: &Outputs) {
        self.results = results(case).iter().map(|result| Elements::new(result, outputs)).collect();
        self.counters = outputs.counters.to_vec();
    }

    /// Adds findings.
    pub fn find(&mut self, findings: &[Finding]) {
        self.findings = findings.iter().map(Finding::to_string).collect();
    }
}

impl Elements {
    fn new(Found { name, subject, ty }: &Found, outputs: &Outputs) -> Self {
        let value = |bits: u64| {
            let text = ty.show(bits);
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        };
        let name = || Some(name.clone());
        let (arg, global, image) = match subject {
            Subject::Arg(_) => (name(), None, None),
            Subject::Global(_) => (None, name(), None),
            Subject::Image(_) => (None, None, name()),
        };
        Self { arg, global, image, ty: ty.to_string(), data: ty.elements(outputs.bytes(subject)).map(value).collect() }
    }
}

/// A buffer or variable with its type.
struct Found {
    /// A variable's name, or an argument's index followed by those of struct members.
    name: String,
    subject: Subject,
    ty: Scalar,
}

/// The buffers and variables of a case.
fn results(case: &Prepared) -> Vec<Found> {
    let buffer = |(index, (name, part)): (usize, (String, &Argument))| match part {
        Argument::Buffer(array) => Some(Found { name, subject: Subject::Arg(index), ty: array.ty }),
        _ => None,
    };
    let mut found: Vec<_> = parts(&case.args).into_iter().enumerate().filter_map(buffer).collect();
    for (name, image) in &case.textures.images {
        found.push(Found { name: name.clone(), subject: Subject::Image(name.clone()), ty: image.contents.ty });
    }
    let Expectation::Results(checks) = &case.expectation else { return found };
    for check in checks {
        if let Subject::Global(name) = &check.subject {
            found.push(Found { name: name.clone(), subject: check.subject.clone(), ty: check.expected.ty });
        }
    }
    found
}

/// The parts of arguments with their indices, in the order of [`Outputs::buffers`].
fn parts(args: &[Argument]) -> Vec<(String, &Argument)> {
    let mut list = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        match arg {
            Argument::Struct(members) => {
                list.extend(parts(members).into_iter().map(|(name, part)| (format!("{index}.{name}"), part)));
            }
            _ => list.push((index.to_string(), arg)),
        }
    }
    list
}

/// Prints buffers and variables, at most `limit` elements of each, and the counters if requested.
pub fn print(case: &Prepared, outputs: &Outputs, limit: usize, counters: bool, out: &mut dyn Write) -> Result<()> {
    for Found { name, subject, ty } in results(case) {
        let elements = ty.elements(outputs.bytes(&subject));
        let len = elements.len();
        let shown: Vec<String> = elements.take(limit).map(|bits| ty.show(bits)).collect();
        let more = if len > limit { ", …" } else { "" };
        let kind = match subject {
            Subject::Arg(_) => "arg",
            Subject::Global(_) => "global",
            Subject::Image(_) => "image",
        };
        writeln!(out, "  {kind} {name}, {ty}[{len}]: {}{more}", shown.join(", "))?;
    }
    if counters {
        for (event, count) in outputs.counters.iter().enumerate().filter(|(_, count)| **count != 0) {
            writeln!(out, "  event {event}: {count}")?;
        }
    }
    Ok(())
}

/// A buffer or an image among the arguments, and the file to write it to after the launch.
#[derive(Clone, Debug)]
pub struct Save {
    /// The argument's index, followed by those of struct members, or an image's name.
    name: String,
    file: PathBuf,
}

/// `2=sums.bin`.
pub fn save(text: &str) -> Result<Save, String> {
    let (name, file) = text.split_once('=').ok_or("expected an argument's number and a file, such as 2=sums.bin")?;
    Ok(Save { name: name.to_owned(), file: file.into() })
}

/// The buffer or image with this name.
fn place(name: &str, args: &[Argument], textures: &Textures) -> Option<Subject> {
    if textures.images.contains_key(name) {
        return Some(Subject::Image(name.to_owned()));
    }
    let buffer = parts(args).iter().position(|(part, arg)| part == name && matches!(arg, Argument::Buffer(_)));
    buffer.map(Subject::Arg)
}

/// Refuses to save anything except buffers and images.
pub fn check_saves(saves: &[Save], args: &[Argument], textures: &Textures) -> Result<()> {
    match saves.iter().find(|save| place(&save.name, args, textures).is_none()) {
        Some(Save { name, .. }) => {
            Err(UsageError(format!("--save {name}: argument {name} is not a buffer or an image")).into())
        }
        None => Ok(()),
    }
}

/// Writes buffers and images to files, little-endian or as pictures.
pub fn save_all(saves: &[Save], case: &Prepared, outputs: &Outputs) -> Result<()> {
    for Save { name, file } in saves {
        let Some(subject) = place(name, &case.args, &case.textures) else { continue };
        let bytes = outputs.bytes(&subject);
        let image = match &subject {
            Subject::Image(name) => case.textures.images.get(name),
            _ => None,
        };
        match image {
            Some(image) if Picture::is_named(file) => picture(image, bytes)?.write(file)?,
            _ => fs::write(file, bytes).with_context(|| file.display().to_string())?,
        }
    }
    Ok(())
}

/// The first level of an image with a single slice or layer.
fn picture(image: &Image, bytes: &[u8]) -> Result<Picture> {
    let format = image.memory.format();
    let levels = image.memory.levels();
    let size = levels.first().copied().unwrap_or_default();
    let [width, height, 1] = size else { bail!("only images of one slice or layer are pictures") };
    let level = usize::try_from(image.memory.level_bytes(size))?;
    let bytes = bytes.get(..level).context("too few bytes were returned")?.to_vec();
    Ok(Picture { width: width.try_into()?, height: height.try_into()?, format, bytes })
}
