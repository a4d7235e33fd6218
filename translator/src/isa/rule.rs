//! Rules on how the parts of an instruction go together, which syntax can't say.

/// A rule for a row's instructions besides its syntax. [`crate::decode`] checks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing else.
    None,
    /// Loads and stores: which hints, spaces and widths go together.
    Access,
    /// The same, and addresses may be narrow, since they are those of shared memory in a cluster.
    ClusterAccess,
    /// Addresses of any width.
    AnyAddress,
    /// State spaces are named in order, sizes are whole units, addresses may be narrow.
    Copy,
    /// Orders and scopes of an mbarrier's operations, and constants for counts and parities.
    Mbarrier,
    /// A constant mask of events.
    Events,
    /// A constant number of registers.
    Registers,
    /// Addresses of any width, and a constant part of memory.
    Part,
    /// Constants for the position and length of a bit field.
    BitField,
    /// A variable at a generic address lies in global memory.
    GlobalVariable,
    /// Integers have fewer numbers of columns than floats.
    WarpgroupColumns,
    /// The address of a variable in the state space that is named.
    VariableOfSpace,
    /// The address of a variable in shared memory.
    SharedVariable,
    /// The address of a variable, in a type that it fits.
    VariableOfWidth,
}
