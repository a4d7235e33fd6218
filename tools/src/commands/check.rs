//! `ptx2spv check`: the errors in PTX files, for editors and continuous integration.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv::progress::Progress;
use ptx2spv::{input, target};
use ptx2spv_fatbin::{Architecture, Choice};
use ptx2spv_translator::{Diagnostic, Diagnostics, Options, Program, Source, Span, Target, names};
use serde_json::{Value, json};

/// Check PTX files and report all errors, without writing anything.
///
/// Each kernel is translated, and a file may have functions only. Exit status 1 means that there are errors.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv check kernels/*.ptx
  ptx2spv check kernel.ptx --target mali,lavapipe   errors on these devices too
  ptx2spv check kernel.ptx --short                  file:line:column: error: message, for editors
  ptx2spv check kernel.ptx --json > errors.sarif    SARIF, for code scanning")]
pub struct Arguments {
    /// PTX files, or executables, libraries, objects and fat binaries with PTX, or `-` for the standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Devices that the kernels must translate for, as in `ptx2spv translate` [default: a device with all features].
    #[arg(long, value_name = "TARGET", value_delimiter = ',', default_value = "nvidia")]
    target: Vec<String>,
    /// For files with PTX for several architectures, check the PTX for this one, such as sm_80 or 90a [default: the
    /// newest PTX that also runs on all later architectures].
    #[arg(long, value_name = "ARCH")]
    arch: Option<Architecture>,
    /// Write one line for each error.
    #[arg(long, conflicts_with = "json")]
    short: bool,
    /// Write JSON in the format SARIF 2.1.0.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let choice = arguments.arch.map_or(Choice::Newest, Choice::Exactly);
    let targets: Vec<Target> =
        target::choose_all(&arguments.target, None)?.into_iter().map(|(target, _)| target).collect();
    let mut reports = Vec::new();
    let progress = Progress::new(arguments.files.len(), "checking");
    for file in &arguments.files {
        for source in input::read_parts(file, choice)? {
            reports.extend(check(&source, &targets));
        }
        progress.step();
    }
    drop(progress);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&sarif(&reports))?)?;
    } else if arguments.short {
        for report in &reports {
            for error in &report.list {
                let message = names::readable(&error.kind.to_string());
                writeln!(out, "{}: error: {message}", report.source.place(error.place().start))?;
            }
        }
    } else {
        for report in &reports {
            writeln!(out, "{report}")?;
        }
    }
    Ok(if reports.is_empty() { Status::Success } else { Status::Failure })
}

/// The errors of a module and its kernels. An error that several kernels or targets share is reported once.
fn check(source: &Source, targets: &[Target]) -> Option<Diagnostics> {
    let program = match Program::new(source) {
        Ok(program) => program,
        Err(errors) => return Some(errors),
    };
    let mut known = HashSet::new();
    let mut list = Vec::new();
    let mut left_out = 0;
    for target in targets {
        for name in program.entries() {
            let entries = [name.to_owned()];
            let options = Options::new(target).entries(Some(&entries)).launched(false);
            let Err(errors) = program.translate(&options) else { continue };
            left_out += errors.left_out;
            let new = |error: &Diagnostic| known.insert((error.place().start, error.kind.to_string()));
            list.extend(errors.list.into_iter().filter(new));
        }
    }
    (!list.is_empty()).then(|| {
        let mut all = Diagnostics::new(source.clone(), list);
        all.left_out += left_out;
        all
    })
}

/// The reports in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).
fn sarif(reports: &[Diagnostics]) -> Value {
    let results: Vec<Value> =
        reports.iter().flat_map(|report| report.list.iter().map(|error| result(report, error))).collect();
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(report: &Diagnostics, error: &Diagnostic) -> Value {
    let mut text = names::readable(&error.kind.to_string());
    if let Some(help) = &error.help {
        text = format!("{text}\n{help}");
    }
    let mut location = json!({"physicalLocation": physical_location(&report.source, error.place())});
    if let Some(function) = &error.function {
        location["logicalLocations"] =
            json!([{"name": names::demangled(function), "fullyQualifiedName": function, "kind": "function"}]);
    }
    let mut result = json!({
        "ruleId": error.kind.code(),
        "level": "error",
        "message": {"text": text},
        "locations": [location],
    });
    if let Some((span, what)) = error.related.as_deref() {
        result["relatedLocations"] =
            json!([{"message": {"text": what}, "physicalLocation": physical_location(&report.source, *span)}]);
    }
    result
}

fn physical_location(source: &Source, span: Span) -> Value {
    let (start, end) = (source.place(span.start), source.place(span.end));
    json!({
        "artifactLocation": {"uri": uri(&start.file)},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    })
}

/// A path as a reference to a resource (RFC 3986).
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
