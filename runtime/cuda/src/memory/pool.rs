//! Memory pools.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::MemoryPool;

use crate::abi::{
    Handle, INVALID_VALUE, In, Memory, NOT_SUPPORTED, Out, PEER_ACCESS_UNSUPPORTED, Result, lock, objects,
};
use crate::context::{device, state};
use crate::memory;
use crate::memory::graph_memory::{Allocate, Free};
use crate::stream::{self, StreamHandle, capture};

pub(crate) struct Pool {
    pool: MemoryPool,
    /// The device's ordinal.
    device: c_int,
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

/// A device's default pool, and the current one.
#[derive(Clone, Copy)]
struct Pools {
    default: PoolHandle,
    current: PoolHandle,
}

/// Pools by device ordinal.
static OF_DEVICES: Mutex<BTreeMap<c_int, Pools>> = Mutex::new(BTreeMap::new());

fn make(pool: MemoryPool, device: c_int) -> Result<PoolHandle> {
    Handle::new(Arc::new(Pool { pool, device, reuse: Mutex::new([true; REUSE]) }))
}

fn of_device(device: c_int) -> Result<Pools> {
    let opened = state::device_by_ordinal(device)?;
    let mut all = lock(&OF_DEVICES);
    if let Some(pools) = all.get(&device) {
        return Ok(*pools);
    }
    let default = make(opened.default_pool(), device)?;
    Ok(*all.entry(device).or_insert(Pools { default, current: default }))
}

pub(crate) fn device_default(device: c_int) -> Result<PoolHandle> {
    Ok(of_device(device)?.default)
}

pub(crate) fn device_current(device: c_int) -> Result<PoolHandle> {
    state::entry(device).map_err(|_| INVALID_VALUE)?;
    let Pools { default, current } = of_device(device)?;
    // The program may have destroyed the current pool.
    Ok(if current.get().is_ok() { current } else { default })
}

pub(crate) fn set_device_current(device: c_int, pool: PoolHandle) -> Result {
    let known = of_device(device)?;
    if pool.get()?.device != device {
        return Err(INVALID_VALUE.because("a pool of another device"));
    }
    lock(&OF_DEVICES).insert(device, Pools { current: pool, ..known });
    Ok(())
}

/// `properties` is the beginning of `CUmemPoolProps`: allocation type, handle types, and the kind and number of the
/// location.
pub(crate) fn create(properties: In<[c_int; 4]>) -> Result<PoolHandle> {
    state::check()?;
    match properties.get()? {
        // Pinned device memory, for this process alone.
        [1, 0, 1, device] => make(state::device_by_ordinal(device)?.pool(), device),
        [1, _, 1, _] => Err(NOT_SUPPORTED.because("a pool shared between processes")),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn destroy(pool: PoolHandle) -> Result {
    if lock(&OF_DEVICES).values().any(|pools| pools.default == pool) {
        return Err(INVALID_VALUE);
    }
    pool.remove().map(|_| ())
}

/// The index of a reuse policy. Attributes are counted from 1.
fn reuse(attribute: c_uint) -> Option<usize> {
    (attribute as usize).checked_sub(1).filter(|&index| index < REUSE)
}

pub(crate) fn attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result {
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

pub(crate) fn set_attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result {
    let pool = pool.get()?;
    if let Some(index) = reuse(attribute) {
        lock(&pool.reuse)[index] = value.as_in::<c_int>().get()? != 0;
        return Ok(());
    }
    let value = value.as_in::<u64>().get()?;
    match attribute {
        THRESHOLD => pool.pool.set_release_threshold(value),
        // The peaks can only be reset.
        RESERVED_HIGH if value == 0 => pool.pool.reset_reserved_high(),
        USED_HIGH if value == 0 => pool.pool.reset_used_high(),
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(crate) fn trim(pool: PoolHandle, bytes: usize) -> Result {
    let pool = pool.get()?;
    capture::potentially_unsafe()?;
    pool.pool.trim_to(bytes as u64);
    Ok(())
}

pub(crate) fn allocate(address: Out<u64>, bytes: usize, stream: StreamHandle) -> Result {
    let pool = device_current(stream::device(stream)?)?;
    allocate_from(address, bytes, pool, stream)
}

pub(crate) fn allocate_from(address: Out<u64>, bytes: usize, pool: PoolHandle, stream: StreamHandle) -> Result {
    let address = address.needed()?;
    let used = stream::used(stream)?;
    let Pool { pool: from, device, .. } = &*pool.get()?;
    if *device != used.context.ordinal {
        return Err(NOT_SUPPORTED.because("a pool of another device than the stream's"));
    }
    if bytes == 0 {
        return address.set(0);
    }
    if used.is_capturing()? {
        let node = Allocate::new(bytes)?;
        address.set(node.address())?;
        return used.submit(Arc::new(node));
    }
    capture::potentially_unsafe()?;
    let allocate = |bytes| used.stream.allocate_from(from, bytes);
    address.set(memory::allocate_by(&used.context, bytes, pool, allocate)?)
}

pub(crate) fn free(address: u64, stream: StreamHandle) -> Result {
    let used = stream::used(stream)?;
    if address == 0 {
        return Ok(());
    }
    if used.is_capturing()? {
        return used.submit(Arc::new(Free { address }));
    }
    memory::free_in(&used.stream, address)
}

/// Whether kernels of a device can access a pool's memory.
fn is_accessible(pool: &Pool, device: c_int) -> Result<bool> {
    Ok(pool.device == device || device::can_access_peer(device, pool.device)? != 0)
}

/// The access of a location to a pool's memory: reading and writing, or none.
pub(crate) fn access(pool: PoolHandle, location: In<[c_int; 2]>) -> Result<c_uint> {
    let pool = pool.get()?;
    match location.get()? {
        [1, device] => Ok(if is_accessible(&pool, device)? { 3 } else { 0 }),
        _ => Err(INVALID_VALUE),
    }
}

/// Devices that can have access always have. `access` is an array of `CUmemAccessDesc`.
pub(crate) fn set_access(pool: PoolHandle, access: In<[c_int; 3]>, count: usize) -> Result {
    let pool = pool.get()?;
    for one in access.values(count) {
        match one? {
            [1, device, flags] if flags == 0 || is_accessible(&pool, device)? => {}
            [1, ..] => return Err(PEER_ACCESS_UNSUPPORTED),
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}
