//! Memory of graphs: nodes that allocate and free it. The address is known with the node, so the memory is reserved then. It
//! is the program's from a launch of the node until it is freed, by a node or otherwise.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use ptx2spv_runtime::Stream;

use crate::abi::{INVALID_VALUE, Memory, NOT_SUPPORTED, Out, Result, layouts};
use crate::context::state;
use crate::context::{self, Context};
use crate::graph::command::{Command, NodeKind, SharedCommand};
use crate::memory::{self, Reserved};

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AllocateParams {
    /// `CUmemPoolProps`. It begins with the type of the allocation, the type of handles, and the kind and number of the
    /// location.
    properties: [c_int; 22],
    access: Memory,
    access_count: usize,
    bytes: usize,
    address: u64,
}

/// A node that allocates.
pub(crate) struct Allocate {
    params: AllocateParams,
    reserved: Arc<Reserved>,
}

/// A node that frees.
pub(crate) struct Free {
    pub address: u64,
}

impl Allocate {
    /// Reserves memory in the current context.
    pub fn new(bytes: usize) -> Result<Self> {
        // Pinned memory of the device, for this process alone.
        let mut properties = [0; 22];
        properties[..4].copy_from_slice(&[1, 0, 1, context::device()?]);
        Self::with(AllocateParams { properties, access: Memory::NULL, access_count: 0, bytes, address: 0 })
    }

    /// Reserves memory for a node, and writes its address into the caller's parameters.
    fn of_params(params: Out<AllocateParams>) -> Result<Self> {
        let given = params.as_in().get()?;
        match given.properties[..4] {
            [1, 0, 1, device] if device == context::device()? => {}
            [1, 0, 1, device] => {
                state::entry(device)?;
                return Err(NOT_SUPPORTED.because("memory of a graph on another device than the current one"));
            }
            _ => return Err(INVALID_VALUE),
        }
        let made = Self::with(given)?;
        params.set(made.params)?;
        Ok(made)
    }

    fn with(params: AllocateParams) -> Result<Self> {
        let reserved = Reserved::new(&context::current()?, params.bytes)?;
        Ok(Self { params: AllocateParams { address: reserved.address(), ..params }, reserved })
    }

    pub fn address(&self) -> u64 {
        self.params.address
    }

    pub fn params(&self) -> AllocateParams {
        self.params
    }

    /// Frees the memory if an earlier launch has allocated it.
    pub fn take_back(&self) {
        // Fails if the memory is free.
        let _ = memory::return_reserved(self.address());
    }
}

impl Command for Allocate {
    fn run(&self, _context: &Context, _stream: &Stream) -> Result {
        memory::lend_reserved(&self.reserved)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Allocate
    }
}

impl Command for Free {
    fn run(&self, _context: &Context, _stream: &Stream) -> Result {
        memory::return_reserved(self.address)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Free
    }
}

pub(crate) fn allocate_command(params: Out<AllocateParams>) -> Result<SharedCommand> {
    Ok(Arc::new(Allocate::of_params(params)?))
}

pub(crate) fn free_command(address: u64) -> Result<SharedCommand> {
    Ok(Arc::new(Free { address }))
}

/// Attributes of the graphs' memory: bytes in use and reserved, now and at most.
const USED: c_uint = 0;
const USED_HIGH: c_uint = 1;
const RESERVED: c_uint = 2;
const RESERVED_HIGH: c_uint = 3;

pub(crate) fn attribute(device: c_int, attribute: c_uint, value: Memory) -> Result {
    state::entry(device)?;
    let usage = memory::reserved_usage(device);
    value.as_out::<u64>().set(match attribute {
        USED => usage.used,
        USED_HIGH => usage.used_high,
        RESERVED => usage.reserved,
        RESERVED_HIGH => usage.reserved_high,
        _ => return Err(INVALID_VALUE),
    })
}

pub(crate) fn set_attribute(device: c_int, attribute: c_uint, value: Memory) -> Result {
    state::entry(device)?;
    // The peaks can only be reset.
    if !matches!(attribute, USED_HIGH | RESERVED_HIGH) || value.as_in::<u64>().get()? != 0 {
        return Err(INVALID_VALUE);
    }
    memory::reset_reserved_highs(device, attribute == USED_HIGH, attribute == RESERVED_HIGH);
    Ok(())
}

/// Memory that no graph needs is freed at once, so there is nothing to trim.
pub(crate) fn trim(device: c_int) -> Result {
    state::entry(device).map(|_| ())
}

layouts! {
    AllocateParams = 120, address at 112;
}
