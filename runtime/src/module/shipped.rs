//! Modules in files: PTX, a pair of `.spv` and `.json`, or a bundle of variants. Files are untrusted, so their contents
//! are checked first.

use std::fs;
use std::io;
use std::path::Path;

use ptx2spv_fatbin::{self as fatbin, Binary, Choice};
use ptx2spv_translator::interface::{Bundle, Entry, Variant};
use ptx2spv_translator::target::Limits;
use ptx2spv_translator::{Interface, Source, Target};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::limits::most_threads;
use crate::module::code::Shipped;
use crate::module::linker::read_programs;
use crate::module::{Module, check};

impl Device {
    /// Loads a module that comes in several variants: the best one that the device can run. Variants that rely on
    /// arithmetic which the self-test found wrong on this device are not considered.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`], for each variant.
    ///
    /// # Errors
    /// [`Error::NoVariant`] if the device can run none of them, and the errors of [`Device::load_spirv`] for the best one.
    pub unsafe fn load_bundle(&self, bundle: &Bundle) -> Result<Module> {
        Module::from_bundle(self, bundle)
    }

    /// Loads a file written by `ptx2spv translate`, or PTX: a `.spv` with the `.json` beside it (either name will do),
    /// a bundle (`.json`), a `.ptx`, or an executable, library, object or fat binary with one program in PTX.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`], unless the file has PTX.
    ///
    /// # Errors
    /// [`Error::File`] if a file can't be read or isn't of the expected kind, and the errors of [`Device::load`],
    /// [`Device::load_spirv`] and [`Device::load_bundle`].
    pub unsafe fn load_file(&self, path: impl AsRef<Path>) -> Result<Module> {
        Module::from_file(self, path.as_ref())
    }
}

impl Module {
    /// See [`Device::load_file`].
    pub(crate) fn from_file(device: &Device, path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("ptx") => device.load(&Source::new(path.display().to_string(), ptx2spv_fatbin::text(&read(path)?))),
            Some("spv") => pair(device, path, &interface(&path.with_extension("json"))?),
            Some("json") => {
                let bytes = read(path)?;
                // Decide first which of the two kinds the file is, in order to report the right error.
                if serde_json::from_slice::<serde_json::Value>(&bytes).is_ok_and(|value| value["variants"].is_array()) {
                    let bundle: Bundle = serde_json::from_slice(&bytes).map_err(|error| wrong(path, error))?;
                    return Self::from_bundle(device, &bundle);
                }
                pair(device, &path.with_extension("spv"), &interface(path)?)
            }
            _ => {
                let (name, bytes) = (path.display().to_string(), read(path)?);
                if !Binary::is_binary(&bytes) {
                    return Err(wrong(
                        path,
                        "it is neither an executable nor a library, and its name doesn't end in .ptx, .spv or .json",
                    ));
                }
                let programs = read_programs(&name, &bytes, Choice::default())?;
                let [program] = &programs[..] else {
                    return Err(Error::Binary { name, error: fatbin::Error::Several(programs.len()) });
                };
                device.load(program)
            }
        }
    }

    /// See [`Device::load_bundle`].
    pub(crate) fn from_bundle(device: &Device, bundle: &Bundle) -> Result<Self> {
        if bundle.format != Bundle::FORMAT {
            return Err(Error::Interface(format!("format {} of the bundle is not {}", bundle.format, Bundle::FORMAT)));
        }
        let mut reasons = Vec::new();
        let mut taken: Vec<Shipped> = Vec::new();
        for Variant { spirv, interface } in by_preference(device.target(), bundle, &mut reasons) {
            if !taken.iter().all(|taken| is_larger(&device.target().limits, interface, taken.interface())) {
                continue;
            }
            match Shipped::new(device, spirv, interface) {
                Ok(shipped) => taken.push(shipped),
                // Only the reference device checks this thoroughly.
                Err(error @ Error::Refused { .. }) => reasons.push((interface.target.clone(), error.to_string())),
                Err(error) => return Err(error),
            }
        }
        match taken.first().map(|first| first.interface().clone()) {
            Some(interface) => Self::from_variants(device, taken, &interface),
            None => Err(Error::NoVariant { device: device.target().name.clone(), reasons }),
        }
    }
}

/// Whether a variant can replace another one, and takes larger blocks or more shared memory of some kernel. A replacement has its variables
/// at the same offsets, and its reports can be told apart from the other's.
fn is_larger(limits: &Limits, variant: &Interface, other: &Interface) -> bool {
    let places = |i: &Interface| (i.status, i.output, i.heap, i.counters);
    let distinct = |a: &Entry, b: &Entry| a.number != b.number || a.name == b.name && a.reports == b.reports;
    // Packed variants take blocks of any shape.
    let room = |entry: &Entry| (most_threads(entry, limits), entry.packing.is_some());
    let any_shared = |entry: &Entry| entry.scratch.is_some_and(|scratch| scratch.shared);
    let larger = |entry: &Entry| {
        let other = other.entry(&entry.name);
        other.is_some_and(|other| room(entry) > room(other) || any_shared(entry) && !any_shared(other))
    };
    variant.variables == other.variables
        && places(variant) == places(other)
        && variant.launches == other.launches
        && variant.entries.iter().all(|entry| other.entries.iter().all(|other| distinct(entry, other)))
        && variant.entries.iter().any(larger)
}

/// The variants that a device can run, the best first, ordered by: fewest threads in each invocation, fewest kernels
/// that use scratch memory, most use of the device's own arithmetic, most features. Adds the other variants to
/// `reasons`.
fn by_preference<'b>(target: &Target, bundle: &'b Bundle, reasons: &mut Vec<(String, String)>) -> Vec<&'b Variant> {
    let mut fitting: Vec<&Variant> = Vec::new();
    for variant in &bundle.variants {
        match check::interface(target, &variant.spirv, &variant.interface) {
            Ok(()) => fitting.push(variant),
            Err(error) => reasons.push((variant.interface.target.clone(), error.to_string())),
        }
    }
    fitting.sort_by_key(|Variant { interface, .. }| {
        let scratch = interface.entries.iter().filter(|entry| entry.scratch.is_some()).count();
        let lanes = interface.entries.iter().filter_map(|entry| entry.packing).map(|packing| packing.lanes).max();
        let facts = interface.relies_on.as_ref().map_or(0, |relies_on| relies_on.fact_count());
        (lanes, scratch, std::cmp::Reverse((facts, interface.features.len())))
    });
    fitting
}

fn pair(device: &Device, spirv: &Path, interface: &Interface) -> Result<Module> {
    let words = words(&read(spirv)?).ok_or_else(|| wrong(spirv, "it is no SPIR-V module"))?;
    Module::from_spirv(device, &words, interface)
}

fn interface(path: &Path) -> Result<Interface> {
    serde_json::from_slice(&read(path)?).map_err(|error| wrong(path, error))
}

/// The words of a SPIR-V file. The first word determines the byte order.
fn words(bytes: &[u8]) -> Option<Vec<u32>> {
    const MAGIC: u32 = 0x0723_0203;
    let (words, rest) = bytes.as_chunks::<4>();
    let first = *words.first().filter(|_| rest.is_empty())?;
    let read: fn([u8; 4]) -> u32 =
        if u32::from_be_bytes(first) == MAGIC { u32::from_be_bytes } else { u32::from_le_bytes };
    (read(first) == MAGIC).then(|| words.iter().map(|word| read(*word)).collect())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::File { path: path.display().to_string(), error })
}

fn wrong(path: &Path, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::File { path: path.display().to_string(), error: io::Error::new(io::ErrorKind::InvalidData, reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_either_byte_order() {
        assert_eq!(words(&[3, 2, 0x23, 7, 1, 0, 0, 0]), Some(vec![0x0723_0203, 1]));
        assert_eq!(words(&[7, 0x23, 2, 3, 0, 0, 0, 1]), Some(vec![0x0723_0203, 1]));
        for bytes in [&[][..], &[3, 2, 0x23], &[3, 2, 0x23, 7, 1], &[0; 8]] {
            assert_eq!(words(bytes), None);
        }
    }
}
