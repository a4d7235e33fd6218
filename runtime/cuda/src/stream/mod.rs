//! Streams: created ones, and the default streams, which NULL and the handles 1 and 2 stand for.

pub(crate) mod capture;
pub(crate) mod event;
pub(crate) mod launch_attributes;

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::ThreadId;

use ptx2spv_runtime::{Stream, StreamOptions};

use crate::abi::call::is_per_thread;
use crate::abi::{
    Handle, HostFunction, INVALID_HANDLE, INVALID_VALUE, In, LAUNCH_FAILED, Memory, NOT_READY, Out, Result,
    STREAM_CAPTURE_UNSUPPORTED, SUCCESS, StreamCallback, lock, objects,
};
use crate::context::{self, Context, ContextHandle, exit, state};
use crate::graph::command::{HostCall, SharedCommand};
use crate::graph::{Graph, GraphHandle, NodeHandle, edge};
use crate::stream::capture::Sequence;
use crate::stream::launch_attributes::{Attributes, PRIORITY, Value};

pub(crate) struct MadeStream {
    context: Arc<Context>,
    stream: Stream,
    flags: c_uint,
    priority: c_int,
    id: u64,
    pub capture: Mutex<Option<Capture>>,
    attributes: Mutex<Attributes>,
}

pub(crate) type StreamHandle = Handle<MadeStream>;

objects!(STREAMS: MadeStream = 2, INVALID_HANDLE, 3);

/// The part of a stream in a capture.
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
    pub sequence: Arc<Sequence>,
    /// Nodes that the next node depends on.
    pub after: Vec<NodeHandle>,
}

impl Capture {
    pub fn add(&mut self, command: SharedCommand) -> Result {
        self.point.sequence.check()?;
        let Point { graph, after, .. } = &mut self.point;
        let node = graph.add(command, edge::plain(after.clone()))?;
        *after = vec![node];
        Ok(())
    }
}

/// Per-thread default streams, by context and thread.
static OF_THREADS: LazyLock<Mutex<OfThreads>> = LazyLock::new(Mutex::default);

type OfThreads = HashMap<(u64, ThreadId), Arc<MadeStream>>;

/// Destroys a thread's default streams at its end. Those that are captured stay, for the end of the capture.
struct ThreadEnd(ThreadId);

thread_local! {
    static THREAD_END: ThreadEnd = ThreadEnd(std::thread::current().id());
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        // A forked child may have locks that are never unlocked.
        if !exit::is_forked() {
            let is_over = |thread: ThreadId, made: &MadeStream| thread == self.0 && lock(&made.capture).is_none();
            let over: Vec<_> = lock(&OF_THREADS).extract_if(|(_, thread), made| is_over(*thread, made)).collect();
            // Work already submitted still completes.
            drop(over);
        }
    }
}

fn per_thread(context: &Arc<Context>) -> Arc<MadeStream> {
    let make = |stream| Arc::new(MadeStream::new(context, stream, 0, LEAST_PRIORITY, PER_THREAD as u64));
    let own = |ThreadEnd(thread): &ThreadEnd| {
        let first = || make(context.device.stream());
        lock(&OF_THREADS).entry((context.id, *thread)).or_insert_with(first).clone()
    };
    // In functions that the thread calls after that, at its end or at the exit, the legacy default stream follows the thread's earlier work.
    THREAD_END.try_with(own).unwrap_or_else(|_| make(context.device.default_stream()))
}

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

/// Priorities are stored. Vulkan only distinguishes the lowest from the others.
const LEAST_PRIORITY: c_int = 0;
const GREATEST_PRIORITY: c_int = -5;

/// A stream in use by a call.
pub(crate) struct Used {
    pub context: Arc<Context>,
    pub stream: Stream,
    /// The stream's own state. The legacy default stream has none.
    made: Option<Arc<MadeStream>>,
}

impl MadeStream {
    fn new(context: &Arc<Context>, stream: Stream, flags: c_uint, priority: c_int, id: u64) -> Self {
        Self {
            context: context.clone(),
            stream,
            flags,
            priority,
            id,
            capture: Mutex::default(),
            attributes: Mutex::default(),
        }
    }

    fn used(self: Arc<Self>) -> Used {
        Used { context: self.context.clone(), stream: self.stream.clone(), made: Some(self) }
    }
}

impl Used {
    /// Runs a command in the stream, or adds it to a graph if the stream is being captured.
    pub fn submit(&self, command: SharedCommand) -> Result {
        if let Some(made) = &self.made {
            if let Some(capture) = &mut *lock(&made.capture) {
                return capture.add(command);
            }
        } else {
            capture::enter_legacy(&self.context)?;
        }
        command.run(&self.context, &self.stream).map_err(|code| self.context.broken_by(code))
    }

    /// Whether commands become nodes of a graph. Fails if the capture is invalid, and for the legacy stream while streams ordered with it are
    /// captured.
    pub fn is_capturing(&self) -> Result<bool> {
        self.point().map(|point| point.is_some())
    }

    /// The stream's position in the graph, if it is being captured. Fails as [`Used::is_capturing`].
    pub fn point(&self) -> Result<Option<Point>> {
        let Some(made) = &self.made else {
            capture::enter_legacy(&self.context)?;
            return Ok(None);
        };
        let point = lock(&made.capture).as_ref().map(|capture| capture.point.clone());
        point.map(|point| point.sequence.check().map(|()| point)).transpose()
    }

    /// The stream's state. Fails for the legacy default stream, which can't be captured.
    pub fn made(&self) -> Result<&Arc<MadeStream>> {
        self.made.as_ref().ok_or(STREAM_CAPTURE_UNSUPPORTED)
    }

    /// Fails if the stream is being captured, and makes that capture invalid: for operations that graphs can't hold.
    pub fn uncaptured(self) -> Result<Self> {
        match self.point()? {
            Some(point) => Err(point.sequence.invalidate(STREAM_CAPTURE_UNSUPPORTED)),
            None => Ok(self),
        }
    }
}

pub(crate) fn used(handle: StreamHandle) -> Result<Used> {
    match handle.value() {
        0 if is_per_thread() => own(),
        0 | LEGACY => {
            let context = context::current()?;
            Ok(Used { stream: context.device.default_stream(), context, made: None })
        }
        PER_THREAD => own(),
        _ => {
            state::check()?;
            let made = handle.get()?;
            made.context.check()?;
            Ok(made.used())
        }
    }
}

/// The thread's own default stream.
fn own() -> Result<Used> {
    let context = context::current()?;
    Ok(per_thread(&context).used())
}

/// The stream for functions that don't name one, and return when their work is done.
pub(crate) fn default() -> Result<Used> {
    used(Handle::NULL)?.uncaptured()
}

pub(crate) fn create(flags: c_uint) -> Result<StreamHandle> {
    create_with_priority(flags, LEAST_PRIORITY)
}

pub(crate) fn create_with_priority(flags: c_uint, priority: c_int) -> Result<StreamHandle> {
    let context = context::current()?;
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let urgent = priority < LEAST_PRIORITY;
    let non_blocking = match flags {
        0 => false,
        NON_BLOCKING => true,
        _ => return Err(INVALID_VALUE),
    };
    let made = context.device.stream_with(StreamOptions::default().non_blocking(non_blocking).urgent(urgent));
    Handle::new(Arc::new(MadeStream::new(&context, made, flags, priority, next_id())))
}

/// The least and the greatest priority.
pub(crate) fn priority_range() -> Result<(c_int, c_int)> {
    context::current().map(|_| (LEAST_PRIORITY, GREATEST_PRIORITY))
}

/// Ids 1 and 2 belong to the default streams.
fn next_id() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(3);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn destroy(stream: StreamHandle) -> Result {
    // Work already submitted to the stream still completes.
    stream.remove().map(|_| ())
}

/// Waits for all streams of the current context.
pub(crate) fn synchronize_all() -> Result {
    synchronize_context(ContextHandle::NULL)
}

/// Waits for all streams of a context, the current one for NULL.
pub(crate) fn synchronize_context(context: ContextHandle) -> Result {
    let context = context::given_or_current(context)?;
    context.check()?;
    capture::wait_for_all(&context)?;
    context.after(context.device.synchronize())
}

pub(crate) fn synchronize(stream: StreamHandle) -> Result {
    let Used { context, stream, .. } = used(stream)?.uncaptured()?;
    capture::potentially_unsafe()?;
    context.after(stream.synchronize())
}

pub(crate) fn query(stream: StreamHandle) -> Result {
    let Used { context, stream, .. } = used(stream)?.uncaptured()?;
    capture::potentially_unsafe()?;
    if context.after(stream.is_idle())? { Ok(()) } else { Err(NOT_READY) }
}

pub(crate) fn flags(stream: StreamHandle) -> Result<c_uint> {
    used(stream)?;
    Ok(stream.get().map_or(0, |made| made.flags))
}

pub(crate) fn priority(stream: StreamHandle) -> Result<c_int> {
    used(stream)?;
    Ok(stream.get().map_or(LEAST_PRIORITY, |made| made.priority))
}

pub(crate) fn id(stream: StreamHandle) -> Result<u64> {
    used(stream)?;
    let default = if stream.value() == PER_THREAD || is_per_thread() { PER_THREAD } else { LEGACY };
    Ok(stream.get().map_or(default as u64, |made| made.id))
}

pub(crate) fn context(stream: StreamHandle) -> Result<ContextHandle> {
    Ok(used(stream)?.context.handle())
}

/// There are no green contexts.
pub(crate) fn contexts(stream: StreamHandle, context: Out<ContextHandle>, green: Out<usize>) -> Result {
    context.answer(|| self::context(stream))?;
    green.set_if_any(0);
    Ok(())
}

pub(crate) fn device(stream: StreamHandle) -> Result<c_int> {
    Ok(used(stream)?.context.ordinal)
}

/// Attributes of the legacy default streams, by context.
static OF_LEGACY: LazyLock<Mutex<HashMap<u64, Attributes>>> = LazyLock::new(Mutex::default);

impl Used {
    /// Reads or changes the stream's attributes. They are hints, which are stored.
    fn attributes<T>(&self, act: impl FnOnce(&mut Attributes) -> T) -> T {
        match &self.made {
            Some(made) => act(&mut lock(&made.attributes)),
            None => act(lock(&OF_LEGACY).entry(self.context.id).or_default()),
        }
    }
}

pub(crate) fn attribute(stream: StreamHandle, number: c_uint) -> Result<Value> {
    let used = used(stream)?;
    let (is_set, mut known) = used.attributes(|known| (known.has(number), known.of_stream(number)));
    if let (PRIORITY, false, Ok(known)) = (number, is_set, &mut known) {
        known[0] = used.made.map_or(LEAST_PRIORITY, |made| made.priority).cast_unsigned();
    }
    known
}

pub(crate) fn set_attribute(stream: StreamHandle, number: c_uint, value: In<Value>) -> Result {
    let used = used(stream)?;
    let value = value.get()?;
    used.attributes(|attributes| attributes.set_of_stream(number, value))
}

pub(crate) fn copy_attributes(to: StreamHandle, from: StreamHandle) -> Result {
    let (to, from) = (used(to)?, used(from)?);
    let known = from.attributes(|attributes| attributes.clone());
    to.attributes(|attributes| *attributes = known);
    Ok(())
}

pub(crate) fn launch_host_function(stream: StreamHandle, function: HostFunction, data: Memory) -> Result {
    let used = used(stream)?;
    used.submit(Arc::new(HostCall { function: function.ok_or(INVALID_VALUE)?, data }))
}

pub(crate) fn add_callback(stream: StreamHandle, callback: StreamCallback, data: Memory, flags: c_uint) -> Result {
    let handle = stream.value();
    let Used { stream, context, .. } = used(stream)?.uncaptured()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    let callback = callback.ok_or(INVALID_VALUE)?;
    // Captures the whole struct, which is `Send`, instead of the raw pointer inside it.
    let call = move |ended_well| {
        let data = data;
        let status = match context.check() {
            Ok(()) if ended_well => SUCCESS,
            Ok(()) => LAUNCH_FAILED,
            Err(code) => code,
        };
        // SAFETY: the caller passed this function and its data for one call, on a thread of the driver.
        state::call_back(|| unsafe { callback(handle, status.0, data.pointer()) });
    };
    Ok(stream.call_always(call)?)
}

/// All created streams that are not destroyed, and the threads' own.
fn all() -> Vec<Arc<MadeStream>> {
    let mut all = STREAMS.objects();
    all.extend(lock(&OF_THREADS).values().cloned());
    all
}

/// Destroys the streams of a context.
pub(crate) fn end_context(context: &Context) {
    lock(&OF_LEGACY).remove(&context.id);
    let of_threads: Vec<_> = lock(&OF_THREADS).extract_if(|(id, _), _| *id == context.id).collect();
    drop(of_threads);
    STREAMS.remove_all(|made| made.context.is(context));
}
