//! Memory pools. The device's memory is one pool; the others are names for it that keep count.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use crate::code::{Code, INVALID_VALUE};
use crate::context;
use crate::handle::{Handle, Object, Table};
use crate::memory;
use crate::raw::{In, Memory, Out};
use crate::state;
use crate::stream::{self, StreamHandle};
use crate::sync::lock;

/// A pool.
pub(crate) struct Pool {
    values: Mutex<[u64; ATTRIBUTES]>,
}

pub(crate) type PoolHandle = Handle<Pool>;

static POOLS: Table<Pool> = Table::new();

impl Object for Pool {
    const TAG: u8 = 4;
    const BAD: Code = INVALID_VALUE;

    fn table() -> &'static Table<Self> {
        &POOLS
    }
}

/// Three kinds of reuse, the release threshold, and bytes reserved and used, now and at most.
const ATTRIBUTES: usize = 8;

/// The first three are numbers of 32 bits.
const SHORT: usize = 3;

/// What a pool begins with: all reuse is allowed.
const FIRST_VALUES: [u64; ATTRIBUTES] = [1, 1, 1, 0, 0, 0, 0, 0];

/// The device's default pool, and the one that is used.
struct Pools {
    default: PoolHandle,
    current: PoolHandle,
}

static OF_DEVICE: Mutex<Pools> = Mutex::new(Pools { default: Handle::NULL, current: Handle::NULL });

fn make() -> Result<PoolHandle, Code> {
    Handle::new(Arc::new(Pool { values: Mutex::new(FIRST_VALUES) }))
}

fn default() -> Result<PoolHandle, Code> {
    let mut pools = lock(&OF_DEVICE);
    if pools.default.is_null() {
        pools.default = make()?;
    }
    Ok(pools.default)
}

pub(crate) fn device_default(pool: Out<PoolHandle>, device: c_int) -> Result<(), Code> {
    let pool = pool.needed()?;
    state::device_by_ordinal(device)?;
    pool.set(default()?)
}

pub(crate) fn device_current(pool: Out<PoolHandle>, device: c_int) -> Result<(), Code> {
    let pool = pool.needed()?;
    state::device_by_ordinal(device)?;
    let default = default()?;
    let current = lock(&OF_DEVICE).current;
    pool.set(if current.get().is_ok() { current } else { default })
}

pub(crate) fn set_device_current(device: c_int, pool: PoolHandle) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    pool.get()?;
    lock(&OF_DEVICE).current = pool;
    Ok(())
}

/// The beginning of `CUmemPoolProps`: the kind of allocations, how they can be exported, the kind and number of where they lie.
pub(crate) fn create(pool: Out<PoolHandle>, properties: In<[c_int; 4]>) -> Result<(), Code> {
    let pool = pool.needed()?;
    state::device()?;
    match properties.get()? {
        // Pinned memory of the device, for this process alone.
        [1, 0, 1, 0] => pool.set(make()?),
        [1, _, 1, 0] => Err(crate::code::NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn destroy(pool: PoolHandle) -> Result<(), Code> {
    state::device()?;
    if pool == lock(&OF_DEVICE).default {
        return Err(INVALID_VALUE);
    }
    pool.remove().map(|_| ())
}

pub(crate) fn attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result<(), Code> {
    state::device()?;
    let pool = pool.get()?;
    let values = lock(&pool.values);
    let index = index(attribute)?;
    if index < SHORT { value.as_out().set(values[index] as c_int) } else { value.as_out().set(values[index]) }
}

pub(crate) fn set_attribute(pool: PoolHandle, attribute: c_uint, value: Memory) -> Result<(), Code> {
    state::device()?;
    let pool = pool.get()?;
    let mut values = lock(&pool.values);
    let index = index(attribute)?;
    values[index] = match index {
        0..SHORT => u64::from(value.as_in::<c_uint>().get()? != 0),
        3 => value.as_in().get()?,
        // The most so far can only be begun anew.
        5 | 7 if value.as_in::<u64>().get()? == 0 => 0,
        _ => return Err(INVALID_VALUE),
    };
    Ok(())
}

/// Attributes are counted from 1.
fn index(attribute: c_uint) -> Result<usize, Code> {
    match attribute as usize {
        number @ 1..=ATTRIBUTES => Ok(number - 1),
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn trim(pool: PoolHandle, _bytes: usize) -> Result<(), Code> {
    state::device()?;
    pool.get().map(|_| ())
}

pub(crate) fn allocate(address: Out<u64>, bytes: usize, stream: StreamHandle) -> Result<(), Code> {
    let address = address.needed()?;
    let context = stream::used(stream)?.context;
    // The memory is there at once, which is before the stream needs it.
    address.set(memory::allocate_in(&context, bytes)?)
}

pub(crate) fn allocate_from(
    address: Out<u64>,
    bytes: usize,
    pool: PoolHandle,
    stream: StreamHandle,
) -> Result<(), Code> {
    pool.get()?;
    allocate(address, bytes, stream)
}

pub(crate) fn free(address: u64, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?;
    context::current()?;
    memory::free_unwaited(address)
}

/// Other devices can't have access, and this one always has.
pub(crate) fn set_access(pool: PoolHandle, _access: Memory, _count: usize) -> Result<(), Code> {
    state::device()?;
    pool.get().map(|_| ())
}
