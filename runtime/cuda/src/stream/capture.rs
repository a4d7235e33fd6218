//! Stream capture: work submitted to the stream is added to a graph instead of being run.

use std::sync::{Arc, Mutex};

use crate::abi::code::{Code, STREAM_CAPTURE_MERGE};
use crate::abi::sync::lock;
use crate::graph::command::SharedCommand;
use crate::graph::{Graph, GraphHandle, NodeHandle};

/// The capture that a stream takes part in.
pub(crate) struct Capture {
    pub point: Point,
    /// Whether the capture began in this stream. Other streams join through events.
    pub is_origin: bool,
    /// The nodes last returned to the caller, who may read them until the stream's next call.
    pub shown: Vec<NodeHandle>,
}

/// The position of a captured stream in the graph.
#[derive(Clone)]
pub(crate) struct Point {
    pub graph: Arc<Graph>,
    pub handle: GraphHandle,
    pub id: u64,
    /// Nodes that the next node depends on.
    pub after: Vec<NodeHandle>,
}

impl Capture {
    pub fn new(point: Point, is_origin: bool) -> Self {
        Self { point, is_origin, shown: Vec::new() }
    }

    pub fn add(&mut self, command: SharedCommand) -> Result<(), Code> {
        let Point { graph, after, .. } = &mut self.point;
        let node = graph.add(command, after.clone())?;
        *after = vec![node];
        Ok(())
    }
}

/// Makes a stream wait for a point in another captured stream, which captures the stream too.
pub(crate) fn join(capture: &Mutex<Option<Capture>>, point: &Point) -> Result<(), Code> {
    match &mut *lock(capture) {
        Some(capture) if capture.point.id == point.id => {
            for &node in &point.after {
                if !capture.point.after.contains(&node) {
                    capture.point.after.push(node);
                }
            }
            Ok(())
        }
        Some(_) => Err(STREAM_CAPTURE_MERGE),
        capture => {
            *capture = Some(Capture::new(point.clone(), false));
            Ok(())
        }
    }
}
