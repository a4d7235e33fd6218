//! Graphs: commands with dependencies, made by hand or captured from streams.

pub(crate) mod command;
pub(crate) mod dot;
pub(crate) mod edges;
pub(crate) mod launch_order;

use std::collections::{HashMap, HashSet};
use std::ffi::c_uint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::handle::{Handle, Object, Table};
use crate::abi::raw::Out;
use crate::abi::sync::lock;
use crate::context::state;
use crate::context::user_object::{References, UserObjectHandle};
use crate::graph::command::SharedCommand;

/// A graph.
pub(crate) struct Graph {
    pub nodes: Mutex<Vec<NodeHandle>>,
    pub objects: Mutex<References>,
    /// If the graph is a clone: its nodes by the nodes they were copied from.
    copies: Mutex<HashMap<usize, NodeHandle>>,
    id: u64,
}

/// A command in a graph.
pub(crate) struct Node {
    pub command: Mutex<SharedCommand>,
    /// The nodes that the command depends on.
    pub after: Mutex<Vec<NodeHandle>>,
    /// Unique within the graph, in the order of creation.
    id: u64,
}

pub(crate) type GraphHandle = Handle<Graph>;
pub(crate) type NodeHandle = Handle<Node>;

static GRAPHS: Table<Graph> = Table::new();
static NODES: Table<Node> = Table::new();

/// Numbers graphs and nodes.
static NUMBER: AtomicU64 = AtomicU64::new(1);

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

impl Drop for Graph {
    fn drop(&mut self) {
        for node in lock(&self.nodes).drain(..) {
            // Fails if the program has destroyed the node already.
            let _ = node.remove();
        }
    }
}

impl Graph {
    pub fn new() -> Arc<Self> {
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { nodes: Mutex::default(), objects: Mutex::default(), copies: Mutex::default(), id })
    }

    /// Adds a command with its dependencies.
    pub fn add(&self, command: SharedCommand, after: Vec<NodeHandle>) -> Result<NodeHandle, Code> {
        let mut nodes = lock(&self.nodes);
        if after.iter().any(|node| !nodes.contains(node)) {
            return Err(INVALID_VALUE);
        }
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        let node = Handle::new(Arc::new(Node { command: Mutex::new(command), after: Mutex::new(after), id }))?;
        nodes.push(node);
        Ok(node)
    }

    /// The nodes in topological order.
    pub fn order(&self) -> Result<Vec<NodeHandle>, Code> {
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
                    list.push(handle);
                } else {
                    rest.push(handle);
                }
            }
            if rest.len() == before {
                return Err(INVALID_VALUE.because("the graph has a cycle"));
            }
            waiting = rest;
        }
        Ok(list)
    }

    /// A copy. Its nodes can be found by those of the original.
    pub fn copy(&self) -> Result<Arc<Self>, Code> {
        let copied = Self::new();
        let mut places = HashMap::new();
        for handle in self.order()? {
            let node = handle.get()?;
            let after = lock(&node.after).iter().filter_map(|after| places.get(&after.value()).copied()).collect();
            let command = lock(&node.command).clone();
            let command = command.own_copy().unwrap_or(Ok(command))?;
            places.insert(handle.value(), copied.add(command, after)?);
        }
        *lock(&copied.copies) = places;
        *lock(&copied.objects) = lock(&self.objects).clone();
        Ok(copied)
    }

    /// Whether all of `nodes` are among `from` and the nodes that these depend on, directly or not.
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

    /// All edges as pairs of predecessor and successor.
    pub fn edges(&self) -> Result<Vec<(NodeHandle, NodeHandle)>, Code> {
        let mut edges = Vec::new();
        for &to in lock(&self.nodes).iter() {
            edges.extend(lock(&to.get()?.after).iter().map(|&from| (from, to)));
        }
        Ok(edges)
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
    clone.set(Handle::new(graph.get()?.copy()?)?)
}

pub(crate) fn find_in_clone(node: Out<NodeHandle>, original: NodeHandle, clone: GraphHandle) -> Result<(), Code> {
    let node = node.needed()?;
    state::device()?;
    let found = lock(&clone.get()?.copies).get(&original.value()).copied();
    node.set(found.filter(|found| found.get().is_ok()).ok_or(INVALID_VALUE)?)
}

pub(crate) fn id(graph: GraphHandle, id: Out<c_uint>) -> Result<(), Code> {
    let id = id.needed()?;
    state::device()?;
    id.set(graph.get()?.id as c_uint)
}

pub(crate) fn retain_object(
    graph: GraphHandle,
    object: UserObjectHandle,
    count: c_uint,
    flags: c_uint,
) -> Result<(), Code> {
    state::device()?;
    lock(&graph.get()?.objects).add(object, count, flags)
}

pub(crate) fn release_object(graph: GraphHandle, object: UserObjectHandle, count: c_uint) -> Result<(), Code> {
    state::device()?;
    let released = lock(&graph.get()?.objects).remove(object, count)?;
    drop(released);
    Ok(())
}

/// The graph that contains a node.
pub(crate) fn of_node(node: NodeHandle) -> Result<Arc<Graph>, Code> {
    handle_of_node(node)?.get()
}

fn handle_of_node(node: NodeHandle) -> Result<GraphHandle, Code> {
    GRAPHS.find(|graph| lock(&graph.nodes).contains(&node)).ok_or(INVALID_VALUE)
}

pub(crate) fn containing(node: NodeHandle, graph: Out<GraphHandle>) -> Result<(), Code> {
    let graph = graph.needed()?;
    state::device()?;
    graph.set(handle_of_node(node)?)
}

pub(crate) fn local_id(node: NodeHandle, id: Out<c_uint>) -> Result<(), Code> {
    let id = id.needed()?;
    state::device()?;
    id.set(node.get()?.id as c_uint)
}

pub(crate) fn tools_id(node: NodeHandle, id: Out<u64>) -> Result<(), Code> {
    let id = id.needed()?;
    state::device()?;
    id.set(node.get()?.id)
}

pub(crate) fn destroy_node(node: NodeHandle) -> Result<(), Code> {
    state::device()?;
    let graph = of_node(node)?;
    let mut nodes = lock(&graph.nodes);
    nodes.retain(|other| *other != node);
    for other in nodes.iter() {
        lock(&other.get()?.after).retain(|after| *after != node);
    }
    node.remove().map(|_| ())
}

/// Writes up to `count` handles, and sets `count` to their total number. With NULL for the handles, only the number is
/// written.
pub(crate) fn write_list<T: Copy>(list: &[T], places: Out<T>, count: Out<usize>) -> Result<(), Code> {
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

pub(crate) fn kind(node: NodeHandle, kind: Out<c_uint>) -> Result<(), Code> {
    let kind = kind.needed()?;
    state::device()?;
    let node = node.get()?;
    let command = lock(&node.command);
    kind.set(command.kind() as c_uint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::command::Empty;

    #[test]
    fn nodes_come_after_what_they_depend_on() {
        let graph = Graph::new();
        let add = |after: &[NodeHandle]| graph.add(Arc::new(Empty), after.to_vec()).unwrap();
        let (a, b) = (add(&[]), add(&[]));
        let c = add(&[a]);
        // An edge from a later node to an earlier one, which the order has to respect.
        lock(&b.get().unwrap().after).push(c);
        let order = graph.order().unwrap();
        assert!(order == [a, c, b]);
        lock(&a.get().unwrap().after).push(b);
        assert!(graph.order().is_err());
        let foreign = Graph::new().add(Arc::new(Empty), Vec::new()).unwrap();
        assert_eq!(graph.add(Arc::new(Empty), vec![foreign]), Err(INVALID_VALUE));
    }
}
