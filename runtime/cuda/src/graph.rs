//! Graphs: commands with dependencies, made by hand or captured from streams. A launch runs them one after another in
//! topological order.

use std::collections::{HashMap, HashSet};
use std::ffi::c_uint;
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::Stream;

use crate::code::{Code, INVALID_VALUE};
use crate::command::{self, Command, NodeKind, SharedCommand};
use crate::context::Context;
use crate::handle::{Handle, Object, Table};
use crate::raw::Out;
use crate::state;
use crate::sync::lock;

/// A graph.
pub(crate) struct Graph {
    pub nodes: Mutex<Vec<NodeHandle>>,
}

/// A command in a graph.
pub(crate) struct Node {
    pub command: Mutex<SharedCommand>,
    /// The nodes that the command depends on.
    pub after: Mutex<Vec<NodeHandle>>,
}

/// A graph's commands in topological order, with their nodes. This is what a launch runs.
pub(crate) struct LaunchOrder {
    pub list: Vec<(NodeHandle, Mutex<SharedCommand>)>,
}

pub(crate) type GraphHandle = Handle<Graph>;
pub(crate) type NodeHandle = Handle<Node>;
pub(crate) type ExecHandle = Handle<LaunchOrder>;

static GRAPHS: Table<Graph> = Table::new();
static NODES: Table<Node> = Table::new();
static EXECS: Table<LaunchOrder> = Table::new();

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

impl Object for LaunchOrder {
    const TAG: u8 = 11;
    const BAD: Code = INVALID_VALUE;

    fn table() -> &'static Table<Self> {
        &EXECS
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
        Arc::new(Self { nodes: Mutex::default() })
    }

    /// Adds a command with its dependencies.
    pub fn add(&self, command: SharedCommand, after: Vec<NodeHandle>) -> Result<NodeHandle, Code> {
        let mut nodes = lock(&self.nodes);
        if after.iter().any(|node| !nodes.contains(node)) {
            return Err(INVALID_VALUE);
        }
        let node = Handle::new(Arc::new(Node { command: Mutex::new(command), after: Mutex::new(after) }))?;
        nodes.push(node);
        Ok(node)
    }

    /// A snapshot of the commands in topological order.
    pub fn order(&self) -> Result<LaunchOrder, Code> {
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
                return Err(INVALID_VALUE.because("the graph has a cycle"));
            }
            waiting = rest;
        }
        Ok(LaunchOrder { list })
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

impl LaunchOrder {
    /// Replaces a node's command by another one of the same kind.
    pub fn set(&self, node: NodeHandle, command: SharedCommand) -> Result<(), Code> {
        let (_, place) = self.list.iter().find(|(known, _)| *known == node).ok_or(INVALID_VALUE)?;
        command::replace(&mut lock(place), command)
    }
}

impl Command for LaunchOrder {
    fn run(&self, context: &Context, stream: &Stream) -> Result<(), Code> {
        let commands: Vec<_> = self.list.iter().map(|(_, command)| lock(command).clone()).collect();
        for part in commands.chunk_by(|before, after| before.kind().waits() == after.kind().waits()) {
            let run = || part.iter().try_for_each(|command| command.run(context, stream));
            // Commands that don't wait are submitted together.
            let waits = part.iter().any(|command| command.kind().waits());
            if waits { run() } else { stream.together(run) }?;
        }
        Ok(())
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Graph
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

/// The graph that contains a node.
pub(crate) fn of_node(node: NodeHandle) -> Result<Arc<Graph>, Code> {
    GRAPHS.find(|graph| lock(&graph.nodes).contains(&node)).ok_or(INVALID_VALUE)?.get()
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
    use crate::command::Empty;

    #[test]
    fn nodes_come_after_what_they_depend_on() {
        let graph = Graph::new();
        let add = |after: &[NodeHandle]| graph.add(Arc::new(Empty), after.to_vec()).unwrap();
        let (a, b) = (add(&[]), add(&[]));
        let c = add(&[a]);
        // An edge from a later node to an earlier one, which the order has to respect.
        lock(&b.get().unwrap().after).push(c);
        let order = graph.order().unwrap();
        assert!(order.list.iter().map(|(node, _)| *node).eq([a, c, b]));
        lock(&a.get().unwrap().after).push(b);
        assert!(graph.order().is_err());
        let foreign = Graph::new().add(Arc::new(Empty), Vec::new()).unwrap();
        assert_eq!(graph.add(Arc::new(Empty), vec![foreign]), Err(INVALID_VALUE));
    }
}
