//! Functions that make graph nodes, one for each kind of command, and that replace their commands. `graph_params` has
//! those that read them.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{HostFunction, In, Memory, Out};
use crate::abi::sync::lock;
use crate::context::ContextHandle;
use crate::context::state;
use crate::graph::graph_memory::{Allocate, AllocateParams, Free};
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch;
use crate::memory::copy::Copy3D;
use crate::memory::memory_operation;
use crate::memory::set::{Number, Rows, Set};
use crate::stream::command::{self, Empty, HostCall, SharedCommand};
use crate::stream::event::{EventHandle, Known, Record, Wait};
use crate::stream::launch_order::{Child, ExecHandle, LaunchOrder};

/// Adds a node to a graph.
pub(crate) fn add(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    command: impl FnOnce() -> Result<SharedCommand, Code>,
) -> Result<(), Code> {
    let node = node.needed()?;
    state::device()?;
    let graph = graph.get()?;
    let after = after.handles(count)?;
    node.set(graph.add(command()?, after)?)
}

pub(crate) fn add_kernel(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<launch::NodeParamsV2>,
) -> Result<(), Code> {
    add(node, graph, after, count, || params.get()?.command())
}

pub(crate) fn add_kernel_v1(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<launch::NodeParams>,
) -> Result<(), Code> {
    add(node, graph, after, count, || params.get()?.command())
}

pub(crate) fn add_copy(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    copy: In<Copy3D>,
    _context: ContextHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(copy.get()?)))
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SetParams {
    address: u64,
    pitch: usize,
    value: c_uint,
    element: c_uint,
    width: usize,
    height: usize,
}

impl SetParams {
    /// The parameters of a fill.
    pub fn of(set: &Set) -> Self {
        let Rows { address, pitch, width, height } = set.rows;
        let (value, element) = match set.value {
            Number::Byte(value) => (value.into(), 1),
            Number::Short(value) => (value.into(), 2),
            Number::Word(value) => (value, 4),
        };
        Self { address, pitch, value, element, width, height }
    }

    pub fn command(self) -> Result<SharedCommand, Code> {
        let Self { address, pitch, value, element, width, height } = self;
        let value = match element {
            1 => Number::Byte(value.try_into().map_err(|_| INVALID_VALUE)?),
            2 => Number::Short(value.try_into().map_err(|_| INVALID_VALUE)?),
            4 => Number::Word(value),
            _ => return Err(INVALID_VALUE),
        };
        Ok(Arc::new(Set { rows: Rows { address, pitch, width, height }, value }))
    }
}

pub(crate) fn add_set(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<SetParams>,
    _context: ContextHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || params.get()?.command())
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallParams {
    function: HostFunction,
    data: Memory,
}

impl CallParams {
    /// The parameters of a call.
    pub fn of(call: &HostCall) -> Self {
        Self { function: Some(call.function), data: call.data }
    }

    pub fn command(self) -> Result<SharedCommand, Code> {
        Ok(Arc::new(HostCall { function: self.function.ok_or(INVALID_VALUE)?, data: self.data }))
    }
}

pub(crate) fn add_call(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<CallParams>,
) -> Result<(), Code> {
    add(node, graph, after, count, || params.get()?.command())
}

pub(crate) fn add_empty(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Empty)))
}

pub(crate) fn add_graph(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    child: GraphHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Child::of(&*child.get()?)?)))
}

pub(crate) fn add_record(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    event: EventHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Record(Known::new(event)?))))
}

pub(crate) fn add_wait(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    event: EventHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Wait(Known::new(event)?))))
}

pub(crate) fn add_allocation(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: Out<AllocateParams>,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Allocate::of_params(params)?)))
}

pub(crate) fn add_free(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    address: u64,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Arc::new(Free { address })))
}

pub(crate) fn add_memory_operations(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<memory_operation::NodeParams>,
) -> Result<(), Code> {
    add(node, graph, after, count, || params.get()?.command())
}

/// Replaces a node's command by another one of the same kind.
pub(crate) fn set_node(node: NodeHandle, command: SharedCommand) -> Result<(), Code> {
    state::device()?;
    let node = node.get()?;
    command::replace(&mut lock(&node.command), command)
}

pub(crate) fn set_kernel(node: NodeHandle, params: In<launch::NodeParamsV2>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_kernel_v1(node: NodeHandle, params: In<launch::NodeParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_copy(node: NodeHandle, copy: In<Copy3D>) -> Result<(), Code> {
    set_node(node, Arc::new(copy.get()?))
}

pub(crate) fn set_set(node: NodeHandle, params: In<SetParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_call(node: NodeHandle, params: In<CallParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_exec_kernel(
    exec: ExecHandle,
    node: NodeHandle,
    params: In<launch::NodeParamsV2>,
) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, params.get()?.command()?)
}

pub(crate) fn set_exec_kernel_v1(
    exec: ExecHandle,
    node: NodeHandle,
    params: In<launch::NodeParams>,
) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, params.get()?.command()?)
}

pub(crate) fn set_exec_copy(
    exec: ExecHandle,
    node: NodeHandle,
    copy: In<Copy3D>,
    _context: ContextHandle,
) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, Arc::new(copy.get()?))
}

pub(crate) fn set_exec_set(
    exec: ExecHandle,
    node: NodeHandle,
    params: In<SetParams>,
    _context: ContextHandle,
) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, params.get()?.command()?)
}

pub(crate) fn set_exec_call(exec: ExecHandle, node: NodeHandle, params: In<CallParams>) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, params.get()?.command()?)
}

pub(crate) fn set_record(node: NodeHandle, event: EventHandle) -> Result<(), Code> {
    set_node(node, Arc::new(Record(Known::new(event)?)))
}

pub(crate) fn set_wait(node: NodeHandle, event: EventHandle) -> Result<(), Code> {
    set_node(node, Arc::new(Wait(Known::new(event)?)))
}

pub(crate) fn set_exec_record(exec: ExecHandle, node: NodeHandle, event: EventHandle) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, Arc::new(Record(Known::new(event)?)))
}

pub(crate) fn set_exec_wait(exec: ExecHandle, node: NodeHandle, event: EventHandle) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, Arc::new(Wait(Known::new(event)?)))
}

pub(crate) fn set_memory_operations(node: NodeHandle, params: In<memory_operation::NodeParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_exec_memory_operations(
    exec: ExecHandle,
    node: NodeHandle,
    params: In<memory_operation::NodeParams>,
) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, params.get()?.command()?)
}

/// Replaces the commands of a child graph by those of a graph with the same kinds of nodes.
pub(crate) fn set_exec_graph(exec: ExecHandle, node: NodeHandle, child: GraphHandle) -> Result<(), Code> {
    state::device()?;
    let (exec, new) = (exec.get()?, LaunchOrder::new(&*child.get()?, 0)?);
    let place = lock(&exec.step(node)?.command).clone();
    let known: &LaunchOrder = command::of_type(&place).ok_or(INVALID_VALUE)?;
    if known.kinds() != new.kinds() {
        return Err(INVALID_VALUE.because("a child graph of another shape"));
    }
    known.take_commands(&new);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!((size_of::<SetParams>(), size_of::<CallParams>()), (40, 16));
    }
}
