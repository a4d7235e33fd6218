//! Memory pools.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Device, MemoryPool};

use crate::abi::{Code, Handle, INVALID_DEVICE, INVALID_VALUE, In, Memory, NOT_SUPPORTED, Out, lock, objects};
use crate::context::state;
use crate::memory;
use crate::memory::graph_memory::{Allocate, Free};
use crate::stream::{self, StreamHandle};

pub(crate) struct Pool {
    pool: MemoryPool,
    /// The reuse policies. They are hints: stored, but without effect.
    reuse: Mutex<[bool; REUSE]>,
}

pub(crate) type PoolHandle = Handle<Pool>;

objects!(POOLS: Pool = 4, INVALID_VALUE);

/// The first attributes: reuse policies.
const REUSE: usize = 3;

/// The other attributes: release threshold, then reserved and used bytes, current and peak.
const THRESHOLD: c_uint = 4;
const RESERVED: c_uint = 5;
const RESERVED_HIGH: c_uint = 6;
const USED: c_uint = 7;
const USED_HIGH: c_uint = 8;

/// The device's default pool, and the current one.
struct Pools {
    default: PoolHandle,
    current: PoolHandle,
}

static OF_DEVICE: Mutex<Pools> = Mutex::new(Pools { default: Handle::NULL, current: Handle::NULL });

fn make(pool: MemoryPool) -> Result<PoolHandle, Code> {
    Handle::new(Arc::new(Pool { pool, reuse: Mutex::new([true; REUSE]) }))
}

fn default(device: &Device) -> Result<PoolHandle, Code> {
    let mut pools = lock(&OF_DEVICE);
    if pools.default.is_null() {
        pools.default = make(device.default_pool())?;
    }
    Ok(pools.default)
}

fn current(device: &Device) -> Result<PoolHandle, Code> {
    let current = lock(&OF_DEVICE).current;
    // The program may have destroyed the current pool.
    if current.get().is_ok() { Ok(current) } else { default(device) }
}

pub(crate) fn device_default(device: c_int) -> Result<PoolHandle, Code> {
    default(&state::device_by_ordinal(device)?)
}

pub(crate) fn device_current(device: c_int) -> Result<PoolHandle, Code> {
    current(&state::device_by_ordinal(device).map_err(|_| INVALID_VALUE)?)
}

pub(crate) fn set_device_current(device: c_int, pool: PoolHandle) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    pool.get()?;
    lock(&OF_DEVICE).current = pool;
    Ok(())
}

/// `properties` is the beginning of `CUmemPoolProps`: allocation type, handle types, and the kind and number of the
/// location.
pub(crate) fn create(properties: In<[c_int; 4]>) -> Result<PoolHandle, Code> {
    let device = state::device()?;
    match properties.get()? {
        // Pinned device memory, for this process alone.
        [1, 0, 1, 0] => make(device.pool()),
        [1, _, 1, 0] => Err(NOT_SUPPORTED.because("a pool shared between processes")),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn destroy(pool: PoolHandle) -> Result<(), Code> {
    if pool == lock(&OF_DEVICE).default {
        return Err(INVALID_VALUE);
    }
    pool.remove().map(|_| ())
}

/// The index of a reuse policy. Attributes are counted from 1.
fn reuse(attribute: c_uint) -> Option<usize> {
    (attribute as usize).checked_sub(1).filter(|&index| index < REUSE)
}

pub(crate) fn attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result<(), Code> {
    let pool = pool.get()?;
    if let Some(index) = reuse(attribute) {
        return value.as_out().set(c_int::from(lock(&pool.reuse)[index]));
    }
    let usage = pool.pool.usage();
    value.as_out().set(match attribute {
        THRESHOLD => pool.pool.release_threshold(),
        RESERVED => usage.reserved,
        RESERVED_HIGH => usage.reserved_high,
        USED => usage.used,
        USED_HIGH => usage.used_high,
        _ => return Err(INVALID_VALUE),
    })
}

pub(crate) fn set_attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result<(), Code> {
    let pool = pool.get()?;
    if let Some(index) = reuse(attribute) {
        lock(&pool.reuse)[index] = value.as_in::<c_int>().get()? != 0;
        return Ok(());
    }
    let value = value.as_in::<u64>().get()?;
    match attribute {
        THRESHOLD => pool.pool.set_release_threshold(value),
        // The peaks can only be reset.
        RESERVED_HIGH | USED_HIGH if value == 0 => pool.pool.reset_highs(),
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(crate) fn trim(pool: PoolHandle, bytes: usize) -> Result<(), Code> {
    pool.get()?.pool.trim_to(bytes as u64);
    Ok(())
}

pub(crate) fn allocate(address: Out<u64>, bytes: usize, stream: StreamHandle) -> Result<(), Code> {
    let pool = current(&state::device()?)?;
    allocate_from(address, bytes, pool, stream)
}

pub(crate) fn allocate_from(
    address: Out<u64>,
    bytes: usize,
    pool: PoolHandle,
    stream: StreamHandle,
) -> Result<(), Code> {
    let address = address.needed()?;
    let used = stream::used(stream)?;
    let pool = pool.get()?;
    if bytes == 0 {
        return address.set(0);
    }
    if used.is_capturing() {
        let node = Allocate::new(bytes)?;
        address.set(node.address())?;
        return used.submit(Arc::new(node));
    }
    let allocate = |bytes| used.stream.allocate_from(&pool.pool, bytes);
    address.set(memory::allocate_by(&used.context, bytes, allocate)?)
}

pub(crate) fn free(address: u64, stream: StreamHandle) -> Result<(), Code> {
    let used = stream::used(stream)?;
    if address == 0 {
        return Ok(());
    }
    if used.is_capturing() {
        return used.submit(Arc::new(Free { address }));
    }
    memory::free_in(&used.stream, address)
}

/// Whether a location has access: reading and writing for this device, none otherwise.
pub(crate) fn access(pool: PoolHandle, location: In<[c_int; 2]>) -> Result<c_uint, Code> {
    pool.get()?;
    match location.get()? {
        [1, 0] => Ok(3),
        [1, _] => Err(INVALID_DEVICE),
        _ => Err(INVALID_VALUE),
    }
}

/// No other device can have access, and this one always has.
pub(crate) fn set_access(pool: PoolHandle) -> Result<(), Code> {
    pool.get().map(|_| ())
}
