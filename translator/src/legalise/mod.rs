//! Rewrites a function into what its target can do exactly: see [`legalise`] for the passes and their order.
//!
//! After all other passes, [`report_cut_loops`] deals with drivers that end loops early, [`expand_reports`] with reports, and
//! [`split_words`] with 64-bit integers, which all of them use.

mod approximate;
mod atomics;
mod byte_swaps;
mod convert;
mod division;
mod doubles;
mod flushed;
mod fma;
mod generic;
mod known_operands;
mod locks;
mod loop_budget;
mod nans;
mod narrow_memory;
mod reports;
mod root_ends;
mod roots;
mod round;
mod rounded;
mod scratch;
mod singles;
mod sqrt;
mod words;

use crate::ir::Function;
use crate::math::{Math, Topic};
use crate::passes::{forward, remove_dead};
use crate::target::Target;

pub use generic::expand_generic;
pub use locks::{TABLE_BYTES, lock_long_accesses, needs_table};
pub use loop_budget::report_cut_loops;
pub use narrow_memory::has_narrow_global;
pub use reports::{expand_reports, reports_any};
pub use scratch::use_scratch;
pub use words::split_words;

/// Legalises a function for a target. Best after [`optimise`](crate::passes::optimise), which resolves most generic
/// accesses.
pub fn legalise(function: &mut Function, target: &Target) {
    legalise_for(function, target, Math::EXACT);
}

/// The same with some of the arithmetic left to the device.
pub fn legalise_for(function: &mut Function, target: &Target, math: Math) {
    let mut target = Target { facts: math.relax(&target.facts), ..target.clone() };
    if !target.computes_doubles() {
        // Emulated floats give no NaN of their own accord.
        target.facts.nan_f64_nvidia = math.is_fast(Topic::Nan);
    }
    let target = &target;
    generic::expand_generic(function);
    // What others make of operations would hide which of their results are seen.
    nans::expand_nans(function, target);
    // Before the atomics that it looks for are replaced.
    narrow_memory::expand_narrow_memory(function, target);
    atomics::expand_atomics(function, target);
    // Behind what says which NaNs are seen, before what replaces operations that the device has but not exactly.
    doubles::expand_doubles(function, target);
    // Before the others: what they make needs no care, and would only become slow.
    singles::expand_singles(function, target);
    approximate::expand_approximate(function, target);
    root_ends::expand_root_ends(function, target);
    roots::expand_roots(function, target);
    // Before the others: what these make of an operation may contain theirs.
    flushed::expand_flushed(function, target, !math.is_fast(Topic::Denormals));
    rounded::expand_rounded(function, target);
    fma::expand_fma(function, target);
    // Behind what would keep it from flushing.
    flushed::take_flushing(function, target);
    division::expand_division(function, target);
    sqrt::expand_sqrt(function, target);
    // The expansions before round too.
    round::expand_round(function, target);
    // What all others left to the device.
    singles::expand_untrusted(function, target);
    byte_swaps::hide_byte_swaps(function, target);
    words::split_divisions(function, target);
    // Behind all that makes arithmetic on floats.
    known_operands::hide_known_operands(function, target);
    // The expansions repeat constants and test operands that they share.
    forward(function);
    remove_dead(function);
}
