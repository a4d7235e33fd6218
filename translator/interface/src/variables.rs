//! A module's variables in device memory.

use serde::{Deserialize, Serialize};

/// The module's `.global` and `.const` variables: one allocation, filled from `image` when the module is loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// Size of the allocation in bytes.
    pub size: u64,
    /// Alignment of the allocation in bytes.
    pub align: u32,
    /// The variables by offset.
    pub list: Vec<Variable>,
    /// Initial bytes, as runs; everything else is zero.
    pub image: Vec<ImageRun>,
    /// Places that receive a device address.
    pub relocations: Vec<Relocation>,
    /// Whether kernels have pointers of 32 bits, the low halves of device addresses: then all memory that they reach lies less than 1 GiB
    /// before or after the start of the variables.
    #[serde(default, skip_serializing_if = "is_false")]
    pub near: bool,
}

/// One module variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// PTX name.
    pub name: String,
    /// `global` or `const`.
    pub space: String,
    /// PTX scalar type of its elements, without the dot. `texref`, `samplerref` and `surfref` are records: see [`texture`](crate::texture).
    #[serde(rename = "type")]
    pub ty: String,
    /// Offset in the allocation in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// A run of initial bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRun {
    /// Offset in the allocation.
    pub offset: u64,
    /// The bytes as lowercase hexadecimal digits.
    #[serde(with = "hex")]
    pub bytes: Vec<u8>,
}

/// A place in the image that receives an address: `(address of the allocation + target) >> shift`, cut to `size` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Where, as an offset in the allocation.
    pub offset: u64,
    /// Bytes written there: 1 to 8.
    pub size: u8,
    /// Offset in the allocation that the address points to.
    pub target: u64,
    /// Right shift in bits (from PTX's `mask()` operators).
    pub shift: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(flag: &bool) -> bool {
    !flag
}
