//! Regions that the host provides in device memory for a module's kernels, besides its variables: the status record, a
//! buffer for printed output, a heap, counters.

use super::launch_region::LaunchRegion;
use super::reports;
use super::runtime_calls::Call;
use crate::decode::program::{Function, Instruction, Operand, Program};
use crate::ir::{MemoryOrder, locks};
use crate::isa::modifiers::Operator;
use crate::isa::operation::Effects;
use crate::isa::word::Word;
use crate::lower::memory_order::order;
use crate::policy::Policy;
use ptx2spv_interface::{Counters, MemoryRegion, ServiceSizes, Status, Variables, heap};

/// The places of these regions. A region exists only if one of the kernels may need it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Services {
    /// The record for reports of faults.
    pub status: Option<Status>,
    /// The region for printed output.
    pub output: Option<MemoryRegion>,
    /// The region for allocations.
    pub heap: Option<MemoryRegion>,
    /// The counters of events.
    pub counters: Option<Counters>,
    /// Offset of the locks that emulate 64-bit atomics on global memory, and all atomics on 128 bits.
    pub locks: Option<u64>,
    /// The word that counts how often kernels read a clock, if the device has no clock.
    pub clock: Option<u64>,
    /// The region for requests of launches.
    pub launches: Option<LaunchRegion>,
    /// Whether the launch has a table of live allocations, by which kernels check their accesses.
    pub allocations: bool,
}

/// Makes room after a module's variables, and gives its offset. A size beyond the address space fails at allocation.
pub(super) fn reserve(variables: &mut Variables, size: u64, align: u32) -> u64 {
    let unit = u64::from(align.max(1));
    let offset = variables.size.saturating_add(unit - 1) / unit * unit;
    variables.size = offset.saturating_add(size);
    variables.align = variables.align.max(align);
    offset
}

/// Adds the regions that a module's kernels may need on the target to its variables. They must not depend on the chosen kernels: all
/// translations of a module share one allocation. Checked kernels report accesses.
pub fn services(
    program: &Program,
    variables: &mut Variables,
    policy: &Policy,
    sizes: ServiceSizes,
    checked: bool,
) -> Services {
    let sizes = sizes.rounded();
    let declares = |names: &[&str]| {
        program.functions.iter().any(|function| function.body.is_none() && names.contains(&function.name.as_str()))
    };
    let allocates = program
        .functions
        .iter()
        .any(|function| function.body.is_none() && Call::find(function).is_some_and(Call::allocates));
    // Every field is named, so that a new effect isn't forgotten. The stack is in local memory, and the others concern the module's own
    // variables.
    let Effects {
        may_report,
        waits,
        uses_stack: _,
        counts_events,
        atomic,
        atomic_of_any_type,
        ordered,
        sequential: _,
        reads_texels: _,
        samples: _,
    } = program.effects();
    let reports = checked
        || may_report
        || allocates
        || policy.loop_budget.is_some()
        || policy.memory.offsets_unchecked
        || waits && instructions(program).any(reports::may_wait_in_vain);
    // The least size in bytes that the device doesn't access atomically.
    let locked = if policy.memory.global_long_atomics { 16 } else { 8 };
    let locks = (atomic || atomic_of_any_type || ordered) && instructions(program).any(|i| accesses_as_one(i, locked));
    let mut add = |size, align| reserve(variables, size, align);
    Services {
        status: reports.then(|| Status { offset: add(Status::SIZE, 4) }),
        output: declares(&["vprintf"]).then(|| MemoryRegion { offset: add(sizes.output, 16), size: sizes.output }),
        heap: (allocates || declares(&["malloc", "__cuda_syscall_aligned_malloc", "free"]))
            .then(|| heap::region_bytes(sizes.heap))
            .map(|size| MemoryRegion { offset: add(size, 256), size }),
        counters: counts_events.then(|| Counters { offset: add(Counters::SIZE, 8) }),
        locks: locks.then(|| add(locks::TABLE_BYTES, 4)),
        clock: (!policy.has_clock && reads_clock(program)).then(|| add(4, 4)),
        launches: LaunchRegion::of(program, sizes)
            .map(|region| LaunchRegion { offset: add(region.size(), 64), ..region }),
        allocations: checked,
    }
}

fn reads_clock(program: &Program) -> bool {
    instructions(program)
        .flat_map(|instruction| &instruction.operands)
        .any(|operand| matches!(operand, Operand::Special(special) if special.is_clock()))
}

/// All instructions of the module's functions.
fn instructions(program: &Program) -> impl Iterator<Item = &Instruction> {
    program.functions.iter().flat_map(Function::instructions)
}

/// Whether an instruction may need a lock of the table, for an atomic access to `bytes` bytes. 8 bytes of shared memory have other locks.
fn accesses_as_one(instruction: &Instruction, bytes: u32) -> bool {
    let Instruction { modifiers, form, .. } = instruction;
    let effects = form.row.action.effects();
    if effects.atomic_of_any_type {
        // Only 32-bit types have `.inc` and `.dec`.
        return bytes <= 8 && !matches!(modifiers.operator(), Some(Operator::Inc | Operator::Dec));
    }
    let as_one = effects.atomic || effects.ordered && order(instruction, MemoryOrder::Weak) != MemoryOrder::Weak;
    as_one && modifiers.types.iter().any(|ty| ty.bytes() >= bytes && (ty.bytes() > 8 || !modifiers.has(Word::Shared)))
}
