//! Sharing memory and events by handles of 64 bytes. They are valid within this process alone.

use std::collections::HashMap;
use std::ffi::c_uint;
use std::fmt;
use std::sync::{LazyLock, Mutex};

use crate::abi::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, Result, layouts, lock};
use crate::memory::{self, MemoryKind};
use crate::stream::event::EventHandle;

/// `CUipcMemHandle` and `CUipcEventHandle`. Programs pass them by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    kind: u64,
    process: u64,
    /// The address of memory and the number of its allocation, or the handle of an event.
    object: u64,
    number: u64,
    _unused: [u64; 4],
}

// Kinds of handles.
const MEMORY: u64 = 0x7074_7832_6d65_6d00;
const EVENT: u64 = 0x7074_7832_6576_7400;

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.object)
    }
}

impl Shared {
    fn new(kind: u64, object: u64, number: u64) -> Self {
        Self { kind, process: std::process::id().into(), object, number, _unused: [0; 4] }
    }

    /// Fails unless the handle has the kind and comes from this process.
    fn check(&self, kind: u64) -> Result {
        if self.kind != kind {
            return Err(INVALID_HANDLE);
        }
        let is_ours = self.process == u64::from(std::process::id());
        if is_ours { Ok(()) } else { Err(NOT_SUPPORTED.because("memory or events of another process")) }
    }
}

/// The number of times that each allocation is open, by address.
static OPENED: LazyLock<Mutex<HashMap<u64, usize>>> = LazyLock::new(Mutex::default);

pub(crate) fn memory_handle(address: u64) -> Result<Shared> {
    match memory::find(address) {
        Some((start, allocation)) if matches!(allocation.place, MemoryKind::Device(_)) => {
            Ok(Shared::new(MEMORY, start, allocation.id))
        }
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn check_flags(flags: c_uint) -> Result {
    /// The only flag, which is required.
    const LAZY_PEER_ACCESS: c_uint = 1;
    if flags == LAZY_PEER_ACCESS { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn open_memory(handle: Shared, flags: c_uint) -> Result<u64> {
    check_flags(flags)?;
    handle.check(MEMORY)?;
    let (start, _) =
        memory::find(handle.object).filter(|(_, known)| known.id == handle.number).ok_or(INVALID_HANDLE)?;
    *lock(&OPENED).entry(start).or_default() += 1;
    Ok(start)
}

pub(crate) fn close_memory(address: u64) -> Result {
    let mut opened = lock(&OPENED);
    let count = opened.get_mut(&address).ok_or(INVALID_VALUE)?;
    *count -= 1;
    if *count == 0 {
        opened.remove(&address);
    }
    Ok(())
}

pub(crate) fn event_handle(event: EventHandle) -> Result<Shared> {
    if !event.get()?.is_interprocess {
        return Err(INVALID_VALUE);
    }
    Ok(Shared::new(EVENT, event.value() as u64, 0))
}

pub(crate) fn open_event(handle: Shared) -> Result<EventHandle> {
    handle.check(EVENT)?;
    let known = EventHandle::from_value(handle.object as usize).get()?;
    EventHandle::new(known)
}

layouts! {
    Shared = 64;
}
