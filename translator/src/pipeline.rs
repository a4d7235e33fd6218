//! The way of a kernel through the stages, in order.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cfg;
use crate::decode::program::{FuncId, Function, Program};
use crate::diagnostic::{Diagnostic, ErrorKind, Source, Span};
use crate::emit::{self, EmitEntry, Emitted};
use crate::interface::{
    BlockSize, Entry, Interface, Param, ParamLocation, Place, Scratch, Shared, push_constant, workgroup,
};
use crate::ir;
use crate::legalise;
use crate::lower::build::{self, Built};
use crate::lower::layout::{self, Layout, Places};
use crate::lower::reports;
use crate::lower::resources::Services;
use crate::passes;
use crate::target::Target;
use crate::warp::{self, Blocks};
use crate::{Options, Reliance};

/// Where a kernel's number ends and that of its version for large blocks begins. No text has so many kernels.
const LANES_SHIFT: u32 = 24;

/// A kernel ready for emission.
pub(crate) struct Kernel<'p> {
    ptx: &'p Function,
    layout: Layout,
    function: ir::Function,
    threads: Option<u32>,
    number: u32,
    reports: Vec<Place>,
    prints: bool,
    /// Offsets of the push constants that are pointers.
    pointers: BTreeSet<u32>,
}

/// What all kernels of a module share.
pub(crate) struct Module<'p> {
    pub(crate) program: &'p Program,
    pub(crate) source: &'p Source,
    /// Offsets of the variables in device memory.
    pub(crate) variables: &'p Arc<Places>,
    /// What the host has ready for the kernels.
    pub(crate) services: Services,
}

impl Kernel<'_> {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.ptx.name
    }
}

/// Takes one kernel from decoded PTX to legal operations. Each stage's contract stands in its module.
pub(crate) fn compile<'p>(
    module: &Module<'p>,
    number: u32,
    id: FuncId,
    ptx: &'p Function,
    options: &Options<'_>,
) -> Result<Kernel<'p>, Vec<Diagnostic>> {
    let fail = |diagnostic: Diagnostic| {
        let place = if diagnostic.span == Span::default() { ptx.span } else { diagnostic.span };
        vec![Diagnostic { span: place, ..diagnostic }.in_function(&ptx.name)]
    };
    let Module { program, source, variables, services } = *module;
    if program.address_bits == 32 {
        let message = "32-bit addresses: device addresses have 64 bits, for which a module says `.address_size 64`";
        return Err(fail(Diagnostic::unsupported(message, program.address_bits_span)));
    }
    let layout = layout::lay_out(program, id, variables, services, options.target, options.cluster).map_err(fail)?;
    // Basic blocks, calls inlined, instructions lowered.
    let Built { mut function, mut graph, prints } = build::build(program, id, &layout)?;
    // Before the graph becomes a tree: stops and merging barriers add edges.
    cfg::yield_in_loops(&function, &mut graph);
    cfg::keep_in_step(&function, &mut graph, program.architecture());
    cfg::meet_apart(&mut function, &mut graph);
    let required = ptx.required_block.map(|sizes| sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul));
    let cfg::Resolved { threads, merged } = cfg::resolve(&mut function, &mut graph, required);
    cfg::structure(&mut function, graph).map_err(|error| fail(Diagnostic::unsupported(error.to_string(), ptx.span)))?;
    if merged && !cfg::barriers_unconditional(&function.body) {
        return Err(fail(Diagnostic::internal("a merged barrier came out under a condition", ptx.span)));
    }
    check(&function, "restructuring").map_err(fail)?;
    // Variables forwarded, address spaces resolved, dead code removed.
    passes::optimise(&mut function);
    let pointers = passes::pointer_constants(&function);
    // Warps are laid on the target's subgroups, blocks on its workgroups.
    warp::pack(&mut function, options.target, blocks(ptx, options.block_threads))
        .map_err(|kind| fail(Diagnostic::new(kind, Span::default())))?;
    fits_workgroup(&function, options.target, ptx.required_block)
        .map_err(|kind| fail(Diagnostic::new(kind, ptx.span)))?;
    // Versions for blocks of different sizes may report from other places.
    let lanes = function.packing.filter(|_| options.block_threads.is_some()).map_or(1, |packing| packing.lanes);
    let number = number | lanes.trailing_zeros() << LANES_SHIFT;
    // What the target can't do exactly is replaced by what it can.
    legalise::lock_long_accesses(&mut function, options.target, services.locks).map_err(fail)?;
    let scratch = Scratch::address_for(layout.params_location);
    legalise::use_scratch(&mut function, options.target, options.dynamic_shared_bytes, scratch);
    legalise::legalise_for(&mut function, options.target, options.math);
    let mut places = Vec::new();
    if let Some(status) = services.status {
        if options.target.quirks.loop_budget.is_some() {
            legalise::report_cut_loops(&mut function, status);
        }
        places = legalise::expand_reports(&mut function, status, number);
    }
    legalise::split_words(&mut function, options.target);
    // Last, since only now it is known what each condition's arms cost.
    passes::straighten(&mut function, options.target);
    check(&function, "legalisation").map_err(fail)?;
    let reports = places.into_iter().map(|span| reports::place(program, ptx, source, span)).collect();
    Ok(Kernel { ptx, layout, function, threads, number, reports, prints, pointers })
}

/// Refuses clusters that no workgroup of the target has room for, where the size of their blocks is known.
fn fits_workgroup(function: &ir::Function, target: &Target, block: Option<[u32; 3]>) -> Result<(), ErrorKind> {
    let (Some(cluster), Some(block)) = (function.cluster, block) else { return Ok(()) };
    let [needed, ..] = workgroup(block, function.packing, Some(cluster)).map(u64::from);
    let limits = &target.limits;
    let available = limits.max_compute_work_group_invocations.min(limits.max_compute_work_group_size[0]).into();
    if needed > available {
        let what = format!("invocations of a workgroup for a cluster of {} blocks", cluster.blocks());
        return Err(ErrorKind::Limit { what, needed, available });
    }
    Ok(())
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

/// Checks the invariants between stages.
fn check(function: &ir::Function, after: &str) -> Result<(), Diagnostic> {
    ir::verify(function).map_err(|error| Diagnostic::internal(format!("after {after}: {error}"), Span::default()))
}

/// Emits kernels into one module, which names the lines of `source` if that is given.
pub(crate) fn emit(
    kernels: &[Kernel<'_>],
    target: &Target,
    source: Option<&Source>,
) -> Result<Emitted, Vec<Diagnostic>> {
    let entries: Vec<EmitEntry<'_>> = kernels
        .iter()
        .map(|kernel| EmitEntry {
            name: &kernel.ptx.name,
            function: &kernel.function,
            required_block: kernel.ptx.required_block,
        })
        .collect();
    emit::emit(target, &entries, source).map_err(|errors| {
        let place = |mut diagnostic: Diagnostic| {
            let kernel = kernels.iter().find(|kernel| Some(&kernel.ptx.name) == diagnostic.function.as_ref());
            if let (true, Some(kernel)) = (diagnostic.span == Span::default(), kernel) {
                diagnostic.span = kernel.ptx.span;
            }
            diagnostic
        };
        errors.into_iter().map(place).collect()
    })
}

/// Describes emitted kernels.
pub(crate) fn describe(
    kernels: &[Kernel<'_>],
    emitted: &Emitted,
    variables: crate::interface::Variables,
    services: Services,
    options: &Options<'_>,
) -> Interface {
    let entries = kernels.iter().zip(&emitted.entries);
    Interface {
        format: Interface::FORMAT,
        target: options.target.name.clone(),
        math: options.math,
        spirv: emitted.version,
        entries: entries.map(|(kernel, facts)| describe_entry(kernel, &facts.features)).collect(),
        variables,
        status: services.status,
        output: services.output,
        heap: services.heap,
        counters: services.counters,
        features: emitted.features.clone(),
        relies_on: Some(Reliance::of(options.target)),
    }
}

fn describe_entry(kernel: &Kernel<'_>, features: &BTreeSet<crate::Feature>) -> Entry {
    let layout = &kernel.layout;
    let inlined = layout.params_location == ParamLocation::PushConstant;
    let is_pointer = |offset: u32| inlined && kernel.pointers.contains(&(push_constant::PARAMS + offset));
    let formals = kernel.ptx.params.iter().take(kernel.ptx.formals);
    let params = formals.zip(&layout.params).map(|(param, offset)| Param {
        name: param.name.clone(),
        ty: param.ty.name().to_owned(),
        offset: *offset,
        size: param.size,
        align: param.align,
        array: param.array,
        pointer: param.pointer || (!param.array && is_pointer(*offset)),
    });
    let inline = if inlined { layout.params_size } else { 0 };
    let scratch = kernel.function.scratch;
    let behind_scratch = scratch.map_or(0, |scratch| scratch.address + 8);
    let push_constants = (push_constant::PARAMS + inline).max(behind_scratch);
    Entry {
        name: kernel.ptx.name.clone(),
        params: params.collect(),
        params_size: layout.params_size,
        params_location: layout.params_location,
        push_constant_size: push_constants.next_multiple_of(4),
        shared: Shared {
            static_bytes: kernel.function.shared_bytes,
            own_bytes: kernel.function.own_shared_bytes,
            dynamic: layout.dynamic_shared,
        },
        block: BlockSize { required: kernel.ptx.required_block, max: kernel.ptx.max_block, threads: kernel.threads },
        number: kernel.number,
        reports: kernel.reports.clone(),
        prints: kernel.prints,
        packing: kernel.function.packing,
        cluster: kernel.function.cluster,
        scratch,
        features: features.clone(),
    }
}
