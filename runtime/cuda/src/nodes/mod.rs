//! Functions that make graph nodes, replace their commands and read them.

pub(crate) mod exec;

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use ptx2spv_runtime::SetValue;

use crate::abi::{HostFunction, INVALID_VALUE, In, Memory, NOT_SUPPORTED, Result, layouts, lock};
use crate::context::state;
use crate::graph::command::{self, Command, Description, HostCall, Maker, NodeKind, SharedCommand};
use crate::graph::conditional::{self, Conditional};
use crate::graph::launch_order::{self, Child, ExecHandle, LaunchOrder};
use crate::graph::{GraphHandle, NodeHandle, edge};
use crate::launch::{Launch, NodeParamsV2};
use crate::memory::copy::Copy3D;
use crate::memory::graph_memory::{self, Allocate, AllocateParams, Free};
use crate::memory::memory_operation;
use crate::memory::set::{Rows, Set};
use crate::stream::event::{self, EventHandle, Record, Wait};
use crate::stream::launch_attributes::{Attributes, Value};

pub(crate) fn add(graph: GraphHandle, after: In<NodeHandle>, count: usize, command: impl Maker) -> Result<NodeHandle> {
    add_with_data(graph, after, (Memory::NULL.as_in(), count), command)
}

/// Adds a node after others; each edge may have data.
fn add_with_data(
    graph: GraphHandle,
    after: In<NodeHandle>,
    data_and_count: (In<u64>, usize),
    command: impl Maker,
) -> Result<NodeHandle> {
    let graph = graph.get()?;
    let after = edge::given(after, data_and_count)?;
    graph.add(command.make()?, after)
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
            SetValue::Byte(value) => (value.into(), 1),
            SetValue::Short(value) => (value.into(), 2),
            SetValue::Word(value) => (value, 4),
        };
        Self { address, pitch, value, element, width, height }
    }

    fn command(self) -> Result<SharedCommand> {
        let Self { address, pitch, value, element, width, height } = self;
        let value = match element {
            1 => SetValue::Byte(value.try_into().map_err(|_| INVALID_VALUE)?),
            2 => SetValue::Short(value.try_into().map_err(|_| INVALID_VALUE)?),
            4 => SetValue::Word(value),
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

    fn command(self) -> Result<SharedCommand> {
        Ok(Arc::new(HostCall { function: self.function.ok_or(INVALID_VALUE)?, data: self.data }))
    }
}

/// Replaces a node's command by another one of the same kind.
pub(crate) fn set(node: NodeHandle, command: impl Maker) -> Result {
    let command = command.make()?;
    state::check()?;
    let node = node.get()?;
    command::replace(&mut lock(&node.command), command)
}

/// Replaces a command of an executable graph by another one of the same kind.
pub(crate) fn set_exec(exec: ExecHandle, node: NodeHandle, command: impl Maker) -> Result {
    exec.get()?.set(node, command.make()?)
}

/// Replaces the commands of a child graph by those of a graph with the same kinds of nodes.
pub(crate) fn set_exec_graph(exec: ExecHandle, node: NodeHandle, child: GraphHandle) -> Result {
    let (exec, new) = (exec.get()?, LaunchOrder::new(&*child.get()?, 0)?);
    let place = lock(&exec.step(node)?.command).clone();
    let known: &LaunchOrder = command::of_type(&place).ok_or(INVALID_VALUE)?;
    if known.kinds() != new.kinds() {
        return Err(INVALID_VALUE.because("a child graph of another shape"));
    }
    known.take_commands(&new);
    Ok(())
}

// Functions that read the parameters of graph nodes, and the attributes of kernel nodes.

pub(crate) fn command_of(node: NodeHandle) -> Result<SharedCommand> {
    state::check()?;
    let node = node.get()?;
    let command = lock(&node.command);
    Ok(command.clone())
}

/// Reads a property of a node's command. Fails if the command is of another type.
fn read<T: Command, P>(node: NodeHandle, read: impl FnOnce(&T) -> P) -> Result<P> {
    let command = command_of(node)?;
    Ok(read(command::of_type(&command).ok_or(INVALID_VALUE)?))
}

/// The description of a node's command.
pub(crate) fn params_of<T: Description>(node: NodeHandle) -> Result<T> {
    read(node, T::of)
}

pub(crate) fn child_graph(node: NodeHandle) -> Result<GraphHandle> {
    read(node, |child: &Child| child.handle)
}

pub(crate) fn record(node: NodeHandle) -> Result<EventHandle> {
    read(node, |record: &Record| record.0.handle)
}

pub(crate) fn wait(node: NodeHandle) -> Result<EventHandle> {
    read(node, |wait: &Wait| wait.0.handle)
}

pub(crate) fn allocation(node: NodeHandle) -> Result<AllocateParams> {
    read(node, Allocate::params)
}

pub(crate) fn free(node: NodeHandle) -> Result<u64> {
    read(node, |free: &Free| free.address)
}

pub(crate) fn attribute(node: NodeHandle, number: c_uint) -> Result<Value> {
    let command = command_of(node)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    launch.attributes().of_node(number)
}

pub(crate) fn set_attribute(node: NodeHandle, number: c_uint, value: In<Value>) -> Result {
    let command = command_of(node)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    let mut attributes = launch.attributes().clone();
    attributes.set_of_node(number, value.get()?)?;
    set_attributes(node, launch, attributes)
}

pub(crate) fn copy_attributes(to: NodeHandle, from: NodeHandle) -> Result {
    let (from, command) = (command_of(from)?, command_of(to)?);
    let from: &Launch = command::of_type(&from).ok_or(INVALID_VALUE)?;
    let launch: &Launch = command::of_type(&command).ok_or(INVALID_VALUE)?;
    set_attributes(to, launch, from.attributes().clone())
}

fn set_attributes(node: NodeHandle, launch: &Launch, attributes: Attributes) -> Result {
    *lock(&node.get()?.command) = launch.with_attributes(attributes)?;
    Ok(())
}

// Graph nodes of any kind, with parameters in one structure.

/// `CUgraphNodeParams`: the kind, a gap, and a union of the parameters.
pub(crate) const BODY: u64 = 16;

/// `CUDA_MEMCPY_NODE_PARAMS`: flags and a context, then the copy.
pub(crate) const COPY: u64 = BODY + 16;

pub(crate) const KERNEL: c_int = NodeKind::Kernel as c_int;
pub(crate) const COPY_KIND: c_int = NodeKind::Copy as c_int;
const SET: c_int = NodeKind::Set as c_int;
const CALL: c_int = NodeKind::Call as c_int;
const GRAPH: c_int = NodeKind::Graph as c_int;
const EMPTY: c_int = NodeKind::Empty as c_int;
const WAIT: c_int = NodeKind::Wait as c_int;
const RECORD: c_int = NodeKind::Record as c_int;
const ALLOCATE: c_int = NodeKind::Allocate as c_int;
const FREE: c_int = NodeKind::Free as c_int;
const OPERATIONS: c_int = NodeKind::MemoryOperations as c_int;
const CONDITIONAL: c_int = NodeKind::Conditional as c_int;

/// The command that the parameters describe. Conditional nodes depend on the graph, and are made by [`add_any`].
pub(crate) fn any_command(params: Memory) -> Result<SharedCommand> {
    let kind = params.as_in::<c_int>().get()?;
    let body = params.offset(BODY);
    Ok(match kind {
        KERNEL => body.as_in::<NodeParamsV2>().make()?,
        COPY_KIND => params.offset(COPY).as_in::<Copy3D>().make()?,
        SET => body.as_in::<SetParams>().make()?,
        CALL => body.as_in::<CallParams>().make()?,
        GRAPH => launch_order::child(body.as_in().get()?)?,
        EMPTY => command::empty()?,
        WAIT => event::wait_command(body.as_in().get()?)?,
        RECORD => event::record_command(body.as_in().get()?)?,
        ALLOCATE => graph_memory::allocate_command(body.as_out())?,
        FREE => graph_memory::free_command(body.as_in().get()?)?,
        OPERATIONS => body.as_in::<memory_operation::NodeParams>().make()?,
        8 | 9 => return Err(NOT_SUPPORTED.because("external semaphores")),
        _ => return Err(INVALID_VALUE),
    })
}

/// Makes a command of a node's parameters: the driver's, or the runtime API's.
type Make = fn(Memory) -> Result<SharedCommand>;

pub(crate) fn add_any(
    graph: GraphHandle,
    after: In<NodeHandle>,
    data_and_count: (In<u64>, usize),
    params: Memory,
    make: Make,
) -> Result<NodeHandle> {
    // Before the parameters are read: the runtime API's functions of two versions take these from different places.
    let found = graph.get()?;
    if params.as_in::<c_int>().get()? == CONDITIONAL {
        return conditional::add(&found, edge::given(after, data_and_count)?, params.offset(BODY).as_out());
    }
    add_with_data(graph, after, data_and_count, || make(params))
}

/// Fails if the parameters of a node of this kind can't be replaced.
fn check_replaceable(params: Memory) -> Result {
    match params.as_in::<c_int>().get()? {
        GRAPH | ALLOCATE | FREE | EMPTY | CONDITIONAL => Err(NOT_SUPPORTED.because("nodes whose parameters are fixed")),
        _ => Ok(()),
    }
}

pub(crate) fn set_any(node: NodeHandle, params: Memory, make: Make) -> Result {
    check_replaceable(params)?;
    set(node, || make(params))
}

pub(crate) fn set_exec_any(exec: ExecHandle, node: NodeHandle, params: Memory, make: Make) -> Result {
    if params.as_in::<c_int>().get()? == GRAPH {
        return set_exec_graph(exec, node, params.offset(BODY).as_in().get()?);
    }
    check_replaceable(params)?;
    exec.get()?.set(node, make(params)?)
}

/// Writes the kind and the parameters of a node.
pub(crate) fn get_any(node: NodeHandle, params: Memory) -> Result {
    /// The structure as zeros.
    const ZEROS: [u64; 32] = [0; 32];
    let place = params.as_out::<[u64; 32]>().needed()?;
    let kind = command_of(node)?.kind();
    place.set(ZEROS)?;
    params.as_out().set(kind as c_uint)?;
    let body = params.offset(BODY);
    match kind {
        NodeKind::Kernel => body.as_out::<NodeParamsV2>().answer(|| params_of(node)),
        NodeKind::Copy => params.offset(COPY).as_out::<Copy3D>().answer(|| params_of(node)),
        NodeKind::Set => body.as_out::<SetParams>().answer(|| params_of(node)),
        NodeKind::Call => body.as_out::<CallParams>().answer(|| params_of(node)),
        NodeKind::Graph => body.as_out().answer(|| child_graph(node)),
        NodeKind::Empty => Ok(()),
        NodeKind::Wait => body.as_out().answer(|| wait(node)),
        NodeKind::Record => body.as_out().answer(|| record(node)),
        NodeKind::Allocate => body.as_out().answer(|| allocation(node)),
        NodeKind::Free => body.as_out().answer(|| free(node)),
        NodeKind::MemoryOperations => body.as_out::<memory_operation::NodeParams>().answer(|| params_of(node)),
        NodeKind::Conditional => body.as_out().answer(|| read(node, Conditional::params)),
    }
}

layouts! {
    SetParams = 40;
    CallParams = 16;
}
