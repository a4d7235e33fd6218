//! Creating and destroying contexts, the device's primary one included.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::sync::Mutex;

use crate::abi::{
    Handle, INVALID_CONTEXT, INVALID_VALUE, In, NOT_SUPPORTED, PRIMARY_CONTEXT_ACTIVE, Result,
    UNSUPPORTED_EXEC_AFFINITY, lock,
};
use crate::context::state;
use crate::context::{self, Context, ContextHandle, FLAGS, with_stack};
use crate::memory::{self, array};
use crate::module::texture_reference;
use crate::module::{function, loaded};
use crate::stream::{self, event};
use crate::texture;

/// Destroys a context and everything that belongs to it.
fn end(context: &Context) {
    context.destroy();
    function::end_context(context);
    loaded::end_context(context);
    texture_reference::end_context(context);
    texture::end_context(context);
    array::end_context(context);
    event::end_context(context);
    stream::end_context(context);
    memory::end_context(context);
}

pub(crate) fn create(flags: c_uint, device: c_int) -> Result<ContextHandle> {
    create_of(context::API, flags, device)
}

/// Creates a context for functions of a version of the API.
pub(crate) fn create_of(version: c_uint, flags: c_uint, device: c_int) -> Result<ContextHandle> {
    state::entry(device)?;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    open(device)?;
    let made = Context::make(device, flags, false, version)?;
    with_stack(|stack| stack.push(made));
    Ok(made)
}

pub(crate) fn create_with_affinity(count: c_int, flags: c_uint, device: c_int) -> Result<ContextHandle> {
    if count == 0 { create(flags, device) } else { Err(UNSUPPORTED_EXEC_AFFINITY) }
}

pub(crate) fn create_with_params(params: In<[usize; 3]>, flags: c_uint, device: c_int) -> Result<ContextHandle> {
    // Execution affinities, their number, and sharing with graphics.
    if !params.is_null() && params.get()? != [0; 3] {
        return Err(NOT_SUPPORTED);
    }
    create(flags, device)
}

pub(crate) fn destroy(context: ContextHandle) -> Result {
    if context.is_null() {
        return Err(INVALID_VALUE);
    }
    if context.get()?.is_primary {
        return Err(INVALID_CONTEXT);
    }
    end(&*context.remove()?);
    with_stack(|stack| {
        if stack.last() == Some(&context) {
            stack.pop();
        }
    });
    Ok(())
}

pub(crate) fn attach() -> Result<ContextHandle> {
    context::get_current()
}

/// A device's primary context.
struct Primary {
    device: c_int,
    context: ContextHandle,
    retained: u32,
    flags: c_uint,
    /// Whether the runtime API holds one of the retained references.
    is_held: bool,
}

/// Primary contexts by device ordinal.
static PRIMARY: Mutex<BTreeMap<c_int, Primary>> = Mutex::new(BTreeMap::new());

/// Opens a device, whose addresses tell its memory, before a context is made. That may take seconds, in which other threads use other devices.
fn open(device: c_int) -> Result {
    state::device_by_ordinal(device)?.keep_apart(memory::is_used_elsewhere);
    Ok(())
}

/// Acts on the primary context of a device.
fn with_primary<T>(device: c_int, act: impl FnOnce(&mut Primary) -> Result<T>) -> Result<T> {
    state::entry(device)?;
    let mut all = lock(&PRIMARY);
    let first = || Primary { device, context: Handle::NULL, retained: 0, flags: 0, is_held: false };
    act(all.entry(device).or_insert_with(first))
}

pub(crate) fn retain_primary(device: c_int) -> Result<ContextHandle> {
    open(device)?;
    with_primary(device, Primary::retain)
}

/// The primary context. The runtime API retains it on its first call, and again if the program has released it too
/// often.
pub(crate) fn hold_primary(device: c_int) -> Result<ContextHandle> {
    open(device)?;
    with_primary(device, |primary| {
        if primary.is_held && primary.retained > 0 {
            return Ok(primary.context);
        }
        let context = primary.retain()?;
        primary.is_held = true;
        Ok(context)
    })
}

pub(crate) fn release_primary(device: c_int) -> Result {
    with_primary(device, |primary| {
        primary.retained = primary.retained.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        if primary.retained == 0 { primary.end() } else { Ok(()) }
    })
}

pub(crate) fn reset_primary(device: c_int) -> Result {
    with_primary(device, |primary| {
        if primary.retained > 0 {
            primary.end()?;
            primary.context = Context::make(device, primary.flags, true, context::API)?;
        }
        Ok(())
    })
}

impl Primary {
    fn retain(&mut self) -> Result<ContextHandle> {
        if self.retained == 0 {
            self.context = Context::make(self.device, self.flags, true, context::API)?;
        }
        self.retained += 1;
        Ok(self.context)
    }

    fn end(&self) -> Result {
        end(&*self.context.remove()?);
        Ok(())
    }
}

/// The flags of the primary context, and whether it is active.
pub(crate) fn primary_state(device: c_int) -> Result<(c_uint, c_int)> {
    with_primary(device, |primary| Ok((primary.flags, (primary.retained > 0).into())))
}

/// Sets the flags of the primary context, for programs of the time when the flags of an existing context couldn't be changed.
pub(crate) fn set_primary_flags_before_use(device: c_int, flags: c_uint) -> Result {
    let (_, is_active) = primary_state(device)?;
    if flags & !FLAGS == 0 && is_active != 0 {
        return Err(PRIMARY_CONTEXT_ACTIVE);
    }
    set_primary_flags(device, flags)
}

pub(crate) fn set_primary_flags(device: c_int, flags: c_uint) -> Result {
    if flags & !FLAGS != 0 {
        state::entry(device)?;
        return Err(INVALID_VALUE);
    }
    with_primary(device, |primary| {
        primary.flags = flags;
        Ok(())
    })
}
