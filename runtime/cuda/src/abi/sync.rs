//! Locks that ignore poisoning: the data they guard is never left half changed.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use smallvec::SmallVec;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

// Lists of a thread that exit handlers can still use.
//
// A thread's variables with destructors are destroyed before the functions that `atexit` and static destructors registered
// run, and these may call the library. So the lists have no destructor.

/// Entries that need no memory of their own. A thread that ends with a list that was ever longer leaves that memory behind.
pub(crate) const INLINE: usize = 8;

/// A list for a thread-local variable.
pub(crate) struct ThreadList<T>(RefCell<ManuallyDrop<SmallVec<[T; INLINE]>>>);

impl<T: Copy> ThreadList<T> {
    pub fn new() -> Self {
        Self(RefCell::new(ManuallyDrop::new(SmallVec::new())))
    }

    pub fn with<R>(&self, act: impl FnOnce(&mut SmallVec<[T; INLINE]>) -> R) -> R {
        act(&mut self.0.borrow_mut())
    }
}

const _: () = assert!(!std::mem::needs_drop::<ThreadList<usize>>());
