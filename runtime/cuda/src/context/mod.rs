//! Contexts, and each thread's stack of them.

pub(crate) mod device;
pub(crate) mod exit;
pub(crate) mod state;
pub(crate) mod user_object;
pub(crate) mod visible;

use std::collections::HashSet;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use ptx2spv_runtime::Device;
use ptx2spv_translator::interface::{ServiceSizes, launches};
use smallvec::SmallVec;

use crate::abi::{
    CONTEXT_IS_DESTROYED, Code, Handle, INLINE, INVALID_CONTEXT, INVALID_VALUE, Out, Result, ThreadList,
    UNSUPPORTED_LIMIT, code, lock, objects,
};

/// A context. All contexts of a device share its queues.
pub(crate) struct Context {
    pub device: Device,
    /// The device's ordinal.
    pub ordinal: c_int,
    pub id: u64,
    handle: OnceLock<ContextHandle>,
    flags: AtomicU32,
    pub is_primary: bool,
    /// The version of the API that made the context.
    api_version: c_uint,
    /// The code of the error that made the context unusable, or 0.
    broken: AtomicU32,
    destroyed: AtomicBool,
    limits: Mutex<[usize; LIMITS]>,
    /// The contexts, by id, whose memory kernels may access after `cuCtxEnablePeerAccess`.
    pub peers: Mutex<HashSet<u64>>,
}

pub(crate) type ContextHandle = Handle<Context>;

objects!(CONTEXTS: Context = 1, INVALID_CONTEXT);

/// The number of limits: stack, printf buffer, heap, depth, pending launches, granularity, persisting L2.
const LIMITS: usize = 7;

/// The stack of a thread, and its greatest size.
const STACK_SIZE: c_uint = 0;
const MAX_STACK: usize = 512 << 10;

/// Limits that apply to modules loaded later.
const PRINT: usize = 1;
const HEAP: usize = 2;
const LAUNCHES: usize = 4;

/// Maximum number of bytes for these limits.
const MAX_REGION: usize = 1 << 30;

/// Initial limits of a context.
const FIRST_LIMITS: [usize; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

thread_local! {
    /// The last entry is the current context.
    static STACK: ThreadList<ContextHandle> = ThreadList::new();
}

pub(crate) fn with_stack<T>(act: impl FnOnce(&mut SmallVec<[ContextHandle; INLINE]>) -> T) -> T {
    STACK.with(|stack| stack.with(act))
}

fn top() -> Option<ContextHandle> {
    with_stack(|stack| stack.last().copied())
}

/// The thread's current context, unless an earlier error made it unusable.
pub(crate) fn current() -> Result<Arc<Context>> {
    let context = current_even_if_broken()?;
    context.check()?;
    Ok(context)
}

/// The thread's current context as [`current`] gives it; `None` if the thread has none.
pub(crate) fn current_if_any() -> Result<Option<Arc<Context>>> {
    state::check()?;
    top().map(|_| current()).transpose()
}

fn current_even_if_broken() -> Result<Arc<Context>> {
    state::check()?;
    let handle = top().ok_or(INVALID_CONTEXT)?;
    handle.get().map_err(|_| CONTEXT_IS_DESTROYED)
}

impl Context {
    pub fn make(ordinal: c_int, flags: c_uint, is_primary: bool, api_version: c_uint) -> Result<ContextHandle> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let context = Arc::new(Self {
            device: state::device_by_ordinal(ordinal)?,
            ordinal,
            id: NUMBER.fetch_add(1, Ordering::Relaxed),
            handle: OnceLock::new(),
            flags: flags.into(),
            is_primary,
            api_version,
            broken: AtomicU32::new(0),
            destroyed: AtomicBool::new(false),
            limits: Mutex::new(FIRST_LIMITS),
            peers: Mutex::default(),
        });
        let handle = Handle::new(context.clone())?;
        Ok(*context.handle.get_or_init(|| handle))
    }

    /// Sizes of the memory that newly loaded modules get for kernels' output, allocations and launches.
    pub fn service_sizes(&self) -> ServiceSizes {
        let limits = lock(&self.limits);
        let bytes = |limit: usize| limits.get(limit).map_or(0, |&bytes| bytes as u64);
        let launches = bytes(LAUNCHES).min(launches::MAX_CAPACITY.into()) as u32;
        ServiceSizes::default().heap(bytes(HEAP)).output(bytes(PRINT)).launches(launches)
    }

    pub fn handle(&self) -> ContextHandle {
        self.handle.get().copied().unwrap_or(Handle::NULL)
    }

    /// Fails if the context was destroyed, or if an earlier error made it unusable.
    pub fn check(&self) -> Result {
        if self.destroyed.load(Ordering::SeqCst) {
            return Err(CONTEXT_IS_DESTROYED);
        }
        match self.broken.load(Ordering::SeqCst) {
            0 => Ok(()),
            code => Err(Code(code).because("an earlier error of the context")),
        }
    }

    /// Writes the output of kernels, and records errors that make the context unusable. For calls that wait for the device.
    pub fn after<T>(&self, result: Result<T, ptx2spv_runtime::Error>) -> Result<T> {
        state::write_output(&self.device);
        result.map_err(|error| self.failed(error))
    }

    /// Records an error if it makes the context unusable.
    pub fn failed(&self, error: ptx2spv_runtime::Error) -> Code {
        self.broken_by(error.into())
    }

    /// Records an error with which a command of the context has failed, if it makes the context unusable. The first one stays.
    pub fn broken_by(&self, code: Code) -> Code {
        let ordering = Ordering::SeqCst;
        if code.is_sticky() && self.broken.compare_exchange(0, code.0, ordering, ordering).is_ok() {
            code::reason().into_iter().for_each(|reason| crate::abi::trace::say(&reason));
        }
        code
    }

    /// Refuses further work in the context, and waits for the work that is running.
    pub fn destroy(&self) {
        self.destroyed.store(true, Ordering::SeqCst);
        // Programs learn of errors by waiting themselves. An error found only here has no caller to report to.
        let _ = self.device.synchronize();
        state::write_output(&self.device);
    }

    /// Whether both are on the same device.
    pub fn shares_device(&self, other: &Self) -> bool {
        self.device.is(&other.device)
    }

    /// Whether both are the same context.
    pub fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

pub(crate) fn push(context: ContextHandle) -> Result {
    if context.is_null() {
        return Err(INVALID_VALUE);
    }
    context.get()?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

pub(crate) fn pop(context: Out<ContextHandle>) -> Result {
    let popped = with_stack(SmallVec::pop).ok_or(INVALID_CONTEXT)?;
    context.set_if_any(popped);
    Ok(())
}

pub(crate) fn set_current(context: ContextHandle) -> Result {
    if !context.is_null() {
        context.get()?;
    }
    with_stack(|stack| {
        stack.pop();
        if !context.is_null() {
            stack.push(context);
        }
    });
    Ok(())
}

pub(crate) fn get_current() -> Result<ContextHandle> {
    Ok(top().unwrap_or(Handle::NULL))
}

pub(crate) fn device() -> Result<c_int> {
    Ok(current_even_if_broken()?.ordinal)
}

pub(crate) fn device_of(context: ContextHandle) -> Result<c_int> {
    Ok(given_or_current(context)?.ordinal)
}

pub(crate) fn id(context: ContextHandle) -> Result<u64> {
    Ok(given_or_current(context)?.id)
}

/// The context of a handle, or the current one for NULL.
pub(crate) fn given_or_current(context: ContextHandle) -> Result<Arc<Context>> {
    state::check()?;
    if context.is_null() { current_even_if_broken() } else { context.get() }
}

/// All valid flags of contexts.
pub(crate) const FLAGS: c_uint = 0x7f;

/// The versions that NVIDIA's driver reports for contexts made by `cuCtxCreate`, whose addresses have 32 bits, and later functions.
pub(crate) const OLD_API: c_uint = 3010;
pub(crate) const API: c_uint = 3020;

pub(crate) fn api_version(context: ContextHandle) -> Result<c_uint> {
    Ok(given_or_current(context)?.api_version)
}

/// Fails unless the current context has addresses of 32 bits.
pub(crate) fn old() -> Result {
    if current()?.api_version == OLD_API { Ok(()) } else { Err(INVALID_CONTEXT) }
}

pub(crate) fn flags() -> Result<c_uint> {
    Ok(current()?.flags.load(Ordering::SeqCst))
}

pub(crate) fn set_flags(flags: c_uint) -> Result {
    let context = current()?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    context.flags.store(flags, Ordering::SeqCst);
    Ok(())
}

pub(crate) fn set_limit(limit: c_uint, value: usize) -> Result {
    let context = current()?;
    let value = if matches!(limit as usize, PRINT | HEAP) { value.min(MAX_REGION) } else { value };
    if limit == STACK_SIZE && value > MAX_STACK {
        return Err(INVALID_VALUE);
    }
    let mut limits = lock(&context.limits);
    *limits.get_mut(limit as usize).ok_or_else(|| no_limit(limit))? = value;
    Ok(())
}

/// The error for a limit that contexts don't have.
fn no_limit(limit: c_uint) -> Code {
    /// The limits that CUDA knows.
    const KNOWN: c_uint = 10;
    if limit < KNOWN { UNSUPPORTED_LIMIT } else { INVALID_VALUE }
}

pub(crate) fn limit(limit: c_uint) -> Result<usize> {
    let context = current()?;
    let limits = lock(&context.limits);
    Ok(*limits.get(limit as usize).ok_or_else(|| no_limit(limit))?)
}

pub(crate) fn cache_config() -> Result<c_uint> {
    current()?;
    Ok(0)
}

pub(crate) fn set_cache_config(config: c_uint) -> Result {
    current()?;
    // The cache configuration is a hint. Vulkan has no equivalent.
    if config <= 3 { Ok(()) } else { Err(INVALID_VALUE) }
}

/// The bank size of shared memory: the default, four bytes, eight bytes.
pub(crate) fn shared_config() -> Result<c_uint> {
    current()?;
    Ok(1)
}

pub(crate) fn set_shared_config(config: c_uint) -> Result {
    current()?;
    if config <= 2 { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn reset_persisting_cache() -> Result {
    current().map(|_| ())
}
