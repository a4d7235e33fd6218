//! Diagnostics: a trace with a line for each call, dumps of modules, and a line on the standard error for a module that
//! can't be loaded, since clients rarely show why.

use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use libc::FILE;

use crate::abi::sync::lock;

/// Names the file of the trace; `-` is the standard error.
const TRACE_VARIABLE: &str = "PTX2SPV_CUDA_TRACE";

/// Names the folder that modules are dumped to.
const DUMP_VARIABLE: &str = "PTX2SPV_CUDA_DUMP";

enum Sink {
    Off,
    StandardError,
    File(Mutex<File>),
}

/// Whether calls are traced.
pub(crate) fn is_on() -> bool {
    !matches!(sink(), Sink::Off)
}

fn sink() -> &'static Sink {
    static SINK: OnceLock<Sink> = OnceLock::new();
    SINK.get_or_init(|| match std::env::var_os(TRACE_VARIABLE).filter(|name| !name.is_empty()) {
        None => Sink::Off,
        Some(name) if name == "-" => Sink::StandardError,
        // All processes of a program append to one file.
        Some(name) => match File::options().create(true).append(true).open(&name) {
            Ok(file) => Sink::File(Mutex::new(file)),
            Err(error) => {
                say(&format!("{TRACE_VARIABLE}: {}: {error}", name.display()));
                Sink::Off
            }
        },
    })
}

/// Traces a call, with the names and values of its arguments.
pub(crate) fn call(name: &str, arguments: &[(&str, &dyn Debug)], result: &str, time: Duration, reason: Option<&str>) {
    let mut line = format!("{:?} {name}(", std::thread::current().id());
    for (index, (name, value)) in arguments.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let _ = write!(line, "{comma}{name}={value:?}");
    }
    let _ = write!(line, ") = {result}, {} us", time.as_micros());
    if let Some(reason) = reason {
        let _ = write!(line, ": {}", reason.replace('\n', " | "));
    }
    line.push('\n');
    // A failed write of the trace is ignored.
    match sink() {
        Sink::Off => {}
        Sink::StandardError => drop(std::io::stderr().write_all(line.as_bytes())),
        Sink::File(file) => drop(lock(file).write_all(line.as_bytes())),
    }
}

/// Writes a line to the standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "ptx2spv: {line}");
}

/// A dumped module, for errors that are found later.
#[derive(Debug)]
pub(crate) struct Dumped {
    errors: PathBuf,
}

/// Dumps a module if `PTX2SPV_CUDA_DUMP` is set.
pub(crate) fn dump(ending: &str, bytes: &[u8]) -> Option<Dumped> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let folder = PathBuf::from(std::env::var_os(DUMP_VARIABLE).filter(|name| !name.is_empty())?);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number:04}", std::process::id());
    let path = folder.join(format!("{name}.{ending}"));
    if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, bytes)) {
        say(&format!("{DUMP_VARIABLE}: {}: {error}", path.display()));
        return None;
    }
    Some(Dumped { errors: folder.join(format!("{name}.txt")) })
}

impl Dumped {
    /// Appends an error to the file beside the module.
    pub fn add(&self, error: &str) {
        let file = File::options().create(true).append(true).open(&self.errors);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{error}")) {
            say(&format!("{}: {error}", self.errors.display()));
        }
    }
}

// The C library's standard output, which the program uses too. Kernels' output appears between what the program prints
// before and after, and follows redirections such as `freopen` and `setvbuf`.

#[cfg(all(unix, not(target_vendor = "apple")))]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        static stdout: *mut FILE;
    }
    // SAFETY: a variable of the C library. Programs that change it do so before they start other threads.
    unsafe { stdout }
}

#[cfg(target_vendor = "apple")]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        #[link_name = "__stdoutp"]
        static stdout: *mut FILE;
    }
    // SAFETY: a variable of the C library. Programs that change it do so before they start other threads.
    unsafe { stdout }
}

#[cfg(windows)]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        fn __acrt_iob_func(number: u32) -> *mut FILE;
    }
    // SAFETY: the C library's streams have the numbers 0 to 2.
    unsafe { __acrt_iob_func(1) }
}

/// Appends to the stream's buffer. The program decides when it is flushed.
pub(crate) fn write(bytes: &[u8]) {
    let stream = standard();
    if bytes.is_empty() || stream.is_null() {
        return;
    }
    // SAFETY: `bytes` has `bytes.len()` bytes, and `stream` is a C stream. Errors of a closed output are ignored.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
}
