//! Conditional nodes: graphs that run, or not, or again, by a [`Condition`]. Launches of the graph around the node wait there, read the
//! condition, and go on accordingly.

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_runtime::Stream;

use crate::abi::{Handle, INVALID_VALUE, Memory, NOT_SUPPORTED, Out, Result, layouts, lock};
use crate::context::{Context, ContextHandle};
use crate::graph::command::{Command, NodeKind, SharedCommand};
use crate::graph::condition::Condition;
use crate::graph::edge::Edge;
use crate::graph::launch_order::LaunchOrder;
use crate::graph::{Graph, GraphHandle, NodeHandle};

// `CUgraphConditionalNodeType`.
const IF: c_uint = 0;
const WHILE: c_uint = 1;
const SWITCH: c_uint = 2;

/// A conditional node shows its graphs in a list, which takes memory; no program has so many.
const MOST_GRAPHS: c_uint = 1 << 16;

/// `CUDA_CONDITIONAL_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Params {
    condition: u64,
    kind: c_uint,
    size: c_uint,
    graphs: Memory,
    context: ContextHandle,
}

/// A node with graphs, of which a condition chooses.
pub(crate) struct Conditional {
    condition: Arc<Condition>,
    kind: c_uint,
    graphs: Vec<Arc<Graph>>,
    /// The handles of these, which the program reads.
    handles: Vec<GraphHandle>,
}

impl Conditional {
    /// A node of a graph, whose condition has no other node.
    fn new(around: &Graph, params: Params) -> Result<Self> {
        let Params { condition: handle, kind, size, .. } = params;
        let fits = match kind {
            IF => (1..=2).contains(&size),
            WHILE => size == 1,
            SWITCH => (1..=MOST_GRAPHS).contains(&size),
            _ => false,
        };
        if !fits {
            return Err(INVALID_VALUE);
        }
        let find =
            |conditions: &[Arc<Condition>]| conditions.iter().find(|condition| condition.handle() == handle).cloned();
        let condition =
            find(&lock(&around.conditions)).ok_or_else(|| INVALID_VALUE.because("the graph has no such condition"))?;
        let graphs: Vec<_> = (0..size).map(|_| Graph::with(around.conditions.clone())).collect();
        let handles = graphs.iter().map(|graph| Handle::new(graph.clone())).collect::<Result<_, _>>()?;
        let node = Self { condition, kind, graphs, handles };
        node.condition.take()?;
        Ok(node)
    }

    pub fn params(&self) -> Params {
        Params {
            condition: self.condition.handle(),
            kind: self.kind,
            size: self.graphs.len() as c_uint,
            graphs: Memory::of(&self.handles),
            context: Handle::NULL,
        }
    }

    /// A snapshot, as launches run it.
    fn choice(&self, flags: u64) -> Result<Choice> {
        let orders = self.graphs.iter().map(|graph| LaunchOrder::without_conditions(graph, flags));
        Ok(Choice { condition: self.condition.clone(), kind: self.kind, orders: orders.collect::<Result<_, _>>()? })
    }
}

/// Adds a node to a graph, and writes the place of the list of the node's graphs.
pub(crate) fn add(graph: &Graph, after: Vec<Edge>, params: Out<Params>) -> Result<NodeHandle> {
    let given = params.as_in().get()?;
    let node = Arc::new(Conditional::new(graph, given)?);
    // A condition whose node couldn't be added is free for another one.
    let added = graph.add(node.clone(), after).inspect_err(|_| node.condition.free())?;
    params.set(Params { graphs: Memory::of(&node.handles), ..given })?;
    Ok(added)
}

impl Drop for Conditional {
    fn drop(&mut self) {
        for handle in &self.handles {
            // Fails if the program has destroyed the graph, which belongs to the node.
            let _ = handle.remove();
        }
    }
}

impl Command for Conditional {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        self.choice(0)?.run(context, stream)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Conditional
    }

    fn executable(&self, flags: u64) -> Option<Result<SharedCommand>> {
        Some(self.choice(flags).map(|choice| Arc::new(choice) as SharedCommand))
    }

    fn own_copy(&self) -> Option<Result<SharedCommand>> {
        Some(Err(NOT_SUPPORTED.because("copies of graphs with conditional nodes")))
    }
}

/// A conditional node of an executable graph.
struct Choice {
    condition: Arc<Condition>,
    kind: c_uint,
    orders: Vec<LaunchOrder>,
}

impl Command for Choice {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        loop {
            let value = self.condition.value(context, stream)?;
            let number = match self.kind {
                SWITCH => value as usize,
                // A second graph of an `if` is for zero.
                _ => (value == 0).into(),
            };
            let Some(order) = self.orders.get(number) else { return Ok(()) };
            order.run(context, stream)?;
            if self.kind != WHILE {
                return Ok(());
            }
        }
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Conditional
    }
}

layouts! {
    Params = 32, graphs at 16;
}
