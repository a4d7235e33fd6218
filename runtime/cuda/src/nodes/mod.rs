//! Functions that make graph nodes and that replace their commands. `graph_params` has those that read them.

pub(crate) mod any_node;
pub(crate) mod exec;
pub(crate) mod params;

use std::ffi::c_uint;
use std::sync::Arc;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{HostFunction, In, Memory, Out};
use crate::abi::sync::lock;
use crate::context::state;
use crate::graph::command::{self, Description, HostCall, Maker, SharedCommand};
use crate::graph::launch_order::{ExecHandle, LaunchOrder};
use crate::graph::{GraphHandle, NodeHandle};
use crate::memory::set::{Number, Rows, Set};

/// Adds a node to a graph.
pub(crate) fn add(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    command: impl Maker,
) -> Result<(), Code> {
    let node = node.needed()?;
    state::device()?;
    let graph = graph.get()?;
    let after = after.handles(count)?;
    node.set(graph.add(command.make()?, after)?)
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

impl Description for SetParams {
    type Command = Set;

    fn of(set: &Set) -> Self {
        let Rows { address, pitch, width, height } = set.rows;
        let (value, element) = match set.value {
            Number::Byte(value) => (value.into(), 1),
            Number::Short(value) => (value.into(), 2),
            Number::Word(value) => (value, 4),
        };
        Self { address, pitch, value, element, width, height }
    }

    fn command(self) -> Result<SharedCommand, Code> {
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

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CallParams {
    function: HostFunction,
    data: Memory,
}

impl Description for CallParams {
    type Command = HostCall;

    fn of(call: &HostCall) -> Self {
        Self { function: Some(call.function), data: call.data }
    }

    fn command(self) -> Result<SharedCommand, Code> {
        Ok(Arc::new(HostCall { function: self.function.ok_or(INVALID_VALUE)?, data: self.data }))
    }
}

/// Replaces a node's command by another one of the same kind.
pub(crate) fn set(node: NodeHandle, command: impl Maker) -> Result<(), Code> {
    let command = command.make()?;
    state::device()?;
    let node = node.get()?;
    command::replace(&mut lock(&node.command), command)
}

/// Replaces a command of an executable graph by another one of the same kind.
pub(crate) fn set_exec(exec: ExecHandle, node: NodeHandle, command: impl Maker) -> Result<(), Code> {
    state::device()?;
    exec.get()?.set(node, command.make()?)
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
