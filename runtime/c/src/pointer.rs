//! Pointers that C programs pass.

use std::ffi::{CStr, c_char};

use crate::error::Failure;

/// The value at a pointer.
///
/// # Safety
/// The pointer is null, or points to a live value of the type.
pub(crate) unsafe fn get<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Stores a result through a pointer.
///
/// # Safety
/// The pointer is null, or points to room for the value.
pub(crate) unsafe fn put<T>(
    pointer: *mut T,
    name: &str,
    value: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    let value = value()?;
    // SAFETY: by the contract.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The text at a pointer.
///
/// # Safety
/// The pointer is null, or points to bytes that end with a zero.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: by the contract.
    unsafe { optional_text(pointer, name) }?.ok_or_else(|| null(name))
}

/// The text at a pointer that may be null.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn optional_text<'a>(pointer: *const c_char, name: &str) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map(Some).map_err(|_| Failure::argument(format!("`{name}` is not UTF-8")))
}

/// Consecutive elements. The pointer may be null if `count` is 0.
///
/// # Safety
/// The pointer is null, or points to `count` elements.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(name));
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::argument(format!("`{name}` can't have {count} elements")));
    }
    // SAFETY: by the contract; no slice is larger than `isize::MAX` bytes.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Frees an object.
///
/// # Safety
/// The pointer is null, or came from [`Box::into_raw`] and is freed once.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: by the contract.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

fn null(name: &str) -> Failure {
    Failure::argument(format!("`{name}` is null"))
}
