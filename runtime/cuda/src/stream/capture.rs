//! Stream capture: work submitted to a stream is added to a graph instead of being run.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{
    Handle, ILLEGAL_STATE, INVALID_VALUE, In, Out, Result, STREAM_CAPTURE_UNJOINED, STREAM_CAPTURE_UNMATCHED, lock,
};
use crate::graph::{Graph, GraphHandle, NodeHandle, edge};
use crate::stream::{self, Capture, Point, StreamHandle};

/// The highest capture mode. Modes restrict calls of other threads; no call needs that here.
const MODES: c_uint = 3;

pub(crate) fn begin(stream: StreamHandle, mode: c_uint) -> Result {
    let graph = Graph::new();
    let handle = Handle::new(graph.clone())?;
    let begun = begin_with(stream, graph, handle, Vec::new(), mode);
    if begun.is_err() {
        // The handle hasn't been returned to the caller.
        let _ = handle.remove();
    }
    begun
}

pub(crate) fn begin_to_graph(
    stream: StreamHandle,
    graph: GraphHandle,
    after: In<NodeHandle>,
    (data, count): (In<u64>, usize),
    mode: c_uint,
) -> Result {
    edge::check_plain(data, count)?;
    begin_with(stream, graph.get()?, graph, after.handles(count)?, mode)
}

fn begin_with(
    stream: StreamHandle,
    graph: Arc<Graph>,
    handle: GraphHandle,
    after: Vec<NodeHandle>,
    mode: c_uint,
) -> Result {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let used = stream::used(stream)?;
    if mode >= MODES {
        return Err(INVALID_VALUE);
    }
    let mut capture = lock(&used.made()?.capture);
    if capture.is_some() {
        return Err(ILLEGAL_STATE);
    }
    let id = NUMBER.fetch_add(1, Ordering::Relaxed);
    *capture = Some(Capture::new(Point { graph, handle, id, after }, true));
    Ok(())
}

pub(crate) fn end(stream: StreamHandle, graph: Out<GraphHandle>) -> Result {
    let used = stream::used(stream)?;
    let made = used.made().map_err(|_| ILLEGAL_STATE)?;
    let Point { id, handle, graph: captured, after } = {
        let mut capture = lock(&made.capture);
        match &*capture {
            None => return Err(ILLEGAL_STATE),
            Some(Capture { is_origin: false, .. }) => return Err(STREAM_CAPTURE_UNMATCHED),
            Some(_) => capture.take().ok_or(ILLEGAL_STATE)?.point,
        }
    };
    // Every captured stream must have been joined back to this one.
    let mut is_joined = true;
    for other in stream::all() {
        let mut capture = lock(&other.capture);
        if let Some(ended) = capture.take_if(|capture| capture.point.id == id) {
            is_joined &= captured.reaches(&after, &ended.point.after)?;
        }
    }
    if !is_joined {
        let _ = handle.remove();
        graph.set_if_any(Handle::NULL);
        return Err(STREAM_CAPTURE_UNJOINED);
    }
    graph.set_if_any(handle);
    Ok(())
}

/// `CU_STREAM_CAPTURE_STATUS_ACTIVE`.
const ACTIVE: c_uint = 1;

pub(crate) fn is_capturing(stream: StreamHandle) -> Result<c_uint> {
    let used = stream::used(stream)?;
    Ok(if used.is_capturing() { ACTIVE } else { 0 })
}

pub(crate) fn info(
    stream: StreamHandle,
    status: Out<c_uint>,
    id: Out<u64>,
    graph: Out<GraphHandle>,
    after: Out<*const NodeHandle>,
    edges: Out<usize>,
    count: Out<usize>,
) -> Result {
    // Edge data is not supported.
    edges.set_if_any(0);
    let status = status.needed()?;
    let used = stream::used(stream)?;
    let Ok(made) = used.made() else { return status.set(0) };
    let mut capture = lock(&made.capture);
    let Some(capture) = &mut *capture else { return status.set(0) };
    capture.shown.clone_from(&capture.point.after);
    id.set_if_any(capture.point.id);
    graph.set_if_any(capture.point.handle);
    after.set_if_any(capture.shown.as_ptr());
    count.set_if_any(capture.shown.len());
    status.set(ACTIVE)
}

pub(crate) fn update_dependencies(
    stream: StreamHandle,
    nodes: In<NodeHandle>,
    (data, count): (In<u64>, usize),
    flags: c_uint,
) -> Result {
    let used = stream::used(stream)?;
    let made = used.made().map_err(|_| ILLEGAL_STATE)?;
    edge::check_plain(data, count)?;
    let nodes = nodes.handles(count)?;
    let mut capture = lock(&made.capture);
    let after = &mut capture.as_mut().ok_or(ILLEGAL_STATE)?.point.after;
    match flags {
        0 => after.extend(nodes),
        1 => *after = nodes,
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(crate) fn exchange_mode(mode: Out<c_int>) -> Result {
    thread_local! {
        static MODE: Cell<c_int> = const { Cell::new(0) };
    }
    let new = mode.as_in().get()?;
    if !(0..MODES as c_int).contains(&new) {
        return Err(INVALID_VALUE);
    }
    mode.set(MODE.replace(new))
}
