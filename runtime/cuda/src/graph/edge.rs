//! Edges of graphs.
//!
//! An edge may have data: it can begin at a port of a kernel that is reached before the kernel ends, and let a kernel that
//! waits for others by itself begin early. Nodes run one after another here, which keeps to all of these edges, so their data is
//! only checked and kept for those who ask.

use crate::abi::{INVALID_VALUE, In, LOSSY_QUERY, NOT_SUPPORTED, Out, Result, lock};
use crate::context::state;
use crate::graph::command::NodeKind;
use crate::graph::{GraphHandle, NodeHandle, of_node, write_places};

/// An edge to a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: NodeHandle,
    /// `CUgraphEdgeData`: the ports of both nodes, the type, and five bytes of zeros. All are zero for an edge from the end of
    /// a node to the beginning of another.
    pub data: u64,
}

// Ports of kernels, beside the end: when all blocks have allowed the next kernel to begin, and when all have begun.
const PROGRAMMATIC_PORT: u8 = 1;
const ORDER_PORT: u8 = 2;

// Types of edges: with the second, a kernel waits for the one before by itself.
const WHOLE: u8 = 0;
const PROGRAMMATIC: u8 = 1;

impl Edge {
    pub fn plain(from: NodeHandle) -> Self {
        Self { from, data: 0 }
    }

    /// An edge with the data at an index; a plain one without data.
    fn given(from: NodeHandle, data: In<u64>, index: usize) -> Result<Self> {
        Ok(Self { from, data: if data.is_null() { 0 } else { data.at(index)? } })
    }

    /// Fails if there is no such edge to a node of a kind.
    pub fn check(&self, to: NodeKind) -> Result {
        if self.data == 0 {
            return Ok(());
        }
        let [port, to_port, kind, reserved @ ..] = self.data.to_ne_bytes();
        let from_kernel = lock(&self.from.get()?.command).kind() == NodeKind::Kernel;
        let fits = match (port, kind) {
            (ORDER_PORT, WHOLE) => from_kernel,
            (PROGRAMMATIC_PORT | ORDER_PORT, PROGRAMMATIC) => from_kernel && to == NodeKind::Kernel,
            _ => false,
        };
        if fits && to_port == 0 && reserved == [0; 5] { Ok(()) } else { Err(INVALID_VALUE.because("no such edge")) }
    }
}

/// Edges from the ends of nodes.
pub(crate) fn plain(from: Vec<NodeHandle>) -> Vec<Edge> {
    from.into_iter().map(Edge::plain).collect()
}

/// The edges from valid nodes, with their data.
pub(crate) fn given(from: In<NodeHandle>, (data, count): (In<u64>, usize)) -> Result<Vec<Edge>> {
    from.handles(count)?.into_iter().enumerate().map(|(index, from)| Edge::given(from, data, index)).collect()
}

/// Calls a function for each given edge of a graph, with the edges to the same node.
fn for_each_edge(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    (data, count): (In<u64>, usize),
    act: impl Fn(&mut Vec<Edge>, Edge) -> Result,
) -> Result {
    state::check()?;
    let graph = graph.get()?;
    let nodes = lock(&graph.nodes);
    for index in 0..count {
        let (from, to) = (from.at(index)?, to.at(index)?);
        if from == to || !nodes.contains(&from) || !nodes.contains(&to) {
            return Err(INVALID_VALUE);
        }
        let edge = Edge::given(from, data, index)?;
        let to = to.get()?;
        let kind = lock(&to.command).kind();
        edge.check(kind)?;
        act(&mut lock(&to.after), edge)?;
    }
    Ok(())
}

pub(crate) fn add_edges(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    data_and_count: (In<u64>, usize),
) -> Result {
    for_each_edge(graph, from, to, data_and_count, |after, edge| {
        after.push(edge);
        Ok(())
    })
}

pub(crate) fn remove_edges(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    data_and_count: (In<u64>, usize),
) -> Result {
    for_each_edge(graph, from, to, data_and_count, |after, edge| {
        let index = after.iter().position(|other| *other == edge).ok_or(INVALID_VALUE.because("no such edge"))?;
        after.remove(index);
        Ok(())
    })
}

/// Fails unless all edges are plain, for those of captures.
pub(crate) fn check_plain(data: In<u64>, count: usize) -> Result {
    if data.is_null() || data.values(count).all(|data| data == Ok(0)) {
        Ok(())
    } else {
        Err(NOT_SUPPORTED.because("edges with ports while a stream is captured"))
    }
}

/// Writes as many edges as there is room for through `write`, if `wanted`, and their data, if the caller wants it.
fn write_edges(
    list: &[(Edge, NodeHandle)],
    wanted: bool,
    (data, count): (Out<u64>, Out<usize>),
    write: impl Fn(usize, Option<&(Edge, NodeHandle)>),
) -> Result {
    let wanted = wanted || !data.is_null();
    let room = if wanted { count.as_in().get()? } else { 0 };
    if data.is_null() && list.iter().take(room).any(|(edge, _)| edge.data != 0) {
        return Err(LOSSY_QUERY.because("edges have data, and there is no place for it"));
    }
    write_places(list, wanted, count, |index, item| {
        write(index, item);
        if let Some((edge, _)) = item {
            data.at(index).set_if_any(edge.data);
        }
    })
}

pub(crate) fn all_edges(
    graph: GraphHandle,
    from: Out<NodeHandle>,
    to: Out<NodeHandle>,
    (data, count): (Out<u64>, Out<usize>),
) -> Result {
    count.needed()?;
    state::check()?;
    let edges = graph.get()?.edges()?;
    write_edges(&edges, !from.is_null() && !to.is_null(), (data, count), |index, item| {
        from.at(index).set_if_any(item.map_or(NodeHandle::NULL, |(edge, _)| edge.from));
        to.at(index).set_if_any(item.map_or(NodeHandle::NULL, |(_, to)| *to));
    })
}

pub(crate) fn dependencies(node: NodeHandle, nodes: Out<NodeHandle>, data_and_count: (Out<u64>, Out<usize>)) -> Result {
    state::check()?;
    let edges: Vec<_> = lock(&node.get()?.after).iter().map(|edge| (*edge, node)).collect();
    write_edges(&edges, !nodes.is_null(), data_and_count, |index, item| {
        nodes.at(index).set_if_any(item.map_or(NodeHandle::NULL, |(edge, _)| edge.from));
    })
}

pub(crate) fn dependents(node: NodeHandle, nodes: Out<NodeHandle>, data_and_count: (Out<u64>, Out<usize>)) -> Result {
    state::check()?;
    node.get()?;
    let mut edges = of_node(node)?.edges()?;
    edges.retain(|(edge, _)| edge.from == node);
    write_edges(&edges, !nodes.is_null(), data_and_count, |index, item| {
        nodes.at(index).set_if_any(item.map_or(NodeHandle::NULL, |(_, to)| *to));
    })
}
