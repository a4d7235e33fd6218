//! Graphs: commands with dependencies, made by hand or captured from streams.

pub(crate) mod command;
pub(crate) mod launch_order;

use std::collections::HashMap;
use std::ffi::c_uint;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::topological_order;

use crate::abi::{Handle, INVALID_VALUE, In, NOT_SUPPORTED, Out, Result, Text, lock, objects};
use crate::context::state;
use crate::context::user_object::{References, UserObjectHandle};
use crate::graph::command::SharedCommand;

pub(crate) struct Graph {
    pub nodes: Mutex<Vec<NodeHandle>>,
    pub objects: Mutex<References>,
    /// If the graph is a clone: its nodes by the nodes they were copied from.
    copies: Mutex<HashMap<usize, NodeHandle>>,
    id: u64,
}

pub(crate) struct Node {
    pub command: Mutex<SharedCommand>,
    /// The nodes that the command depends on.
    pub after: Mutex<Vec<NodeHandle>>,
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
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { nodes: Mutex::default(), objects: Mutex::default(), copies: Mutex::default(), id })
    }

    /// Adds a command with its dependencies.
    pub fn add(&self, command: SharedCommand, after: Vec<NodeHandle>) -> Result<NodeHandle> {
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
    pub fn order(&self) -> Result<Vec<NodeHandle>> {
        let nodes = lock(&self.nodes).clone();
        let places: HashMap<_, _> = nodes.iter().enumerate().map(|(place, node)| (node.value(), place)).collect();
        let before = |node: &NodeHandle| {
            let node = node.get()?;
            let after = lock(&node.after);
            after.iter().map(|before| places.get(&before.value()).copied().ok_or(INVALID_VALUE)).collect()
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
    pub fn reaches(&self, from: &[NodeHandle], nodes: &[NodeHandle]) -> Result<bool> {
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
    pub fn edges(&self) -> Result<Vec<(NodeHandle, NodeHandle)>> {
        let mut edges = Vec::new();
        for &to in lock(&self.nodes).iter() {
            edges.extend(lock(&to.get()?.after).iter().map(|&from| (from, to)));
        }
        Ok(edges)
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
    Handle::new(graph.get()?.copy()?)
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
        lock(&other.get()?.after).retain(|after| *after != node);
    }
    node.remove().map(|_| ())
}

/// Writes up to `count` handles, and sets `count` to their total number. With NULL for the handles, only the number is
/// written.
pub(crate) fn write_list<T: Copy>(list: &[T], places: Out<T>, count: Out<usize>) -> Result {
    let count = count.needed()?;
    if !places.is_null() {
        let room = count.as_in().get()?;
        for (index, &item) in list.iter().enumerate().take(room) {
            places.at(index).set(item)?;
        }
    }
    count.set(list.len())
}

pub(crate) fn nodes(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    write_list(&lock(&graph.nodes), nodes, count)
}

pub(crate) fn roots(graph: GraphHandle, nodes: Out<NodeHandle>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    let mut roots = lock(&graph.nodes).clone();
    roots.retain(|node| node.get().is_ok_and(|node| lock(&node.after).is_empty()));
    write_list(&roots, nodes, count)
}

pub(crate) fn kind(node: NodeHandle) -> Result<c_uint> {
    let node = node.get()?;
    let command = lock(&node.command);
    Ok(command.kind() as c_uint)
}

// Edges of graphs. CUDA's edge data can name ports within nodes; only plain edges, from the end of a node to the
// beginning of another, are supported.

/// Calls a function for each given edge of a graph.
fn for_each_edge(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    count: usize,
    act: impl Fn(&mut Vec<NodeHandle>, NodeHandle) -> Result,
) -> Result {
    state::check()?;
    let graph = graph.get()?;
    let nodes = lock(&graph.nodes);
    for (from, to) in from.values(count).zip(to.values(count)) {
        let (from, to) = (from?, to?);
        if !nodes.contains(&from) || !nodes.contains(&to) {
            return Err(INVALID_VALUE);
        }
        act(&mut lock(&to.get()?.after), from)?;
    }
    Ok(())
}

pub(crate) fn add_edges(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    (data, count): (In<u64>, usize),
) -> Result {
    check_edge_data(data, count)?;
    for_each_edge(graph, from, to, count, |after, node| {
        after.push(node);
        Ok(())
    })
}

pub(crate) fn remove_edges(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    (data, count): (In<u64>, usize),
) -> Result {
    check_edge_data(data, count)?;
    for_each_edge(graph, from, to, count, |after, node| {
        let index = after.iter().position(|other| *other == node).ok_or(INVALID_VALUE.because("no such edge"))?;
        after.remove(index);
        Ok(())
    })
}

/// Fails unless all edges are plain.
pub(crate) fn check_edge_data(data: In<u64>, count: usize) -> Result {
    if data.is_null() || data.values(count).all(|data| data == Ok(0)) {
        Ok(())
    } else {
        Err(NOT_SUPPORTED.because("edges with ports: only plain edges are supported"))
    }
}

/// Lists edges through `list`, which sets `count`, and writes the data of the listed edges, if the caller wants them.
fn with_data(data: Out<u64>, count: Out<usize>, list: impl FnOnce() -> Result) -> Result {
    if data.is_null() {
        return list();
    }
    let room = count.as_in().get()?;
    list()?;
    (0..room.min(count.as_in().get()?)).for_each(|index| data.at(index).set_if_any(0));
    Ok(())
}

pub(crate) fn all_edges(
    graph: GraphHandle,
    from: Out<NodeHandle>,
    to: Out<NodeHandle>,
    (data, count): (Out<u64>, Out<usize>),
) -> Result {
    with_data(data, count, || {
        let count = count.needed()?;
        state::check()?;
        let edges = graph.get()?.edges()?;
        if !from.is_null() && !to.is_null() {
            for (index, &(a, b)) in edges.iter().enumerate().take(count.as_in().get()?) {
                from.at(index).set(a)?;
                to.at(index).set(b)?;
            }
        }
        count.set(edges.len())
    })
}

pub(crate) fn dependencies(node: NodeHandle, nodes: Out<NodeHandle>, (data, count): (Out<u64>, Out<usize>)) -> Result {
    with_data(data, count, || {
        state::check()?;
        let node = node.get()?;
        write_list(&lock(&node.after), nodes, count)
    })
}

pub(crate) fn dependents(node: NodeHandle, nodes: Out<NodeHandle>, (data, count): (Out<u64>, Out<usize>)) -> Result {
    with_data(data, count, || {
        state::check()?;
        node.get()?;
        let edges = of_node(node)?.edges()?;
        let list: Vec<_> = edges.into_iter().filter(|(from, _)| *from == node).map(|(_, to)| to).collect();
        write_list(&list, nodes, count)
    })
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
    for (from, to) in graph.edges()? {
        let _ = writeln!(text, "  n{} -> n{};", number(from)?, number(to)?);
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
