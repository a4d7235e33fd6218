//! Copies in batches.

use std::ffi::{c_int, c_uint};

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{In, Memory, Out};
use crate::memory::copy;
use crate::memory::transfer::Transfer;
use crate::stream::{self, StreamHandle};

/// `CUmemcpyAttributes`: when the source is read, then hints: locations of both sides, flags.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Attributes {
    order: c_uint,
    _from: [c_int; 2],
    _to: [c_int; 2],
    _flags: c_uint,
}

// When a source is read: in stream order, during the call, at any time.
const IN_STREAM: c_uint = 1;
const ANY: c_uint = 3;

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn copy_all(
    to: In<Memory>,
    from: In<Memory>,
    bytes: In<usize>,
    count: usize,
    attributes: In<Attributes>,
    first_of_attributes: In<usize>,
    attribute_count: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    /// `CU_STREAM_LEGACY`, which batches must not use.
    const LEGACY: usize = 1;
    if count == 0 || stream.is_null() || stream.value() == LEGACY {
        return Err(INVALID_VALUE);
    }
    stream::used(stream)?;
    let is_order = |attributes: &Attributes| (IN_STREAM..=ANY).contains(&attributes.order);
    let check = |read: Result<Attributes, Code>| read.and_then(|read| Some(read).filter(is_order).ok_or(INVALID_VALUE));
    let attributes: Vec<_> = attributes.values(attribute_count).map(check).collect::<Result<_, _>>()?;
    let firsts = first_of_attributes.list(attribute_count)?;
    let ascends = firsts.is_sorted_by(|a, b| a < b) && firsts.first() == Some(&0) && firsts.last() < Some(&count);
    if !ascends {
        return Err(INVALID_VALUE);
    }
    let copies = to.values(count).zip(from.values(count)).zip(bytes.values(count));
    for (index, ((to, from), bytes)) in copies.enumerate() {
        let (to, from, bytes) = (to?, from?, bytes?);
        let current = firsts.partition_point(|&first| first <= index) - 1;
        if attributes[current].order == IN_STREAM {
            // Host memory that isn't pinned is read during the call, by when earlier work must have written it.
            copy::any_in_stream(to, from, bytes, stream)?;
        } else {
            copy::any(to, from, bytes).in_stream(stream)?;
        }
    }
    Ok(())
}

/// The first version of the function, which tells the copy that failed: none in particular.
#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn copy_all_v1(
    to: In<Memory>,
    from: In<Memory>,
    bytes: In<usize>,
    count: usize,
    attributes: In<Attributes>,
    first_of_attributes: In<usize>,
    attribute_count: usize,
    failed: Out<usize>,
    stream: StreamHandle,
) -> Result<(), Code> {
    copy_all(to, from, bytes, count, attributes, first_of_attributes, attribute_count, stream)
        .inspect_err(|_| failed.set_if_any(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!(size_of::<Attributes>(), 24);
    }
}
