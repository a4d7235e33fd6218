//! Streams: made ones, and the default ones that NULL and the handles 1 and 2 stand for.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use ptx2spv_runtime::{Device, Stream};

use crate::call::is_per_thread;
use crate::code::{Code, INVALID_VALUE, NOT_READY};
use crate::context::{self, Context, ContextHandle};
use crate::event::EventHandle;
use crate::handle::{Handle, Object, Table};
use crate::raw::{HostFunction, Memory, Out, StreamCallback};
use crate::sync::lock;

/// A made stream.
pub(crate) struct MadeStream {
    context: Arc<Context>,
    stream: Stream,
    flags: c_uint,
    priority: c_int,
    id: u64,
}

pub(crate) type StreamHandle = Handle<MadeStream>;

static STREAMS: Table<MadeStream> = Table::new();

impl Object for MadeStream {
    const TAG: u8 = 2;

    fn table() -> &'static Table<Self> {
        &STREAMS
    }
}

/// A context's streams that nobody has to make.
pub(crate) struct DefaultStreams {
    legacy: Stream,
    per_thread: Mutex<HashMap<ThreadId, Stream>>,
}

impl DefaultStreams {
    pub fn new(device: &Device) -> Self {
        Self { legacy: device.default_stream(), per_thread: Mutex::default() }
    }

    fn per_thread(&self, device: &Device) -> Stream {
        lock(&self.per_thread).entry(std::thread::current().id()).or_insert_with(|| device.stream()).clone()
    }
}

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

/// Priorities are kept, and no device minds them.
pub(crate) const LEAST_PRIORITY: c_int = 0;
pub(crate) const GREATEST_PRIORITY: c_int = -5;

/// A stream to do something in.
pub(crate) struct Used {
    pub context: Arc<Context>,
    pub stream: Stream,
}

/// The stream of a handle.
pub(crate) fn used(handle: StreamHandle) -> Result<Used, Code> {
    match handle.value() {
        0 if is_per_thread() => own(),
        0 | LEGACY => {
            let context = context::current()?;
            Ok(Used { stream: context.streams.legacy.clone(), context })
        }
        PER_THREAD => own(),
        _ => {
            crate::state::device()?;
            let made = handle.get()?;
            made.context.check()?;
            Ok(Used { context: made.context.clone(), stream: made.stream.clone() })
        }
    }
}

/// The thread's own default stream.
fn own() -> Result<Used, Code> {
    let context = context::current()?;
    Ok(Used { stream: context.streams.per_thread(&context.device), context })
}

/// The stream of functions that name none.
pub(crate) fn default() -> Result<Used, Code> {
    used(Handle::NULL)
}

pub(crate) fn create(stream: Out<StreamHandle>, flags: c_uint) -> Result<(), Code> {
    create_with_priority(stream, flags, LEAST_PRIORITY)
}

pub(crate) fn create_with_priority(stream: Out<StreamHandle>, flags: c_uint, priority: c_int) -> Result<(), Code> {
    let stream = stream.needed()?;
    let context = context::current()?;
    let made = match flags {
        0 => context.device.stream(),
        NON_BLOCKING => context.device.non_blocking_stream(),
        _ => return Err(INVALID_VALUE),
    };
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    stream.set(Handle::new(Arc::new(MadeStream { context, stream: made, flags, priority, id: next_id() }))?)
}

/// The first two are the default streams'.
fn next_id() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(3);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn destroy(stream: StreamHandle) -> Result<(), Code> {
    crate::state::device()?;
    // What was asked for there is done all the same.
    stream.remove().map(|_| ())
}

pub(crate) fn synchronize(stream: StreamHandle) -> Result<(), Code> {
    let Used { context, stream } = used(stream)?;
    context.after(stream.synchronize())
}

pub(crate) fn query(stream: StreamHandle) -> Result<(), Code> {
    let Used { context, stream } = used(stream)?;
    if context.after(stream.is_idle())? { Ok(()) } else { Err(NOT_READY) }
}

pub(crate) fn wait_event(stream: StreamHandle, event: EventHandle, flags: c_uint) -> Result<(), Code> {
    let Used { stream, .. } = used(stream)?;
    let event = event.get()?;
    // Flag 1 is for waits in graphs.
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    Ok(stream.wait_event(&event.event)?)
}

pub(crate) fn flags(stream: StreamHandle, flags: Out<c_uint>) -> Result<(), Code> {
    let flags = flags.needed()?;
    used(stream)?;
    flags.set(stream.get().map_or(0, |made| made.flags))
}

pub(crate) fn priority(stream: StreamHandle, priority: Out<c_int>) -> Result<(), Code> {
    let priority = priority.needed()?;
    used(stream)?;
    priority.set(stream.get().map_or(LEAST_PRIORITY, |made| made.priority))
}

pub(crate) fn id(stream: StreamHandle, id: Out<u64>) -> Result<(), Code> {
    let id = id.needed()?;
    used(stream)?;
    let default = if stream.value() == PER_THREAD || is_per_thread() { PER_THREAD } else { LEGACY };
    id.set(stream.get().map_or(default as u64, |made| made.id))
}

pub(crate) fn context(stream: StreamHandle, context: Out<ContextHandle>) -> Result<(), Code> {
    let context = context.needed()?;
    context.set(used(stream)?.context.handle())
}

/// The green context is not there.
pub(crate) fn contexts(stream: StreamHandle, context: Out<ContextHandle>, green: Out<usize>) -> Result<(), Code> {
    self::context(stream, context)?;
    green.set_if_any(0);
    Ok(())
}

pub(crate) fn device(stream: StreamHandle, device: Out<c_int>) -> Result<(), Code> {
    let device = device.needed()?;
    used(stream)?;
    device.set(0)
}

/// No stream is captured.
pub(crate) fn is_capturing(stream: StreamHandle, status: Out<c_uint>) -> Result<(), Code> {
    let status = status.needed()?;
    used(stream)?;
    status.set(0)
}

/// What a caller's function is given, for another thread.
struct UserData(Memory);

// SAFETY: that the function may have the pointer on the driver's thread is CUDA's contract with the caller.
unsafe impl Send for UserData {}

impl UserData {
    fn get(&self) -> *mut c_void {
        self.0.pointer()
    }
}

pub(crate) fn launch_host_function(stream: StreamHandle, function: HostFunction, data: Memory) -> Result<(), Code> {
    let Used { stream, .. } = used(stream)?;
    let (function, data) = (function.ok_or(INVALID_VALUE)?, UserData(data));
    // SAFETY: the caller's function takes the caller's data, once, on a thread of the driver's.
    stream.call(move || unsafe { function(data.get()) })?;
    Ok(())
}

pub(crate) fn add_callback(
    stream: StreamHandle,
    callback: StreamCallback,
    data: Memory,
    flags: c_uint,
) -> Result<(), Code> {
    let handle = stream.value();
    let Used { stream, .. } = used(stream)?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    let (callback, data) = (callback.ok_or(INVALID_VALUE)?, UserData(data));
    // SAFETY: as for `launch_host_function`.
    stream.call(move || unsafe { callback(handle, 0, data.get()) })?;
    Ok(())
}

/// Ends the streams of a context.
pub(crate) fn end_context(context: &Context) {
    STREAMS.remove_all(|made| made.context.is(context));
}
