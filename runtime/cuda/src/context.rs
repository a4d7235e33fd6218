//! Contexts: made ones and the device's primary one, a stack of them for each thread, and what belongs to them.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use ptx2spv_runtime::Device;
use ptx2spv_translator::interface::ServiceSizes;

use crate::code::{CONTEXT_IS_DESTROYED, Code, INVALID_CONTEXT, INVALID_VALUE, UNSUPPORTED_LIMIT};
use crate::handle::{Handle, Object, Table};
use crate::raw::{In, Memory, Out};
use crate::stream::DefaultStreams;
use crate::sync::lock;
use crate::{array, event, function, memory, module, reference, state, stream, texture};

/// A context. All share the one device and its queue.
pub(crate) struct Context {
    pub device: Device,
    id: u64,
    handle: OnceLock<ContextHandle>,
    flags: AtomicU32,
    is_primary: bool,
    /// What went wrong for good, as a code; 0 while nothing has.
    broken: AtomicU32,
    destroyed: AtomicBool,
    limits: Mutex<[usize; LIMITS]>,
    pub streams: DefaultStreams,
}

pub(crate) type ContextHandle = Handle<Context>;

static CONTEXTS: Table<Context> = Table::new();

impl Object for Context {
    const TAG: u8 = 1;
    const BAD: Code = INVALID_CONTEXT;

    fn table() -> &'static Table<Self> {
        &CONTEXTS
    }
}

/// Numbers of limits: stack, printf buffer, heap, depth, pending launches, granularity, persisting L2.
const LIMITS: usize = 7;

/// The limits that modules loaded later go by.
const PRINT: usize = 1;
const HEAP: usize = 2;

/// The most bytes that they can be.
const MAX_REGION: usize = 1 << 30;

/// What a context's limits are at first.
const FIRST_LIMITS: [usize; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

thread_local! {
    /// The last is the current one.
    static STACK: RefCell<Vec<ContextHandle>> = const { RefCell::new(Vec::new()) };
}

fn with_stack<T>(act: impl FnOnce(&mut Vec<ContextHandle>) -> T) -> Result<T, Code> {
    // Without one at the very end of a thread.
    STACK.try_with(|stack| act(&mut stack.borrow_mut())).map_err(|_| INVALID_CONTEXT)
}

fn top() -> Result<Option<ContextHandle>, Code> {
    with_stack(|stack| stack.last().copied())
}

/// The thread's current context, if that works.
pub(crate) fn current() -> Result<Arc<Context>, Code> {
    let context = current_even_if_broken()?;
    context.check()?;
    Ok(context)
}

fn current_even_if_broken() -> Result<Arc<Context>, Code> {
    state::device()?;
    let handle = top()?.ok_or(INVALID_CONTEXT)?;
    handle.get().map_err(|_| CONTEXT_IS_DESTROYED)
}

impl Context {
    fn make(device: Device, flags: c_uint, is_primary: bool) -> Result<ContextHandle, Code> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let context = Arc::new(Self {
            streams: DefaultStreams::new(&device),
            device,
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            handle: OnceLock::new(),
            flags: flags.into(),
            is_primary,
            broken: AtomicU32::new(0),
            destroyed: AtomicBool::new(false),
            limits: Mutex::new(FIRST_LIMITS),
        });
        let handle = Handle::new(context.clone())?;
        Ok(*context.handle.get_or_init(|| handle))
    }

    /// How much memory kernels of modules that are loaded now have for what they print and allocate.
    pub fn service_sizes(&self) -> ServiceSizes {
        let limits = lock(&self.limits);
        let bytes = |limit: usize| limits.get(limit).map_or(0, |&bytes| bytes as u64);
        ServiceSizes { heap: bytes(HEAP), output: bytes(PRINT) }
    }

    pub fn handle(&self) -> ContextHandle {
        self.handle.get().copied().unwrap_or(Handle::NULL)
    }

    /// Errors if something went wrong for good, or the context is no more.
    pub fn check(&self) -> Result<(), Code> {
        if self.destroyed.load(Ordering::SeqCst) {
            return Err(CONTEXT_IS_DESTROYED);
        }
        match self.broken.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Code(code).because("an earlier error of the context")),
        }
    }

    /// Keeps in mind what ends a context, and writes what kernels have printed: for results of what waits for the device.
    pub fn after<T>(&self, result: Result<T, ptx2spv_runtime::Error>) -> Result<T, Code> {
        state::write_output(&self.device);
        result.map_err(|error| {
            let text = error.to_string();
            let stopped = error.is_of_stopped_kernels();
            let code = Code::from(error);
            if code.is_sticky() && self.broken.swap(code.0, Ordering::SeqCst) == 0 && stopped {
                crate::trace::say(&text);
            }
            code
        })
    }

    /// Ends what belongs to the context.
    fn destroy(&self) {
        self.destroyed.store(true, Ordering::SeqCst);
        // What went wrong before has been told, or is told by nobody any more.
        let _ = self.device.synchronize();
        state::write_output(&self.device);
        function::end_context(self);
        module::end_context(self);
        reference::end_context(self);
        texture::end_context(self);
        array::end_context(self);
        event::end_context(self);
        stream::end_context(self);
        memory::end_context(self);
    }

    /// Whether both are the same.
    pub fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// The flags that contexts take.
const FLAGS: c_uint = 0x7f;

pub(crate) fn create(context: Out<ContextHandle>, flags: c_uint, device: c_int) -> Result<(), Code> {
    let context = context.needed()?;
    let device = state::device_by_ordinal(device)?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    let made = Context::make(device, flags, false)?;
    with_stack(|stack| stack.push(made))?;
    context.set(made)
}

pub(crate) fn create_with_affinity(
    context: Out<ContextHandle>,
    _affinities: Memory,
    count: c_int,
    flags: c_uint,
    device: c_int,
) -> Result<(), Code> {
    if count != 0 {
        return Err(crate::code::UNSUPPORTED_EXEC_AFFINITY);
    }
    create(context, flags, device)
}

pub(crate) fn create_with_params(
    context: Out<ContextHandle>,
    params: In<[usize; 3]>,
    flags: c_uint,
    device: c_int,
) -> Result<(), Code> {
    // Affinities, their number, and what shares the device with graphics.
    if !params.is_null() && params.get()? != [0; 3] {
        return Err(crate::code::NOT_SUPPORTED);
    }
    create(context, flags, device)
}

pub(crate) fn destroy(context: ContextHandle) -> Result<(), Code> {
    state::device()?;
    if context.get()?.is_primary {
        return Err(INVALID_CONTEXT);
    }
    context.remove()?.destroy();
    with_stack(|stack| stack.pop_if(|top| *top == context))?;
    Ok(())
}

pub(crate) fn push(context: ContextHandle) -> Result<(), Code> {
    state::device()?;
    context.get()?;
    with_stack(|stack| stack.push(context))
}

pub(crate) fn pop(context: Out<ContextHandle>) -> Result<(), Code> {
    state::device()?;
    let popped = with_stack(Vec::pop)?.ok_or(INVALID_CONTEXT)?;
    context.set_if_any(popped);
    Ok(())
}

pub(crate) fn set_current(context: ContextHandle) -> Result<(), Code> {
    state::device()?;
    if !context.is_null() {
        context.get()?;
    }
    with_stack(|stack| {
        stack.pop();
        if !context.is_null() {
            stack.push(context);
        }
    })
}

pub(crate) fn get_current(context: Out<ContextHandle>) -> Result<(), Code> {
    let context = context.needed()?;
    state::device()?;
    context.set(top()?.unwrap_or(Handle::NULL))
}

pub(crate) fn device(device: Out<c_int>) -> Result<(), Code> {
    let device = device.needed()?;
    current_even_if_broken()?;
    device.set(0)
}

pub(crate) fn id(context: ContextHandle, id: Out<u64>) -> Result<(), Code> {
    let id = id.needed()?;
    id.set(given_or_current(context)?.id)
}

/// The context of a handle; for NULL the current one.
fn given_or_current(context: ContextHandle) -> Result<Arc<Context>, Code> {
    state::device()?;
    if context.is_null() { current_even_if_broken() } else { context.get() }
}

/// The version of the API that NVIDIA's driver names for contexts of `cuCtxCreate_v2`.
const API_VERSION: c_uint = 3020;

pub(crate) fn api_version(context: ContextHandle, version: Out<c_uint>) -> Result<(), Code> {
    let version = version.needed()?;
    given_or_current(context)?;
    version.set(API_VERSION)
}

pub(crate) fn flags(flags: Out<c_uint>) -> Result<(), Code> {
    let flags = flags.needed()?;
    flags.set(current()?.flags.load(Ordering::SeqCst))
}

pub(crate) fn set_flags(flags: c_uint) -> Result<(), Code> {
    let context = current()?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    context.flags.store(flags, Ordering::SeqCst);
    Ok(())
}

pub(crate) fn synchronize() -> Result<(), Code> {
    let context = current()?;
    context.after(context.device.synchronize())
}

pub(crate) fn set_limit(limit: c_uint, value: usize) -> Result<(), Code> {
    let context = current()?;
    let most = match limit as usize {
        PRINT | HEAP => MAX_REGION,
        _ => usize::MAX,
    };
    let value = value.min(most);
    let mut limits = lock(&context.limits);
    *limits.get_mut(limit as usize).ok_or(UNSUPPORTED_LIMIT)? = value;
    Ok(())
}

pub(crate) fn limit(value: Out<usize>, limit: c_uint) -> Result<(), Code> {
    let value = value.needed()?;
    let context = current()?;
    let limits = lock(&context.limits);
    value.set(*limits.get(limit as usize).ok_or(UNSUPPORTED_LIMIT)?)
}

pub(crate) fn cache_config(config: Out<c_uint>) -> Result<(), Code> {
    let config = config.needed()?;
    current()?;
    config.set(0)
}

pub(crate) fn set_cache_config(config: c_uint) -> Result<(), Code> {
    current()?;
    // A hint, which no Vulkan device takes.
    if config <= 3 { Ok(()) } else { Err(INVALID_VALUE) }
}

/// The bank size of shared memory: the default, four bytes, eight bytes.
pub(crate) fn shared_config(config: Out<c_uint>) -> Result<(), Code> {
    let config = config.needed()?;
    current()?;
    config.set(1)
}

pub(crate) fn set_shared_config(config: c_uint) -> Result<(), Code> {
    current()?;
    if config <= 2 { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn priority_range(least: Out<c_int>, greatest: Out<c_int>) -> Result<(), Code> {
    current()?;
    least.set_if_any(stream::LEAST_PRIORITY);
    greatest.set_if_any(stream::GREATEST_PRIORITY);
    Ok(())
}

pub(crate) fn attach(context: Out<ContextHandle>, _flags: c_uint) -> Result<(), Code> {
    let context = context.needed()?;
    current()?;
    get_current(context)
}

pub(crate) fn detach(context: ContextHandle) -> Result<(), Code> {
    destroy(context)
}

pub(crate) fn reset_persisting_cache() -> Result<(), Code> {
    current().map(|_| ())
}

/// The device's primary context.
struct Primary {
    context: ContextHandle,
    retained: u32,
    flags: c_uint,
}

static PRIMARY: Mutex<Primary> = Mutex::new(Primary { context: Handle::NULL, retained: 0, flags: 0 });

pub(crate) fn retain_primary(context: Out<ContextHandle>, device: c_int) -> Result<(), Code> {
    let context = context.needed()?;
    let device = state::device_by_ordinal(device)?;
    let mut primary = lock(&PRIMARY);
    if primary.retained == 0 {
        primary.context = Context::make(device, primary.flags, true)?;
    }
    primary.retained += 1;
    context.set(primary.context)
}

pub(crate) fn release_primary(device: c_int) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    let mut primary = lock(&PRIMARY);
    primary.retained = primary.retained.checked_sub(1).ok_or(INVALID_CONTEXT)?;
    if primary.retained == 0 {
        primary.end()?;
    }
    Ok(())
}

pub(crate) fn reset_primary(device: c_int) -> Result<(), Code> {
    let device = state::device_by_ordinal(device)?;
    let mut primary = lock(&PRIMARY);
    if primary.retained > 0 {
        primary.end()?;
        primary.context = Context::make(device, primary.flags, true)?;
    }
    Ok(())
}

impl Primary {
    fn end(&self) -> Result<(), Code> {
        self.context.remove()?.destroy();
        Ok(())
    }
}

pub(crate) fn primary_state(device: c_int, flags: Out<c_uint>, active: Out<c_int>) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    let primary = lock(&PRIMARY);
    flags.set_if_any(primary.flags);
    active.set_if_any((primary.retained > 0).into());
    Ok(())
}

pub(crate) fn set_primary_flags(device: c_int, flags: c_uint) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    lock(&PRIMARY).flags = flags;
    Ok(())
}
