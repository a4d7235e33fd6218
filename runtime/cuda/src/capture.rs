//! Captures: what is asked for in a stream goes into a graph instead.

use std::sync::{Arc, Mutex};

use crate::code::{Code, STREAM_CAPTURE_MERGE};
use crate::command::SharedCommand;
use crate::graph::{Graph, GraphHandle, NodeHandle};
use crate::sync::lock;

/// The capture that a stream takes part in.
pub(crate) struct Capture {
    pub point: Point,
    /// Whether the capture began in the stream; others have joined by events.
    pub is_origin: bool,
    /// What was last shown to the caller, who has it until the stream goes on.
    pub shown: Vec<NodeHandle>,
}

/// Where a stream that is being captured is.
#[derive(Clone)]
pub(crate) struct Point {
    pub graph: Arc<Graph>,
    pub handle: GraphHandle,
    pub id: u64,
    /// What comes next comes after these.
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

/// Has a stream come after a point of another one that is being captured, and be captured too.
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
