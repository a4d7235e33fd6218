//! Arrays: memory for textures and surfaces, stored row by row.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use crate::backend::range::MemoryRange;
use crate::backend::shape::{Extent, Pitches, Shape};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;
use crate::memory::copies::CopySide;
use crate::stream::Stream;
use crate::texel::error::TextureError;
use crate::texel::format::TexelFormat;
use crate::texel::limits;
use crate::texel::shape::ArrayShape;

/// The properties of an array.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat};
///
/// let shape = ArrayShape::TwoDLayered { width: 64, height: 32, layers: 3 };
/// let descriptor = ArrayDescriptor::new(ChannelFormat::F16, shape).surface();
/// assert!(descriptor.surface);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayDescriptor {
    /// The format of the elements.
    pub format: TexelFormat,
    /// The dimensions and sizes.
    pub shape: ArrayShape,
    /// Whether surfaces can be made of the array.
    pub surface: bool,
    /// Whether the array is for gathering (`tld4`), which lowers the limits of its size.
    pub gather: bool,
}

impl ArrayDescriptor {
    /// An array for textures.
    pub fn new(format: impl Into<TexelFormat>, shape: ArrayShape) -> Self {
        Self { format: format.into(), shape, surface: false, gather: false }
    }

    /// Permits surfaces.
    #[must_use]
    pub fn surface(self) -> Self {
        Self { surface: true, ..self }
    }

    /// Permits gathering.
    #[must_use]
    pub fn gather(self) -> Self {
        Self { gather: true, ..self }
    }

    /// Maximum number of levels of a mip-mapped array of this size.
    pub fn most_levels(&self) -> u32 {
        self.shape.most_levels()
    }

    fn check(&self, levels: u32) -> Result<(), TextureError> {
        if self.gather && !matches!(self.shape, ArrayShape::TwoD { .. }) {
            return Err(TextureError::Gather);
        }
        for (what, given, most) in self.shape.limits(levels > 1, self.surface, self.gather) {
            if given == 0 || given > most {
                return Err(TextureError::ArraySize { shape: self.shape, what, given, most });
            }
        }
        let most = self.shape.most_levels();
        if levels == 0 || levels > most {
            return Err(TextureError::Levels { given: levels, most });
        }
        Ok(())
    }
}

/// The layout of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Offset of the level in bytes.
    pub offset: u64,
    /// Size in elements.
    pub size: [u64; 3],
    /// Bytes from one row to the next.
    pub row_pitch: u64,
    /// Bytes from one slice or layer to the next.
    pub slice_pitch: u64,
}

/// An array's memory, with one or more levels. Each level begins at a multiple of 256.
pub(crate) struct Storage {
    buffer: Buffer,
    pub descriptor: ArrayDescriptor,
    pub levels: Vec<Level>,
}

impl Storage {
    fn new(device: &Device, descriptor: ArrayDescriptor, levels: u32) -> Result<Arc<Self>> {
        descriptor.check(levels)?;
        let mut bytes = 0;
        let levels: Vec<Level> = (0..levels)
            .map(|level| {
                let size = descriptor.shape.level_size(level);
                // Sizes within the limits have 64-bit products. Rows are aligned for the widest surface accesses, of 16
                // bytes.
                let row_pitch = (size[0] * descriptor.format.bytes()).next_multiple_of(limits::ROW_ALIGNMENT);
                let slice_pitch = row_pitch * size[1];
                let offset = bytes;
                bytes = (offset + slice_pitch * size[2]).next_multiple_of(limits::ADDRESS_ALIGNMENT);
                Level { offset, size, row_pitch, slice_pitch }
            })
            .collect();
        let end = levels.last().map_or(0, |level| level.offset + level.slice_pitch * level.size[2]);
        let buffer = device.alloc(end)?;
        let range = MemoryRange { address: buffer.address(), size: end };
        device.backend().name_part(range, &format!("an array of {:?}", descriptor.shape));
        Ok(Arc::new(Self { buffer, descriptor, levels }))
    }

    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The device address of a level's first element.
    pub fn address(&self, level: Level) -> u64 {
        self.buffer.address() + level.offset
    }
}

/// Memory for textures and surfaces: rows of elements, with up to three indices. Clones share the memory, which is
/// freed with the last of them and of their textures and surfaces. The contents are undefined until written.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device};
///
/// let device = Device::reference(Config::default());
/// let shape = ArrayShape::TwoD { width: 3, height: 2 };
/// let array = device.array(&ArrayDescriptor::new(ChannelFormat::F32, shape))?;
/// array.write(&[0.0_f32, 1.0, 2.0, 10.0, 11.0, 12.0])?;
/// // The two last elements of the second row.
/// let part = array.region([1, 1, 0], [2, 1, 1])?;
/// assert_eq!(part.read::<f32>(&device.default_stream())?, [11.0, 12.0]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Array {
    storage: Arc<Storage>,
    level: Level,
}

/// An array with successively smaller copies of itself, the levels. Clones share the memory.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device};
///
/// let device = Device::reference(Config::default());
/// let shape = ArrayShape::TwoD { width: 8, height: 4 };
/// let array = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::U8, shape), 4)?;
/// assert_eq!(array.level(1)?.size(), [4, 2, 1]);
/// assert_eq!(array.level(3)?.size(), [1, 1, 1]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct MipmappedArray {
    storage: Arc<Storage>,
}

/// A part of an array, for copies: rows of elements, in slices or layers.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device};
///
/// let device = Device::reference(Config::default());
/// let shape = ArrayShape::TwoD { width: 4, height: 4 };
/// let array = device.array(&ArrayDescriptor::new(ChannelFormat::U8, shape))?;
/// array.write(&[0_u8; 16])?;
/// let stream = device.default_stream();
/// array.region([1, 1, 0], [2, 2, 1])?.write(&stream, &[1_u8, 2, 3, 4])?;
/// assert_eq!(array.region([2, 1, 0], [1, 2, 1])?.read::<u8>(&stream)?, [2, 4]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArrayRegion {
    array: Array,
    /// Device address of the first element.
    address: u64,
    pitches: Pitches,
    extent: Extent,
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({:?} of {:?} at {:#x})", self.size(), self.storage.descriptor.format, self.address())
    }
}

impl fmt::Debug for MipmappedArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MipmappedArray({:?}, {} levels)", self.storage.descriptor, self.levels())
    }
}

impl Device {
    /// Creates an array with a single level.
    ///
    /// # Errors
    /// [`Error::Texture`] if the size exceeds CUDA's limits ([`texture_limits`](crate::texture_limits));
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn array(&self, descriptor: &ArrayDescriptor) -> Result<Array> {
        self.mipmapped_array(descriptor, 1)?.level(0)
    }

    /// Creates an array with several levels.
    ///
    /// # Errors
    /// The errors of [`Device::array`], and [`TextureError::Levels`].
    pub fn mipmapped_array(&self, descriptor: &ArrayDescriptor, levels: u32) -> Result<MipmappedArray> {
        Ok(MipmappedArray { storage: Storage::new(self, *descriptor, levels)? })
    }
}

impl MipmappedArray {
    /// The properties of the array.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.storage.descriptor
    }

    /// The number of levels.
    pub fn levels(&self) -> u32 {
        self.storage.levels.len() as u32
    }

    /// A level, which shares the array's memory.
    ///
    /// # Errors
    /// [`TextureError::NoLevel`].
    pub fn level(&self, level: u32) -> Result<Array> {
        let levels = self.levels();
        let place = self.storage.levels.get(level as usize).ok_or(TextureError::NoLevel { level, levels })?;
        Ok(Array { storage: self.storage.clone(), level: *place })
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }
}

impl Array {
    /// The properties of the array, or of the whole mip-mapped array for one of its levels.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.storage.descriptor
    }

    /// The size in elements: width, height, and depth or layers.
    pub fn size(&self) -> [u64; 3] {
        self.level.size
    }

    /// The device that the array belongs to.
    pub fn device(&self) -> &Device {
        self.storage.device()
    }

    /// The device address of the first element. [`Array::whole`] has the pitches.
    pub fn address(&self) -> u64 {
        self.storage.address(self.level)
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    pub(crate) fn place(&self) -> Level {
        self.level
    }

    /// A part of the array, given the first element in x, y and z, and the size. The third dimension counts layers if
    /// the array has layers.
    ///
    /// # Errors
    /// [`TextureError::OutsideArray`].
    pub fn region(&self, origin: [u64; 3], extent: [u64; 3]) -> Result<ArrayRegion> {
        let Level { size, row_pitch, slice_pitch, .. } = self.level;
        let inside = |i: usize| origin[i].checked_add(extent[i]).is_some_and(|end| end <= size[i]);
        if !(0..3).all(inside) {
            return Err(TextureError::OutsideArray { origin, extent, size }.into());
        }
        let offset = origin[0] * self.texel_bytes() + origin[1] * row_pitch + origin[2] * slice_pitch;
        Ok(self.part(offset, extent))
    }

    /// The whole array.
    pub fn whole(&self) -> ArrayRegion {
        self.part(0, self.level.size)
    }

    fn part(&self, offset: u64, [width, height, depth]: [u64; 3]) -> ArrayRegion {
        ArrayRegion {
            array: self.clone(),
            address: self.address() + offset,
            pitches: Pitches { row: self.level.row_pitch, slice: self.level.slice_pitch },
            extent: Extent { width: width * self.texel_bytes(), height, depth },
        }
    }

    fn texel_bytes(&self) -> u64 {
        self.storage.descriptor.format.bytes()
    }

    /// Writes all elements from contiguous `data`, after everything launched before.
    ///
    /// # Errors
    /// [`TextureError::ElementBytes`], and the errors of [`Buffer::write`](crate::Buffer::write).
    pub fn write<T: Pod>(&self, data: &[T]) -> Result {
        self.whole().write(&self.device().default_stream(), data)
    }

    /// Reads all elements contiguously, after everything launched before.
    ///
    /// # Errors
    /// [`Error::PartialElement`], and the errors of [`Buffer::read`](crate::Buffer::read).
    pub fn read<T: Pod>(&self) -> Result<Vec<T>> {
        self.whole().read(&self.device().default_stream())
    }
}

impl ArrayRegion {
    /// This part as a side of [`Stream::copy_rows`]. The array must live until the copy is complete.
    pub fn side(&self) -> CopySide {
        let Pitches { row, slice } = self.pitches;
        CopySide::device(self.address).row_pitch(row).slice_pitch(slice)
    }

    /// The part's size in bytes, rows, and slices or layers.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Bytes of the part.
    fn bytes(&self) -> u64 {
        self.extent.width * self.extent.height * self.extent.depth
    }

    /// Writes the part's elements from contiguous `data`, in stream order. `data` is read during the call.
    ///
    /// # Errors
    /// [`TextureError::ElementBytes`], and the errors of [`Stream::write`].
    pub fn write<T: Pod>(&self, stream: &Stream, data: &[T]) -> Result {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let (expected, given) = (self.bytes(), bytes.len() as u64);
        if given != expected {
            return Err(TextureError::ElementBytes { expected, given }.into());
        }
        let device = self.array.device();
        device.check_same(stream.device())?;
        let Some(shape) = Shape::new(self.extent, self.pitches, self.pitches)? else { return Ok(()) };
        let shape = shape.packed_from();
        device.submit(stream.state(), |backend, key| backend.upload(key, self.address, &shape, bytes))
    }

    /// Reads the part's elements contiguously, after all earlier work of the stream, and waits for that.
    ///
    /// # Errors
    /// [`Error::PartialElement`], and the errors of [`Stream::read`].
    pub fn read<T: Pod>(&self, stream: &Stream) -> Result<Vec<T>> {
        self.array.device().check_same(stream.device())?;
        let (bytes, element) = (self.bytes(), size_of::<T>());
        let partial = Error::PartialElement { bytes, element };
        let count = bytes.checked_div(element as u64).filter(|count| count * element as u64 == bytes).ok_or(partial)?;
        let mut data = vec![T::zeroed(); count as usize];
        if let Some(shape) = Shape::new(self.extent, self.pitches, self.pitches)? {
            stream.download(self.address, &shape.packed_to(), bytemuck::cast_slice_mut(&mut data))?;
        }
        Ok(data)
    }

    /// Copies from another part with the same bytes, rows and slices, in stream order.
    ///
    /// # Errors
    /// [`TextureError::ElementBytes`] if the sizes differ, [`Error::ForeignBuffer`], [`Error::Overlap`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn copy_from(&self, stream: &Stream, from: &Self) -> Result {
        if self.extent != from.extent {
            return Err(TextureError::ElementBytes { expected: self.bytes(), given: from.bytes() }.into());
        }
        for array in [&self.array, &from.array] {
            array.device().check_same(stream.device())?;
        }
        let Some(shape) = Shape::new(self.extent, from.pitches, self.pitches)? else { return Ok(()) };
        stream.copy_shape(from.address, self.address, &shape)
    }
}
