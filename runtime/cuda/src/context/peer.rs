//! Access between contexts. All are on the one device, which has no peers. Copies between contexts work as within one.

use std::ffi::c_uint;

use crate::abi::code::{Code, INVALID_CONTEXT, INVALID_VALUE, PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED};
use crate::abi::raw::In;
use crate::context::{self, ContextHandle};
use crate::memory::copy::{self, Copy3D};
use crate::stream::StreamHandle;

pub(crate) fn enable(peer: ContextHandle, flags: c_uint) -> Result<(), Code> {
    let current = context::current()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    Err(if peer.get()?.is(&current) { INVALID_CONTEXT } else { PEER_ACCESS_UNSUPPORTED })
}

pub(crate) fn disable(peer: ContextHandle) -> Result<(), Code> {
    context::current()?;
    peer.get()?;
    Err(PEER_ACCESS_NOT_ENABLED)
}

pub(crate) fn copy(
    to: u64,
    to_context: ContextHandle,
    from: u64,
    from_context: ContextHandle,
    bytes: usize,
) -> Result<(), Code> {
    to_context.get()?;
    from_context.get()?;
    copy::within_device(to, from, bytes)
}

pub(crate) fn copy_async(
    to: u64,
    to_context: ContextHandle,
    from: u64,
    from_context: ContextHandle,
    bytes: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    to_context.get()?;
    from_context.get()?;
    copy::within_device_async(to, from, bytes, stream)
}

/// Fails unless both contexts of a `CUDA_MEMCPY3D_PEER` exist. They are where a `CUDA_MEMCPY3D` has reserved fields.
fn check(copy: In<Copy3D>) -> Result<(), Code> {
    let copy = copy.get()?;
    for part in [copy.from, copy.to] {
        ContextHandle::from_value(part.context).get()?;
    }
    Ok(())
}

pub(crate) fn copy_slices(copy: In<Copy3D>) -> Result<(), Code> {
    check(copy)?;
    copy::slices(copy)
}

pub(crate) fn copy_slices_async(copy: In<Copy3D>, stream: StreamHandle) -> Result<(), Code> {
    check(copy)?;
    copy::slices_async(copy, stream)
}
