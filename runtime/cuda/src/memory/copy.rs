//! Copies between the host and the device. Both share one address space, so the address decides which memory is meant.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use ptx2spv_runtime::{CopySide, Extent, Stream};

use crate::abi::{
    Handle, INVALID_CONTEXT, INVALID_VALUE, In, Memory, Out, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED,
    PEER_ACCESS_UNSUPPORTED, Result, layouts, lock,
};
use crate::context::{self, Context, ContextHandle, device};
use crate::graph::command::{Command, Description, NodeKind, SharedCommand};
use crate::memory::array::ArrayHandle;
use crate::memory::transfer::Transfer;
use crate::memory::{self, Owner, Place};
use crate::stream::{self, StreamHandle, Used};

/// The source or destination of a copy, with what the caller said of the address.
#[derive(Clone, Copy)]
enum Side {
    /// An address of the device, or of host memory known to the library.
    Known(u64),
    /// Any address. It is the host's unless it belongs to the device.
    Any(Memory),
}

/// The memory that an address turned out to lie in.
enum Spot {
    Device(u64),
    /// Memory of another device.
    Elsewhere(Owner, u64),
    Host(Memory),
    /// Host memory that is known, but that the device can't reach.
    Shared(Memory),
}

impl Side {
    fn address(self) -> u64 {
        match self {
            Self::Known(address) => address,
            Self::Any(memory) => memory.address(),
        }
    }

    fn find(self, context: &Context, bytes: u64) -> Result<Spot> {
        let (address, memory) = match self {
            Self::Known(address) => (address, Memory::from_address(address)),
            Self::Any(memory) => (memory.address(), memory),
        };
        match (memory::place(context, address, bytes)?, self) {
            (Place::Device(address), _) => Ok(Spot::Device(address)),
            (Place::Elsewhere(owner, address), _) => Ok(Spot::Elsewhere(owner, address)),
            (Place::Unknown, Self::Known(_)) => Err(INVALID_VALUE),
            (Place::Host(_), _) => Ok(Spot::Shared(memory)),
            (Place::Unknown, Self::Any(_)) => Ok(Spot::Host(memory)),
        }
    }
}

fn copy(used: &Used, to: Side, from: Side, bytes: usize) -> Result {
    if bytes == 0 {
        return Ok(());
    }
    let len = bytes as u64;
    let Used { context, stream, .. } = used;
    let (to, from) = (to.find(context, len)?, from.find(context, len)?);
    if matches!(from, Spot::Shared(_)) {
        // Unlike other host memory, it is read in stream order.
        context.after(stream.synchronize())?;
    }
    match (to, from) {
        (to @ Spot::Elsewhere(..), from) | (to, from @ Spot::Elsewhere(..)) => {
            let extent = Extent { width: len, height: 1, depth: 1 };
            copy_rows(context, stream, from.linear(len)?, to.linear(len)?, extent)
        }
        // The data is read during the call: the caller may change the memory afterwards.
        (Spot::Device(to), Spot::Host(from) | Spot::Shared(from)) => {
            stream.write(to, from.bytes(len)?).map_err(|error| context.failed(error))
        }
        (Spot::Host(to) | Spot::Shared(to), Spot::Device(from)) => context.after(stream.read(from, to.bytes_mut(len)?)),
        (Spot::Device(to), Spot::Device(from)) if to == from => Ok(()),
        (Spot::Device(to), Spot::Device(from)) => stream.copy(from, to, len).map_err(|error| context.failed(error)),
        (Spot::Host(to) | Spot::Shared(to), Spot::Host(from) | Spot::Shared(from)) => {
            context.after(stream.synchronize())?;
            to.check(len)?;
            from.check(len)?;
            // SAFETY: both have `bytes` bytes by the caller's contract; they may overlap.
            unsafe { std::ptr::copy(from.pointer().cast::<u8>(), to.pointer().cast::<u8>(), bytes) };
            Ok(())
        }
    }
}

/// One side of a copy, and its owner if that is another device than the stream's.
type Found = (CopySide, Option<Owner>);

impl Spot {
    /// The first of `len` contiguous bytes.
    fn linear(self, len: u64) -> Result<Found> {
        Ok(match self {
            Self::Device(address) => (CopySide::device(address), None),
            Self::Elsewhere(owner, address) => (CopySide::device(address), Some(owner)),
            Self::Host(memory) | Self::Shared(memory) => {
                memory.check(len)?;
                (CopySide::host(memory.pointer().cast()), None)
            }
        })
    }
}

/// Copies rows, on a stream's device or between devices.
fn copy_rows(context: &Context, stream: &Stream, from: Found, to: Found, extent: Extent) -> Result {
    let ((from, from_owner), (to, to_owner)) = (from, to);
    let Some(other) = from_owner.as_ref().or(to_owner.as_ref()) else {
        // SAFETY: CUDA's contract with the caller: the host's memory exists and is not used during the copy.
        return context.after(unsafe { stream.copy_rows(from, to, extent) });
    };
    // Each device's errors are its own contexts'.
    context.after(stream.synchronize())?;
    for owner in [&from_owner, &to_owner].into_iter().flatten() {
        owner.after(owner.device.non_blocking_stream().synchronize())?;
    }
    let device = |owner: &Option<Owner>| owner.as_ref().map_or(stream.device(), |owner| &owner.device).clone();
    let (from_device, to_device) = (device(&from_owner), device(&to_owner));
    // SAFETY: as above.
    other.after(unsafe { stream.copy_rows_between((from, &from_device), (to, &to_device), extent) })
}

/// A copy of contiguous bytes.
#[derive(Clone, Copy)]
pub(crate) struct Linear {
    to: Side,
    from: Side,
    bytes: usize,
}

impl Transfer for Linear {
    fn now(self) -> Result {
        let Self { to, from, bytes } = self;
        let used = stream::default()?;
        for side in [to, from] {
            memory::synchronize_owner(&used.context, side.address())?;
        }
        copy(&used, to, from, bytes)?;
        let waits = match (to, from) {
            (Side::Known(_), Side::Known(_)) => false,
            // Pinned memory is read asynchronously, other memory during the call.
            (Side::Known(_), Side::Any(from)) => memory::find(from.address()).is_some(),
            (Side::Any(_), _) => true,
        };
        if waits { used.context.after(used.stream.synchronize()) } else { Ok(()) }
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        self.submit(&stream::used(stream)?)
    }
}

impl Linear {
    fn submit(self, used: &Used) -> Result {
        let Self { to, from, bytes } = self;
        if used.is_capturing()? {
            return used.submit(Arc::new(row(Part3D::linear(to), Part3D::linear(from), bytes)));
        }
        copy(used, to, from, bytes)
    }
}

pub(crate) fn to_device(to: u64, from: Memory, bytes: usize) -> Linear {
    Linear { to: Side::Known(to), from: Side::Any(from), bytes }
}

pub(crate) fn to_host(to: Memory, from: u64, bytes: usize) -> Linear {
    Linear { to: Side::Any(to), from: Side::Known(from), bytes }
}

pub(crate) fn within_device(to: u64, from: u64, bytes: usize) -> Linear {
    Linear { to: Side::Known(to), from: Side::Known(from), bytes }
}

pub(crate) fn any(to: Memory, from: Memory, bytes: usize) -> Linear {
    Linear { to: Side::Any(to), from: Side::Any(from), bytes }
}

/// Like [`any`] in a stream, but reads the source in stream order, whatever memory it is.
pub(crate) fn any_in_stream(to: Memory, from: Memory, bytes: usize, stream: StreamHandle) -> Result {
    let used = stream::used(stream)?;
    let is_known = memory::on_device(&used.context, from.address(), bytes as u64)?.is_some();
    if !is_known && !used.is_capturing()? {
        used.context.after(used.stream.synchronize())?;
    }
    any(to, from, bytes).submit(&used)
}

/// One side of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Part2D {
    x: usize,
    y: usize,
    kind: u32,
    host: Memory,
    device: u64,
    array: ArrayHandle,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Copy2D {
    from: Part2D,
    to: Part2D,
    width: usize,
    height: usize,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Part3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    pub kind: u32,
    pub host: Memory,
    pub device: u64,
    pub array: ArrayHandle,
    /// Only in copies between contexts; otherwise reserved.
    pub context: usize,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Copy3D {
    pub from: Part3D,
    pub to: Part3D,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

// Kinds of memory: host, device, array, and unified (the address decides).
pub(crate) const HOST: u32 = 1;
pub(crate) const DEVICE: u32 = 2;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const UNIFIED: u32 = 4;

impl From<Part2D> for Part3D {
    fn from(part: Part2D) -> Self {
        let Part2D { x, y, kind, host, device, array, pitch } = part;
        Self { x, y, z: 0, level: 0, kind, host, device, array, context: 0, pitch, height: 0 }
    }
}

impl From<Copy2D> for Copy3D {
    fn from(copy: Copy2D) -> Self {
        Self { from: copy.from.into(), to: copy.to.into(), width: copy.width, height: copy.height, depth: 1 }
    }
}

impl Copy3D {
    fn is_empty(&self) -> bool {
        [self.width, self.height, self.depth].contains(&0)
    }

    fn run_and_wait(&self, used: &Used) -> Result {
        for part in [&self.from, &self.to].into_iter().filter(|_| !self.is_empty()) {
            part.synchronize_owner(&used.context)?;
        }
        self.run(&used.context, &used.stream)?;
        used.context.after(used.stream.synchronize())
    }
}

impl Transfer for Copy3D {
    fn now(self) -> Result {
        self.run_and_wait(&stream::default()?)
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        stream::used(stream)?.submit(Arc::new(self))
    }
}

/// A copy as a caller describes it.
impl<T: Copy + Into<Copy3D>> Transfer for In<T> {
    fn now(self) -> Result {
        let used = stream::default()?;
        self.get()?.into().run_and_wait(&used)
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        let used = stream::used(stream)?;
        used.submit(Arc::new(self.get()?.into()))
    }
}

impl Description for Copy3D {
    type Command = Self;

    fn of(copy: &Self) -> Self {
        *copy
    }

    fn command(self) -> Result<SharedCommand> {
        Ok(Arc::new(self))
    }
}

impl Command for Copy3D {
    fn run(&self, context: &Context, stream: &Stream) -> Result {
        let [width, height, depth] = [self.width, self.height, self.depth].map(|value| value as u64);
        let extent = Extent { width, height, depth };
        if self.is_empty() {
            return Ok(());
        }
        let (from, to) = (self.from.side(context, extent)?, self.to.side(context, extent)?);
        copy_rows(context, stream, from, to, extent)
    }

    fn kind(&self) -> NodeKind {
        NodeKind::Copy
    }
}

impl Part3D {
    fn linear(side: Side) -> Self {
        let (kind, host, device) = match side {
            Side::Known(address) => (DEVICE, Memory::from_address(0), address),
            Side::Any(memory) => (HOST, memory, 0),
        };
        Self { x: 0, y: 0, z: 0, level: 0, kind, host, device, array: Handle::NULL, context: 0, pitch: 0, height: 0 }
    }

    /// This side as the runtime describes it, for a copy of the given extent.
    fn side(&self, context: &Context, extent: Extent) -> Result<Found> {
        let number = |value: usize| value as u64;
        if self.kind == ARRAY {
            return self.part(context, extent);
        }
        let product = |a: u64, b: u64| a.checked_mul(b).ok_or(INVALID_VALUE);
        // A pitch or height of zero means rows or slices without gaps.
        let row = if self.pitch == 0 { number(self.x) + extent.width } else { number(self.pitch) };
        let rows = if self.height == 0 { number(self.y) + extent.height } else { number(self.height) };
        let slice = product(row, rows)?;
        let offset = product(slice, number(self.z))?.checked_add(product(row, number(self.y))?);
        let offset = offset.and_then(|offset| offset.checked_add(number(self.x))).ok_or(INVALID_VALUE)?;
        // Up to the end of the last row.
        let gaps =
            product(slice, extent.depth.saturating_sub(1))?.checked_add(product(row, extent.height.saturating_sub(1))?);
        let span = gaps.and_then(|gaps| gaps.checked_add(offset)?.checked_add(extent.width)).ok_or(INVALID_VALUE)?;
        let after = |address: u64| address.checked_add(offset).map(CopySide::device).ok_or(INVALID_VALUE);
        let (side, device) = match self.linear_side()?.find(context, span)? {
            Spot::Device(address) => (after(address)?, None),
            Spot::Elsewhere(owner, address) => (after(address)?, Some(owner)),
            Spot::Host(memory) | Spot::Shared(memory) if memory.is_null() => return Err(INVALID_VALUE),
            Spot::Host(memory) | Spot::Shared(memory) => (CopySide::host(memory.offset(offset).pointer().cast()), None),
        };
        Ok((side.row_pitch(row).slice_pitch(slice), device))
    }

    /// The memory, unless this is a part of an array.
    fn linear_side(&self) -> Result<Side> {
        match self.kind {
            HOST => Ok(Side::Any(self.host)),
            DEVICE => Ok(Side::Known(self.device)),
            UNIFIED => Ok(Side::Any(Memory::from_address(self.device))),
            _ => Err(INVALID_VALUE),
        }
    }

    /// Waits for the device of the memory, if that is another one than the context's. What is wrong with the part, its copy says.
    fn synchronize_owner(&self, context: &Context) -> Result {
        if let Ok(side) = self.linear_side() {
            return memory::synchronize_owner(context, side.address());
        }
        let Ok(array) = self.array.get() else { return Ok(()) };
        let owner = Owner::of(&array.context);
        if array.context.shares_device(context) { Ok(()) } else { owner.after(owner.device.synchronize()) }
    }

    /// This side as a part of an array.
    fn part(&self, context: &Context, extent: Extent) -> Result<Found> {
        let found = self.array.get()?;
        let array = &found.array;
        let texel = array.descriptor().format.bytes();
        let Extent { width, height, depth } = extent;
        let [x, y, z] = [self.x, self.y, self.z].map(|value| value as u64);
        if self.level != 0 || !x.is_multiple_of(texel) || !width.is_multiple_of(texel) {
            return Err(INVALID_VALUE.because("a copy of partial array elements"));
        }
        let side = array.region([x / texel, y, z], [width / texel, height, depth])?.side();
        Ok((side, (!found.context.shares_device(context)).then(|| Owner::of(&found.context))))
    }
}

/// A copy of contiguous bytes.
pub(crate) fn row(to: Part3D, from: Part3D, bytes: usize) -> Copy3D {
    Copy3D { from, to, width: bytes, height: 1, depth: 1 }
}

pub(crate) fn on_device(address: u64) -> Part3D {
    Part3D::linear(Side::Known(address))
}

/// Memory of the host, unless the address belongs to the device.
pub(crate) fn anywhere(memory: Memory) -> Part3D {
    Part3D::linear(Side::Any(memory))
}

/// Bytes of a row of an array, from an offset on.
pub(crate) fn in_array(array: ArrayHandle, offset: usize) -> Part3D {
    Part3D { x: offset, kind: ARRAY, array, ..on_device(0) }
}

// Access between contexts. Contexts of one device have no peers. Copies find the devices by the addresses.

pub(crate) fn enable_peer(peer: ContextHandle, flags: c_uint) -> Result {
    let current = context::current()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    let peer = peer.get()?;
    if peer.is(&current) {
        return Err(INVALID_CONTEXT);
    }
    if !device::is_accessible(&current.device, &peer.device)? {
        return Err(PEER_ACCESS_UNSUPPORTED);
    }
    if lock(&current.peers).insert(peer.id) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
}

pub(crate) fn disable_peer(peer: ContextHandle) -> Result {
    let (current, peer) = (context::current()?, peer.get()?);
    if lock(&current.peers).remove(&peer.id) { Ok(()) } else { Err(PEER_ACCESS_NOT_ENABLED) }
}

pub(crate) fn between_contexts(
    to: u64,
    to_context: ContextHandle,
    from: u64,
    from_context: ContextHandle,
    bytes: usize,
) -> Result<Linear> {
    if bytes > 0 {
        check_peers([to_context, from_context])?;
    }
    Ok(within_device(to, from, bytes))
}

/// A copy described by a `CUDA_MEMCPY3D_PEER`, which has the contexts where a `CUDA_MEMCPY3D` has reserved fields.
pub(crate) fn slices_between_contexts(copy: In<Copy3D>) -> Result<Copy3D> {
    let copy = copy.get()?;
    if [copy.width, copy.height, copy.depth].iter().all(|&size| size > 0) {
        check_peers([copy.from, copy.to].map(|part| ContextHandle::from_value(part.context)))?;
    }
    Ok(copy)
}

/// Fails unless both contexts exist. NVIDIA's driver doesn't look at them if there is nothing to copy.
fn check_peers(contexts: [ContextHandle; 2]) -> Result {
    contexts.into_iter().try_for_each(ContextHandle::check)
}

// Copies in batches.

/// `CUmemcpyAttributes`: when the source is read, then hints: locations of both sides, flags.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BatchAttributes {
    order: c_uint,
    _from: [c_int; 2],
    _to: [c_int; 2],
    _flags: c_uint,
}

// When a source is read: in stream order, during the call, at any time.
const IN_STREAM: c_uint = 1;
const AT_ANY_TIME: c_uint = 3;

pub(crate) fn copy_all(
    to: In<Memory>,
    from: In<Memory>,
    bytes: In<usize>,
    count: usize,
    attributes: In<BatchAttributes>,
    first_of_attributes: In<usize>,
    attribute_count: usize,
    stream: StreamHandle,
) -> Result {
    /// `CU_STREAM_LEGACY`, which batches must not use.
    const LEGACY: usize = 1;
    if count == 0 || stream.is_null() || stream.value() == LEGACY {
        return Err(INVALID_VALUE);
    }
    stream::used(stream)?;
    let is_order = |attributes: &BatchAttributes| (IN_STREAM..=AT_ANY_TIME).contains(&attributes.order);
    let check = |read: Result<BatchAttributes>| read.and_then(|read| Some(read).filter(is_order).ok_or(INVALID_VALUE));
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
            any_in_stream(to, from, bytes, stream)?;
        } else {
            any(to, from, bytes).in_stream(stream)?;
        }
    }
    Ok(())
}

/// The first version of the function, which tells the copy that failed: none in particular.
pub(crate) fn copy_all_v1(
    to: In<Memory>,
    from: In<Memory>,
    bytes: In<usize>,
    count: usize,
    attributes: In<BatchAttributes>,
    first_of_attributes: In<usize>,
    attribute_count: usize,
    failed: Out<usize>,
    stream: StreamHandle,
) -> Result {
    copy_all(to, from, bytes, count, attributes, first_of_attributes, attribute_count, stream)
        .inspect_err(|_| failed.set_if_any(usize::MAX))
}

layouts! {
    Copy2D = 128, to at 56, width at 112;
    Copy3D = 200, to at 88, width at 176;
    Part3D, host at 40, height at 80;
    BatchAttributes = 24;
}
