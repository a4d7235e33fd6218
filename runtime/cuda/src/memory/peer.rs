//! Access between contexts. All are on the one device, which has no peers. Copies between contexts work as within one.

use std::ffi::c_uint;

use crate::abi::code::{Code, INVALID_CONTEXT, INVALID_VALUE, PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED};
use crate::abi::raw::In;
use crate::context::{self, ContextHandle};
use crate::memory::copy::{self, Copy3D, Linear};

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
) -> Result<Linear, Code> {
    to_context.get()?;
    from_context.get()?;
    Ok(copy::within_device(to, from, bytes))
}

/// A copy described by a `CUDA_MEMCPY3D_PEER`, which has the contexts where a `CUDA_MEMCPY3D` has reserved fields. Both contexts must
/// exist.
pub(crate) fn copy_slices(copy: In<Copy3D>) -> Result<Copy3D, Code> {
    let copy = copy.get()?;
    for part in [copy.from, copy.to] {
        ContextHandle::from_value(part.context).get()?;
    }
    Ok(copy)
}
