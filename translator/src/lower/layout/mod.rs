//! Decisions about a kernel before its instructions are lowered: the functions that it consists of, the services that
//! it needs of the host, and its memory layout, that is its shared and local memory, its parameter block, and the
//! module's variables in device memory.

pub(crate) mod call_graph;
pub mod frame;
pub mod launch_region;
pub mod launch_texts;
pub mod pending_copies;
pub mod reports;
pub mod runtime_calls;
pub mod services;
mod shared_start;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::StateSpace;
use crate::decode::program::{Base, FuncId, Function, InitValue, Instruction, Operand, Program, Special, VarId};
use crate::diagnostic::{Diagnostic, ErrorKind, Result};
use crate::ir::Builtin;
use crate::isa::modifiers::{Level, Scope};
use crate::isa::operation::{Action, Effects, Operation};
use crate::lower::texture::{logarithms, srgb};
use crate::policy::{Policy, Samplers};
use call_graph::reachable;
use ptx2spv_interface::{self, ParamLocation, push_constant};
use ptx2spv_target::Generation;
use runtime_calls::{any_waits, has_any};
use services::{Services, reserve};

/// The most bytes of parameters that PTX lets a kernel have.
const MAX_PARAMS: u32 = 32_764;

/// The first offset of variables in local memory: no variable is at null, which no pointer to a variable equals on
/// hardware.
pub const LOCAL_START: u32 = 4;

/// The most local memory that CUDA gives a thread, in bytes.
const MAX_LOCAL: u32 = 512 << 10;
/// Bytes of shared memory that CUDA reserves in each block for its own libraries. Kernels that don't read their address have none.
pub const RESERVED_SHARED: u32 = 1 << 10;
/// The bytes of these that the libraries use: words with which warps wait for each other, and a slot for each warp.
pub const RESERVED_SHARED_USED: u32 = RESERVED_SHARED_WORDS * 4 + 32 * 8;
/// The words with which warps wait for each other.
pub const RESERVED_SHARED_WORDS: u32 = 8;
/// The most shared memory that CUDA gives a block, in bytes: that of sm_90, on which modules for older targets run too.
const MAX_SHARED: u32 = 227 << 10;
/// The most blocks that hardware has in a cluster.
const MAX_CLUSTER: u32 = 16;
/// Bytes that `alloca` can allocate in a kernel that uses it.
pub const STACK_BYTES: u32 = 4 << 10;

/// Offsets of variables in memory.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Offsets of variables.
    variables: FxHashMap<VarId, u64>,
    /// Offset of the word that sequentially consistent fences with a scope beyond the block use, if the module has any.
    fence_word: Option<u64>,
    /// Offset of the table of sRGB intensities, if the module reads textures.
    srgb_table: Option<u64>,
    /// Offset of the table of logarithms of significands, if the module uses gradients.
    logarithm_table: Option<u64>,
}

/// The memory layout of one kernel.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The place of the parameter block.
    pub params_location: ParamLocation,
    /// Offsets of the parameters in the block.
    pub params: Vec<u32>,
    /// Size of the block.
    pub params_size: u32,
    /// Bytes of static shared memory, reserved ones included.
    pub shared_bytes: u32,
    /// Bytes at the start of shared memory that are reserved for CUDA's libraries.
    pub reserved_shared: u32,
    /// The address of the first byte of shared memory, as programs see addresses.
    pub shared_start: u32,
    /// Whether the kernel uses dynamic shared memory.
    pub dynamic_shared: bool,
    /// Whether the kernel makes addresses of other blocks' shared memory.
    pub maps_shared: bool,
    /// Whether the kernel copies to shared memory by `cp.async`.
    pub copies: bool,
    /// Unit in which hardware of the module's architecture allocates shared memory: a power of two.
    pub shared_unit: u32,
    /// Whether the kernel or its launch says that blocks form clusters.
    pub explicit_cluster: bool,
    /// Blocks of a cluster in x, y and z.
    pub cluster: [u32; 3],
    /// Whether launches are cooperative.
    pub cooperative: bool,
    /// Whether threads are to be suspended in long loops.
    pub suspends_in_loops: bool,
    /// Whether the kernel waits for its own launches.
    pub waits_for_launches: bool,
    /// The greatest alignment that addresses of shared memory may need: a power of two, at least 16.
    pub shared_align: u32,
    /// Bytes of local memory.
    pub local_bytes: u32,
    /// Offset in local memory of the thread's last error, if the kernel calls the device runtime.
    pub last_error: Option<u32>,
    /// Whether the kernel takes addresses of constants or parameters in 32 bits.
    pub short_addresses: bool,
    /// The regions that the host provides for the kernel.
    pub services: Services,
    /// Offset in local memory of the stack of `alloca`, which comes after everything else.
    pub stack: Option<u32>,
    /// The textures that the device's sampler reads.
    pub samplers: Samplers,
    /// The generation whose products of matrices of floats are computed; `None` where the products are left to the
    /// device.
    pub generation: Option<Generation>,
    /// Bytes that the module's constants take, at the start of its variables.
    pub const_bytes: u64,
    /// Offsets of the module's variables, which all its kernels share.
    module: Arc<Places>,
    /// Offsets in shared and local memory.
    places: Places,
}

impl Layout {
    /// Offset of a variable: in the module's allocation, in shared memory or in local memory.
    pub fn variable(&self, id: VarId) -> Option<u64> {
        self.places.variables.get(&id).or_else(|| self.module.variables.get(&id)).copied()
    }

    /// Offset in the module's allocation of the word that sequentially consistent fences with a scope beyond the block
    /// use.
    pub fn fence_word(&self) -> Option<u64> {
        self.module.fence_word
    }

    /// Offset in the module's allocation of the table of sRGB intensities.
    pub fn srgb_table(&self) -> Option<u64> {
        self.module.srgb_table
    }

    /// Offset in the module's allocation of the table of logarithms of significands.
    pub fn logarithm_table(&self) -> Option<u64> {
        self.module.logarithm_table
    }

    /// Whether launches have a workspace.
    pub fn has_workspace(&self) -> bool {
        self.waits_outside() || self.suspends_in_loops
    }

    /// Whether blocks may wait for other blocks, or for their own launches, in launches of several dispatches.
    pub fn waits_outside(&self) -> bool {
        self.cooperative || self.waits_for_launches
    }

    /// Offset in the push constants of the address of the table of live allocations, if accesses are checked.
    pub fn allocations(&self) -> Option<u32> {
        self.services.allocations.then(|| self.params_location.allocations_address(self.params_size))
    }

    /// The push constant with the address of the module's variables, for addresses that the kernel computes.
    pub fn variables_address(&self) -> u32 {
        if self.services.allocations { Builtin::CHECKED_VARIABLES } else { push_constant::VARIABLES_ADDRESS }
    }

    /// Offset of dynamic shared memory.
    pub fn dynamic_shared_offset(&self) -> u32 {
        self.shared_bytes.next_multiple_of(16)
    }
}

/// Lays out the module's variables in device memory, constants first; the offsets go by [`VarId`].
pub fn module_variables(program: &Program) -> (ptx2spv_interface::Variables, Arc<Places>) {
    let mut places = Places::default();
    let near = program.address_bits == 32;
    let mut variables = ptx2spv_interface::Variables { align: 16, near, ..ptx2spv_interface::Variables::default() };
    let ids = (0..).map(VarId).zip(&program.variables);
    for space in [StateSpace::Const, StateSpace::Global] {
        for (id, variable) in ids.clone().filter(|(_, variable)| variable.space == space && !variable.external) {
            places.variables.insert(id, reserve(&mut variables, variable.size, variable.align));
        }
    }
    for (id, variable) in ids.clone().filter(|(_, variable)| !variable.in_function) {
        let Some(offset) = places.variables.get(&id).copied() else { continue };
        let space = if variable.space == StateSpace::Const { "const" } else { "global" };
        variables.list.push(ptx2spv_interface::Variable {
            name: variable.name.clone(),
            space: space.to_owned(),
            ty: variable.ty.name().to_owned(),
            offset,
            size: variable.size,
        });
    }
    for (id, variable) in ids {
        let Some(start) = places.variables.get(&id).copied() else { continue };
        for piece in &variable.init {
            let offset = start.saturating_add(piece.offset);
            let mut bits = |bits: u64| {
                let bytes = bits.to_le_bytes().into_iter().take(usize::from(piece.size));
                match variables.image.last_mut() {
                    Some(run) if run.offset.checked_add(run.bytes.len() as u64) == Some(offset) => {
                        run.bytes.extend(bytes)
                    }
                    _ => variables.image.push(ptx2spv_interface::ImageRun { offset, bytes: bytes.collect() }),
                }
            };
            match piece.value {
                InitValue::Bits(value) => bits(value),
                InitValue::Function { function, shift } => {
                    bits(function.address().checked_shr(shift.into()).unwrap_or(0));
                }
                InitValue::Address { variable, offset: addend, shift } => {
                    // Addresses of shared or external variables can't be initial values; uses of them are refused.
                    let Some(target) = places.variables.get(&variable) else { continue };
                    let target = target.wrapping_add_signed(addend);
                    variables.relocations.push(ptx2spv_interface::Relocation {
                        offset,
                        size: piece.size,
                        target,
                        shift,
                    });
                }
            }
        }
    }
    // Every field is named, so that a new effect isn't forgotten. Those of the stack are those of a kernel's own functions, and the others
    // concern the regions that the host provides.
    let Effects {
        may_report: _,
        waits: _,
        uses_stack: _,
        counts_events: _,
        atomic: _,
        atomic_of_any_type: _,
        ordered: _,
        sequential,
        reads_texels,
        samples,
    } = program.effects();
    if sequential && program.functions.iter().any(fences_beyond_block) {
        places.fence_word = Some(reserve(&mut variables, 4, 4));
    }
    if near {
        // Addresses are found from the variables', so there must be some.
        variables.size = variables.size.max(16);
    }
    let mut table = |bytes: Vec<u8>| {
        let offset = reserve(&mut variables, bytes.len() as u64, 4);
        variables.image.push(ptx2spv_interface::ImageRun { offset, bytes });
        offset
    };
    if reads_texels {
        places.srgb_table = Some(table(srgb::table()));
    }
    if samples && program.functions.iter().any(uses_gradients) {
        places.logarithm_table = Some(table(logarithms::table()));
    }
    (variables, Arc::new(places))
}

/// Whether a function has texture fetches with gradients.
fn uses_gradients(function: &Function) -> bool {
    let is_one = |i: &Instruction| i.form.row.action.effects().samples && i.modifiers.level() == Some(Level::Grad);
    function.instructions().any(is_one)
}

/// Whether a function has sequentially consistent fences with a scope beyond the block.
fn fences_beyond_block(function: &Function) -> bool {
    let is_one = |i: &Instruction| i.form.row.action.effects().sequential && i.modifiers.scope() != Some(Scope::Cta);
    function.instructions().any(is_one)
}

/// The unit of `%total_smem_size` (PTX chapter 10).
fn shared_unit(kernel: &Function) -> u32 {
    match kernel.architecture {
        Some(30..80) => 256,
        _ => 128,
    }
}

/// The launches that a kernel is translated for.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchKind {
    /// Blocks of a cluster in x, y and z, if launches say that.
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
    /// Whether threads are to be suspended in long loops.
    pub suspends_in_loops: bool,
}

/// Lays out a kernel for its launches. Refuses kernels beyond the limits of CUDA or the
/// target.
pub fn lay_out(
    program: &Program,
    kernel: FuncId,
    module: &Arc<Places>,
    services: Services,
    policy: &Policy,
    LaunchKind { cluster, cooperative, suspends_in_loops }: LaunchKind,
) -> Result<Layout> {
    let Some(function) = program.functions.at(kernel) else {
        return Err(Diagnostic::internal("a kernel that isn't there", None));
    };
    let functions = reachable(program, kernel);
    let constants =
        (0..).map(VarId).zip(&program.variables).filter(|(_, variable)| variable.space == StateSpace::Const);
    let ends = constants.filter_map(|(id, variable)| Some(module.variables.get(&id)?.saturating_add(variable.size)));
    let mut layout = Layout {
        params_location: ParamLocation::PushConstant,
        params: Vec::new(),
        params_size: 0,
        shared_bytes: 0,
        reserved_shared: 0,
        shared_start: 0,
        dynamic_shared: false,
        maps_shared: false,
        copies: false,
        shared_unit: shared_unit(function),
        explicit_cluster: function.explicit_cluster || cluster.is_some(),
        cluster: cluster_size(function, cluster)?,
        cooperative,
        suspends_in_loops,
        waits_for_launches: any_waits(&functions),
        shared_align: 16,
        local_bytes: 0,
        last_error: None,
        short_addresses: false,
        services,
        stack: None,
        samplers: policy.samplers,
        generation: policy.generation,
        const_bytes: ends.max().unwrap_or(0),
        module: Arc::clone(module),
        places: Places::default(),
    };
    let mut end = 0u32;
    for param in function.params.iter().take(function.formals) {
        let offset = end.next_multiple_of(param.align.max(1));
        layout.params.push(offset);
        // Neither overflows: parameters and alignments are at most 1 MiB.
        end = offset + param.size;
        layout.params_size = layout.params_size.max(offset + param.room());
        if end > MAX_PARAMS {
            let what = "bytes of kernel parameters".to_owned();
            let (needed, available) = (end.into(), MAX_PARAMS.into());
            return Err(Diagnostic::new(ErrorKind::Limit { what, needed, available }, function.span));
        }
    }
    let room = policy.push_constants.saturating_sub(push_constant::PARAMS);
    // The address of a workspace comes after that of the parameters.
    // That of the table of allocations too, if there is one.
    let inline = if services.allocations { layout.params_size.next_multiple_of(8) + 8 } else { layout.params_size };
    if inline > room || takes_param_address(function) || layout.has_workspace() {
        layout.params_location = ParamLocation::Buffer;
    }
    let mut used = FxHashSet::default();
    for function in &functions {
        collect_variables(function, &mut used);
        layout.short_addresses |= takes_short_address(program, function);
        layout.maps_shared |= computes(function, Operation::MapAddress);
        layout.copies |= computes(function, Operation::CopyAsync);
        if SWIZZLING.iter().any(|operation| computes(function, *operation)) {
            layout.shared_align = layout.shared_align.max(SWIZZLED);
        }
        if reads_reserved_shared(function) {
            layout.reserved_shared = RESERVED_SHARED;
        }
    }
    layout.shared_bytes = layout.reserved_shared;
    let mut used: Vec<VarId> = used.into_iter().collect();
    used.sort_unstable();
    let mut dynamic_align = 1;
    for id in &used {
        let Some(variable) = program.variables.at(*id) else { continue };
        if variable.space == StateSpace::Shared {
            layout.shared_align = layout.shared_align.max(variable.align);
        }
        let (total, space, available) = match variable.space {
            StateSpace::Shared if variable.unsized_array => {
                layout.dynamic_shared = true;
                dynamic_align = dynamic_align.max(variable.align);
                continue;
            }
            StateSpace::Shared => (&mut layout.shared_bytes, "shared", MAX_SHARED),
            StateSpace::Local => {
                // No variable lies at null: compilers compare addresses of local variables with it.
                let null = LOCAL_START.next_multiple_of(variable.align);
                layout.local_bytes = layout.local_bytes.max(LOCAL_START);
                (&mut layout.local_bytes, "local", MAX_LOCAL.saturating_add(null))
            }
            _ => continue,
        };
        let offset = u64::from(*total).next_multiple_of(variable.align.into());
        layout.places.variables.insert(*id, offset);
        let needed = offset.saturating_add(variable.size);
        *total = u32::try_from(needed).ok().filter(|needed| *needed <= available).ok_or_else(|| {
            let what = format!("bytes of {space} memory with `{}`", variable.name);
            Diagnostic::new(ErrorKind::Limit { what, needed, available: available.into() }, variable.span)
        })?;
    }
    if has_any(&functions) {
        let place = layout.local_bytes.next_multiple_of(4);
        layout.last_error = Some(place);
        layout.local_bytes = place + 4;
    }
    lay_out_stack(&functions, &mut layout);
    // Dynamic memory begins at a multiple of 16, or of its alignment if that is greater.
    if dynamic_align > 16 {
        // Both are far below 2^31.
        layout.shared_bytes = layout.shared_bytes.next_multiple_of(dynamic_align);
    }
    if layout.reserved_shared == 0 && shared_start::can_tell(program, &functions) {
        // No variable lies at null. On hardware the reserved bytes lie before all variables.
        layout.shared_start = RESERVED_SHARED.next_multiple_of(layout.shared_align);
    }
    let dynamic = u64::from(layout.dynamic_shared_offset());
    for id in used {
        let variable = program.variables.at(id);
        if variable.is_some_and(|variable| variable.space == StateSpace::Shared && variable.unsized_array) {
            layout.places.variables.insert(id, dynamic);
        }
    }
    Ok(layout)
}

/// The size of a kernel's clusters, with the size that its launch asks for, if any.
fn cluster_size(function: &Function, launched: Option<[u32; 3]>) -> Result<[u32; 3]> {
    let size = match (function.required_cluster, launched) {
        (Some(required), Some(launched)) if required != launched => {
            let words = |size: [u32; 3]| size.map(|n| n.to_string()).join(" x ");
            let message =
                format!("a launch in clusters of {}: the kernel demands {}", words(launched), words(required));
            return Err(Diagnostic::invalid(message, function.span));
        }
        (required, launched) => required.or(launched).unwrap_or([1; 3]),
    };
    let blocks = size.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    if blocks == 0 {
        return Err(Diagnostic::invalid("a launch in clusters of no blocks", function.span));
    }
    let available = function.max_cluster.unwrap_or(MAX_CLUSTER).into();
    if blocks > available {
        let what = "blocks of a cluster".to_owned();
        return Err(Diagnostic::new(ErrorKind::Limit { what, needed: blocks, available }, function.span));
    }
    Ok(size)
}

/// Whether a function has instructions of an operation.
fn computes(function: &Function, operation: Operation) -> bool {
    function.instructions().any(|i| i.form.row.action == Action::Compute(operation))
}

/// The operations that swizzle shared memory, or may, by bits of its addresses.
const SWIZZLING: [Operation; 4] =
    [Operation::WarpgroupMultiply, Operation::TensorLoad, Operation::TensorStore, Operation::TensorReduce];

/// The patterns of swizzling repeat after so many bytes. Where each block's shared memory begins at a multiple of them, they are the same by an
/// address and by its offset in a block, as on hardware.
const SWIZZLED: u32 = 1 << 10;

/// Whether a function reads the address of reserved shared memory.
fn reads_reserved_shared(function: &Function) -> bool {
    function.operands().any(|operand| matches!(operand, Operand::Special(Special::ReservedShared(_))))
}

/// Puts the stack after the other local memory, if the kernel or a function that it calls needs one.
fn lay_out_stack(functions: &[&Function], layout: &mut Layout) {
    if functions.iter().copied().any(uses_stack) {
        // Neither overflows: local memory is at most half a mebibyte.
        let start = layout.local_bytes.max(LOCAL_START).next_multiple_of(16);
        layout.stack = Some(start);
        layout.local_bytes = start + STACK_BYTES;
    }
}

/// Whether a function's own instructions need a stack.
pub fn uses_stack(function: &Function) -> bool {
    function.effects().uses_stack
}

pub(crate) fn collect_variables(function: &Function, used: &mut FxHashSet<VarId>) {
    used.extend(function.params.iter().filter_map(|param| param.memory));
    let mut collect = |operand: &Operand| {
        if let Operand::Address(base, _) | Operand::AddressOf(base, _) = operand {
            used.extend(base.variable());
        }
    };
    for operand in function.operands() {
        match operand {
            Operand::Vector(parts) | Operand::List(parts) => parts.iter().for_each(&mut collect),
            single => collect(single),
        }
    }
}

/// Whether a kernel uses variables that are defined in another module.
pub fn uses_external(program: &Program, kernel: FuncId) -> bool {
    let mut used = FxHashSet::default();
    reachable(program, kernel).into_iter().for_each(|function| collect_variables(function, &mut used));
    used.into_iter().any(|id| program.variables.at(id).is_some_and(|variable| variable.external))
}

fn takes_param_address(function: &Function) -> bool {
    function.operands().any(|operand| matches!(operand, Operand::AddressOf(Base::Param(_), _)))
}

/// Whether a function takes a 32-bit address of a constant or a parameter: see [`crate::lower::memory::addresses32`].
fn takes_short_address(program: &Program, function: &Function) -> bool {
    function.instructions().any(|i| {
        i.operands.iter().any(|operand| match operand {
            Operand::AddressOf(base, _) if i.modifiers.ty(0).is_some_and(|ty| ty.bits() == 32) => match base {
                Base::Variable(id) | Base::Element { variable: id, .. } => {
                    let variable = program.variables.at(*id);
                    variable.is_some_and(|variable| variable.space == StateSpace::Const)
                }
                Base::Reg(_) | Base::Absolute | Base::Param(_) => true,
            },
            _ => false,
        })
    })
}
