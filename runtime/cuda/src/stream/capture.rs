//! Stream capture: work submitted to a stream is added to a graph instead of being run. A call that a graph can't hold, or that would wait
//! for captured work, makes the captures invalid that it would concern, and these end without a graph.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use crate::abi::{
    CAPTURED_EVENT, Code, Handle, ILLEGAL_STATE, INVALID_VALUE, In, Out, Result, STREAM_CAPTURE_IMPLICIT,
    STREAM_CAPTURE_INVALIDATED, STREAM_CAPTURE_MERGE, STREAM_CAPTURE_UNJOINED, STREAM_CAPTURE_UNMATCHED,
    STREAM_CAPTURE_UNSUPPORTED, STREAM_CAPTURE_WRONG_THREAD, lock,
};
use crate::context::Context;
use crate::graph::{Graph, GraphHandle, NodeHandle, edge};
use crate::stream::{self, Capture, MadeStream, NON_BLOCKING, Point, StreamHandle, Used};

/// Modes of captures and of threads: which calls are refused while a capture goes on.
const GLOBAL: c_uint = 0;
const THREAD_LOCAL: c_uint = 1;
const RELAXED: c_uint = 2;

/// A capture: of a stream, and of the streams that join.
pub(crate) struct Sequence {
    pub id: u64,
    mode: c_uint,
    /// The thread that began.
    thread: ThreadId,
    is_invalid: AtomicBool,
    has_ended: AtomicBool,
    /// Whether the graph is the capture's own, and not one of the caller's.
    owns_graph: bool,
}

impl Sequence {
    /// Fails if the capture is invalid.
    pub fn check(&self) -> Result {
        if self.is_invalid.load(Ordering::SeqCst) { Err(STREAM_CAPTURE_INVALIDATED) } else { Ok(()) }
    }

    /// Makes the capture invalid, for this reason.
    pub fn invalidate(&self, reason: Code) -> Code {
        self.is_invalid.store(true, Ordering::SeqCst);
        reason
    }
}

/// The number of streams that are being captured, so that other calls need not look for them.
static CAPTURED: AtomicUsize = AtomicUsize::new(0);

impl Capture {
    fn new(point: Point, is_origin: bool) -> Self {
        CAPTURED.fetch_add(1, Ordering::SeqCst);
        Self { point, is_origin, shown: Vec::new() }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        CAPTURED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The captures for which a predicate of stream and capture holds.
fn concerned(is_concerned: impl Fn(&MadeStream, &Sequence) -> bool) -> Vec<Arc<Sequence>> {
    if CAPTURED.load(Ordering::SeqCst) == 0 {
        return Vec::new();
    }
    let sequence = |stream: &MadeStream| Some(lock(&stream.capture).as_ref()?.point.sequence.clone());
    let all = stream::all().into_iter().filter_map(|stream| Some((sequence(&stream)?, stream)));
    all.filter(|(sequence, stream)| is_concerned(stream, sequence)).map(|(sequence, _)| sequence).collect()
}

/// Makes captures invalid. Fails for this reason if there are any.
fn refuse(concerned: &[Arc<Sequence>], reason: Code) -> Result {
    for sequence in concerned {
        sequence.invalidate(reason);
    }
    if concerned.is_empty() { Ok(()) } else { Err(reason) }
}

/// The captures of streams that a context's legacy stream waits for.
fn before_legacy(context: &Context) -> Vec<Arc<Sequence>> {
    concerned(|stream, _| stream.context.is(context) && stream.flags & NON_BLOCKING == 0)
}

/// Before work in a context's legacy stream.
pub(crate) fn enter_legacy(context: &Context) -> Result {
    refuse(&before_legacy(context), STREAM_CAPTURE_IMPLICIT)
}

/// Before waiting for all of a context's streams.
pub(crate) fn wait_for_all(context: &Context) -> Result {
    refuse(&concerned(|stream, _| stream.context.is(context)), STREAM_CAPTURE_UNSUPPORTED)
}

thread_local! {
    static MODE: Cell<c_uint> = const { Cell::new(GLOBAL) };
}

/// Before a call that may wait for other work, such as an allocation. The mode of a capture and of the thread decides whether the capture
/// permits such calls.
pub(crate) fn potentially_unsafe() -> Result {
    let forbids = |_: &MadeStream, sequence: &Sequence| match MODE.get() {
        RELAXED => false,
        _ if sequence.thread == std::thread::current().id() => sequence.mode != RELAXED,
        THREAD_LOCAL => false,
        _ => sequence.mode == GLOBAL,
    };
    refuse(&concerned(forbids), STREAM_CAPTURE_UNSUPPORTED)
}

/// Makes a stream wait for a point in another captured stream, which captures the stream too.
pub(crate) fn join(capture: &Mutex<Option<Capture>>, point: &Point) -> Result {
    point.sequence.check()?;
    if point.sequence.has_ended.load(Ordering::SeqCst) {
        return Err(CAPTURED_EVENT);
    }
    match &mut *lock(capture) {
        Some(capture) if capture.point.sequence.id == point.sequence.id => {
            for &node in &point.after {
                if !capture.point.after.contains(&node) {
                    capture.point.after.push(node);
                }
            }
            Ok(())
        }
        Some(capture) => {
            point.sequence.invalidate(STREAM_CAPTURE_MERGE);
            Err(capture.point.sequence.invalidate(STREAM_CAPTURE_MERGE))
        }
        capture => {
            *capture = Some(Capture::new(point.clone(), false));
            Ok(())
        }
    }
}

pub(crate) fn begin(stream: StreamHandle, mode: c_uint) -> Result {
    let graph = Graph::new();
    let handle = Handle::new(graph.clone())?;
    let begun = begin_with(stream, (graph, handle, true), Vec::new(), mode);
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
    begin_with(stream, (graph.get()?, graph, false), after.handles(count)?, mode)
}

fn begin_with(
    stream: StreamHandle,
    (graph, handle, owns_graph): (Arc<Graph>, GraphHandle, bool),
    after: Vec<NodeHandle>,
    mode: c_uint,
) -> Result {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let used = stream::used(stream)?;
    if mode > RELAXED {
        return Err(INVALID_VALUE);
    }
    let mut capture = lock(&used.made()?.capture);
    if capture.is_some() {
        return Err(ILLEGAL_STATE);
    }
    let sequence = Arc::new(Sequence {
        id: NUMBER.fetch_add(1, Ordering::Relaxed),
        mode,
        thread: std::thread::current().id(),
        is_invalid: false.into(),
        has_ended: false.into(),
        owns_graph,
    });
    *capture = Some(Capture::new(Point { graph, handle, sequence, after }, true));
    Ok(())
}

pub(crate) fn end(stream: StreamHandle, graph: Out<GraphHandle>) -> Result {
    let used = stream::used(stream)?;
    let made = used.made().map_err(|_| ILLEGAL_STATE)?;
    let Point { sequence, handle, graph: captured, after } = {
        let mut capture = lock(&made.capture);
        match &*capture {
            None => return Err(ILLEGAL_STATE),
            Some(Capture { is_origin: false, .. }) => return Err(STREAM_CAPTURE_UNMATCHED),
            Some(Capture { point, .. })
                if point.sequence.mode != RELAXED && point.sequence.thread != std::thread::current().id() =>
            {
                return Err(STREAM_CAPTURE_WRONG_THREAD);
            }
            Some(_) => capture.take().ok_or(ILLEGAL_STATE)?.point.clone(),
        }
    };
    sequence.has_ended.store(true, Ordering::SeqCst);
    // Every captured stream must have been joined back to this one.
    let mut is_joined = true;
    for other in stream::all() {
        let mut capture = lock(&other.capture);
        if let Some(ended) = capture.take_if(|capture| capture.point.sequence.id == sequence.id) {
            is_joined &= captured.reaches(&after, &ended.point.after)?;
        }
    }
    let ended = sequence.check().and(if is_joined { Ok(()) } else { Err(STREAM_CAPTURE_UNJOINED) });
    if ended.is_err() && sequence.owns_graph {
        let _ = handle.remove();
    }
    graph.set_if_any(if ended.is_ok() { handle } else { Handle::NULL });
    ended
}

/// `CUstreamCaptureStatus`.
const NONE: c_uint = 0;
const ACTIVE: c_uint = 1;
const INVALIDATED: c_uint = 2;

/// The state of a stream's capture. A question about the legacy stream while others that it waits for are captured is an error, which changes
/// nothing.
fn state<'a>(used: &Used, capture: Option<&'a mut Capture>) -> Result<(c_uint, Option<&'a mut Capture>)> {
    if used.made().is_err() && !before_legacy(&used.context).is_empty() {
        return Err(STREAM_CAPTURE_IMPLICIT);
    }
    Ok(match capture {
        None => (NONE, None),
        Some(capture) if capture.point.sequence.check().is_err() => (INVALIDATED, None),
        Some(capture) => (ACTIVE, Some(capture)),
    })
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
    let mut capture = used.made().ok().map(|made| lock(&made.capture));
    let (state, capture) = state(&used, capture.as_mut().and_then(|capture| capture.as_mut()))?;
    let Some(capture) = capture else { return status.set(state) };
    capture.shown.clone_from(&capture.point.after);
    id.set_if_any(capture.point.sequence.id);
    graph.set_if_any(capture.point.handle);
    after.set_if_any(capture.shown.as_ptr());
    count.set_if_any(capture.shown.len());
    status.set(state)
}

pub(crate) fn is_capturing(stream: StreamHandle) -> Result<c_uint> {
    let used = stream::used(stream)?;
    let mut capture = used.made().ok().map(|made| lock(&made.capture));
    Ok(state(&used, capture.as_mut().and_then(|capture| capture.as_mut()))?.0)
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
    let new = c_uint::try_from(mode.as_in().get()?).ok().filter(|&new| new <= RELAXED).ok_or(INVALID_VALUE)?;
    mode.set(MODE.replace(new).cast_signed())
}
