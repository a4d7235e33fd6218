//! Accesses and atomics that the device lacks, and memory that it has no room for.

pub(in crate::legalize) mod accesses;
pub(in crate::legalize) mod atomics;
pub(in crate::legalize) mod confine;
pub(in crate::legalize) mod locks;
pub(in crate::legalize) mod narrow_memory;
pub(in crate::legalize) mod scratch;
