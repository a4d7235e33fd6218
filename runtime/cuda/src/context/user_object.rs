//! User objects: a program's objects that graphs keep alive by counting references.

use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex};

use crate::abi::{Handle, HostFunction, INVALID_VALUE, Memory, Result, lock, objects};
use crate::context::state;

/// Destroys the program's object when the last reference is gone.
struct Guard {
    destroy: unsafe extern "C" fn(*mut c_void),
    data: Memory,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: the caller passed this function and its data for one call.
        state::call_back(|| unsafe { (self.destroy)(self.data.pointer()) });
    }
}

/// An object with the program's own references.
pub(crate) struct UserObject {
    guard: Arc<Guard>,
    count: Mutex<usize>,
}

pub(crate) type UserObjectHandle = Handle<UserObject>;

objects!(OBJECTS: UserObject = 18, INVALID_VALUE);

#[derive(Clone, Default)]
pub(crate) struct References(HashMap<usize, (Arc<Guard>, usize)>);

impl References {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds references to an object. With `MOVE` in the flags they are the program's own, which gives them up.
    pub fn add(&mut self, object: UserObjectHandle, count: c_uint, flags: c_uint) -> Result {
        let more = references(count)?;
        if flags & !MOVE != 0 {
            return Err(INVALID_VALUE);
        }
        let guard = object.get()?.guard.clone();
        if flags & MOVE != 0 {
            release(object, count)?;
        }
        let (_, all) = self.0.entry(object.value()).or_insert((guard, 0));
        *all = all.checked_add(more).ok_or(INVALID_VALUE)?;
        Ok(())
    }

    /// Removes references to an object. The result is to be dropped when nothing is locked, because that may call the
    /// program's destructor.
    pub fn remove(&mut self, object: UserObjectHandle, count: c_uint) -> Result<Released> {
        let less = references(count)?;
        let (_, all) = self.0.get_mut(&object.value()).ok_or(INVALID_VALUE)?;
        *all = all.checked_sub(less).ok_or(INVALID_VALUE)?;
        let last = if *all == 0 { self.0.remove(&object.value()) } else { None };
        Ok(Released(last.map(|(guard, _)| guard)))
    }
}

/// The object of a graph's last references to it.
pub(crate) struct Released(#[allow(dead_code, reason = "only dropped")] Option<Arc<Guard>>);

/// The only flag, which every object must have: nothing waits for the destructor.
const NO_DESTRUCTOR_SYNC: c_uint = 1;

/// The flag that moves the program's references to the graph.
const MOVE: c_uint = 1;

/// A number of references, which is limited.
fn references(count: c_uint) -> Result<usize> {
    if (1..=i32::MAX.cast_unsigned()).contains(&count) { Ok(count as usize) } else { Err(INVALID_VALUE) }
}

pub(crate) fn create(data: Memory, destroy: HostFunction, count: c_uint, flags: c_uint) -> Result<UserObjectHandle> {
    let (destroy, count) = (destroy.ok_or(INVALID_VALUE)?, references(count)?);
    if flags != NO_DESTRUCTOR_SYNC {
        return Err(INVALID_VALUE);
    }
    let guard = Arc::new(Guard { destroy, data });
    Handle::new(Arc::new(UserObject { guard, count: Mutex::new(count) }))
}

pub(crate) fn retain(object: UserObjectHandle, count: c_uint) -> Result {
    let count = references(count)?;
    let object = object.get()?;
    let mut all = lock(&object.count);
    *all = all.checked_add(count).ok_or(INVALID_VALUE)?;
    Ok(())
}

pub(crate) fn release(object: UserObjectHandle, count: c_uint) -> Result {
    let count = references(count)?;
    let known = object.get()?;
    let left = {
        let mut all = lock(&known.count);
        *all = all.checked_sub(count).ok_or(INVALID_VALUE)?;
        *all
    };
    if left == 0 {
        object.remove()?;
    }
    Ok(())
}
