//! Copies of rows and slices between device memory and host memory.

use std::slice;

use crate::backend::shape::{Extent, Pitches, Shape};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// The first byte of one side of a copy.
///
/// ```
/// use ptx2spv_runtime::{CopyAddress, CopySide};
///
/// assert_eq!(CopySide::device(4096).place, CopyAddress::Device(4096));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyAddress {
    /// A device address.
    Device(u64),
    /// A host address, which may lie in pinned memory.
    Host(u64),
}

/// One side of a copy: the address, and the distances between rows and between slices.
///
/// ```
/// use ptx2spv_runtime::{Config, CopySide, Device, Extent};
///
/// let device = Device::reference(Config::default());
/// let (stream, picture) = (device.stream(), device.upload(&[1_u8, 2, 3, 4, 5, 6, 7, 8, 9])?);
/// let corner = device.upload(&[0_u8; 4])?;
/// // Two bytes of each of the first two rows.
/// let (from, to) = (CopySide::device(picture.address()).row_pitch(3), CopySide::device(corner.address()).row_pitch(2));
/// // SAFETY: both sides are buffers of the device.
/// unsafe { stream.copy_rows(from, to, Extent::rows(2, 2)) }?;
/// stream.synchronize()?;
/// assert_eq!(corner.download::<u8>()?, [1, 2, 4, 5]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySide {
    /// The address of the first byte.
    pub place: CopyAddress,
    /// Bytes from one row to the next; ignored for a single row.
    pub row_pitch: u64,
    /// Bytes from one slice to the next; ignored for a single slice.
    pub slice_pitch: u64,
}

impl CopySide {
    /// A single row at a device address.
    pub fn device(address: u64) -> Self {
        Self { place: CopyAddress::Device(address), row_pitch: 0, slice_pitch: 0 }
    }

    /// A single row at a host address. A copy from there doesn't write to it; for one to there, the pointer comes from `as_mut_ptr`.
    pub fn host(pointer: *const u8) -> Self {
        Self { place: CopyAddress::Host(pointer.expose_provenance() as u64), row_pitch: 0, slice_pitch: 0 }
    }

    /// Sets the bytes from one row to the next.
    #[must_use]
    pub fn row_pitch(self, row_pitch: u64) -> Self {
        Self { row_pitch, ..self }
    }

    /// Sets the bytes from one slice to the next.
    #[must_use]
    pub fn slice_pitch(self, slice_pitch: u64) -> Self {
        Self { slice_pitch, ..self }
    }

    /// The same side, from so many bytes later in the row on.
    fn after(self, bytes: u64) -> Self {
        let place = match self.place {
            CopyAddress::Device(address) => CopyAddress::Device(address.saturating_add(bytes)),
            CopyAddress::Host(address) => CopyAddress::Host(address.saturating_add(bytes)),
        };
        Self { place, ..self }
    }

    fn pitches(&self) -> Pitches {
        Pitches { row: self.row_pitch, slice: self.slice_pitch }
    }

    /// The device address of `span` bytes, or that of the host if the device can't access them.
    fn find(&self, device: &Device, span: u64) -> Result<CopyAddress> {
        let address = match self.place {
            CopyAddress::Device(address) => address,
            CopyAddress::Host(host) => match device.memory().find_pinned(host) {
                Some(range) => range.address + (host - range.host),
                None => return Ok(self.place),
            },
        };
        device.check_range(address, span)?;
        Ok(CopyAddress::Device(address))
    }
}

/// A copy that passed all checks.
pub(crate) struct Copy {
    from: CopyAddress,
    to: CopyAddress,
    shape: Shape,
}

impl Copy {
    /// A copy on a device; `None` if there is nothing to copy.
    pub fn new(device: &Device, from: CopySide, to: CopySide, extent: Extent) -> Result<Option<Self>> {
        let Some(shape) = Shape::new(extent, from.pitches(), to.pitches())? else { return Ok(None) };
        let (from, to) = (from.find(device, shape.source_span())?, to.find(device, shape.target_span())?);
        match (from, to) {
            (CopyAddress::Device(from), CopyAddress::Device(to)) | (CopyAddress::Host(from), CopyAddress::Host(to))
                if shape.overlaps(from, to) =>
            {
                Err(Error::Overlap)
            }
            _ => Ok(Some(Self { from, to, shape })),
        }
    }

    /// Whether the caller waits for the copy.
    pub fn waits(&self) -> bool {
        matches!(self.to, CopyAddress::Host(_))
    }
}

impl Stream {
    /// Copies rows of slices between places that don't overlap, like `cuMemcpy3DAsync`. If both sides are device or
    /// pinned memory, the copy is asynchronous and in stream order. Other host memory is read during the call; a copy
    /// to such memory returns when the copy is complete.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, CopySide, Device, Extent};
    ///
    /// let device = Device::reference(Config::default());
    /// let (image, stream) = (device.alloc(8 * 4)?, device.stream());
    /// stream.set(image.address(), 0_u8, 32)?;
    /// let part = [1_u8, 2, 3, 4, 5, 6];
    /// // Two rows of three bytes into the middle of rows of eight bytes.
    /// let (from, to) = (CopySide::host(part.as_ptr()).row_pitch(3), CopySide::device(image.address() + 10).row_pitch(8));
    /// // SAFETY: the array has that many bytes.
    /// unsafe { stream.copy_rows(from, to, Extent::rows(3, 2)) }?;
    /// let mut row = [0; 8];
    /// stream.read(image.address() + 16, &mut row)?;
    /// assert_eq!(row, [0, 0, 4, 5, 6, 0, 0, 0]);
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Safety
    /// The host memory exists, and no other code writes the source, or accesses the destination, until the copy is
    /// complete.
    ///
    /// # Errors
    /// [`Error::Pitch`], [`Error::NotAllocated`], [`Error::OutOfRange`], [`Error::Overlap`], [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`]; the errors of [`Stream::read`] if the call waits.
    pub unsafe fn copy_rows(&self, from: CopySide, to: CopySide, extent: Extent) -> Result {
        let Some(Copy { from, to, shape }) = Copy::new(self.device(), from, to, extent)? else { return Ok(()) };
        match (from, to) {
            (CopyAddress::Device(from), CopyAddress::Device(to)) => self.copy_shape(from, to, &shape),
            // SAFETY: by the contract.
            (CopyAddress::Host(host), CopyAddress::Device(to)) => unsafe { self.upload_rows(host, to, shape) },
            // SAFETY: by the contract.
            (CopyAddress::Device(from), CopyAddress::Host(host)) => unsafe { self.download_rows(from, host, shape) },
            (CopyAddress::Host(from), CopyAddress::Host(to)) => {
                self.synchronize()?;
                for region in shape.regions() {
                    // SAFETY: by the contract, and they don't overlap.
                    unsafe {
                        let (from, to) = (bytes_at(from + region.from, region.size), to + region.to);
                        bytes_at_mut(to, region.size).copy_from_slice(from);
                    }
                }
                Ok(())
            }
        }
    }

    /// Like [`Stream::copy_rows`], for sides that may be on other devices than the stream; a side of host memory may have
    /// any. The bytes go through the host's memory: the call waits for the stream, and for the copy as far as other devices
    /// do it. Work of other streams is not waited for.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, CopySide, Device, Extent};
    ///
    /// let (here, there) = (Device::reference(Config::default()), Device::reference(Config::default()));
    /// let (from, to) = (here.upload(&[1_u8, 2, 3, 4])?, there.alloc(4)?);
    /// here.synchronize()?;
    /// let (from, target) = (CopySide::device(from.address()), CopySide::device(to.address()));
    /// // SAFETY: both sides are buffers.
    /// unsafe { here.stream().copy_rows_between((from, &here), (target, &there), Extent::rows(4, 1)) }?;
    /// assert_eq!(to.download::<u8>()?, [1, 2, 3, 4]);
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Safety
    /// As for [`Stream::copy_rows`].
    ///
    /// # Errors
    /// The errors of [`Stream::copy_rows`] and [`Stream::synchronize`].
    pub unsafe fn copy_rows_between(
        &self,
        (from, from_device): (CopySide, &Device),
        (to, to_device): (CopySide, &Device),
        extent: Extent,
    ) -> Result {
        let (reading, writing) = (self.of(from_device), self.of(to_device));
        self.synchronize()?;
        let mut bytes = Vec::new();
        for (offset, extent) in parts(extent) {
            let Extent { width, height, depth } = extent;
            if bytes.is_empty() {
                // The first part is the largest.
                bytes = zeroes(width.saturating_mul(height).saturating_mul(depth))?;
            }
            let host = CopySide::host(bytes.as_mut_ptr()).row_pitch(width).slice_pitch(width.saturating_mul(height));
            // SAFETY: by the contract, and because the list has room for all rows. Reading into it returns when it is complete,
            // and it is read during the second call.
            unsafe {
                reading.copy_rows(from.after(offset), host, extent)?;
                writing.copy_rows(host, to.after(offset), extent)?;
            }
        }
        if to_device.is(self.device()) { Ok(()) } else { writing.synchronize() }
    }

    /// A stream of a device: this one, if it is of that device, or else a new one.
    fn of(&self, device: &Device) -> Self {
        if self.device().is(device) { self.clone() } else { device.non_blocking_stream() }
    }

    pub(crate) fn copy_shape(&self, from: u64, to: u64, shape: &Shape) -> Result {
        if shape.overlaps(from, to) {
            return Err(Error::Overlap);
        }
        self.device().submit(self.state(), |backend, stream| backend.copy(stream, from, to, shape))
    }

    /// # Safety
    /// The host's bytes can be read.
    unsafe fn upload_rows(&self, host: u64, address: u64, shape: Shape) -> Result {
        // The host's bytes are read in there, after the host functions that were submitted before.
        self.device().submit(self.state(), |backend, stream| {
            let mut packed = Vec::new();
            let bytes = if shape.is_linear() {
                // SAFETY: by the contract.
                unsafe { bytes_at(host, shape.bytes()) }
            } else {
                for region in shape.regions() {
                    // SAFETY: by the contract.
                    packed.extend_from_slice(unsafe { bytes_at(host + region.from, region.size) });
                }
                &packed[..]
            };
            backend.upload(stream, address, &shape.packed_from(), bytes)
        })
    }

    /// # Safety
    /// The host's bytes can be written.
    unsafe fn download_rows(&self, address: u64, host: u64, shape: Shape) -> Result {
        if shape.is_linear() {
            // SAFETY: by the contract.
            return self.download(address, &shape, unsafe { bytes_at_mut(host, shape.bytes()) });
        }
        let mut packed = zeroes(shape.bytes())?;
        let gathered = shape.packed_to();
        self.download(address, &gathered, &mut packed)?;
        for (region, row) in shape.regions().zip(gathered.regions()) {
            // Both ranges are in memory, so the sizes fit `usize`.
            let row = &packed[row.to as usize..][..row.size as usize];
            // SAFETY: by the contract.
            unsafe { bytes_at_mut(host + region.to, region.size) }.copy_from_slice(row);
        }
        Ok(())
    }

    /// Reads bytes after all earlier work of the stream, and waits for that.
    pub(crate) fn download(&self, address: u64, shape: &Shape, bytes: &mut [u8]) -> Result {
        let device = self.device();
        let _lock = device.wait_to_submit(self.state())?;
        let after = device.reached(self.state());
        device.backend().download(self.state().key(), after, address, shape, bytes)?;
        device.backend().check_stopped()
    }
}

/// Parts of a copy that need little memory each, with their offsets in bytes: a single row is cut, anything else is one part.
fn parts(extent: Extent) -> impl Iterator<Item = (u64, Extent)> {
    const MOST: u64 = 32 << 20;
    let is_row = extent.height == 1 && extent.depth == 1;
    let step = if is_row { MOST } else { extent.width.max(1) };
    (0..extent.width.div_ceil(step)).map(move |part| {
        let offset = part * step;
        (offset, Extent { width: step.min(extent.width - offset), ..extent })
    })
}

fn zeroes(bytes: u64) -> Result<Vec<u8>> {
    let count =
        usize::try_from(bytes).map_err(|_| Error::OutOfMemory(format!("{bytes} bytes do not fit on the host")))?;
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::OutOfMemory(format!("no room for {bytes} bytes on the host")))?;
    list.resize(count, 0);
    Ok(list)
}

/// # Safety
/// `count` bytes of host memory exist, at least one, and no other code writes them.
unsafe fn bytes_at<'b>(host: u64, count: u64) -> &'b [u8] {
    // SAFETY: by the contract; existing memory has addresses and sizes that fit `usize`.
    unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(host as usize), count as usize) }
}

/// # Safety
/// `count` bytes of host memory exist, at least one, and no other code uses them.
unsafe fn bytes_at_mut<'b>(host: u64, count: u64) -> &'b mut [u8] {
    // SAFETY: as above.
    unsafe { slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(host as usize), count as usize) }
}
