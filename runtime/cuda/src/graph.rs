//! Graphs: commands with what each comes after, made by hand or recorded from streams. A launch runs them one after another, in an order
//! that fits.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_uint};
use std::sync::{Arc, Mutex};

use crate::code::{Code, GRAPH_EXEC_UPDATE_FAILURE, INVALID_VALUE};
use crate::command::{Command, HostCall};
use crate::context::{self, ContextHandle};
use crate::copy::Copy3D;
use crate::event::EventHandle;
use crate::handle::{Handle, Object, Table};
use crate::launch;
use crate::raw::{HostFunction, In, Memory, Out};
use crate::set::{Number, Rows};
use crate::state;
use crate::stream::{self, StreamHandle, Used};
use crate::sync::lock;

/// A graph.
pub(crate) struct Graph {
    nodes: Mutex<Vec<NodeHandle>>,
}

/// A command of a graph.
pub(crate) struct Node {
    command: Mutex<Command>,
    /// What the command comes after.
    after: Mutex<Vec<NodeHandle>>,
}

/// A graph's commands in an order that fits, with their nodes: what is launched.
pub(crate) struct Order {
    list: Vec<(NodeHandle, Mutex<Command>)>,
}

pub(crate) type GraphHandle = Handle<Graph>;
pub(crate) type NodeHandle = Handle<Node>;
pub(crate) type ExecHandle = Handle<Order>;

static GRAPHS: Table<Graph> = Table::new();
static NODES: Table<Node> = Table::new();
static EXECS: Table<Order> = Table::new();

impl Object for Graph {
    const TAG: u8 = 9;
    const BAD: Code = INVALID_VALUE;

    fn table() -> &'static Table<Self> {
        &GRAPHS
    }
}

impl Object for Node {
    const TAG: u8 = 10;
    const BAD: Code = INVALID_VALUE;

    fn table() -> &'static Table<Self> {
        &NODES
    }
}

impl Object for Order {
    const TAG: u8 = 11;
    const BAD: Code = INVALID_VALUE;

    fn table() -> &'static Table<Self> {
        &EXECS
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        for node in lock(&self.nodes).drain(..) {
            // A destroyed node is gone already.
            let _ = node.remove();
        }
    }
}

impl Graph {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { nodes: Mutex::default() })
    }

    /// Adds a command that comes after others.
    pub fn add(&self, command: Command, after: Vec<NodeHandle>) -> Result<NodeHandle, Code> {
        let mut nodes = lock(&self.nodes);
        if after.iter().any(|node| !nodes.contains(node)) {
            return Err(INVALID_VALUE);
        }
        let node = Handle::new(Arc::new(Node { command: Mutex::new(command), after: Mutex::new(after) }))?;
        nodes.push(node);
        Ok(node)
    }

    /// The commands as they are now, each behind what it comes after.
    fn order(&self) -> Result<Order, Code> {
        let mut waiting: Vec<_> = lock(&self.nodes).clone();
        let (mut list, mut listed) = (Vec::new(), HashSet::new());
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut rest = Vec::new();
            for handle in waiting {
                let node = handle.get()?;
                let is_ready = lock(&node.after).iter().all(|after| listed.contains(&after.value()));
                if is_ready {
                    listed.insert(handle.value());
                    list.push((handle, Mutex::new(lock(&node.command).clone())));
                } else {
                    rest.push(handle);
                }
            }
            if rest.len() == before {
                return Err(INVALID_VALUE.because("a circle of nodes"));
            }
            waiting = rest;
        }
        Ok(Order { list })
    }

    /// Whether nodes are among others and what these come after.
    pub fn reaches(&self, from: &[NodeHandle], nodes: &[NodeHandle]) -> Result<bool, Code> {
        let (mut reached, mut waiting) = (Vec::new(), from.to_vec());
        while let Some(node) = waiting.pop() {
            if !reached.contains(&node) {
                reached.push(node);
                waiting.extend(lock(&node.get()?.after).iter());
            }
        }
        Ok(nodes.iter().all(|node| reached.contains(node)))
    }

    /// From and to of each edge.
    fn edges(&self) -> Result<Vec<(NodeHandle, NodeHandle)>, Code> {
        let mut edges = Vec::new();
        for &to in lock(&self.nodes).iter() {
            edges.extend(lock(&to.get()?.after).iter().map(|&from| (from, to)));
        }
        Ok(edges)
    }
}

impl Order {
    pub fn run(&self, used: &Used) -> Result<(), Code> {
        self.list.iter().try_for_each(|(_, command)| lock(command).run(used))
    }

    /// Puts another command of the same kind in a node's place.
    fn set(&self, node: NodeHandle, command: Command) -> Result<(), Code> {
        let (_, place) = self.list.iter().find(|(known, _)| *known == node).ok_or(INVALID_VALUE)?;
        lock(place).replace(command)
    }
}

pub(crate) fn create(graph: Out<GraphHandle>, flags: c_uint) -> Result<(), Code> {
    let graph = graph.needed()?;
    state::device()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    graph.set(Handle::new(Graph::new())?)
}

pub(crate) fn destroy(graph: GraphHandle) -> Result<(), Code> {
    state::device()?;
    graph.remove().map(|_| ())
}

pub(crate) fn clone(clone: Out<GraphHandle>, graph: GraphHandle) -> Result<(), Code> {
    let clone = clone.needed()?;
    state::device()?;
    let (copied, mut places) = (Graph::new(), HashMap::new());
    for (node, command) in graph.get()?.order()?.list {
        let after = lock(&node.get()?.after).iter().filter_map(|after| places.get(&after.value()).copied()).collect();
        let command = lock(&command).clone();
        places.insert(node.value(), copied.add(command, after)?);
    }
    clone.set(Handle::new(copied)?)
}

/// Adds a node to a graph.
fn add(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    command: impl FnOnce() -> Result<Command, Code>,
) -> Result<(), Code> {
    let node = node.needed()?;
    state::device()?;
    let graph = graph.get()?;
    let after = after.list(count)?;
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
    add(node, graph, after, count, || Ok(Command::Copy(copy.get()?)))
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
    fn command(self) -> Result<Command, Code> {
        let Self { address, pitch, value, element, width, height } = self;
        let value = match element {
            1 => Number::Byte(value.try_into().map_err(|_| INVALID_VALUE)?),
            2 => Number::Short(value.try_into().map_err(|_| INVALID_VALUE)?),
            4 => Number::Word(value),
            _ => return Err(INVALID_VALUE),
        };
        Ok(Command::Set(Rows { address, pitch, width, height }, value))
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
    fn command(self) -> Result<Command, Code> {
        Ok(Command::Call(HostCall { function: self.function.ok_or(INVALID_VALUE)?, data: self.data }))
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
    add(node, graph, after, count, || Ok(Command::Empty))
}

pub(crate) fn add_graph(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    child: GraphHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Command::Graph(Arc::new(child.get()?.order()?))))
}

pub(crate) fn add_record(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    event: EventHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Command::Record(event.get()?)))
}

pub(crate) fn add_wait(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    event: EventHandle,
) -> Result<(), Code> {
    add(node, graph, after, count, || Ok(Command::Wait(event.get()?)))
}

pub(crate) fn add_dependencies(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    count: usize,
) -> Result<(), Code> {
    state::device()?;
    let graph = graph.get()?;
    let nodes = lock(&graph.nodes);
    for (from, to) in from.list(count)?.into_iter().zip(to.list(count)?) {
        if !nodes.contains(&from) || !nodes.contains(&to) {
            return Err(INVALID_VALUE);
        }
        lock(&to.get()?.after).push(from);
    }
    Ok(())
}

pub(crate) fn destroy_node(node: NodeHandle) -> Result<(), Code> {
    state::device()?;
    let graph = GRAPHS.find(|graph| lock(&graph.nodes).contains(&node)).ok_or(INVALID_VALUE)?.get()?;
    let mut nodes = lock(&graph.nodes);
    nodes.retain(|other| *other != node);
    for other in nodes.iter() {
        lock(&other.get()?.after).retain(|after| *after != node);
    }
    node.remove().map(|_| ())
}

/// Writes as many handles as there is room for, and how many there are; without room only that.
fn write_list<T: Copy>(list: &[T], places: Out<T>, count: Out<usize>) -> Result<(), Code> {
    let count = count.needed()?;
    if !places.is_null() {
        let room = count.as_in().get()?;
        for (index, &item) in list.iter().enumerate().take(room) {
            places.at(index).set(item)?;
        }
    }
    count.set(list.len())
}

pub(crate) fn nodes(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result<(), Code> {
    state::device()?;
    let graph = graph.get()?;
    write_list(&lock(&graph.nodes), nodes, count)
}

pub(crate) fn roots(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result<(), Code> {
    state::device()?;
    let graph = graph.get()?;
    let mut roots = lock(&graph.nodes).clone();
    roots.retain(|node| node.get().is_ok_and(|node| lock(&node.after).is_empty()));
    write_list(&roots, nodes, count)
}

pub(crate) fn edges(
    graph: GraphHandle,
    from: Out<NodeHandle>,
    to: Out<NodeHandle>,
    count: Out<usize>,
) -> Result<(), Code> {
    let count = count.needed()?;
    state::device()?;
    let edges = graph.get()?.edges()?;
    if !from.is_null() && !to.is_null() {
        for (index, &(a, b)) in edges.iter().enumerate().take(count.as_in().get()?) {
            from.at(index).set(a)?;
            to.at(index).set(b)?;
        }
    }
    count.set(edges.len())
}

pub(crate) fn dependencies(node: NodeHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result<(), Code> {
    state::device()?;
    let node = node.get()?;
    write_list(&lock(&node.after), nodes, count)
}

pub(crate) fn kind(node: NodeHandle, kind: Out<c_uint>) -> Result<(), Code> {
    let kind = kind.needed()?;
    state::device()?;
    let node = node.get()?;
    kind.set(lock(&node.command).kind())
}

/// Puts another command of the same kind into a node.
fn set_node(node: NodeHandle, command: Command) -> Result<(), Code> {
    state::device()?;
    let node = node.get()?;
    lock(&node.command).replace(command)
}

pub(crate) fn set_kernel(node: NodeHandle, params: In<launch::NodeParamsV2>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_kernel_v1(node: NodeHandle, params: In<launch::NodeParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_copy(node: NodeHandle, copy: In<Copy3D>) -> Result<(), Code> {
    set_node(node, Command::Copy(copy.get()?))
}

pub(crate) fn set_set(node: NodeHandle, params: In<SetParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn set_call(node: NodeHandle, params: In<CallParams>) -> Result<(), Code> {
    set_node(node, params.get()?.command()?)
}

pub(crate) fn instantiate_with_flags(exec: Out<ExecHandle>, graph: GraphHandle, _flags: u64) -> Result<(), Code> {
    let exec = exec.needed()?;
    context::current()?;
    // Flags are about memory nodes, uploads and launches from the device.
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
    exec.get()?.set(node, Command::Copy(copy.get()?))
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

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UpdateResult {
    result: c_uint,
    node: NodeHandle,
    from: NodeHandle,
}

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const TOPOLOGY_CHANGED: c_uint = 2;

/// Takes over the commands of a graph with nodes of the same kinds.
pub(crate) fn update(exec: ExecHandle, graph: GraphHandle, info: Out<UpdateResult>) -> Result<(), Code> {
    state::device()?;
    let (exec, new) = (exec.get()?, graph.get()?.order()?);
    let kinds = |order: &Order| order.list.iter().map(|(_, command)| lock(command).kind()).collect::<Vec<_>>();
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
    used.submit(Command::Graph(order))
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
        assert_eq!((size_of::<SetParams>(), size_of::<CallParams>(), size_of::<InstantiateParams>()), (40, 16, 32));
    }

    #[test]
    fn nodes_come_behind_what_they_are_after() {
        let graph = Graph::new();
        let add = |after: &[NodeHandle]| graph.add(Command::Empty, after.to_vec()).unwrap();
        let (a, b) = (add(&[]), add(&[]));
        let c = add(&[a]);
        // An edge from a later node to an earlier one.
        lock(&b.get().unwrap().after).push(c);
        let order = graph.order().unwrap();
        assert!(order.list.iter().map(|(node, _)| *node).eq([a, c, b]));
        lock(&a.get().unwrap().after).push(b);
        assert!(graph.order().is_err());
        let foreign = Graph::new().add(Command::Empty, Vec::new()).unwrap();
        assert_eq!(graph.add(Command::Empty, vec![foreign]), Err(INVALID_VALUE));
    }
}
