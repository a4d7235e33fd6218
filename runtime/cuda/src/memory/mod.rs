//! Allocating and freeing memory of the device and the host, and information about addresses.

pub(crate) mod advice;
pub(crate) mod array;
pub(crate) mod copy;
pub(crate) mod graph_memory;
pub(crate) mod ipc;
pub(crate) mod managed;
pub(crate) mod memory_operation;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod set;
pub(crate) mod transfer;
pub(crate) mod variables;
pub(crate) mod virtual_memory;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use ptx2spv_runtime::{Device, Error, MemoryRange, PinnedRange, Stream};

use crate::abi::sync::{read, write};
use crate::abi::{
    Code, HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, Handle, INVALID_VALUE, Memory, NOT_FOUND,
    NOT_SUPPORTED, OUT_OF_MEMORY, Out, Result, lock, size_t,
};
use crate::context::{self, Context, device, state};
use crate::memory::pool::PoolHandle;
use crate::memory::variables::Variables;
use crate::stream::capture;

/// Memory that the library allocated or that the program registered.
#[derive(Clone)]
pub(crate) struct Allocation {
    pub size: u64,
    pub context: Arc<Context>,
    pub place: MemoryKind,
    /// The device address of the first byte, or `None` for host memory that the device can't reach.
    pub on_device: Option<u64>,
    /// The runtime's allocation, which may begin earlier.
    block: Option<u64>,
    /// The graph's reserved memory that was lent to the program, if the allocation is part of it.
    lender: Option<Arc<Reserved>>,
    /// Unique, even among allocations that had the same address.
    pub id: u64,
}

/// The kind of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Device memory, with the pool that it is from, or NULL.
    Device(PoolHandle),
    /// Host memory, with its flags.
    Pinned(c_uint),
    /// Host memory that the program allocated, with its flags.
    Registered(c_uint),
    /// Memory with one address for host and device.
    Managed,
    /// Device memory that the program mapped.
    Mapped,
}

impl MemoryKind {
    /// Whether only the device has the memory.
    pub fn is_of_device_alone(self) -> bool {
        matches!(self, Self::Device(_) | Self::Mapped)
    }
}

/// All allocations by the addresses that programs see.
static ALLOCATIONS: RwLock<BTreeMap<u64, Allocation>> = RwLock::new(BTreeMap::new());

/// The allocation that contains an address, and its first address.
pub(crate) fn find(address: u64) -> Option<(u64, Allocation)> {
    last_in(MemoryRange { address, size: 1 })
}

/// The last allocation with some of these addresses, and its first address.
fn last_in(range: MemoryRange) -> Option<(u64, Allocation)> {
    let allocations = read(&ALLOCATIONS);
    let (&start, last) = allocations.range(..range.address.saturating_add(range.size)).next_back()?;
    (start.saturating_add(last.size) > range.address).then(|| (start, last.clone()))
}

/// Whether a context has memory that modules with 32-bit pointers can't reach.
pub(crate) fn has_out_of_reach(context: &Context) -> bool {
    let is_far = |allocation: &Allocation| {
        let is_host_memory = matches!(allocation.place, MemoryKind::Pinned(_) | MemoryKind::Registered(_));
        let on_device = allocation.on_device.filter(|_| !is_host_memory);
        allocation.context.is(context) && on_device.is_some_and(|at| context.device.memory().is_out_of_reach(at))
    };
    read(&ALLOCATIONS).values().any(is_far)
}

/// The device that has memory, and the context, apart from variables of libraries.
#[derive(Clone)]
pub(crate) struct Owner {
    pub device: Device,
    context: Option<Arc<Context>>,
}

impl Owner {
    pub fn of(context: &Arc<Context>) -> Self {
        Self { device: context.device.clone(), context: Some(context.clone()) }
    }

    fn of_variables(variables: Variables) -> Self {
        Self { device: variables.device, context: variables.context }
    }

    /// Writes the output of the device's kernels, and records an error of the device in the context that has the memory.
    pub fn after<T>(&self, result: Result<T, Error>) -> Result<T> {
        if let Some(context) = &self.context {
            return context.after(result);
        }
        state::write_output(&self.device);
        Ok(result?)
    }
}

/// The kind of memory at an address.
pub(crate) enum Place {
    /// Memory with this device address: an allocation, or a module's variables.
    Device(u64),
    /// Memory of another device, with its address there.
    Elsewhere(Owner, u64),
    /// An allocation of host memory that the device can't reach; another device may, at an address there.
    Host(Option<(Owner, u64)>),
    /// Nothing that the library knows.
    Unknown,
}

/// The memory that a range lies in. It is looked up once: other threads may free and allocate meanwhile. Fails if the range begins in an
/// allocation or a module's variables, and ends after them.
pub(crate) fn place(context: &Context, address: u64, bytes: u64) -> Result<Place> {
    let Some((start, allocation)) = find(address) else {
        let Some(found) = variables::find(address) else { return Ok(Place::Unknown) };
        if bytes > found.range.size - (address - found.range.address) {
            return Err(INVALID_VALUE);
        }
        let is_own = found.device.is(&context.device);
        let elsewhere = || Place::Elsewhere(Owner::of_variables(found), address);
        return Ok(if is_own { Place::Device(address) } else { elsewhere() });
    };
    let fits = match allocation.place {
        MemoryKind::Mapped => virtual_memory::reach(address).is_some_and(|reach| bytes <= reach),
        _ => bytes <= allocation.size - (address - start),
    };
    if !fits {
        return Err(INVALID_VALUE);
    }
    let on_device = allocation.on_device.map(|on_device| on_device + (address - start));
    Ok(match on_device {
        None => Place::Host(None),
        Some(address) if allocation.context.shares_device(context) => Place::Device(address),
        Some(address) => {
            let owner = Owner::of(&allocation.context);
            if allocation.place.is_of_device_alone() {
                Place::Elsewhere(owner, address)
            } else {
                Place::Host(Some((owner, address)))
            }
        }
    })
}

/// The device address of a range in an allocation or in a module's variables; `None` if the device doesn't have it. Fails like
/// [`place`].
pub(crate) fn on_device(context: &Context, address: u64, bytes: u64) -> Result<Option<u64>> {
    Ok(match place(context, address, bytes)? {
        Place::Device(address) => Some(address),
        Place::Elsewhere(..) | Place::Host(_) | Place::Unknown => None,
    })
}

fn record(context: &Arc<Context>, range: MemoryRange, place: MemoryKind, on_device: Option<u64>, block: Option<u64>) {
    let (size, context, id) = (range.size, context.clone(), next_id());
    let allocation = Allocation { size, context, place, on_device, block, lender: None, id };
    write(&ALLOCATIONS).insert(range.address, allocation);
}

/// Records that the program can access a range of device memory, which the record doesn't own.
pub(crate) fn record_mapping(context: &Arc<Context>, address: u64, size: u64) {
    record(context, MemoryRange { address, size }, MemoryKind::Mapped, Some(address), None);
}

pub(crate) fn forget_mapping(address: u64) -> Result {
    forget(address, |allocation| allocation.place == MemoryKind::Mapped).map(|_| ())
}

fn next_id() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Removes the record of an allocation, given its first address, if it is accepted.
fn forget(address: u64, which: impl Fn(&Allocation) -> bool) -> Result<Allocation> {
    let mut allocations = write(&ALLOCATIONS);
    let forgotten = match allocations.get(&address) {
        Some(allocation) if which(allocation) => allocations.remove(&address),
        _ => None,
    };
    let forgotten = forgotten.ok_or(INVALID_VALUE)?;
    if forgotten.lender.is_some() {
        write(&USAGE).entry(forgotten.context.ordinal).or_default().used -= forgotten.size;
    }
    if forgotten.place == MemoryKind::Managed {
        advice::forget(address, forgotten.size);
    }
    Ok(forgotten)
}

/// Removes an allocation, and frees it once all earlier work has finished.
fn release(address: u64, which: impl Fn(&Allocation) -> bool) -> Result {
    let allocation = forget(address, which)?;
    if let Some(block) = allocation.block {
        // SAFETY: this is the record's own allocation, and the record is gone. That no later launch accesses the memory
        // is the caller's contract with CUDA.
        unsafe { allocation.context.device.memory().free(block) }?;
    }
    Ok(())
}

fn is_freed_by_address(allocation: &Allocation) -> bool {
    matches!(allocation.place, MemoryKind::Device(_) | MemoryKind::Managed)
}

pub(crate) fn allocate(address: Out<u64>, bytes: usize) -> Result {
    let address = address.needed()?;
    let context = context::current()?;
    if bytes == 0 {
        return nothing(address);
    }
    address.set(allocate_in(&context, bytes)?)
}

/// The answer to a request for no bytes: an error, and the address zero, as NVIDIA's driver has it.
fn nothing(address: Out<u64>) -> Result {
    address.set(0)?;
    Err(INVALID_VALUE)
}

/// Allocations of at least `LARGE` bytes are aligned to `LARGE_ALIGN`.
const LARGE: u64 = 1 << 20;
const LARGE_ALIGN: u64 = 64 << 10;

fn allocate_in(context: &Arc<Context>, bytes: usize) -> Result<u64> {
    capture::potentially_unsafe()?;
    allocate_by(context, bytes, Handle::NULL, |bytes| context.device.memory().allocate(bytes))
}

/// Allocates device memory through a function, from a pool or from none.
pub(crate) fn allocate_by(
    context: &Arc<Context>,
    bytes: usize,
    pool: PoolHandle,
    allocate: impl Fn(u64) -> Result<u64, Error>,
) -> Result<u64> {
    let (block, range) = aligned(bytes, allocate)?;
    record(context, range, MemoryKind::Device(pool), Some(range.address), Some(block));
    Ok(range.address)
}

/// Whether another device has memory at some of these addresses, or programs use the addresses for memory that another device shares with
/// the host.
pub(crate) fn is_used_elsewhere(device: &Device, range: MemoryRange) -> bool {
    let others = state::opened_beside(device);
    if others.is_empty() {
        return false;
    }
    let is_known = last_in(range).is_some_and(|(_, other)| !other.context.device.is(device));
    is_known || others.iter().any(|other| other.memory().overlaps(range))
}

/// Allocates at least as many bytes as are needed for the alignment. Returns the runtime's address and the range.
fn aligned(bytes: usize, allocate: impl FnOnce(u64) -> Result<u64, Error>) -> Result<(u64, MemoryRange)> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let size = bytes as u64;
    // NVIDIA's driver gives large allocations pages of their own, and programs rely on the alignment: Taichi's runtime
    // fills its first allocation to the last byte with parts that begin at pages.
    let alignment = if size >= LARGE { LARGE_ALIGN } else { 1 };
    let block = allocate(size.saturating_add(alignment - 1))?;
    Ok((block, MemoryRange { address: block.next_multiple_of(alignment), size }))
}

/// Device memory that is reserved for a graph, and lent to the program while it is allocated. Freed when the last owner is
/// gone.
pub(crate) struct Reserved {
    context: Arc<Context>,
    block: u64,
    range: MemoryRange,
}

/// Bytes of reserved memory, and bytes of it that are lent.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReservedUsage {
    pub used: u64,
    pub used_high: u64,
    pub reserved: u64,
    pub reserved_high: u64,
}

/// Reserved memory by device ordinal.
static USAGE: RwLock<BTreeMap<c_int, ReservedUsage>> = RwLock::new(BTreeMap::new());

impl Reserved {
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Arc<Self>> {
        let (block, range) = aligned(bytes, |bytes| context.device.memory().allocate(bytes))?;
        let mut all = write(&USAGE);
        let usage = all.entry(context.ordinal).or_default();
        usage.reserved += range.size;
        usage.reserved_high = usage.reserved_high.max(usage.reserved);
        Ok(Arc::new(Self { context: context.clone(), block, range }))
    }

    pub fn address(&self) -> u64 {
        self.range.address
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        write(&USAGE).entry(self.context.ordinal).or_default().reserved -= self.range.size;
        // SAFETY: the block is this owner's, and nothing refers to it any more. It is freed when all earlier work has
        // finished. An error means that the device is lost.
        let _ = unsafe { self.context.device.memory().free(self.block) };
    }
}

/// Lends reserved memory to the program. Fails while the memory is lent.
pub(crate) fn lend_reserved(reserved: &Arc<Reserved>) -> Result {
    let Reserved { context, range, .. } = &**reserved;
    let mut allocations = write(&ALLOCATIONS);
    if allocations.contains_key(&range.address) {
        return Err(INVALID_VALUE.because("memory of a graph is allocated again before it is freed"));
    }
    let allocation = Allocation {
        size: range.size,
        context: context.clone(),
        place: MemoryKind::Device(Handle::NULL),
        on_device: Some(range.address),
        block: None,
        lender: Some(reserved.clone()),
        id: next_id(),
    };
    allocations.insert(range.address, allocation);
    let mut all = write(&USAGE);
    let usage = all.entry(context.ordinal).or_default();
    usage.used += range.size;
    usage.used_high = usage.used_high.max(usage.used);
    Ok(())
}

/// Takes back memory that was lent.
pub(crate) fn return_reserved(address: u64) -> Result {
    match find(address) {
        Some((start, Allocation { lender: Some(_), .. })) if start == address => forget(address, |_| true).map(|_| ()),
        _ => Err(INVALID_VALUE.because("a graph frees memory that no graph has allocated")),
    }
}

pub(crate) fn reserved_usage(device: c_int) -> ReservedUsage {
    read(&USAGE).get(&device).copied().unwrap_or_default()
}

/// Sets peaks to the present values.
pub(crate) fn reset_reserved_highs(device: c_int, of_used: bool, of_reserved: bool) {
    let mut all = write(&USAGE);
    let usage = all.entry(device).or_default();
    if of_used {
        usage.used_high = usage.used;
    }
    if of_reserved {
        usage.reserved_high = usage.reserved;
    }
}

/// Alignment of rows.
const PITCH_ALIGN: usize = 512;

pub(crate) fn allocate_pitch(
    address: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: c_uint,
) -> Result {
    let (address, pitch) = (address.needed()?, pitch.needed()?);
    let context = context::current()?;
    if !matches!(element, 4 | 8 | 16) {
        return Err(INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(PITCH_ALIGN).ok_or(OUT_OF_MEMORY)?;
    let bytes = row.checked_mul(height).ok_or(OUT_OF_MEMORY)?;
    if bytes == 0 {
        return nothing(address);
    }
    address.set(allocate_in(&context, bytes)?)?;
    pitch.set(row)
}

/// The context that memory to be freed belongs to; `None` for NULL. No context needs to be current.
fn owner(address: u64) -> Result<Option<Arc<Context>>> {
    let current = context::current_if_any()?;
    if address == 0 {
        return Ok(None);
    }
    let owner = current.or_else(|| find(address).map(|(_, allocation)| allocation.context));
    owner.map(Some).ok_or(INVALID_VALUE)
}

/// Waits for the device of memory, if that is another one than the context's.
pub(crate) fn synchronize_owner(context: &Context, address: u64) -> Result {
    let owner = match find(address) {
        Some((_, allocation)) => Some(Owner::of(&allocation.context)),
        None => variables::find(address).map(Owner::of_variables),
    };
    let owner = owner.filter(|owner| !owner.device.is(&context.device));
    owner.map_or(Ok(()), |owner| owner.after(owner.device.synchronize()))
}

pub(crate) fn free(address: u64) -> Result {
    capture::potentially_unsafe()?;
    let Some(context) = owner(address)? else { return Ok(()) };
    // CUDA waits here, and so reports earlier errors.
    context.after(context.device.synchronize())?;
    synchronize_owner(&context, address)?;
    release(address, is_freed_by_address)
}

/// Frees device memory in stream order.
pub(crate) fn free_in(stream: &Stream, address: u64) -> Result {
    let allocation = forget(address, is_freed_by_address)?;
    let Some(block) = allocation.block else { return Ok(()) };
    let owner = &allocation.context.device;
    if stream.device().is(owner) {
        // SAFETY: as for `release`.
        return unsafe { stream.free(block) }.map_err(Code::from);
    }
    stream.synchronize()?;
    // SAFETY: as for `release`. The stream's earlier work has ended.
    unsafe { owner.default_stream().free(block) }.map_err(Code::from)
}

/// Flags of managed memory: attached to all streams, to the host, to one stream.
const MANAGED_FLAGS: [c_uint; 3] = [1, 2, 4];

pub(crate) fn check_managed_flags(flags: c_uint) -> Result {
    if MANAGED_FLAGS.contains(&flags) { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn allocate_managed(address: Out<u64>, bytes: usize, flags: c_uint) -> Result {
    let address = address.needed()?;
    let context = context::current()?;
    check_managed_flags(flags)?;
    if bytes == 0 {
        return nothing(address);
    }
    capture::potentially_unsafe()?;
    let range = context.device.memory().allocate_managed(bytes as u64)?;
    let own = MemoryRange { address: range.host, size: range.size };
    record(&context, own, MemoryKind::Managed, Some(range.address), Some(range.address));
    address.set(range.host)
}

/// The device's free memory, and all of it.
pub(crate) fn info() -> Result<(usize, usize)> {
    let info = context::current()?.device.memory().info();
    Ok((size_t(info.free), size_t(info.total)))
}

/// The start and size of the allocation or variables that contain an address.
pub(crate) fn address_range(address: u64) -> Result<(u64, usize)> {
    context::current()?;
    let found = find(address).map(|(start, allocation)| MemoryRange { address: start, size: allocation.size });
    let found = found.or_else(|| Some(variables::find(address)?.range)).ok_or(NOT_FOUND)?;
    Ok((found.address, size_t(found.size)))
}

/// All valid flags of host memory: portable, mapped, write-combined.
const HOST_FLAGS: c_uint = 7;

pub(crate) fn allocate_host(bytes: usize, flags: c_uint) -> Result<*mut c_void> {
    let context = context::current()?;
    if flags & !HOST_FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    if bytes == 0 {
        return Ok(std::ptr::null_mut());
    }
    capture::potentially_unsafe()?;
    let range = context.device.memory().allocate_pinned(bytes as u64)?;
    let own = MemoryRange { address: range.host, size: range.size };
    record(&context, own, MemoryKind::Pinned(flags), Some(range.address), Some(range.address));
    Ok(range.pointer().cast())
}

pub(crate) fn free_host(pointer: Memory) -> Result {
    capture::potentially_unsafe()?;
    let Some(context) = owner(pointer.address())? else { return Ok(()) };
    // A copy in progress may still use the memory.
    context.after(context.device.synchronize())?;
    synchronize_owner(&context, pointer.address())?;
    release(pointer.address(), |allocation| matches!(allocation.place, MemoryKind::Pinned(_)))
}

/// All valid flags of registered memory: portable, mapped, I/O memory, read-only.
const REGISTER_FLAGS: c_uint = 15;

pub(crate) fn register_host(pointer: Memory, bytes: usize, flags: c_uint) -> Result {
    /// Held from the search for overlaps until the record, so that two threads can't both register memory.
    static REGISTERING: Mutex<()> = Mutex::new(());
    let context = context::current()?;
    if pointer.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    let own = MemoryRange { address: pointer.address(), size: bytes as u64 };
    own.address.checked_add(own.size).ok_or(INVALID_VALUE)?;
    let _registering = lock(&REGISTERING);
    if last_in(own).is_some() {
        return Err(HOST_MEMORY_ALREADY_REGISTERED);
    }
    capture::potentially_unsafe()?;
    // SAFETY: CUDA's contract with the caller: the memory exists until it is unregistered.
    let on_device = match unsafe { context.device.memory().register(pointer.pointer().cast(), own.size) } {
        Ok(PinnedRange { address, size, .. }) if is_used_elsewhere(&context.device, MemoryRange { address, size }) => {
            // SAFETY: the range was registered above, and nothing refers to it.
            unsafe { context.device.memory().free(address) }?;
            None
        }
        Ok(range) => Some(range.address),
        // Copies still work; only kernels can't access the memory.
        Err(Error::NotRegistered { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    record(&context, own, MemoryKind::Registered(flags), on_device, on_device);
    Ok(())
}

pub(crate) fn unregister_host(pointer: Memory) -> Result {
    let is_registered = |allocation: &Allocation| matches!(allocation.place, MemoryKind::Registered(_));
    if pointer.is_null() {
        return Err(INVALID_VALUE);
    }
    if !find(pointer.address()).is_some_and(|(_, allocation)| is_registered(&allocation)) {
        return Err(HOST_MEMORY_NOT_REGISTERED);
    }
    let context = context::current()?;
    capture::potentially_unsafe()?;
    context.after(context.device.synchronize())?;
    synchronize_owner(&context, pointer.address())?;
    release(pointer.address(), is_registered).map_err(|_| HOST_MEMORY_NOT_REGISTERED)
}

pub(crate) fn host_device_address(pointer: Memory, flags: c_uint) -> Result<u64> {
    let context = context::current()?;
    match find(pointer.address()) {
        Some((start, allocation)) if flags == 0 && !allocation.place.is_of_device_alone() => {
            let on_device = allocation.on_device.ok_or(NOT_SUPPORTED)?;
            let owner = &allocation.context.device;
            if !owner.is(&context.device) && !device::is_accessible(&context.device, owner)? {
                return Err(NOT_SUPPORTED.because("host memory that was pinned for another device"));
            }
            if allocation.context.device.memory().is_out_of_reach(on_device) {
                return Err(NOT_SUPPORTED);
            }
            Ok(on_device + (pointer.address() - start))
        }
        _ => Err(INVALID_VALUE),
    }
}

pub(crate) fn host_flags(pointer: Memory) -> Result<c_uint> {
    match find(pointer.address()).map(|(_, allocation)| allocation.place) {
        Some(MemoryKind::Pinned(given) | MemoryKind::Registered(given)) => Ok(given),
        _ => Err(INVALID_VALUE),
    }
}

/// Frees the memory of a context.
pub(crate) fn end_context(context: &Context) {
    let is_owned = |allocation: &Allocation| allocation.context.is(context) && allocation.place != MemoryKind::Mapped;
    let of_context: Vec<_> =
        read(&ALLOCATIONS).iter().filter(|(_, allocation)| is_owned(allocation)).map(|(&address, _)| address).collect();
    for address in of_context {
        // Another thread may have freed the allocation in the meantime, and another one may have its address.
        let _ = release(address, is_owned);
    }
}
