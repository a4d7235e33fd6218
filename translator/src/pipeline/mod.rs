//! The way of a kernel through the stages, in order.

mod driver;
mod limits;
mod passes;
mod unit;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub use driver::translate;
pub use limits::check_limits;
pub use passes::{PASSES, Pass, legalize, optimise};
pub use unit::{Settings, Unit};

use crate::decode::program::{FuncId, Function, Program};
use crate::diagnostic::{Diagnostic, ErrorKind, Source, Span};
use crate::emit::{EmitEntry, Emitted, Emitter};
use crate::ir;
use crate::legalize::{Allocations, Lengths};
use crate::lower::build::{self, Built};
use crate::lower::calls::services::Service;
use crate::lower::layout::call_graph;
use crate::lower::layout::reports;
use crate::lower::layout::services::Services;
use crate::lower::layout::{self, LaunchKind, Layout, Places};
use crate::lower::memory::addresses32;
use crate::options::Options;
use crate::policy::Policy;
use crate::stopwatch::Stopwatch;
use crate::sync::SavedLayout;
pub use crate::warp::Blocks;
use ptx2spv_interface::{
    Assumptions, BlockSize, Cooperative, Declaration, Entry, Interface, LoopSuspension, Param, ParamLocation, Shared,
    SourceLocation, push_constant,
};
use ptx2spv_target::Feature;

/// The step before all [`PASSES`].
pub const LOWER: &str = "lower";

/// Something that looks at kernels on their way.
pub trait Observer {
    /// A pass has run, or a kernel has been lowered.
    fn passed(&mut self, step: &Step<'_>);

    /// The kernels have been emitted.
    fn emitted(&mut self, _time: Duration) {}
}

/// A pass that has run on a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The pass's position, from 1; 0 for [`LOWER`].
    pub number: usize,
    /// The pass's name.
    pub pass: &'static str,
    /// The time that the pass took, and with it the verifier where the verifier runs.
    pub time: Duration,
    /// Statements before.
    pub before: usize,
    /// The kernel now.
    pub unit: &'a Unit,
}

/// A kernel ready for emission.
pub(crate) struct Kernel<'p> {
    ptx: &'p Function,
    layout: Layout,
    function: ir::Legal,
    threads: Option<u32>,
    number: u32,
    reports: Vec<SourceLocation>,
    prints: bool,
    launches: bool,
    waits: bool,
    cooperative: Option<Cooperative>,
    waits_for_launches: Option<Cooperative>,
    suspends_in_loops: Option<LoopSuspension>,
    /// Whether the kernel's loops may take more rounds than the driver allows.
    has_long_loops: bool,
    /// Offsets of the push constants that are pointers.
    pointers: BTreeSet<u32>,
}

/// The program, the layout of its variables and the policy, which all kernels of a module share.
pub(crate) struct Module<'p> {
    pub(crate) program: &'p Program,
    pub(crate) source: &'p Source,
    /// Offsets of the variables in device memory.
    pub(crate) variables: &'p Arc<Places>,
    /// Size of the variables and of the other memory that the host provides with them.
    pub(crate) variables_size: u64,
    /// Offset in these of the memory that the host provides.
    pub(crate) provided: u64,
    /// The host's services for the kernels.
    pub(crate) services: Services,
    /// The decisions about the device.
    pub(crate) policy: &'p Policy,
    /// Lengths of operations after legalization, as far as kernels asked for them.
    pub(crate) lengths: &'p Lengths,
}

/// A kernel that has been lowered, and the settings for its passes.
struct Lowered<'p> {
    unit: Unit,
    layout: Layout,
    prints: bool,
    launches: bool,
    settings: Settings<'p>,
}

/// Names the function in a diagnostic, and the place of the kernel if it has none.
fn locate(ptx: &Function, diagnostic: Diagnostic) -> Vec<Diagnostic> {
    let span = diagnostic.span.or(Some(ptx.span));
    vec![Diagnostic { span, ..diagnostic }.in_function(&ptx.name)]
}

/// Makes the control-flow graph of a kernel: calls inlined, instructions lowered.
fn lower<'p>(
    module: &Module<'p>,
    number: u32,
    id: FuncId,
    ptx: &Function,
    options: &Options<'p>,
    long_loops: LongLoops,
) -> Result<Lowered<'p>, Vec<Diagnostic>> {
    let Module { program, variables, variables_size, provided, services, policy, lengths, .. } = *module;
    addresses32::check_architecture(program).map_err(|diagnostic| locate(ptx, diagnostic))?;
    let suspends_in_loops = long_loops != LongLoops::Left;
    let launches = LaunchKind { cluster: options.cluster, cooperative: options.cooperative, suspends_in_loops };
    let layout = layout::lay_out(program, id, variables, services, policy, launches)
        .map_err(|diagnostic| locate(ptx, diagnostic))?;
    let Built { function, graph, prints, launches } = build::build(program, id, &layout, policy)?;
    let settings = Settings {
        policy,
        architecture: call_graph::oldest_architecture(program, id),
        required_block: ptx.required_block,
        blocks: blocks(ptx, options.block_threads),
        kernel: number,
        sized: options.block_threads.is_some(),
        lengths: Some(lengths),
        status: services.status,
        locks: services.locks,
        scratch: layout.params_location.scratch_address(),
        dynamic_shared_bytes: options.dynamic_shared_bytes,
        checks: options.checks,
        workspace: layout.waits_outside().then_some(push_constant::WORKSPACE_ADDRESS),
        loop_workspace: (long_loops == LongLoops::Suspend).then_some(push_constant::WORKSPACE_ADDRESS),
        pauses: (long_loops == LongLoops::Pause).then_some(push_constant::WORKSPACE_ADDRESS),
        allocations: layout.allocations().map(|table| Allocations {
            table,
            variables: variables_size,
            provided,
            params: (layout.params_location == ParamLocation::Buffer).then_some(layout.params_size),
        }),
    };
    Ok(Lowered { unit: Unit::of_graph(function, graph), layout, prints, launches, settings })
}

/// Takes one kernel from decoded PTX to legal operations. Each stage's contract stands in its module.
pub(crate) fn compile<'p>(
    module: &Module<'p>,
    number: u32,
    id: FuncId,
    ptx: &'p Function,
    options: &Options<'p>,
    observer: &mut Option<&mut dyn Observer>,
) -> Result<Kernel<'p>, Vec<Diagnostic>> {
    let kernel = compile_for(module, number, id, ptx, options, LongLoops::Left, observer)?;
    if !options.suspend_in_loops || !kernel.has_long_loops {
        return Ok(kernel);
    }
    // Only now it is known that loops may be long.
    let ways = [LongLoops::Suspend, LongLoops::Pause];
    for way in ways.into_iter().filter(|way| *way == LongLoops::Pause || !kernel.layout.waits_outside()) {
        // The kernel may not allow it, or may have become too large for the device.
        if let Ok(suspended) = compile_for(module, number, id, ptx, options, way, observer)
            && suspended.suspends_in_loops.is_some()
        {
            return Ok(suspended);
        }
    }
    Ok(kernel)
}

/// The treatment of loops of more rounds than the driver allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongLoops {
    /// Nothing.
    Left,
    /// Threads are suspended there, if the kernel allows that.
    Suspend,
    /// Threads stop there, and their blocks are suspended, if the kernel allows that.
    Pause,
}

/// Like [`compile`], with one way of dealing with long loops. An error without diagnostics says that the kernel doesn't allow that way.
fn compile_for<'p>(
    module: &Module<'p>,
    number: u32,
    id: FuncId,
    ptx: &'p Function,
    options: &Options<'p>,
    long_loops: LongLoops,
    observer: &mut Option<&mut dyn Observer>,
) -> Result<Kernel<'p>, Vec<Diagnostic>> {
    let start = Stopwatch::start();
    let Lowered { mut unit, layout, prints, launches, settings } = lower(module, number, id, ptx, options, long_loops)?;
    let name = ptx.name.as_str();
    if let Some(observer) = observer {
        let time = start.elapsed();
        observer.passed(&Step { kernel: name, number: 0, pass: LOWER, time, before: 0, unit: &unit });
    }
    for (number, pass) in (1..).zip(PASSES) {
        let before = if observer.is_some() { unit.size() } else { 0 };
        let start = Stopwatch::start();
        pass.run(&mut unit, &settings).map_err(|kind| locate(ptx, Diagnostic::new(kind, None)))?;
        if unit.leaves_loops {
            // There is nothing to say about that: another way is taken.
            return Err(Vec::new());
        }
        if let Some(observer) = observer {
            let time = start.elapsed();
            observer.passed(&Step { kernel: name, number, pass: pass.name, time, before, unit: &unit });
        }
    }
    let place = |span: &Option<Span>| reports::place(module.program, ptx, module.source, *span, options.check_accesses);
    let reports = unit.reports.iter().map(place).collect();
    let number = settings.number(&unit.function);
    let workspace = Cooperative { saved_words: unit.resolved.saved.map(SavedLayout::words) };
    let cooperative = options.cooperative.then_some(workspace);
    let waits_for_launches = (layout.waits_for_launches && !options.cooperative).then_some(workspace);
    let Unit { function, resolved, waits, pointers, has_long_loops, suspends_in_loops, .. } = unit;
    check_limits(&function, module.policy).map_err(|diagnostic| locate(ptx, diagnostic))?;
    let function = ir::Legal::new(function)
        .map_err(|error| locate(ptx, Diagnostic::new(ErrorKind::Internal(format!("not legal: {error}")), None)))?;
    Ok(Kernel {
        ptx,
        layout,
        function,
        threads: resolved.threads,
        number,
        reports,
        prints,
        launches,
        waits,
        cooperative,
        waits_for_launches,
        suspends_in_loops,
        has_long_loops,
        pointers,
    })
}

/// The blocks that a kernel must be able to take.
fn blocks(ptx: &Function, threads: Option<u32>) -> Blocks {
    if let Some(size) = ptx.required_block {
        return Blocks::Of(size);
    }
    let declared = ptx.max_block.map(|block| block.into_iter().fold(1, u32::saturating_mul));
    match (threads, declared) {
        (Some(threads), Some(declared)) => Blocks::UpTo(threads.min(declared)),
        (Some(threads), None) | (None, Some(threads)) => Blocks::UpTo(threads),
        (None, None) => Blocks::Fitting,
    }
}

/// Emits a kernel, and describes its entry.
///
/// # Errors
/// One that bears the kernel's name: see [`Emitter::add`].
pub(crate) fn emit(emitter: &mut Emitter<'_>, kernel: &Kernel<'_>) -> Result<Entry, Diagnostic> {
    let Kernel { ptx, function, .. } = kernel;
    let entry = EmitEntry { name: &ptx.name, function, required_block: ptx.required_block };
    match emitter.add(&entry) {
        Ok(facts) => Ok(describe_entry(kernel, &facts.features)),
        Err(diagnostic) => Err(Diagnostic { span: diagnostic.span.or(Some(ptx.span)), ..diagnostic }),
    }
}

/// The errors that keep kernels from being lowered, if some have instructions that are not translated or call functions
/// that are missing. Finding them is much faster than translating the other kernels first.
pub(crate) fn check_supported<'p>(
    module: &Module<'p>,
    kernels: &[(u32, FuncId, &'p Function)],
    options: &Options<'p>,
) -> Vec<Diagnostic> {
    if kernels.iter().all(|(_, id, _)| is_supported(module.program, *id)) {
        return Vec::new();
    }
    let refused =
        kernels.iter().filter_map(|(number, id, ptx)| lower(module, *number, *id, ptx, options, LongLoops::Left).err());
    refused.flatten().collect()
}

/// Whether all instructions of a kernel are translated, and none of the functions that it calls is missing.
fn is_supported(program: &Program, kernel: FuncId) -> bool {
    call_graph::reachable(program, kernel).iter().all(|function| {
        function.unsupported.is_empty() && (function.body.is_some() || Service::find(function).is_some())
    })
}

/// The declaration of a kernel. `None` if its text shows that the kernel can't be translated.
pub(crate) fn declare(program: &Program, id: FuncId, ptx: &Function, policy: &Policy) -> Option<Declaration> {
    let layout =
        layout::lay_out(program, id, &Arc::default(), Services::default(), policy, LaunchKind::default()).ok()?;
    let may_be_translated = is_supported(program, id) && !layout::uses_external(program, id);
    may_be_translated.then(|| Declaration {
        name: ptx.name.clone(),
        params: describe_params(ptx, &layout, |_| false),
        params_size: layout.params_size,
        static_shared_bytes: layout.shared_bytes,
        block: BlockSize { required: ptx.required_block, max: ptx.max_block, threads: None },
        architecture: ptx.architecture,
    })
}

/// Describes parameters. `is_pointer` tells where the kernel is seen to have pointers.
fn describe_params(ptx: &Function, layout: &Layout, is_pointer: impl Fn(u32) -> bool) -> Vec<Param> {
    let formals = ptx.params.iter().take(ptx.formals);
    let params = formals.zip(&layout.params).map(|(param, offset)| Param {
        name: param.name.clone(),
        ty: param.ty.name().to_owned(),
        offset: *offset,
        size: param.size,
        align: param.align,
        array: param.array,
        pointer: param.pointer || (!param.array && is_pointer(*offset)),
    });
    params.collect()
}

/// Describes a module with these entries.
pub(crate) fn describe(
    entries: Vec<Entry>,
    emitted: &Emitted,
    program: &Program,
    variables: ptx2spv_interface::Variables,
    services: Services,
    options: &Options<'_>,
) -> Interface {
    Interface {
        format: Interface::FORMAT,
        target: options.target.name.clone(),
        math: options.math,
        spirv: emitted.version,
        entries,
        variables,
        status: services.status,
        output: services.output,
        heap: services.heap,
        counters: services.counters,
        launches: services.launches.map(|region| region.describe(program)),
        features: emitted.features.clone(),
        relies_on: Some(Assumptions::of(options.target)),
    }
}

fn describe_entry(kernel: &Kernel<'_>, features: &BTreeSet<Feature>) -> Entry {
    let layout = &kernel.layout;
    let inlined = layout.params_location == ParamLocation::PushConstant;
    let is_pointer = |offset: u32| inlined && kernel.pointers.contains(&(push_constant::PARAMS + offset));
    let inline = if inlined { layout.params_size } else { 0 };
    let scratch = kernel.function.scratch;
    let after_scratch = scratch.map_or(0, |scratch| scratch.address + 8);
    let after_workspace = layout.has_workspace().then_some(()).map_or(0, |()| push_constant::WORKSPACE_ADDRESS + 8);
    let after_allocations = layout.allocations().map_or(0, |address| address + 8);
    let push_constants =
        [after_scratch, after_workspace, after_allocations].into_iter().fold(push_constant::PARAMS + inline, u32::max);
    Entry {
        name: kernel.ptx.name.clone(),
        params: describe_params(kernel.ptx, layout, is_pointer),
        params_size: layout.params_size,
        params_location: layout.params_location,
        push_constant_size: push_constants.next_multiple_of(4),
        shared: Shared {
            static_bytes: kernel.function.shared_bytes,
            own_bytes: kernel.function.own_shared_bytes,
            dynamic: layout.dynamic_shared,
        },
        block: BlockSize { required: kernel.ptx.required_block, max: kernel.ptx.max_block, threads: kernel.threads },
        architecture: kernel.ptx.architecture,
        number: kernel.number,
        reports: kernel.reports.clone(),
        prints: kernel.prints,
        launches: kernel.launches,
        waits: kernel.waits,
        cooperative: kernel.cooperative,
        waits_for_launches: kernel.waits_for_launches,
        suspends_in_loops: kernel.suspends_in_loops,
        packing: kernel.function.packing,
        cluster: kernel.function.cluster,
        scratch,
        allocations: layout.allocations(),
        texture_bits: reads_texture_bits(&kernel.function),
        features: features.clone(),
    }
}

/// Whether a kernel reads the properties that all textures have in common.
fn reads_texture_bits(function: &ir::Function) -> bool {
    ir::any_stmt(&function.body, &|stmt| matches!(stmt, ir::Stmt::Let(_, ir::Op::Builtin(ir::Builtin::TextureBits))))
}
