//! Edges of graphs. CUDA's edge data can name ports within nodes; only plain edges, from the end of a node to the
//! beginning of another, are supported.

use crate::abi::code::{Code, INVALID_VALUE, NOT_SUPPORTED};
use crate::abi::raw::{In, Out};
use crate::abi::sync::lock;
use crate::context::state;
use crate::graph::{self, GraphHandle, NodeHandle, write_list};

/// Calls a function for each given edge of a graph.
fn for_each(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    count: usize,
    act: impl Fn(&mut Vec<NodeHandle>, NodeHandle) -> Result<(), Code>,
) -> Result<(), Code> {
    state::device()?;
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

pub(crate) fn add(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    data: In<u64>,
    count: usize,
) -> Result<(), Code> {
    check_data(data, count)?;
    for_each(graph, from, to, count, |after, node| {
        after.push(node);
        Ok(())
    })
}

pub(crate) fn remove(
    graph: GraphHandle,
    from: In<NodeHandle>,
    to: In<NodeHandle>,
    data: In<u64>,
    count: usize,
) -> Result<(), Code> {
    check_data(data, count)?;
    for_each(graph, from, to, count, |after, node| {
        let index = after.iter().position(|other| *other == node).ok_or(INVALID_VALUE.because("no such edge"))?;
        after.remove(index);
        Ok(())
    })
}

/// Fails unless all edges are plain.
pub(crate) fn check_data(data: In<u64>, count: usize) -> Result<(), Code> {
    if data.is_null() || data.values(count).all(|data| data == Ok(0)) {
        Ok(())
    } else {
        Err(NOT_SUPPORTED.because("edges with ports: only plain edges are supported"))
    }
}

/// Lists edges through `list`, which sets `count`, and writes the data of the listed edges, if the caller wants them.
fn with_data(data: Out<u64>, count: Out<usize>, list: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    if data.is_null() {
        return list();
    }
    let room = count.as_in().get()?;
    list()?;
    (0..room.min(count.as_in().get()?)).for_each(|index| data.at(index).set_if_any(0));
    Ok(())
}

pub(crate) fn all(
    graph: GraphHandle,
    from: Out<NodeHandle>,
    to: Out<NodeHandle>,
    data: Out<u64>,
    count: Out<usize>,
) -> Result<(), Code> {
    with_data(data, count, || {
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
    })
}

pub(crate) fn dependencies(
    node: NodeHandle,
    nodes: Out<NodeHandle>,
    data: Out<u64>,
    count: Out<usize>,
) -> Result<(), Code> {
    with_data(data, count, || {
        state::device()?;
        let node = node.get()?;
        write_list(&lock(&node.after), nodes, count)
    })
}

pub(crate) fn dependents(
    node: NodeHandle,
    nodes: Out<NodeHandle>,
    data: Out<u64>,
    count: Out<usize>,
) -> Result<(), Code> {
    with_data(data, count, || {
        state::device()?;
        node.get()?;
        let edges = graph::of_node(node)?.edges()?;
        let list: Vec<_> = edges.into_iter().filter(|(from, _)| *from == node).map(|(_, to)| to).collect();
        write_list(&list, nodes, count)
    })
}
