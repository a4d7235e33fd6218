//! Executable graphs: commands in topological order.

use std::ffi::{c_char, c_uint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::abi::{GRAPH_EXEC_UPDATE_FAILURE, Handle, INVALID_VALUE, NOT_SUPPORTED, Out, Result, layouts, lock};
use crate::context;
use crate::context::state;
use crate::graph::command;
use crate::graph::launch_order::{ExecHandle, LaunchOrder, Step};
use crate::graph::{GraphHandle, NodeHandle};
use crate::memory::graph_memory::Allocate;
use crate::stream::{self, StreamHandle};

/// Flags of executable graphs: memory that is still allocated is freed by the next launch; launches from the device. The
/// others, uploads and the nodes' priorities, have no effect here.
const FREE_ON_LAUNCH: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 15;

pub(crate) fn instantiate_with_flags(graph: GraphHandle, flags: u64) -> Result<ExecHandle> {
    context::current()?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        return Err(NOT_SUPPORTED.because("graphs that kernels launch"));
    }
    Handle::new(Arc::new(LaunchOrder::new(&*graph.get()?, flags)?))
}

pub(crate) fn instantiate(
    graph: GraphHandle,
    error_node: Out<NodeHandle>,
    log: Out<c_char>,
    log_size: usize,
) -> Result<ExecHandle> {
    error_node.set_if_any(Handle::NULL);
    if log_size > 0 {
        log.set_if_any(0);
    }
    instantiate_with_flags(graph, 0)
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct InstantiateParams {
    flags: u64,
    upload: StreamHandle,
    error_node: NodeHandle,
    result: c_uint,
}

pub(crate) fn instantiate_with_params(graph: GraphHandle, params: Out<InstantiateParams>) -> Result<ExecHandle> {
    let given = params.as_in().get()?;
    let result = instantiate_with_flags(graph, given.flags);
    params.set(InstantiateParams { error_node: Handle::NULL, result: result.is_err().into(), ..given })?;
    result
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UpdateResult {
    pub result: c_uint,
    pub node: NodeHandle,
    pub from: NodeHandle,
}

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const TOPOLOGY_CHANGED: c_uint = 2;

/// Replaces the commands by those of a graph with the same kinds of nodes.
pub(crate) fn update(exec: ExecHandle, graph: GraphHandle, info: Out<UpdateResult>) -> Result {
    let exec = exec.get()?;
    let new = LaunchOrder::new(&*graph.get()?, exec.flags)?;
    let fits = exec.kinds() == new.kinds();
    let result = if fits { 0 } else { TOPOLOGY_CHANGED };
    info.set_if_any(UpdateResult { result, node: Handle::NULL, from: Handle::NULL });
    if !fits {
        return Err(GRAPH_EXEC_UPDATE_FAILURE);
    }
    exec.take_commands(&new);
    Ok(())
}

/// [`update`] as before CUDA 12.
pub(crate) fn update_v1(
    exec: ExecHandle,
    graph: GraphHandle,
    error_node: Out<NodeHandle>,
    result: Out<c_uint>,
) -> Result {
    let result = result.needed()?;
    state::check()?;
    let mut info = UpdateResult { result: 0, node: Handle::NULL, from: Handle::NULL };
    let updated = update(exec, graph, Out::from(&mut info));
    error_node.set_if_any(info.node);
    result.set(info.result)?;
    updated
}

/// A step that can be left out.
fn optional(order: &LaunchOrder, node: NodeHandle) -> Result<&Step> {
    let step = order.step(node)?;
    if lock(&step.command).kind().can_be_disabled() { Ok(step) } else { Err(INVALID_VALUE) }
}

pub(crate) fn set_enabled(exec: ExecHandle, node: NodeHandle, enabled: c_uint) -> Result {
    optional(&*exec.get()?, node)?.enabled.store(enabled != 0, Ordering::SeqCst);
    Ok(())
}

pub(crate) fn enabled(exec: ExecHandle, node: NodeHandle) -> Result<c_uint> {
    Ok(optional(&*exec.get()?, node)?.enabled.load(Ordering::SeqCst).into())
}

pub(crate) fn flags(exec: ExecHandle) -> Result<u64> {
    Ok(exec.get()?.flags)
}

pub(crate) fn id(exec: ExecHandle) -> Result<c_uint> {
    Ok(exec.get()?.id as c_uint)
}

pub(crate) fn upload(exec: ExecHandle, stream: StreamHandle) -> Result {
    stream::used(stream)?;
    exec.get().map(|_| ())
}

pub(crate) fn launch(exec: ExecHandle, stream: StreamHandle) -> Result {
    let used = stream::used(stream)?;
    let order = exec.get()?;
    if used.is_capturing()? {
        return used.submit(Arc::new(order.copy()?));
    }
    if order.flags & FREE_ON_LAUNCH != 0 {
        for step in &order.steps {
            command::of_type::<Allocate>(&lock(&step.command)).into_iter().for_each(Allocate::take_back);
        }
    }
    used.submit(order.clone())?;
    // The launch keeps the graph's objects, even if the executable graph is destroyed.
    if order.objects.is_empty() {
        return Ok(());
    }
    let objects = order.objects.clone();
    Ok(used.stream.call(move || drop(objects))?)
}

pub(crate) fn destroy_exec(exec: ExecHandle) -> Result {
    exec.remove().map(|_| ())
}

layouts! {
    InstantiateParams = 32;
}
