//! Events.

use std::ffi::c_uint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Error, Event, Stream};

use crate::abi::{
    CAPTURED_EVENT, Handle, ILLEGAL_STATE, INVALID_HANDLE, INVALID_VALUE, NOT_READY, Out, Result,
    STREAM_CAPTURE_IMPLICIT, STREAM_CAPTURE_ISOLATION, lock, objects,
};
use crate::context::{self, Context};
use crate::graph::command::{Command, NodeKind, SharedCommand};
use crate::stream::{self, Point, StreamHandle, Used, capture};

/// An event with its CUDA state.
pub(crate) struct MadeEvent {
    context: Arc<Context>,
    event: Event,
    has_time: bool,
    pub is_interprocess: bool,
    recorded: AtomicBool,
    /// The captured stream's position when the event was last recorded in one.
    captured: Mutex<Option<Point>>,
}

pub(crate) type EventHandle = Handle<MadeEvent>;

objects!(EVENTS: MadeEvent = 3);

/// Flags of events: blocking wait, no timestamps, interprocess.
const DISABLE_TIMING: c_uint = 2;
const INTERPROCESS: c_uint = 4;
const FLAGS: c_uint = 7;

pub(crate) fn create(event: Out<EventHandle>, flags: c_uint) -> Result {
    let event = event.needed()?;
    let context = context::current()?;
    if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) {
        return Err(INVALID_VALUE);
    }
    let has_time = flags & DISABLE_TIMING == 0;
    let made = match has_time.then(|| context.device.timing_event()) {
        // On a device without timestamps, the event is made without.
        None | Some(Err(Error::NoTimestamps(_))) => context.device.event(),
        Some(made) => made?,
    };
    event.set(Handle::new(Arc::new(MadeEvent {
        context,
        event: made,
        has_time,
        is_interprocess: flags & INTERPROCESS != 0,
        recorded: false.into(),
        captured: Mutex::default(),
    }))?)
}

pub(crate) fn destroy(event: EventHandle) -> Result {
    crate::context::state::check()?;
    event.remove().map(|_| ())
}

pub(crate) fn record(event: EventHandle, stream: StreamHandle) -> Result {
    record_with_flags(event, stream, 0)
}

pub(crate) fn record_with_flags(event: EventHandle, stream: StreamHandle, flags: c_uint) -> Result {
    let used = stream::used(stream)?;
    if is_external(flags, &used)? {
        return used.submit(record_command(event)?);
    }
    let made = event.get()?;
    if let Some(point) = used.point()? {
        *lock(&made.captured) = Some(point);
        return Ok(());
    }
    if !made.context.shares_device(&used.context) {
        return Err(INVALID_HANDLE.because("an event is recorded in a stream of another device"));
    }
    *lock(&made.captured) = None;
    made.record_in(&used.stream)
}

impl MadeEvent {
    fn record_in(&self, stream: &Stream) -> Result {
        self.event.record(stream)?;
        self.recorded.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// The captured stream's position, if the event was recorded in one.
    fn captured(&self) -> Option<Point> {
        lock(&self.captured).clone()
    }
}

/// An event with the program's handle.
pub(crate) struct Known {
    pub handle: EventHandle,
    event: Arc<MadeEvent>,
}

impl Known {
    pub fn new(handle: EventHandle) -> Result<Self> {
        Ok(Self { handle, event: handle.get()? })
    }
}

pub(crate) struct Record(pub Known);

pub(crate) struct Wait(pub Known);

impl Command for Record {
    fn run(&self, _context: &Context, stream: &Stream) -> Result {
        self.0.event.record_in(stream)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Record
    }
}

impl Command for Wait {
    fn run(&self, _context: &Context, stream: &Stream) -> Result {
        let MadeEvent { context, event, .. } = &*self.0.event;
        if !stream.device().is(&context.device) {
            // Its kernels may have printed, or have failed.
            context.after(event.synchronize())?;
        }
        Ok(stream.wait_event(event)?)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Wait
    }
}

pub(crate) fn record_command(event: EventHandle) -> Result<SharedCommand> {
    Ok(Arc::new(Record(Known::new(event)?)))
}

pub(crate) fn wait_command(event: EventHandle) -> Result<SharedCommand> {
    Ok(Arc::new(Wait(Known::new(event)?)))
}

pub(crate) fn wait(stream: StreamHandle, event: EventHandle, flags: c_uint) -> Result {
    let used = stream::used(stream)?;
    let known = Known::new(event)?;
    if is_external(flags, &used)? {
        return used.submit(Arc::new(Wait(known)));
    }
    match known.event.captured() {
        Some(point) => match used.made() {
            Ok(made) => capture::join(&made.capture, &point),
            Err(_) => Err(point.sequence.invalidate(STREAM_CAPTURE_IMPLICIT)),
        },
        None => match used.point()? {
            Some(point) => Err(point.sequence.invalidate(STREAM_CAPTURE_ISOLATION)),
            None => used.submit(Arc::new(Wait(known))),
        },
    }
}

/// Whether flags ask for a node of a graph that records or waits for an event which others outside of the graph use too. Such flags are
/// for captured streams only.
fn is_external(flags: c_uint, stream: &Used) -> Result<bool> {
    match flags {
        0 => Ok(false),
        1 if stream.is_capturing()? => Ok(true),
        1 => Err(ILLEGAL_STATE),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn query(event: EventHandle) -> Result {
    let made = waited_for(event)?;
    if made.context.after(made.event.has_passed())? { Ok(()) } else { Err(NOT_READY) }
}

pub(crate) fn synchronize(event: EventHandle) -> Result {
    let made = waited_for(event)?;
    made.context.after(made.event.synchronize())
}

fn live(event: EventHandle) -> Result<Arc<MadeEvent>> {
    crate::context::state::check()?;
    let made = event.get()?;
    made.context.check()?;
    if made.captured().is_some() {
        return Err(CAPTURED_EVENT);
    }
    Ok(made)
}

/// The event, for a question that makes a capture invalid.
fn waited_for(event: EventHandle) -> Result<Arc<MadeEvent>> {
    let made = live(event).inspect_err(|&code| {
        let captured = event.get().ok().and_then(|made| made.captured()).filter(|_| code == CAPTURED_EVENT);
        captured.map(|point| point.sequence.invalidate(code));
    })?;
    capture::potentially_unsafe()?;
    Ok(made)
}

pub(crate) fn elapsed(start: EventHandle, end: EventHandle) -> Result<f32> {
    let (start, end) = (live(start)?, live(end)?);
    for made in [&start, &end] {
        if !made.has_time || !made.recorded.load(Ordering::SeqCst) {
            return Err(INVALID_HANDLE);
        }
        if !made.event.has_passed()? {
            return Err(NOT_READY);
        }
    }
    if !end.context.shares_device(&start.context) {
        return Err(INVALID_HANDLE.because("the events are of different devices"));
    }
    let time = end.context.after(end.event.elapsed_since(&start.event))?;
    Ok(time.as_secs_f32() * 1000.0)
}

/// Destroys the events of a context.
pub(crate) fn end_context(context: &Context) {
    EVENTS.remove_all(|made| made.context.is(context));
}
