//! The parameters of a dispatch.

/// A buffer bound to a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// Device address of the first byte.
    pub address: u64,
    /// Size in bytes.
    pub range: u64,
}

/// A dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// Push constants.
    pub push_constants: &'a [u8],
    /// Descriptors.
    pub bindings: &'a [Bound],
}
