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
//! * `subgroup`: operations of a subgroup.

mod atomic;
mod body;
mod declared;
mod disassembly;
mod entry;
mod inputs;
mod instruction;
mod lines;
mod memory;
mod modes;
mod module;
mod offsets;
mod ops;
mod order;
mod requirements;
mod result;
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
use crate::target::{self, Feature, Version};

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
    /// What was found about each entry, in the order given.
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

/// Emits one module with the given entries. Specialization constants have the ids of [`crate::interface::spec_id`].
/// With `source`, into which the functions' marks point, the module says which line its instructions come from.
///
/// # Errors
/// At most one for each entry, which bears the entry's name: [`ErrorKind::MissingFeature`] where the device lacks a feature.
/// The other entries can be emitted without the failed ones by another call. [`ErrorKind::Limit`] for a module that is too large.
pub fn emit(device: &Emission, entries: &[EmitEntry<'_>], source: Option<&Source>) -> Result<Emitted, Vec<Diagnostic>> {
    let outside = |kind| vec![Diagnostic::new(kind, None)];
    let Version(major, minor) = device.spirv;
    if device.spirv < OLDEST {
        let what = format!("SPIR-V {major}.{minor}, which the target has: modules need {}.{}", OLDEST.0, OLDEST.1);
        return Err(outside(ErrorKind::Unsupported(what)));
    }
    let mut module = Module::new(device, device.spirv.min(NEWEST)).map_err(outside)?;
    module
        .declare_launch(default_local(entries), default_block(entries), default_shared_bytes(entries))
        .map_err(outside)?;
    if let Some(source) = source {
        module.name_source(source);
    }
    let mut facts = Vec::with_capacity(entries.len());
    let mut errors = Vec::new();
    for entry in entries {
        match statements::emit_entry(&mut module, entry) {
            Ok(found) => facts.push(found),
            Err(error) => errors.push(error.in_function(entry.name)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let version = module.version();
    let mut features = module.base_features();
    features.extend(facts.iter().flat_map(|entry| entry.features.iter().copied()));
    let spirv = module.finish().map_err(outside)?;
    Ok(Emitted { spirv, version, features, entries: facts })
}

/// Block size that the specialization constants default to.
fn default_block(entries: &[EmitEntry<'_>]) -> [u32; 3] {
    let first = entries.first().and_then(|entry| entry.required_block);
    match first {
        Some(block) if entries.iter().all(|entry| entry.required_block == first) => block,
        _ => [1; 3],
    }
}

/// Workgroup size that the specialization constants default to.
fn default_local(entries: &[EmitEntry<'_>]) -> [u32; 3] {
    let local = |entry: &EmitEntry<'_>| {
        let block = entry.required_block?;
        Some(target::workgroup(block, entry.function.packing, entry.function.cluster))
    };
    let first = entries.first().and_then(local);
    match first {
        Some(size) if entries.iter().all(|entry| local(entry) == first) => size,
        _ => [1; 3],
    }
}

/// Shared memory that the specialization constant defaults to: enough for every entry without dynamic memory.
fn default_shared_bytes(entries: &[EmitEntry<'_>]) -> u32 {
    // What lies in scratch memory takes none of the workgroup's.
    let own = entries.iter().map(|entry| entry.function).filter(|it| it.scratch.is_none_or(|scratch| !scratch.shared));
    // Each has passed the check against the device's limit.
    let fitting = own.filter_map(|function| {
        let granules = function.workgroup_shared_bytes().div_ceil(SHARED_GRANULE.into());
        u32::try_from(granules).ok()?.checked_mul(SHARED_GRANULE)
    });
    fitting.max().map_or(SHARED_GRANULE, |most| most.max(SHARED_GRANULE))
}
