//! Graphs as text for Graphviz.

use std::ffi::c_uint;
use std::fmt::Write;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::Text;
use crate::abi::sync::lock;
use crate::context::state;
use crate::graph::GraphHandle;

/// Writes a graph to a file. The flags ask for more details of nodes than are written.
pub(crate) fn print(graph: GraphHandle, path: Text, _flags: c_uint) -> Result<(), Code> {
    state::device()?;
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
