//! Executable graphs: commands in topological order.

use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use crate::code::{Code, GRAPH_EXEC_UPDATE_FAILURE};
use crate::context;
use crate::graph::{ExecHandle, GraphHandle, LaunchOrder, NodeHandle};
use crate::handle::Handle;
use crate::raw::Out;
use crate::state;
use crate::stream::{self, StreamHandle};
use crate::sync::lock;

pub(crate) fn instantiate_with_flags(exec: Out<ExecHandle>, graph: GraphHandle, _flags: u64) -> Result<(), Code> {
    let exec = exec.needed()?;
    context::current()?;
    // The flags concern memory nodes, uploads and launches from the device.
    exec.set(Handle::new(Arc::new(graph.get()?.order()?))?)
}

pub(crate) fn instantiate(
    exec: Out<ExecHandle>,
    graph: GraphHandle,
    error_node: Out<NodeHandle>,
    log: Out<c_char>,
    log_size: usize,
) -> Result<(), Code> {
    error_node.set_if_any(Handle::NULL);
    if log_size > 0 {
        log.set_if_any(0);
    }
    instantiate_with_flags(exec, graph, 0)
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

pub(crate) fn instantiate_with_params(
    exec: Out<ExecHandle>,
    graph: GraphHandle,
    params: Out<InstantiateParams>,
) -> Result<(), Code> {
    let given = params.as_in().get()?;
    let result = instantiate_with_flags(exec, graph, given.flags);
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
pub(crate) fn update(exec: ExecHandle, graph: GraphHandle, info: Out<UpdateResult>) -> Result<(), Code> {
    state::device()?;
    let (exec, new) = (exec.get()?, graph.get()?.order()?);
    let kinds = |order: &LaunchOrder| order.list.iter().map(|(_, command)| lock(command).kind()).collect::<Vec<_>>();
    let fits = kinds(&exec) == kinds(&new);
    let result = if fits { 0 } else { TOPOLOGY_CHANGED };
    info.set_if_any(UpdateResult { result, node: Handle::NULL, from: Handle::NULL });
    if !fits {
        return Err(GRAPH_EXEC_UPDATE_FAILURE);
    }
    for ((_, place), (_, command)) in exec.list.iter().zip(&new.list) {
        *lock(place) = lock(command).clone();
    }
    Ok(())
}

pub(crate) fn upload(exec: ExecHandle, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?;
    exec.get().map(|_| ())
}

pub(crate) fn launch(exec: ExecHandle, stream: StreamHandle) -> Result<(), Code> {
    let used = stream::used(stream)?;
    let order = exec.get()?;
    used.submit(order)
}

pub(crate) fn destroy_exec(exec: ExecHandle) -> Result<(), Code> {
    state::device()?;
    exec.remove().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!(size_of::<InstantiateParams>(), 32);
    }
}
