//! Rewrites a function into operations that its target does exactly. Each pass is a function that takes the function and the switches that
//! it reads of the [`Policy`](crate::policy::Policy); [`crate::pipeline::PASSES`] has their order.

pub(crate) mod arithmetic;
mod carry;
pub(crate) mod driver;
mod largest;
pub(crate) mod memory;
mod outline;
mod reports;

pub(crate) use arithmetic::approximate::expand_approximate;
pub(crate) use arithmetic::bits::{expand_bits, expand_extrema, expand_saturate};
pub(crate) use arithmetic::division::expand_division;
pub(crate) use arithmetic::dot::expand_dot;
pub(crate) use arithmetic::extreme_groups::group_extremes;
pub(crate) use arithmetic::fma::{expand_fma, group_fma};
pub(crate) use arithmetic::halves::{expand_half_conversions, expand_half_nans, expand_halves};
pub(crate) use arithmetic::matrix::expand_matrix_step;
pub(crate) use arithmetic::nan_groups::group_nans;
pub(crate) use arithmetic::nans::expand_nans;
pub(crate) use arithmetic::products::expand_matrix_products;
pub(crate) use arithmetic::root_ends::expand_root_ends;
pub(crate) use arithmetic::roots::expand_root;
pub(crate) use arithmetic::round::expand_round;
pub(crate) use arithmetic::rounded::expand_rounded;
pub(crate) use arithmetic::sqrt::expand_sqrt;
pub(crate) use arithmetic::turns::Means;
pub(crate) use arithmetic::words::split_division;
pub use arithmetic::words::split_words;
pub(crate) use driver::address_sums::hide_address_sums;
pub(crate) use driver::byte_swaps::hide_byte_swaps;
pub(crate) use driver::conditions::hide_conditions;
pub(crate) use driver::dot_nans::test_dot_nans;
pub(crate) use driver::known_operands::hide_known_operands;
pub use driver::lane_calls::{choose_lane_calls, separate_lane_loops};
pub use driver::loop_budget::report_cut_loops;
pub use driver::nesting::flatten_nesting;
pub(crate) use driver::rotations::show_rotations;
pub use driver::rounds::{CountedRounds, counted_rounds, most_rounds, short_loops};
pub(crate) use driver::signs::hide_signs;
pub use memory::accesses::{Allocations, check_accesses};
pub(crate) use memory::atomics::expand_atomics;
pub(crate) use memory::confine::confine_accesses;
pub use memory::locks::lock_long_accesses;
pub(crate) use memory::narrow_memory::expand_narrow_memory;
pub use memory::scratch::{move_local, use_scratch};
pub(crate) use outline::{Lengths, Shape, outline, outline_halves};
pub use reports::{expand_reports, reports_any};
