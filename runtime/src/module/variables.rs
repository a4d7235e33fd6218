//! A module's `.global` and `.const` variables on the device.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::Interface;
use ptx2spv_translator::interface::{Counters, Entry, Launches, MemoryRegion, Status, Variable, Variables, launches};

use crate::backend::range::MemoryRange;
use crate::backend::report::{Reporters, StatusRecord};
use crate::device::Device;
use crate::device::near::NearUser;
use crate::device::texture_bits::Counted;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;
use crate::memory::pinned::PinnedBuffer;
use crate::texel::reference_kind::ReferenceKind;
use crate::texture::Bindings;

pub(crate) struct LoadedVariables {
    pub layout: Variables,
    /// `None` if the module has no variables.
    buffer: Option<Buffer>,
    /// The status record for reports, if kernels may report something.
    status: Option<Arc<StatusRecord>>,
    /// Host memory for the words of the record that the back end reads.
    _mirror: Option<PinnedBuffer>,
    /// The counters of events, if kernels count any.
    counters: Option<Counters>,
    /// The region for launches, if kernels launch others.
    launches: Option<Launches>,
    /// Whether a failed launch may have left records in the region for launches.
    leftovers: AtomicBool,
    /// Bindings of the references among the variables.
    pub bindings: Bindings,
    /// Counts references among the device's textures, since bound references have no image.
    _references: Option<Counted>,
    /// Keeps buffers within reach of the module's pointers.
    _near: Option<NearUser>,
}

impl fmt::Debug for LoadedVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadedVariables({} bytes at {:#x})", self.layout.size, self.address())
    }
}

impl LoadedVariables {
    /// Allocates and initializes the variables of an interface that has passed [`crate::module::check::interface`]. Managed
    /// variables are allocated where the host can access them too.
    pub fn new(device: &Device, interface: &Interface, is_managed: bool) -> Result<Self> {
        let &Interface { status, output, heap, counters, .. } = interface;
        let (layout, launches) = (interface.variables.clone(), interface.launches.clone());
        if layout.size == 0 {
            return Ok(Self {
                layout,
                buffer: None,
                status: None,
                _mirror: None,
                counters: None,
                launches,
                leftovers: AtomicBool::new(false),
                bindings: Bindings::default(),
                _references: None,
                _near: None,
            });
        }
        let near = if layout.near { Some(device.stay_near()?) } else { None };
        // PTX doesn't allow an alignment above 256, which every buffer has.
        let buffer = if is_managed { device.alloc_managed(layout.size)? } else { device.alloc(layout.size)? };
        if !buffer.address().is_multiple_of(u64::from(layout.align.max(1))) {
            return Err(Error::Interface(format!("variables aligned to {} bytes", layout.align)));
        }
        buffer.fill(0)?;
        for (offset, bytes) in pages(&layout, buffer.address()) {
            buffer.write(offset, &bytes)?;
        }
        let part = |offset, size| MemoryRange { address: buffer.address() + offset, size };
        let backend = device.backend();
        let region = |region: MemoryRegion| part(region.offset, region.size);
        let variable = |v: &Variable| (part(v.offset, v.size), format!("variable `{}`", v.name));
        let mut names: Vec<_> = layout.list.iter().map(variable).collect();
        for (named, name) in [(heap, "the heap of `malloc`"), (output, "the buffer of `printf`")] {
            names.extend(named.map(|named| (region(named), name.to_owned())));
        }
        names.iter().for_each(|(part, name)| backend.name_part(*part, name));
        if let Some(heap) = heap {
            backend.add_heap(region(heap));
        }
        if let Some((launches, offset)) = launches.as_ref().and_then(|launches| Some((launches, launches.attributes?)))
        {
            buffer.write(launches.offset + offset, &attributes(device))?;
        }
        let mirror = backend.report_mirror_bytes().filter(|_| status.is_some());
        let mirror = mirror.map(|bytes| device.alloc_pinned(bytes)).transpose()?;
        let status = status.map(|status| {
            Arc::new(StatusRecord {
                address: part(status.offset, Status::SIZE).address,
                mirror: mirror.as_ref().map(PinnedBuffer::address),
                output: output.map(region),
                variables: part(0, layout.size),
                reporters: Reporters::default(),
                names,
                arguments: Mutex::default(),
                printing: Mutex::default(),
            })
        });
        let is_texture = |variable| ReferenceKind::of(variable) == Some(ReferenceKind::Texture);
        let references = layout.list.iter().any(is_texture).then(|| device.texture_bits().count(0));
        Ok(Self {
            layout,
            buffer: Some(buffer),
            status,
            _mirror: mirror,
            counters,
            launches,
            leftovers: AtomicBool::new(false),
            bindings: Bindings::default(),
            _references: references,
            _near: near,
        })
    }

    /// The status record of the module, if its kernels may report something.
    pub fn status(&self) -> Option<&Arc<StatusRecord>> {
        self.status.as_ref()
    }

    /// The region for launches, if the module's kernels launch others.
    pub fn launches(&self) -> Option<&Launches> {
        self.launches.as_ref()
    }

    /// Whether a failed launch may have left records in the region for launches.
    pub fn has_leftovers(&self) -> &AtomicBool {
        &self.leftovers
    }

    /// Sets the shared memory limit of a kernel for launches by other kernels.
    pub fn set_shared_limit(&self, kernel: &str, bytes: u32) -> Result {
        let known = self.launches.as_ref().and_then(|launches| {
            let kernel = launches.kernels.iter().find(|known| known.name == kernel)?;
            Some(launches.word(kernel, launches::Function::SharedLimit))
        });
        match (&self.buffer, known) {
            (Some(buffer), Some(offset)) => buffer.write(offset, &bytes.to_le_bytes()),
            _ => Ok(()),
        }
    }

    /// Registers a kernel that may report something.
    pub fn add_reporter(&self, entry: &Entry) {
        self.status.iter().for_each(|status| status.reporters.add(entry));
    }

    /// Address of the first byte; zero if there are no variables.
    pub fn address(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::address)
    }

    /// A variable's description and address.
    pub fn find(&self, name: &str) -> Option<(&Variable, u64)> {
        let variable = self.layout.list.iter().find(|variable| variable.name == name)?;
        Some((variable, self.address().checked_add(variable.offset)?))
    }

    pub fn write(&self, name: &str, offset: u64, bytes: &[u8]) -> Result {
        match self.place(name, offset, bytes.len() as u64)? {
            Some((buffer, at)) => buffer.write(at, bytes),
            None => Ok(()),
        }
    }

    pub fn read(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Result {
        match self.place(name, offset, bytes.len() as u64)? {
            Some((buffer, at)) => buffer.read(at, bytes),
            None => Ok(()),
        }
    }

    /// The counters of events, after everything launched before.
    pub fn counters(&self) -> Result<[u64; Counters::COUNT as usize]> {
        let mut counters = [0; Counters::COUNT as usize];
        if let (Some(buffer), Some(Counters { offset })) = (&self.buffer, self.counters) {
            buffer.read(offset, bytemuck::cast_slice_mut(&mut counters))?;
        }
        Ok(counters.map(u64::from_le))
    }

    pub fn reset_counters(&self) -> Result {
        match (&self.buffer, self.counters) {
            (Some(buffer), Some(Counters { offset })) => buffer.write(offset, &[0; Counters::SIZE as usize]),
            _ => Ok(()),
        }
    }

    /// The offset of a range of a variable in the buffer.
    fn place(&self, name: &str, offset: u64, len: u64) -> Result<Option<(&Buffer, u64)>> {
        let (variable, _) = self.find(name).ok_or_else(|| Error::NoVariable(name.to_owned()))?;
        if offset.checked_add(len).is_none_or(|end| end > variable.size) {
            return Err(Error::OutOfRange { offset, len, size: variable.size });
        }
        // No overflow: the variable lies inside of the buffer (`check::interface`), and the range inside of the
        // variable.
        Ok(self.buffer.as_ref().map(|buffer| (buffer, variable.offset + offset)))
    }
}

/// CUDA's device attributes in the form that kernels read.
fn attributes(device: &Device) -> Vec<u8> {
    let words = (0..launches::ATTRIBUTES).map(|number| device.cuda_attribute(number));
    let words = words.flat_map(|value| [u32::from(value.is_some()), value.unwrap_or(0).cast_unsigned()]);
    words.flat_map(u32::to_le_bytes).collect()
}

const PAGE: u64 = 64 << 10;

/// The bytes to write over zeros, by offset. They are whole pages, so that thousands of small pieces and relocations
/// take few writes, and a large array of zeros takes none.
fn pages(layout: &Variables, address: u64) -> BTreeMap<u64, Vec<u8>> {
    let mut pages = BTreeMap::new();
    let mut put = |offset: u64, bytes: &[u8]| {
        for (at, &byte) in (offset..).zip(bytes) {
            let start = at - at % PAGE;
            // The last page ends with the variables. Its size fits a usize.
            let page: &mut Vec<u8> =
                pages.entry(start).or_insert_with(|| vec![0; PAGE.min(layout.size - start) as usize]);
            page[(at - start) as usize] = byte;
        }
    };
    for run in &layout.image {
        put(run.offset, &run.bytes);
    }
    for relocation in &layout.relocations {
        let value = address.wrapping_add(relocation.target).checked_shr(relocation.shift.into()).unwrap_or(0);
        let bytes = value.to_le_bytes();
        put(relocation.offset, bytes.get(..relocation.size.into()).unwrap_or(&bytes));
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_translator::interface::{ImageRun, Relocation};

    #[test]
    fn runs_and_relocations_across_pages() {
        let layout = Variables {
            size: 3 * PAGE + 5,
            align: 8,
            list: vec![],
            image: vec![
                ImageRun { offset: PAGE - 1, bytes: vec![1, 2] },
                ImageRun { offset: 3 * PAGE + 4, bytes: vec![9] },
            ],
            relocations: vec![
                Relocation { offset: 8, size: 8, target: 0x11, shift: 0 },
                Relocation { offset: 20, size: 1, target: 0x11, shift: 8 },
                Relocation { offset: 21, size: 1, target: 0x11, shift: 64 },
            ],
            near: false,
        };
        let pages = pages(&layout, 0x0123_4567_89ab_cd00);
        assert_eq!(pages.keys().copied().collect::<Vec<_>>(), [0, PAGE, 3 * PAGE]);
        assert_eq!(pages[&0][8..16], [0x11, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01]);
        assert_eq!(pages[&0][20..22], [0xcd, 0]);
        assert_eq!(pages[&0].last(), Some(&1));
        assert_eq!(pages[&PAGE][..2], [2, 0]);
        assert_eq!(pages[&(3 * PAGE)], [0, 0, 0, 0, 9]);
    }
}
