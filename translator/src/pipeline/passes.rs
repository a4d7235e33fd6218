//! The passes between lowering and emission, in order: what each is called, what must hold before it, what holds after it.

use super::{Settings, Unit};
use crate::cfg;
use crate::diagnostic::ErrorKind;
use crate::ir::{Function, Stage};
use crate::legalize::{self, doubles, flushed, singles};
use crate::opt;
use crate::sync;
use crate::target::{Math, Target, Topic};
use crate::warp;

/// A step that takes a kernel from one stage to the same or the next one.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What it is called in dumps and tests; passes that run several times have one name.
    pub name: &'static str,
    /// The stage that the kernel must be at.
    pub before: Stage,
    /// The stage that it is at then.
    pub after: Stage,
    run: Run,
}

/// What a pass needs to know.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// Nothing: it holds on every device.
    Function(fn(&mut Function)),
    /// The device, with what the math options leave to it taken to be right.
    Arithmetic(fn(&mut Function, &Target)),
    /// More than that.
    Settings(fn(&mut Function, &Settings<'_>)),
    /// What becomes of the kernel besides, or it works on the graph, or it may refuse the kernel. Helpers are left to it.
    Unit(fn(&mut Unit, &Settings<'_>) -> Result<(), ErrorKind>),
}

use Stage::{Graph, Legal, Mapped, Tree, Uniform};

/// All passes, in the order in which they run.
pub static PASSES: &[Pass] = &[
    // Before the graph becomes a tree: stops and merging barriers add edges.
    unit("yield_in_loops", Graph, Graph, |unit, _| {
        unit.waits = sync::yield_in_loops(&unit.function, &mut unit.graph);
        Ok(())
    }),
    unit("make_warp_sync_explicit", Graph, Graph, |unit, settings| {
        sync::make_warp_sync_explicit(&unit.function, &mut unit.graph, settings.architecture);
        Ok(())
    }),
    unit("converge_warp_operations", Graph, Graph, |unit, _| {
        sync::converge_warp_operations(&mut unit.function, &mut unit.graph);
        Ok(())
    }),
    unit("resolve_barriers", Graph, Uniform, |unit, settings| {
        unit.resolved =
            sync::resolve_barriers(&mut unit.function, &mut unit.graph, settings.required_threads(), settings.checks);
        Ok(())
    }),
    unit("structurize", Uniform, Tree, structurize),
    // Variables forwarded, neighbouring conditions joined, address spaces resolved, addresses narrowed,
    // divisions by powers of two replaced, dead code removed.
    every("propagate_copies", Tree, opt::propagate_copies),
    every("remove_dead", Tree, opt::remove_dead),
    every("merge_ifs", Tree, opt::merge_ifs),
    every("resolve_spaces", Tree, opt::resolve_spaces),
    every("narrow_truncated", Tree, opt::narrow_truncated),
    every("divide_by_powers", Tree, opt::divide_by_powers),
    // Resolved addresses are new operations, equal ones among them, and leave their 64-bit forms unused.
    every("propagate_copies", Tree, opt::propagate_copies),
    every("remove_dead", Tree, opt::remove_dead),
    // For the host, while addresses are still what the PTX makes of them.
    unit("find_pointers", Tree, Tree, |unit, _| {
        unit.pointers = opt::pointer_constants(&unit.function);
        Ok(())
    }),
    // Warps are laid on the target's subgroups, blocks on its workgroups.
    unit("map_warps", Tree, Mapped, |unit, settings| {
        warp::pack(&mut unit.function, settings.target, settings.blocks)?;
        super::fits_workgroup(&unit.function, settings.target, settings.required_block)
    }),
    // What the target can't do exactly is replaced by what it can.
    unit("lock_long_accesses", Mapped, Mapped, |unit, settings| {
        legalize::lock_long_accesses(&mut unit.function, settings.target, settings.locks)
            .map_err(|diagnostic| diagnostic.kind)
    }),
    unit("use_scratch", Mapped, Mapped, |unit, settings| {
        let Settings { target, dynamic_shared_bytes, scratch, .. } = *settings;
        legalize::use_scratch(&mut unit.function, target, dynamic_shared_bytes, scratch);
        Ok(())
    }),
    every("expand_generic", Mapped, legalize::expand_generic),
    // Extremes on bits choose their NaN themselves.
    arithmetic("expand_bits", legalize::expand_bits),
    // What others make of operations would hide which of their results are seen.
    arithmetic("expand_nans", legalize::expand_nans),
    // Before the atomics that it looks for are replaced.
    arithmetic("expand_narrow_memory", legalize::expand_narrow_memory),
    arithmetic("expand_atomics", legalize::expand_atomics),
    // What follows makes many statements of one.
    unit("outline", Mapped, Mapped, |unit, settings| {
        legalize::outline(&mut unit.function, settings.relaxed, |function| finish_alone(function, settings))
    }),
    // After what says which NaNs are seen, before what replaces operations that the device has but not exactly.
    arithmetic("expand_doubles", doubles::expand_doubles),
    // Before the others: what they make needs no care, and would only become slow.
    arithmetic("expand_singles", singles::expand_singles),
    arithmetic("expand_approximate", legalize::expand_approximate),
    arithmetic("expand_root_ends", legalize::expand_root_ends),
    arithmetic("expand_roots", legalize::expand_roots),
    // Before the others: what these make of an operation may contain theirs.
    settings("expand_flushed", Mapped, |function, settings| {
        let exactly = !settings.math.is_fast(Topic::Denormals);
        flushed::expand_flushed(function, settings.relaxed, exactly);
    }),
    arithmetic("expand_rounded", legalize::expand_rounded),
    arithmetic("expand_fma", legalize::expand_fma),
    // After what would keep it from flushing.
    arithmetic("take_flushing", flushed::take_flushing),
    arithmetic("expand_division", legalize::expand_division),
    arithmetic("expand_sqrt", legalize::expand_sqrt),
    // The expansions before round too.
    arithmetic("expand_round", legalize::expand_round),
    // What all others left to the device.
    arithmetic("expand_untrusted", singles::expand_untrusted),
    arithmetic("hide_byte_swaps", legalize::hide_byte_swaps),
    arithmetic("split_divisions", legalize::split_divisions),
    // After all that makes arithmetic on floats.
    arithmetic("hide_known_operands", legalize::hide_known_operands),
    // The expansions repeat constants and test operands that they share.
    every("propagate_copies", Mapped, opt::propagate_copies),
    every("remove_dead", Mapped, opt::remove_dead),
    unit("report_cut_loops", Mapped, Mapped, |unit, settings| {
        if let (Some(status), Some(_)) = (settings.status, settings.target.quirks.loop_budget) {
            legalize::report_cut_loops(&mut unit.function, status);
        }
        Ok(())
    }),
    unit("expand_reports", Mapped, Legal, |unit, settings| {
        if let Some(status) = settings.status {
            let number = settings.number(&unit.function);
            unit.reports = legalize::expand_reports(&mut unit.function, status, number);
        }
        Ok(())
    }),
    // All passes before make 64-bit integers.
    unit("split_words", Legal, Legal, |unit, settings| {
        legalize::split_words(&mut unit.function, settings.target);
        Ok(())
    }),
    // Last, since only now it is known what the arms of each condition cost.
    settings("convert_ifs", Legal, |function, settings| {
        opt::convert_ifs(function, if settings.target.quirks.conditions_slow { 64 } else { 8 });
    }),
    every("propagate_copies", Legal, opt::propagate_copies),
    every("remove_dead", Legal, opt::remove_dead),
];

/// Runs the passes that make a freshly lowered function small, for tests of them together.
pub fn optimise(function: &mut Function) {
    for pass in between("propagate_copies", "map_warps") {
        if let Run::Function(run) = pass.run {
            run(function);
        }
    }
}

/// Runs the passes that replace what a target doesn't do exactly, for tests of them together.
///
/// # Errors
/// Broken rules.
pub fn legalize(function: &mut Function, target: &Target) -> Result<(), ErrorKind> {
    let relaxed = super::relaxed(target, Math::EXACT);
    let settings = Settings::new(target, &relaxed);
    let mut unit = Unit::of_tree(std::mem::take(function));
    let result = between("expand_generic", "report_cut_loops").try_for_each(|pass| pass.run(&mut unit, &settings));
    *function = unit.function;
    result
}

/// Runs the passes after `outline` on a function by itself, which tells the host nothing.
fn finish_alone(function: &mut Function, settings: &Settings<'_>) -> Result<(), ErrorKind> {
    let settings = Settings { status: None, ..*settings };
    let mut unit = Unit::of_tree(std::mem::take(function));
    let result = PASSES
        .iter()
        .skip_while(|pass| pass.name != "outline")
        .skip(1)
        .try_for_each(|pass| pass.run(&mut unit, &settings));
    *function = unit.function;
    result
}

/// The passes from the first of a name up to another, and not that one.
fn between(first: &str, end: &str) -> impl Iterator<Item = &'static Pass> {
    PASSES.iter().skip_while(move |pass| pass.name != first).take_while(move |pass| pass.name != end)
}

const fn every(name: &'static str, stage: Stage, run: fn(&mut Function)) -> Pass {
    Pass { name, before: stage, after: stage, run: Run::Function(run) }
}

const fn arithmetic(name: &'static str, run: fn(&mut Function, &Target)) -> Pass {
    Pass { name, before: Mapped, after: Mapped, run: Run::Arithmetic(run) }
}

const fn settings(name: &'static str, stage: Stage, run: fn(&mut Function, &Settings<'_>)) -> Pass {
    Pass { name, before: stage, after: stage, run: Run::Settings(run) }
}

const fn unit(
    name: &'static str,
    before: Stage,
    after: Stage,
    run: fn(&mut Unit, &Settings<'_>) -> Result<(), ErrorKind>,
) -> Pass {
    Pass { name, before, after, run: Run::Unit(run) }
}

impl Pass {
    /// Runs it, and checks the rules of the stage that it leads to: in debug builds after every pass, else where a kernel becomes
    /// a tree and after the last pass.
    ///
    /// # Errors
    /// What the target has no room for, and broken rules.
    pub fn run(&self, unit: &mut Unit, settings: &Settings<'_>) -> Result<(), ErrorKind> {
        match self.run {
            Run::Function(run) => unit.function.each(run),
            Run::Arithmetic(run) => unit.function.each(|function| run(function, settings.relaxed)),
            Run::Settings(run) => unit.function.each(|function| run(function, settings)),
            Run::Unit(run) => run(unit, settings)?,
        }
        let is_last = PASSES.last().is_some_and(|last| std::ptr::eq(last, self));
        if cfg!(debug_assertions) || is_last || self.before < Tree && self.after == Tree {
            unit.verify(self.after).map_err(|error| ErrorKind::Internal(format!("after {}: {error}", self.name)))?;
        }
        Ok(())
    }
}

fn structurize(unit: &mut Unit, _: &Settings<'_>) -> Result<(), ErrorKind> {
    cfg::structure(&mut unit.function, std::mem::take(&mut unit.graph))
        .map_err(|error| ErrorKind::Unsupported(error.to_string()))?;
    if unit.resolved.merged && !cfg::barriers_unconditional(&unit.function.body) {
        return Err(ErrorKind::Internal("a merged barrier came out under a condition".into()));
    }
    Ok(())
}
