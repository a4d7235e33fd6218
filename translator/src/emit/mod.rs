//! Emits SPIR-V for verified functions of the intermediate representation.
//!
//! One operation becomes one SPIR-V instruction or a fixed short sequence; nothing is optimised here, and whether the
//! device does an operation exactly was settled by earlier passes. Capabilities, extensions and the list of device
//! features follow from what is used.
//!
//! * `module`: types, constants and everything else outside of functions; `declared`: what all entries share of it.
//! * `body`: a function under construction; `lines` where its instructions come from.
//! * `select`: which instructions each statement becomes; whatever isn't legal ends there.
//! * `inputs`: what a kernel reads of its launch: built-in variables, push constants, specialization constants.
//! * `statements`: a kernel's statements and control flow; `ops` its operations and `wide` 64-bit products; `usage`: what
//!   it does anywhere.
//! * `memory`: loads and stores, with `shape` for how elements lie in one access, `order` for memory semantics and
//!   `storage` for how shared and local memory are declared; `atomic`: read-modify-write.
//! * `subgroup`: operations of a subgroup; `sample`: reading images by samplers.

mod atomic;
mod body;
mod declared;
mod disassembly;
mod entry;
mod inputs;
mod instruction;
mod lines;
mod matrix;
mod memory;
mod modes;
mod module;
mod offsets;
mod ops;
mod order;
mod requirements;
mod result;
mod sample;
mod select;
mod shape;
mod statements;
mod storage;
mod subgroup;
mod usage;
mod variables;
mod wide;

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, ErrorKind, Source};
use crate::policy::Emission;
use ptx2spv_target::{self, Feature, Version};

pub(crate) use disassembly::disassemble;
pub use entry::{EmitEntry, EntryFacts};
use module::Module;
pub(crate) use storage::SHARED_GRANULE;

/// An emitted module.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The SPIR-V module.
    pub spirv: Vec<u32>,
    /// SPIR-V version of the module.
    pub version: Version,
    /// Device features that its capabilities need: the union over its entries.
    pub features: BTreeSet<Feature>,
    /// Facts about each entry, in the order given.
    pub entries: Vec<EntryFacts>,
}

impl Emitted {
    /// The module in the assembly form of SPIRV-Tools.
    ///
    /// # Errors
    /// It can't be read; says why.
    pub fn disassemble(&self) -> Result<String, String> {
        disassemble(&self.spirv)
    }
}

/// Newest SPIR-V version that is emitted: from 1.6 on, subgroup sizes may vary unless told otherwise.
const NEWEST: Version = Version(1, 5);

/// Oldest SPIR-V version that is emitted: that of Vulkan 1.1.
const OLDEST: Version = Version(1, 3);

/// Emits one module with the given entries: see [`Emitter`].
///
/// # Errors
/// The errors of [`Emitter`]; those of the entries all together.
pub fn emit(device: &Emission, entries: &[EmitEntry<'_>], source: Option<&Source>) -> Result<Emitted, Vec<Diagnostic>> {
    let outside = |diagnostic| vec![diagnostic];
    let mut emitter = Emitter::new(device, source).map_err(outside)?;
    let mut facts = Vec::with_capacity(entries.len());
    let mut errors = Vec::new();
    for entry in entries {
        match emitter.add(entry) {
            Ok(found) => facts.push(found),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    emitter.finish().map(|emitted| Emitted { entries: facts, ..emitted }).map_err(outside)
}

/// Emits one module, entry by entry, so that no more than one needs to be in memory at a time. Specialization constants have the ids of
/// [`ptx2spv_interface::spec_id`].
pub(crate) struct Emitter<'t> {
    module: Module<'t>,
    features: BTreeSet<Feature>,
    /// The entries' workgroup size, if there are entries and all agree.
    local: Option<Option<[u32; 3]>>,
    /// The same of their block size.
    block: Option<Option<[u32; 3]>>,
    /// Shared memory that is enough for every entry so far without dynamic memory.
    shared_bytes: u32,
}

impl<'t> Emitter<'t> {
    /// A module without entries. With `source`, into which the functions' marks point, the module names the lines that
    /// its instructions come from.
    ///
    /// # Errors
    /// Features that every module needs and the device lacks.
    pub(crate) fn new(device: &'t Emission, source: Option<&Source>) -> Result<Self, Diagnostic> {
        let outside = |kind| Diagnostic::new(kind, None);
        let Version(major, minor) = device.spirv;
        if device.spirv < OLDEST {
            let what = format!("SPIR-V {major}.{minor}, which the target has: modules need {}.{}", OLDEST.0, OLDEST.1);
            return Err(outside(ErrorKind::Unsupported(what)));
        }
        let mut module = Module::new(device, device.spirv.min(NEWEST)).map_err(outside)?;
        module.declare_launch().map_err(outside)?;
        if let Some(source) = source {
            module.name_source(source);
        }
        let features = module.base_features();
        Ok(Self { module, features, local: None, block: None, shared_bytes: SHARED_GRANULE })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// One that bears the entry's name: [`ErrorKind::MissingFeature`] where the device lacks a feature. The module can't be finished
    /// then; its other entries can be emitted by another one.
    pub(crate) fn add(&mut self, entry: &EmitEntry<'_>) -> Result<EntryFacts, Diagnostic> {
        let facts = statements::emit_entry(&mut self.module, entry).map_err(|error| error.in_function(entry.name))?;
        self.features.extend(facts.features.iter().copied());
        let function = entry.function;
        let local =
            entry.required_block.map(|block| ptx2spv_target::workgroup(block, function.packing, function.cluster));
        self.local = agreed(self.local, local);
        self.block = agreed(self.block, entry.required_block);
        // What lies in scratch memory takes none of the workgroup's.
        if function.scratch.is_none_or(|scratch| !scratch.shared) {
            // The size has passed the check against the device's limit.
            let granules = function.workgroup_shared_bytes().div_ceil(SHARED_GRANULE.into());
            let bytes = u32::try_from(granules).ok().and_then(|granules| granules.checked_mul(SHARED_GRANULE));
            self.shared_bytes = self.shared_bytes.max(bytes.unwrap_or(0));
        }
        Ok(facts)
    }

    /// The module, without the facts about its entries. Its constants default to values that the entries agree on.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] for a module that is too large.
    pub(crate) fn finish(mut self) -> Result<Emitted, Diagnostic> {
        let sizes = [self.local, self.block].map(|agreed| agreed.flatten().unwrap_or([1; 3]));
        self.module.set_launch_defaults(sizes, self.shared_bytes);
        let version = self.module.version();
        let spirv = self.module.finish().map_err(|kind| Diagnostic::new(kind, None))?;
        Ok(Emitted { spirv, version, features: self.features, entries: Vec::new() })
    }
}

/// A size that all entries agree on, where another entry has this.
fn agreed(before: Option<Option<[u32; 3]>>, size: Option<[u32; 3]>) -> Option<Option<[u32; 3]>> {
    Some(size.filter(|size| before.is_none_or(|before| before == Some(*size))))
}
