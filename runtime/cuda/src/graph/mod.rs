//! Graphs: commands with dependencies, made by hand or captured from streams.

pub(crate) mod command;
pub(crate) mod condition;
pub(crate) mod conditional;
pub(crate) mod edge;
pub(crate) mod launch_order;

use std::collections::HashMap;
use std::ffi::c_uint;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::topological_order;

use crate::abi::{Handle, INVALID_VALUE, NOT_SUPPORTED, Out, Result, Text, lock, objects};
use crate::context::user_object::{References, UserObjectHandle};
use crate::graph::command::{NodeKind, SharedCommand};
use crate::graph::condition::Conditions;
use crate::graph::edge::Edge;

pub(crate) struct Graph {
    pub nodes: Mutex<Vec<NodeHandle>>,
    pub objects: Mutex<References>,
    /// The conditions that were made for the graph, and those of the graphs within its conditional nodes.
    pub conditions: Conditions,
    /// If the graph is a clone: its nodes by the nodes they were copied from.
    copies: Mutex<HashMap<usize, NodeHandle>>,
    id: u64,
}

pub(crate) struct Node {
    pub command: Mutex<SharedCommand>,
    /// The nodes that the command depends on.
    after: Mutex<Vec<Edge>>,
    /// Unique within the graph, in the order of creation.
    id: u64,
}

pub(crate) type GraphHandle = Handle<Graph>;
pub(crate) type NodeHandle = Handle<Node>;

objects!(GRAPHS: Graph = 9, INVALID_VALUE);
objects!(NODES: Node = 10, INVALID_VALUE);

/// Numbers graphs and nodes.
static NUMBER: AtomicU64 = AtomicU64::new(1);

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
        Self::with(Conditions::default())
    }

    /// A graph without nodes, whose conditions are among those of the graph around it.
    pub fn with(conditions: Conditions) -> Arc<Self> {
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { nodes: Mutex::default(), objects: Mutex::default(), conditions, copies: Mutex::default(), id })
    }

    /// Adds a command with its dependencies.
    pub fn add(&self, command: SharedCommand, after: Vec<Edge>) -> Result<NodeHandle> {
        let mut nodes = lock(&self.nodes);
        if after.iter().any(|edge| !nodes.contains(&edge.from)) {
            return Err(INVALID_VALUE);
        }
        after.iter().try_for_each(|edge| edge.check(command.kind()))?;
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        let node = Handle::new(Arc::new(Node { command: Mutex::new(command), after: Mutex::new(after), id }))?;
        nodes.push(node);
        Ok(node)
    }

    /// The nodes in topological order.
    pub fn order(&self) -> Result<Vec<NodeHandle>> {
        let nodes = lock(&self.nodes).clone();
        let places: HashMap<_, _> = nodes.iter().enumerate().map(|(place, node)| (node.value(), place)).collect();
        let before = |node: &NodeHandle| {
            let node = node.get()?;
            let after = lock(&node.after);
            after.iter().map(|edge| places.get(&edge.from.value()).copied().ok_or(INVALID_VALUE)).collect()
        };
        let before = nodes.iter().map(before).collect::<Result<Vec<Vec<usize>>>>()?;
        let order = topological_order(nodes.len(), |node| before[node].iter().copied());
        let order = order.ok_or_else(|| INVALID_VALUE.because("the graph has a cycle"))?;
        Ok(order.into_iter().map(|place| nodes[place]).collect())
    }

    /// A copy. Its nodes can be found by those of the original.
    pub fn copy(&self) -> Result<Arc<Self>> {
        let copied = Self::new();
        let mut places = HashMap::new();
        for handle in self.order()? {
            let node = handle.get()?;
            let copied_edge = |edge: &Edge| Some(Edge { from: *places.get(&edge.from.value())?, ..*edge });
            let after = lock(&node.after).iter().filter_map(copied_edge).collect();
            places.insert(handle.value(), copied.add(command::copy(&node.command)?, after)?);
        }
        *lock(&copied.copies) = places;
        *lock(&copied.objects) = lock(&self.objects).clone();
        Ok(copied)
    }

    /// Whether all of `nodes` are among `from` and the nodes that these depend on, directly or not.
    pub fn reaches(&self, from: &[NodeHandle], nodes: &[NodeHandle]) -> Result<bool> {
        let (mut reached, mut waiting) = (Vec::new(), from.to_vec());
        while let Some(node) = waiting.pop() {
            if !reached.contains(&node) {
                reached.push(node);
                waiting.extend(lock(&node.get()?.after).iter().map(|edge| edge.from));
            }
        }
        Ok(nodes.iter().all(|node| reached.contains(node)))
    }

    /// All edges, each with its successor.
    pub fn edges(&self) -> Result<Vec<(Edge, NodeHandle)>> {
        let mut edges = Vec::new();
        for &to in lock(&self.nodes).iter() {
            edges.extend(lock(&to.get()?.after).iter().map(|&edge| (edge, to)));
        }
        Ok(edges)
    }

    /// Refuses graphs that allocate or free memory: they have no clones, and are no nodes of others.
    pub fn check_copyable(&self) -> Result {
        for node in lock(&self.nodes).iter() {
            if let NodeKind::Allocate | NodeKind::Free = lock(&node.get()?.command).kind() {
                return Err(NOT_SUPPORTED.because("copies of graphs that allocate memory"));
            }
        }
        Ok(())
    }
}

pub(crate) fn create(flags: c_uint) -> Result<GraphHandle> {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    Handle::new(Graph::new())
}

pub(crate) fn destroy(graph: GraphHandle) -> Result {
    graph.remove().map(|_| ())
}

pub(crate) fn clone(graph: GraphHandle) -> Result<GraphHandle> {
    let graph = graph.get()?;
    graph.check_copyable()?;
    Handle::new(graph.copy()?)
}

pub(crate) fn find_in_clone(original: NodeHandle, clone: GraphHandle) -> Result<NodeHandle> {
    let found = lock(&clone.get()?.copies).get(&original.value()).copied();
    found.filter(|found| found.get().is_ok()).ok_or(INVALID_VALUE)
}

pub(crate) fn id(graph: GraphHandle) -> Result<c_uint> {
    Ok(graph.get()?.id as c_uint)
}

pub(crate) fn retain_object(graph: GraphHandle, object: UserObjectHandle, count: c_uint, flags: c_uint) -> Result {
    lock(&graph.get()?.objects).add(object, count, flags)
}

pub(crate) fn release_object(graph: GraphHandle, object: UserObjectHandle, count: c_uint) -> Result {
    let released = lock(&graph.get()?.objects).remove(object, count)?;
    drop(released);
    Ok(())
}

/// The graph that contains a node.
pub(crate) fn of_node(node: NodeHandle) -> Result<Arc<Graph>> {
    handle_of_node(node)?.get()
}

fn handle_of_node(node: NodeHandle) -> Result<GraphHandle> {
    GRAPHS.find(|graph| lock(&graph.nodes).contains(&node)).ok_or(INVALID_VALUE)
}

pub(crate) fn containing(node: NodeHandle) -> Result<GraphHandle> {
    handle_of_node(node)
}

pub(crate) fn local_id(node: NodeHandle) -> Result<c_uint> {
    Ok(node.get()?.id as c_uint)
}

pub(crate) fn tools_id(node: NodeHandle) -> Result<u64> {
    Ok(node.get()?.id)
}

pub(crate) fn destroy_node(node: NodeHandle) -> Result {
    let graph = of_node(node)?;
    let mut nodes = lock(&graph.nodes);
    nodes.retain(|other| *other != node);
    for other in nodes.iter() {
        lock(&other.get()?.after).retain(|edge| edge.from != node);
    }
    let removed = node.remove();
    // Unlocked first, because dropping the node may remove the handles of its graphs.
    drop(nodes);
    removed.map(|_| ())
}

/// Writes a list with one function call for each place that `count` says there is: a place behind the list's end gets nothing. `count` becomes
/// the number of items that have a place, and without places that of all items.
pub(crate) fn write_places<T>(
    list: &[T],
    has_places: bool,
    count: Out<usize>,
    write: impl Fn(usize, Option<&T>),
) -> Result {
    let count = count.needed()?;
    if !has_places {
        return count.set(list.len());
    }
    let room = count.as_in().get()?;
    // What is no number of places, such as an address, is not taken for one.
    let places = if u32::try_from(room).is_ok() { room } else { list.len() };
    for index in 0..places {
        write(index, list.get(index));
    }
    count.set(room.min(list.len()))
}

/// Writes as many nodes as there is room for.
fn write_nodes(list: &[NodeHandle], places: Out<NodeHandle>, count: Out<usize>) -> Result {
    write_places(list, !places.is_null(), count, |index, node| {
        places.at(index).set_if_any(node.copied().unwrap_or(NodeHandle::NULL));
    })
}

pub(crate) fn nodes(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    write_nodes(&lock(&graph.nodes), nodes, count)
}

pub(crate) fn roots(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    let mut roots = lock(&graph.nodes).clone();
    roots.retain(|node| node.get().is_ok_and(|node| lock(&node.after).is_empty()));
    write_nodes(&roots, nodes, count)
}

pub(crate) fn kind(node: NodeHandle) -> Result<c_uint> {
    let node = node.get()?;
    let command = lock(&node.command);
    Ok(command.kind() as c_uint)
}

// Graphs as text for Graphviz.

/// Writes a graph to a file. The flags ask for more details of nodes than are written.
pub(crate) fn print(graph: GraphHandle, path: Text) -> Result {
    let (graph, path) = (graph.get()?, path.get()?);
    let nodes = lock(&graph.nodes).clone();
    let number = |node| nodes.iter().position(|other| *other == node).ok_or(INVALID_VALUE);
    let mut text = "digraph {\n".to_owned();
    for (index, node) in nodes.iter().enumerate() {
        let kind = lock(&node.get()?.command).kind();
        // Writing into a string can't fail.
        let _ = writeln!(text, "  n{index} [label=\"{index} {kind:?}\"];");
    }
    for (edge, to) in graph.edges()? {
        let _ = writeln!(text, "  n{} -> n{};", number(edge.from)?, number(to)?);
    }
    text.push_str("}\n");
    std::fs::write(&path, text).map_err(|error| INVALID_VALUE.because(format!("{path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::command::Empty;

    #[test]
    fn nodes_come_after_what_they_depend_on() {
        let graph = Graph::new();
        let add = |after: &[NodeHandle]| graph.add(Arc::new(Empty), edge::plain(after.to_vec())).unwrap();
        let (a, b) = (add(&[]), add(&[]));
        let c = add(&[a]);
        // An edge from a later node to an earlier one, which the order has to respect.
        lock(&b.get().unwrap().after).push(Edge::plain(c));
        let order = graph.order().unwrap();
        assert!(order == [a, c, b]);
        lock(&a.get().unwrap().after).push(Edge::plain(b));
        assert!(graph.order().is_err());
        let foreign = Graph::new().add(Arc::new(Empty), Vec::new()).unwrap();
        assert_eq!(graph.add(Arc::new(Empty), vec![Edge::plain(foreign)]), Err(INVALID_VALUE));
    }
}
