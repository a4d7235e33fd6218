//! Pointers passed by callers. Each may be NULL, which is an error where a value is needed. Any other pointer is valid
//! for reading or writing during the call, by CUDA's contract with the caller.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;

use crate::abi::code::{INVALID_HANDLE, INVALID_VALUE, Result};
use crate::abi::handle::{Handle, Object};

/// Checks the sizes of C structures and the offsets of their fields where pointers have 64 bits.
macro_rules! layouts {
    ($($name:ty $(= $size:literal)? $(, $field:ident at $offset:literal)*;)*) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            $($(assert!(size_of::<$name>() == $size);)?
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)*)*
        };
    };
}
pub(crate) use layouts;

/// A pointer to a result.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

/// A pointer to one value or an array of values to read.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

/// A pointer to a C string.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

/// A pointer to host memory that the caller accesses too.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory(*mut c_void);

// SAFETY: the pointer itself is a number. Which threads may access the memory is CUDA's contract with the caller.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// A function that `cuLaunchHostFunc` runs.
pub(crate) type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

/// A function that `cuStreamAddCallback` runs.
pub(crate) type StreamCallback = Option<unsafe extern "C" fn(usize, c_uint, *mut c_void)>;

/// Dynamic shared memory as a function of the block size.
pub(crate) type SizeFunction = Option<unsafe extern "C" fn(c_int) -> usize>;

macro_rules! pointers {
    ($($name:ident)*) => {
        $(impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:p}", self.0)
            }
        })*
    };
}

pointers! { Out In }

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.get().unwrap_or_default())
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

/// An argument that may be NULL.
pub(crate) trait Pointer {
    fn is_absent(&self) -> bool;
}

impl<T> Pointer for Out<T> {
    fn is_absent(&self) -> bool {
        self.0.is_null()
    }
}

impl<T> Pointer for In<T> {
    fn is_absent(&self) -> bool {
        self.0.is_null()
    }
}

impl<T> Pointer for Handle<T> {
    fn is_absent(&self) -> bool {
        self.is_null()
    }
}

impl Pointer for Memory {
    fn is_absent(&self) -> bool {
        self.0.is_null()
    }
}

impl Pointer for Text {
    fn is_absent(&self) -> bool {
        self.0.is_null()
    }
}

impl<F> Pointer for Option<F> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// Fails on NULL.
pub(crate) fn needed(pointer: impl Pointer) -> Result {
    if pointer.is_absent() { Err(INVALID_VALUE) } else { Ok(()) }
}

/// Fails on NULL, for functions that call NULL an invalid handle.
pub(crate) fn handle_needed(handle: impl Pointer) -> Result {
    needed(handle).map_err(|_| INVALID_HANDLE)
}

/// Fails on numbers from `end` on.
pub(crate) fn below<T: PartialOrd>(number: T, end: T) -> Result {
    if number < end { Ok(()) } else { Err(INVALID_VALUE) }
}

/// A `size_t`. If it has 32 bits, larger sizes become the largest `size_t`.
pub(crate) fn size_t(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl<T> Out<T> {
    pub fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails on NULL: for functions that must not have an effect before that check.
    pub fn needed(self) -> Result<Self> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Ok(self) }
    }

    pub fn set(self, value: T) -> Result {
        self.needed()?.set_if_any(value);
        Ok(())
    }

    /// Writes the result of a function. The function isn't called on NULL.
    pub fn answer(self, body: impl FnOnce() -> Result<T>) -> Result {
        let place = self.needed()?;
        place.set(body()?)
    }

    /// Writes an optional result.
    pub fn set_if_any(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the pointer is not NULL, and so valid for writing by the caller's contract.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// The element at an index.
    pub fn at(self, index: usize) -> Self {
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// The pointer as one for reading.
    pub fn as_in(self) -> In<T> {
        In(self.0)
    }
}

/// Writes a function's results where they are wanted.
pub(crate) fn answer_pair<A, B>(first: Out<A>, second: Out<B>, body: impl FnOnce() -> Result<(A, B)>) -> Result {
    let (a, b) = body()?;
    first.set_if_any(a);
    second.set_if_any(b);
    Ok(())
}

impl<T: Copy> In<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the pointer is not NULL, and so valid for reading by the caller's contract.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// The value at an index.
    pub fn at(self, index: usize) -> Result<T> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Self(self.0.wrapping_add(index)).get() }
    }

    /// The first `count` values, which must be a small number.
    pub fn list(self, count: usize) -> Result<Vec<T>> {
        self.values(count).collect()
    }

    /// The first `count` values, read one by one: with a wrong count, a caller that checks each ends before they are out of the
    /// program's memory, as a rule.
    pub fn values(self, count: usize) -> impl Iterator<Item = Result<T>> {
        (0..count).map(move |index| self.at(index))
    }
}

impl<T: Object> In<Handle<T>> {
    /// The first `count` handles, all of them valid.
    pub fn handles(self, count: usize) -> Result<Vec<Handle<T>>> {
        self.values(count).map(|handle| handle.and_then(|handle| handle.get().map(|_| handle))).collect()
    }
}

impl Text {
    pub fn get(self) -> Result<String> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the pointer is not NULL, and so a terminated string by the caller's contract.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl<T> From<&T> for In<T> {
    fn from(value: &T) -> Self {
        Self(value)
    }
}

impl<T> From<&mut T> for Out<T> {
    fn from(place: &mut T) -> Self {
        Self(place)
    }
}

impl<T> From<Out<T>> for Memory {
    fn from(place: Out<T>) -> Self {
        Self(place.0.cast())
    }
}

impl From<*const c_char> for Text {
    fn from(text: *const c_char) -> Self {
        Self(text)
    }
}

impl From<Memory> for Text {
    fn from(memory: Memory) -> Self {
        Self(memory.0.cast())
    }
}

impl Memory {
    pub const NULL: Self = Self(std::ptr::null_mut());

    /// A slice's memory, for callers that only read it.
    pub fn of<T>(slice: &[T]) -> Self {
        Self(slice.as_ptr().cast_mut().cast())
    }

    pub fn from_address(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    pub fn pointer(self) -> *mut c_void {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn offset(self, bytes: u64) -> Self {
        Self(self.0.wrapping_byte_add(bytes as usize))
    }

    /// The first `len` bytes, for the time of the call.
    pub fn bytes<'a>(self, len: u64) -> Result<&'a [u8]> {
        let len = self.check(len)?;
        if len == 0 {
            return Ok(&[]);
        }
        // SAFETY: the pointer is not NULL, so the bytes can be read by the caller's contract. `check` has checked the
        // length.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), len) })
    }

    /// The first `len` bytes for writing, for the time of the call.
    pub fn bytes_mut<'a>(self, len: u64) -> Result<&'a mut [u8]> {
        let len = self.check(len)?;
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the pointer is not NULL, so the bytes can be written by the caller's contract, and no other code uses
        // them during the call. `check` has checked the length.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast::<u8>(), len) })
    }

    /// `len` as a `usize`, if the address space has room for `len` bytes here.
    pub fn check(self, len: u64) -> Result<usize> {
        let end = self.address().checked_add(len).filter(|_| len <= isize::MAX as u64);
        if len > 0 && (self.0.is_null() || end.is_none()) {
            return Err(INVALID_VALUE);
        }
        Ok(len as usize)
    }

    pub fn as_in<T>(self) -> In<T> {
        In(self.0.cast())
    }

    pub fn as_out<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}
