//! The interface of a module.

use std::collections::BTreeSet;

use ptx2spv_target::{Feature, Math, Version};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::assumptions::Assumptions;
use crate::entry::Entry;
use crate::launches::Launches;
use crate::services::{Counters, MemoryRegion, Status};
use crate::variables::Variables;

/// The interface of one SPIR-V module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Version of this description's form, and of its module's demands on the host: [`Interface::FORMAT`].
    #[serde(deserialize_with = "this_format")]
    pub format: u32,
    /// Name of the target that it was made for.
    pub target: String,
    /// The exactness of the module's float arithmetic.
    #[serde(default)]
    pub math: Math,
    /// SPIR-V version of the module.
    pub spirv: Version,
    /// The kernels.
    pub entries: Vec<Entry>,
    /// The module's variables in device memory.
    pub variables: Variables,
    /// The record where kernels report faults, if some kernel of the PTX module may do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The region for printed output, if some kernel of the PTX module calls `vprintf`: see [`output`](crate::output).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<MemoryRegion>,
    /// Memory that kernels allocate from, if some kernel of the PTX module calls `malloc` or `free`. It begins as zeros
    /// and is the kernels' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<MemoryRegion>,
    /// The counters of events, if some kernel of the PTX module has `pmevent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The region where kernels ask the host for launches, if some kernel of the PTX module may: see
    /// [`launches`](crate::launches).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Launches>,
    /// Device features that the module's capabilities need (the union over its entries).
    pub features: BTreeSet<Feature>,
    /// The module's other assumptions about the device; unknown if the description doesn't have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Assumptions>,
}

impl Interface {
    /// The value of [`Interface::format`] that this version writes, and the only one that it reads. It changes whenever
    /// a host that knows the earlier form would misread a description, or would not meet the module's demands.
    pub const FORMAT: u32 = 3;

    /// The error message for a description of another format.
    pub fn other_format(format: u32) -> String {
        let age = if format < Self::FORMAT { "an older" } else { "a newer" };
        format!(
            "format {format} is that of {age} version of ptx2spv, this version reads format {}: translate the PTX again",
            Self::FORMAT
        )
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// Reads [`Interface::format`]. The fields of other formats may be others, so that errors about those say little.
fn this_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let format = u32::deserialize(deserializer)?;
    if format == Interface::FORMAT { Ok(format) } else { Err(D::Error::custom(Interface::other_format(format))) }
}
