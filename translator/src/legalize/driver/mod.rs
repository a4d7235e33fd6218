//! Faults and refusals of single drivers.

pub(in crate::legalize) mod address_sums;
pub(in crate::legalize) mod byte_swaps;
pub(in crate::legalize) mod conditions;
pub(in crate::legalize) mod dot_nans;
pub(in crate::legalize) mod fused;
pub(in crate::legalize) mod known_operands;
pub(in crate::legalize) mod lane_calls;
pub(in crate::legalize) mod loop_budget;
pub(in crate::legalize) mod nesting;
pub(in crate::legalize) mod rotations;
pub(in crate::legalize) mod rounds;
mod shape;
pub(in crate::legalize) mod signs;
pub(in crate::legalize) mod states;
pub(in crate::legalize) mod veil;
