//! The passes between lowering and emission, in order: each with its name, the stage that it needs, and the stage that
//! it leads to.

use super::limits::fits_workgroup;
use super::unit::{Settings, Unit};
use crate::cfg;
use crate::diagnostic::ErrorKind;
use crate::ir::{Builder, Function, Op, Stage, Type, Value, rewrite_ops};
use crate::legalize;
use crate::legalize::CountedRounds;
use crate::legalize::arithmetic::doubles;
use crate::legalize::arithmetic::flushed;
use crate::legalize::arithmetic::singles;
use crate::opt;
use crate::policy::{Int64, Policy};
use crate::sync::{self, SuspendedLoops, SuspensionKind};
use crate::warp;
use ptx2spv_interface::LoopSuspension;
use ptx2spv_target::{Math, Target};
use rustc_hash::FxHashSet;

/// A step that takes a kernel from one stage to the same or the next one.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The pass's name in dumps and tests; passes that run several times have one name.
    pub name: &'static str,
    /// The stage that the kernel must be at.
    pub before: Stage,
    /// The stage that it is at then.
    pub after: Stage,
    run: Run,
    /// Whether the pass replaces operations on floats alone.
    of_floats: bool,
}

/// The inputs of a pass.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// Nothing: it holds on every device.
    Function(fn(&mut Function)),
    /// The decisions about the device.
    Policy(fn(&mut Function, &Policy)),
    /// The same, an operation at a time: on devices of which the condition holds, the rule gives the value that takes the place
    /// of an operation's result, or none where the device has the operation.
    Operations(fn(&Policy) -> bool, Rule),
    /// A pass that also changes other parts of the kernel, works on the graph, or may refuse the kernel. It handles
    /// helpers itself.
    Unit(fn(&mut Unit, &Settings<'_>) -> Result<(), ErrorKind>),
}

/// An operation, with the type of its result, by others. No pass after this one sees the operation again, unless others
/// expand to it: then it is the device's.
type Rule = fn(&Builder<'_>, &Policy, Type, Op) -> Option<Value>;

/// The condition of operations that no device has.
const ALWAYS: fn(&Policy) -> bool = |_| true;

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
    unit("pause_in_loops", Graph, Graph, pause_in_loops),
    unit("converge_warp_operations", Graph, Graph, |unit, _| {
        sync::converge_warp_operations(&mut unit.function, &mut unit.graph, unit.rounds);
        Ok(())
    }),
    unit("resolve_barriers", Graph, Uniform, |unit, settings| {
        unit.resolved = sync::resolve_barriers(
            &mut unit.function,
            &mut unit.graph,
            settings.required_threads(),
            settings.checks,
            settings.workspace,
            settings.pauses.zip(unit.rounds),
        );
        if unit.rounds.is_some() {
            unit.suspended = unit.resolved.saved.map(|saved| SuspendedLoops { saved, kind: SuspensionKind::Blocks });
        }
        Ok(())
    }),
    unit("suspend_in_loops", Uniform, Uniform, suspend_in_loops),
    // When no edges are added any more.
    unit("reconverge_in_loops", Uniform, Uniform, |unit, _| {
        sync::reconverge_in_loops(&mut unit.function, &mut unit.graph, &unit.resolved.stops);
        Ok(())
    }),
    unit("structurize", Uniform, Tree, structurize),
    // Variables forwarded, neighbouring conditions joined, address spaces resolved, addresses narrowed,
    // divisions by powers of two replaced, dead code removed.
    every("propagate_copies", Tree, opt::propagate_copies),
    every("remove_dead", Tree, opt::remove_dead),
    every("merge_ifs", Tree, opt::merge_ifs),
    unit("resolve_spaces", Tree, Tree, |unit, settings| {
        unit.function.each(|function| opt::resolve_spaces(function, settings.saves()));
        Ok(())
    }),
    every("narrow_truncated", Tree, opt::narrow_truncated),
    every("divide_by_powers", Tree, opt::divide_by_powers),
    // Resolved addresses are new operations, equal ones among them, and leave their 64-bit forms unused.
    every("propagate_copies", Tree, opt::propagate_copies),
    every("remove_dead", Tree, opt::remove_dead),
    // Before accesses lose what the PTX says of them.
    unit("check_accesses", Tree, Tree, |unit, settings| {
        if let Some(allocations) = settings.allocations {
            legalize::check_accesses(&mut unit.function, allocations);
        }
        Ok(())
    }),
    every("combine_loads", Tree, opt::combine_loads),
    // For the host. This runs while addresses are still computed as in the PTX.
    unit("find_pointers", Tree, Tree, |unit, _| {
        unit.pointers = opt::pointer_constants(&unit.function);
        Ok(())
    }),
    // Before shuffles are mapped, of which products are made where no unit computes them.
    unit("expand_matrix_products", Tree, Tree, |unit, settings| {
        let Policy { workgroups, matrix_units, generation, floats, .. } = settings.policy;
        let is_subgroup = warp::are_lanes_invocations(&unit.function, workgroups, settings.blocks);
        let has_unit = |types| is_subgroup && matrix_units.contains(&types);
        let trusted = &floats.trusted;
        let means = legalize::Means {
            generation: *generation,
            are_lanes_invocations: warp::lanes(&unit.function, workgroups, settings.blocks) == 1,
            has_floats: singles::trusts(trusted),
            has_halves: trusted.convert_f16_exact,
        };
        legalize::expand_matrix_products(&mut unit.function, means, has_unit);
        Ok(())
    }),
    // While each thread still has its own local memory.
    unit("confine_accesses", Tree, Tree, |unit, settings| {
        // Checked accesses stay inside.
        if settings.policy.memory.offsets_unchecked && settings.allocations.is_none() {
            legalize::confine_accesses(&mut unit.function, settings.blocks);
        }
        Ok(())
    }),
    // Warps are laid on the target's subgroups, blocks on its workgroups.
    unit("map_warps", Tree, Mapped, |unit, settings| {
        let Policy { workgroups, loop_budget, nesting, .. } = settings.policy;
        // While each thread still has its own local memory.
        if let Some(saved) = unit.saved().filter(|saved| saved.has_local()) {
            legalize::move_local(&mut unit.function, |b| saved.local(b));
        }
        warp::pack(&mut unit.function, workgroups, settings.blocks)?;
        legalize::choose_lane_calls(&mut unit.function, *loop_budget, *nesting);
        fits_workgroup(&unit.function, workgroups, settings.required_block)
    }),
    // What the target can't do exactly is replaced by what it can.
    unit("lock_long_accesses", Mapped, Mapped, |unit, settings| {
        legalize::lock_long_accesses(&mut unit.function, &settings.policy.memory, settings.locks)
            .map_err(|diagnostic| diagnostic.kind)
    }),
    unit("use_scratch", Mapped, Mapped, |unit, settings| {
        let Settings { policy, dynamic_shared_bytes, scratch, .. } = *settings;
        let Policy { memory, loop_budget, .. } = policy;
        legalize::use_scratch(&mut unit.function, memory, loop_budget.is_some(), dynamic_shared_bytes, scratch);
        Ok(())
    }),
    every("expand_generic", Mapped, opt::expand_generic),
    // Before what accesses device memory for its own purposes.
    policy("relax_barriers", Mapped, |function, policy| {
        if policy.relax_barriers {
            opt::relax_barriers(function);
        }
    }),
    operations("expand_dots", |policy| !policy.byte_dots, legalize::expand_dot),
    unit("outline_halves", Mapped, Mapped, |unit, settings| {
        if settings.policy.floats.halves {
            return Ok(());
        }
        legalize::outline_halves(&mut unit.function, settings.policy, |shape| length("outline_halves", shape, settings))
    }),
    policy("expand_halves", Mapped, |function, policy| {
        if !policy.floats.halves {
            legalize::expand_halves(function);
        } else if !policy.floats.trusted.nan_f16_nvidia {
            legalize::expand_half_nans(function);
        }
    }),
    // Extremes on bits choose their NaN themselves.
    policy("expand_bits", Mapped, |function, policy| legalize::expand_bits(function, &policy.floats.trusted)),
    // Before `expand_nans`, which replaces what is left to the rare case.
    policy("group_nans", Mapped, |function, policy| {
        let is_cheaper = policy.branches_cheap && policy.floats.doubles && !policy.floats.trusted.nan_f64_nvidia;
        if is_cheaper && legalize::group_nans(function) {
            // What the rare case alone needs must not stay where all look for what is the same.
            opt::remove_dead(function);
        }
    }),
    // What others make of operations would hide which of their results are seen.
    policy("expand_nans", Mapped, |function, policy| legalize::expand_nans(function, &policy.floats.trusted)),
    // After it, since what these make of an extreme shows its operands' NaNs.
    policy("expand_extrema", Mapped, |function, policy| legalize::expand_extrema(function, &policy.floats.trusted)),
    // Before the atomics that it looks for are replaced.
    policy("expand_narrow_memory", Mapped, |function, policy| {
        legalize::expand_narrow_memory(function, policy.memory.narrow_global)
    }),
    policy("expand_atomics", Mapped, |function, policy| legalize::expand_atomics(function, &policy.floats)),
    // After all that converts to f16 or from it. Before `outline`, which takes what integers' conversions are made of for itself.
    policy("expand_half_conversions", Mapped, |function, policy| {
        legalize::expand_half_conversions(function, &policy.floats.trusted)
    }),
    // What follows makes many statements of one.
    unit("outline", Mapped, Mapped, |unit, settings| {
        legalize::outline(&mut unit.function, settings.policy, |shape| length("outline", shape, settings))
    }),
    // After what says which NaNs are seen, before what replaces operations that the device has but not exactly.
    policy("expand_doubles", Mapped, |function, policy| {
        if !policy.floats.doubles {
            doubles::expand_doubles(function);
        }
    }),
    // Before the others: what they make needs no care, and would only become slow.
    operations("expand_singles", |policy| !policy.floats.trusted.denormals_f32_kept, singles::expand_single)
        .of_floats(),
    // These take care of denormals themselves.
    operations("expand_matrix_steps", ALWAYS, legalize::expand_matrix_step),
    policy("expand_approximate", Mapped, |function, policy| legalize::expand_approximate(function, &policy.floats))
        .of_floats(),
    operations("expand_root_ends", ALWAYS, legalize::expand_root_ends).of_floats(),
    operations("expand_roots", |policy| !policy.floats.trusted.roots_f32_close, legalize::expand_root).of_floats(),
    // Before the others: what these make of an operation may contain theirs.
    operations("expand_flushed", ALWAYS, flushed::expand_flushed).of_floats(),
    operations("expand_rounded", ALWAYS, legalize::expand_rounded).of_floats(),
    // After what needs no subnormals of it.
    operations("expand_saturate", ALWAYS, legalize::expand_saturate).of_floats(),
    // Before the one that expands each by itself.
    policy("group_fma", Mapped, |function, policy| {
        if policy.branches_cheap {
            legalize::group_fma(function, &policy.floats);
        }
    })
    .of_floats(),
    policy("expand_fma", Mapped, |function, policy| legalize::expand_fma(function, &policy.floats)).of_floats(),
    // After what would keep it from flushing.
    operations("take_flushing", ALWAYS, flushed::take_flushing).of_floats(),
    // Before the two that follow, which expand each operation by itself.
    policy("group_extremes", Mapped, |function, policy| {
        if policy.branches_cheap {
            legalize::group_extremes(function, &policy.floats);
        }
    })
    .of_floats(),
    policy("expand_division", Mapped, |function, policy| {
        legalize::expand_division(function, &policy.floats, policy.avoid_double_divisions)
    })
    .of_floats(),
    operations(
        "expand_sqrt",
        |Policy { floats, .. }| !(floats.trusted.sqrt_f32_rounded && floats.trusted.sqrt_f64_rounded),
        legalize::expand_sqrt,
    )
    .of_floats(),
    // The expansions before round too.
    operations("expand_round", |policy| !policy.floats.trusted.rounding_exact, legalize::expand_round).of_floats(),
    // What long operations are made of is long itself where no arithmetic is trusted.
    unit("outline_untrusted", Mapped, Mapped, |unit, settings| {
        if singles::trusts(&settings.policy.floats.trusted) {
            return Ok(());
        }
        legalize::outline(&mut unit.function, settings.policy, |shape| length("outline_untrusted", shape, settings))
    }),
    // What all others left to the device.
    operations("expand_untrusted", |policy| !singles::trusts(&policy.floats.trusted), singles::expand_untrusted)
        .of_floats(),
    policy("hide_byte_swaps", Mapped, |function, policy| {
        if policy.hide_byte_swaps {
            legalize::hide_byte_swaps(function);
        }
    }),
    policy("hide_signs", Mapped, |function, policy| {
        if policy.hide_signs {
            legalize::hide_signs(function);
        }
    }),
    policy("hide_conditions", Mapped, |function, policy| {
        if policy.hide_conditions {
            legalize::hide_conditions(function);
        }
    }),
    // After all that makes tests for NaNs, and dot products.
    policy("test_dot_nans", Mapped, |function, policy| {
        if policy.test_dot_nans {
            legalize::test_dot_nans(function);
        }
    }),
    operations("split_divisions", |policy| policy.int64 == Int64::WithoutDivision, legalize::split_division),
    // After all that makes arithmetic on floats.
    policy("hide_known_operands", Mapped, |function, policy| {
        legalize::hide_known_operands(function, &policy.floats.trusted)
    }),
    // The expansions repeat constants and test operands that they share.
    every("propagate_copies", Mapped, opt::propagate_copies),
    every("remove_dead", Mapped, opt::remove_dead),
    unit("report_cut_loops", Mapped, Mapped, |unit, settings| {
        let (Some(status), Some(budget)) = (settings.status, settings.policy.loop_budget) else { return Ok(()) };
        unit.suspends_in_loops =
            unit.suspended.and_then(|suspended| suspended_loops(&unit.function, suspended, settings.policy, budget));
        unit.leaves_loops = unit.suspended.is_some() && unit.suspends_in_loops.is_none();
        unit.has_long_loops = legalize::report_cut_loops(&mut unit.function, status, budget, settings.policy.nesting);
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
        if settings.policy.int64 == Int64::Words {
            legalize::split_words(&mut unit.function);
        }
        Ok(())
    }),
    // Last, since only now it is known what the arms of each condition cost.
    policy("convert_ifs", Legal, |function, policy| opt::convert_ifs(function, policy.if_conversion)),
    policy("flatten_nesting", Legal, |function, policy| legalize::flatten_nesting(function, policy.nesting)),
    every("propagate_copies", Legal, opt::propagate_copies),
    every("remove_dead", Legal, opt::remove_dead),
    // Nothing folds constants from here on.
    every("show_rotations", Legal, legalize::show_rotations),
    // When addresses are what they will be.
    unit("hide_address_sums", Legal, Legal, |unit, settings| {
        if settings.policy.hide_address_sums {
            unit.function.each(|function| legalize::hide_address_sums(function, settings.blocks));
        }
        Ok(())
    }),
    // After what would give values back to those that use them.
    every("separate_lane_loops", Legal, legalize::separate_lane_loops),
    // No pass after these two moves anything.
    policy("sink_fused", Legal, |function, policy| {
        if policy.floats.dot_fma {
            legalize::sink_fused(function);
        }
    }),
    policy("pin_fused", Legal, |function, policy| {
        if policy.floats.dot_fma {
            legalize::pin_fused(function);
        }
    }),
];

/// Runs the passes that make a freshly lowered function small, for tests of them together.
///
/// # Errors
/// Broken rules.
pub fn optimise(function: &mut Function, target: &Target) -> Result<(), ErrorKind> {
    run_between(function, target, "propagate_copies", "find_pointers")
}

/// Runs the passes that replace operations which a target doesn't do exactly, for tests of them together.
///
/// # Errors
/// Broken rules.
pub fn legalize(function: &mut Function, target: &Target) -> Result<(), ErrorKind> {
    run_between(function, target, "expand_generic", "report_cut_loops")
}

/// Runs the passes from the first of a name up to another, and not that one.
fn run_between(function: &mut Function, target: &Target, first: &str, end: &str) -> Result<(), ErrorKind> {
    let policy = Policy::new(target, Math::EXACT);
    let settings = Settings::new(&policy);
    let mut unit = Unit::of_tree(std::mem::take(function));
    let mut passes = PASSES.iter().skip_while(|pass| pass.name != first).take_while(|pass| pass.name != end);
    let result = passes.try_for_each(|pass| pass.run(&mut unit, &settings));
    *function = unit.function;
    result
}

/// The length of an operation after the passes that follow one of these.
fn length(outline: &'static str, shape: &legalize::Shape, settings: &Settings<'_>) -> Result<usize, ErrorKind> {
    let find = || shape.length(|function| finish_alone(outline, function, settings));
    match settings.lengths {
        Some(lengths) => lengths.of(outline, shape, find),
        None => find(),
    }
}

/// Runs the passes after one of these on a function by itself, which tells the host nothing.
fn finish_alone(outline: &str, function: &mut Function, settings: &Settings<'_>) -> Result<(), ErrorKind> {
    let settings = Settings { status: None, ..*settings };
    let mut unit = Unit::of_tree(std::mem::take(function));
    let result = PASSES
        .iter()
        .skip_while(|pass| pass.name != outline)
        .skip(1)
        .try_for_each(|pass| pass.run(&mut unit, &settings));
    *function = unit.function;
    result
}

const fn every(name: &'static str, stage: Stage, run: fn(&mut Function)) -> Pass {
    Pass { name, before: stage, after: stage, run: Run::Function(run), of_floats: false }
}

const fn policy(name: &'static str, stage: Stage, run: fn(&mut Function, &Policy)) -> Pass {
    Pass { name, before: stage, after: stage, run: Run::Policy(run), of_floats: false }
}

const fn operations(name: &'static str, lacks: fn(&Policy) -> bool, rule: Rule) -> Pass {
    Pass { name, before: Mapped, after: Mapped, run: Run::Operations(lacks, rule), of_floats: false }
}

const fn unit(
    name: &'static str,
    before: Stage,
    after: Stage,
    run: fn(&mut Unit, &Settings<'_>) -> Result<(), ErrorKind>,
) -> Pass {
    Pass { name, before, after, run: Run::Unit(run), of_floats: false }
}

impl Pass {
    /// The pass, for functions with floats alone: in others it finds nothing, and the walk for that is not made.
    const fn of_floats(self) -> Self {
        Self { of_floats: true, ..self }
    }

    /// Runs something on a kernel's function and its helpers, as far as they concern the pass. False if none does.
    fn each(&self, unit: &mut Unit, mut run: impl FnMut(&mut Function)) -> bool {
        let mut any = false;
        unit.function.each(|function| {
            if !self.of_floats || function.has_floats() {
                run(function);
                any = true;
            }
        });
        any
    }

    /// Runs the pass, and checks the rules of the stage that the pass leads to: in debug builds after every pass that
    /// has run, else where a kernel becomes a tree. The function for emission is checked in any case
    /// ([`Legal`](crate::ir::Legal)).
    ///
    /// # Errors
    /// Resources that the target has too little of, and broken rules.
    pub fn run(&self, unit: &mut Unit, settings: &Settings<'_>) -> Result<(), ErrorKind> {
        let has_run = match self.run {
            Run::Function(run) => {
                unit.function.each(run);
                true
            }
            Run::Policy(run) => self.each(unit, |function| run(function, settings.policy)),
            Run::Operations(lacks, rule) if lacks(settings.policy) => self.each(unit, |function| {
                rewrite_ops(function, |b, result, op| rule(b, settings.policy, b.type_of(result), op));
            }),
            Run::Operations(..) => false,
            Run::Unit(run) => {
                run(unit, settings)?;
                true
            }
        };
        if cfg!(debug_assertions) && (has_run || self.before != self.after) || self.before < Tree && self.after == Tree
        {
            unit.verify(self.after).map_err(|error| ErrorKind::Internal(format!("after {}: {error}", self.name)))?;
        }
        Ok(())
    }
}

/// The most rounds of the driver for all that is not a long loop, in kernels whose threads are suspended in these. Loops over lanes, which take
/// an eighth of the driver's rounds at most, come on top.
const MOST_ONCE: u32 = 1 << 14;

/// The needs of launches whose threads are suspended in long loops; `None` if saving the threads' state may itself take
/// too many rounds.
fn suspended_loops(
    function: &Function,
    suspended: SuspendedLoops,
    policy: &Policy,
    budget: u32,
) -> Option<LoopSuspension> {
    let lockstep = policy.workgroups.lockstep;
    let CountedRounds { once, each, alone } = legalize::counted_rounds(function, lockstep);
    let packed = function.packing.map_or(1, |packing| packing.lanes);
    let threads = u64::from(lockstep).saturating_mul(packed.into());
    let cost = match suspended.kind {
        SuspensionKind::Threads { together, apart } => {
            let together = if together { each.saturating_mul(packed.into()) } else { 0 };
            together.saturating_add(if apart { each.saturating_mul(threads) } else { 0 })
        }
        // A thread has as many rounds of both kinds of loops.
        SuspensionKind::Blocks => alone.saturating_mul(threads).max(each).saturating_mul(2),
    };
    let cost = u32::try_from(cost).unwrap_or(u32::MAX);
    // Threads of other workgroups may make a compare-and-swap fail too.
    let rounds = (budget - budget / 8).saturating_sub(once);
    (once <= MOST_ONCE + budget / 8).then_some(LoopSuspension { saved_words: suspended.saved.words(), rounds, cost })
}

/// The part of the driver's rounds that a loop takes at most whose threads are not suspended.
const SHORT: u32 = 64;

/// The part of the driver's rounds that all such loops of a kernel together take at most, for all threads that an invocation runs one after another.
const SHORT_TOGETHER: u32 = 8;

/// Suspends threads in the loops that are not known to be short.
fn suspend_in_loops(unit: &mut Unit, settings: &Settings<'_>) -> Result<(), ErrorKind> {
    let Some((workspace, budget)) = settings.loop_workspace.zip(settings.policy.loop_budget) else { return Ok(()) };
    let loops = if unit.resolved.merged { None } else { Loops::of(unit, settings, budget)? };
    unit.suspended = loops.and_then(|loops| {
        let is_long = |position| loops.is_long(position);
        sync::suspend_in_loops(&mut unit.function, &mut unit.graph, &loops.all, is_long, workspace)
    });
    unit.leaves_loops = unit.suspended.is_none();
    Ok(())
}

/// Lets threads stop in the loops that are not known to be short.
fn pause_in_loops(unit: &mut Unit, settings: &Settings<'_>) -> Result<(), ErrorKind> {
    let Some((_, budget)) = settings.pauses.zip(settings.policy.loop_budget) else { return Ok(()) };
    unit.rounds = Loops::of(unit, settings, budget)?.and_then(|loops| {
        let is_long = |position| loops.is_long(position);
        sync::pause_in_loops(&mut unit.function, &mut unit.graph, &loops.all, is_long)
    });
    unit.leaves_loops = unit.rounds.is_none();
    Ok(())
}

/// The loops of a kernel's graph.
struct Loops {
    all: Vec<sync::Loop>,
    /// The positions of those that are known to be short.
    short: FxHashSet<u64>,
}

impl Loops {
    /// `None` if all loops together are short.
    fn of(unit: &mut Unit, settings: &Settings<'_>, budget: u32) -> Result<Option<Self>, ErrorKind> {
        // What leads from there into a loop would count as another start of the loop.
        unit.graph.clear_unreachable();
        let all = sync::loops(&unit.graph);
        // Whether a loop is short shows in the tree.
        let mut copy = unit.clone();
        sync::mark_loops(&mut copy.function, &mut copy.graph, &all);
        for block in &mut copy.graph.blocks {
            block.stop = None;
        }
        structurize(&mut copy, settings)?;
        opt::propagate_copies(&mut copy.function);
        let lanes = warp::lanes(&copy.function, &settings.policy.workgroups, settings.blocks);
        let together = u64::from(budget / SHORT_TOGETHER / lanes);
        if legalize::most_rounds(&copy.function).is_some_and(|most| most < together) {
            return Ok(None);
        }
        Ok(Some(Self { all, short: legalize::short_loops(&copy.function, (budget / SHORT).into(), together) }))
    }

    fn is_long(&self, position: usize) -> bool {
        !self.short.contains(&(position as u64))
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
