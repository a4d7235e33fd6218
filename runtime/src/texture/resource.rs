//! The memory of textures and surfaces, and views of it.

use std::collections::HashMap;
use std::sync::Mutex;

use ptx2spv_translator::interface::texture::{Kind, Level as LevelRecord, Record};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;
use crate::sync::lock;
use crate::texel::error::TextureError;
use crate::texel::format::TexelFormat;
use crate::texel::limits;
use crate::texel::shape::ArrayShape;
use crate::texture::array::{Array, Level, MipmappedArray, Storage};

/// The memory of a texture. Textures keep their arrays alive; other memory must outlive the launches that read it.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device, Resource};
///
/// let device = Device::reference(Config::default());
/// let array = device.array(&ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::OneD { width: 4 }))?;
/// assert!(matches!(Resource::from(&array), Resource::Array(_)));
/// let numbers = device.upload(&[1.0_f32; 100])?;
/// let linear = Resource::Linear { address: numbers.address(), format: ChannelFormat::F32.into(), bytes: 400 };
/// device.texture(&linear, &Default::default())?;
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Resource {
    /// An array, or one level of a mip-mapped array.
    Array(Array),
    /// All levels of an array.
    Mipmapped(MipmappedArray),
    /// Linear memory, which is indexed by integers.
    Linear {
        /// The device address, a multiple of 256.
        address: u64,
        /// The format of the elements.
        format: TexelFormat,
        /// Bytes of all elements.
        bytes: u64,
    },
    /// Rows of elements.
    Pitched {
        /// The device address, a multiple of 256.
        address: u64,
        /// The format of the elements.
        format: TexelFormat,
        /// Elements of a row.
        width: u64,
        /// Rows.
        height: u64,
        /// Bytes from one row to the next, a multiple of 32.
        pitch: u64,
    },
}

impl From<&Array> for Resource {
    fn from(array: &Array) -> Self {
        Self::Array(array.clone())
    }
}

impl From<&MipmappedArray> for Resource {
    fn from(array: &MipmappedArray) -> Self {
        Self::Mipmapped(array.clone())
    }
}

/// A part of an array, or an array with elements of another format of the same size.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device, ResourceView, TextureDescriptor};
///
/// let device = Device::reference(Config::default());
/// let shape = ArrayShape::TwoD { width: 8, height: 8 };
/// let array = device.mipmapped_array(&ArrayDescriptor::new(ChannelFormat::F32, shape), 4)?;
/// // Without the first level.
/// let view = ResourceView { format: None, levels: (1, 3), layers: (0, 0) };
/// let descriptor = TextureDescriptor { normalized_coordinates: true, ..TextureDescriptor::default() };
/// device.texture_view(&(&array).into(), &descriptor, &view)?;
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceView {
    /// The format of the elements; `None` for the array's.
    pub format: Option<TexelFormat>,
    /// The first and the last level.
    pub levels: (u32, u32),
    /// The first and the last layer. A cube has six layers.
    pub layers: (u32, u32),
}

/// The memory of a texture or surface, after all checks.
pub(super) struct Memory {
    pub kind: Kind,
    pub format: TexelFormat,
    /// The levels. The first one is part of the record itself.
    pub levels: Vec<LevelRecord>,
    pub layers: u32,
    /// Whether the memory is a mip-mapped array.
    pub has_levels: bool,
}

impl Resource {
    /// The format of the elements.
    pub fn format(&self) -> TexelFormat {
        match self {
            Self::Array(array) => array.descriptor().format,
            Self::Mipmapped(array) => array.descriptor().format,
            Self::Linear { format, .. } | Self::Pitched { format, .. } => *format,
        }
    }

    pub(super) fn memory(&self, device: &Device, view: Option<&ResourceView>) -> Result<Memory> {
        match self {
            Self::Array(array) => {
                device.check_same(array.device())?;
                Memory::of_array(array.storage(), &[array.place()], false, view)
            }
            Self::Mipmapped(array) => {
                device.check_same(array.storage().device())?;
                Memory::of_array(array.storage(), &array.storage().levels, true, view)
            }
            Self::Linear { .. } | Self::Pitched { .. } if view.is_some() => Err(TextureError::ViewOfMemory.into()),
            &Self::Linear { address, format, bytes } => {
                let width = bytes / format.bytes();
                if width == 0 || width > limits::LINEAR {
                    return Err(TextureError::LinearSize { given: width, most: limits::LINEAR }.into());
                }
                Memory::plain(device, Kind::Linear, address, format, [width, 1], width * format.bytes())
            }
            &Self::Pitched { address, format, width, height, pitch } => {
                let [most_width, most_height] = limits::PITCHED;
                for (what, given, most) in [("width", width, most_width), ("height", height, most_height)] {
                    if given == 0 || given > most {
                        return Err(TextureError::PitchedSize { what, given, most }.into());
                    }
                }
                let (row, multiple, most) = (width * format.bytes(), limits::PITCH_ALIGNMENT, limits::PITCH);
                if pitch < row || pitch > most || !pitch.is_multiple_of(multiple) {
                    return Err(TextureError::Pitch { pitch, multiple, row, most }.into());
                }
                Memory::plain(device, Kind::Pitched, address, format, [width, height], pitch)
            }
        }
    }
}

impl Memory {
    fn plain(
        device: &Device,
        kind: Kind,
        address: u64,
        format: TexelFormat,
        [width, height]: [u64; 2],
        pitch: u64,
    ) -> Result<Self> {
        let alignment = limits::ADDRESS_ALIGNMENT;
        if !address.is_multiple_of(alignment) {
            return Err(Error::Misaligned { address, alignment });
        }
        device.check_range(address, (height - 1) * pitch + width * format.bytes())?;
        let place = Level { offset: 0, size: [width, height, 1], row_pitch: pitch, slice_pitch: pitch * height };
        Ok(Self { kind, format, levels: vec![level(address, place, 1)], layers: 1, has_levels: false })
    }

    fn of_array(storage: &Storage, levels: &[Level], has_levels: bool, view: Option<&ResourceView>) -> Result<Self> {
        let shape = storage.descriptor.shape;
        let mut format = storage.descriptor.format;
        let mut kept = (0, levels.len().saturating_sub(1));
        let mut layers = (0, shape.layers().map_or(0, |layers| layers.saturating_sub(1)));
        if let Some(view) = view {
            if let Some(other) = view.format {
                if other.bytes() != format.bytes() {
                    return Err(TextureError::ViewFormat { view: other, array: format }.into());
                }
                format = other;
            }
            check_range("levels", view.levels, levels.len() as u32)?;
            check_range("layers", view.layers, shape.layers().unwrap_or(1))?;
            kept = (view.levels.0 as usize, view.levels.1 as usize);
            layers = view.layers;
            let (first, last) = layers;
            if shape.is_cube() && (first % 6 != 0 || (last + 1) % 6 != 0) {
                return Err(TextureError::ViewOfPartOfCube { first, last }.into());
            }
        }
        let deep = if shape.layers().is_some() { 1 } else { u64::MAX };
        let levels = levels.get(kept.0..=kept.1).unwrap_or_default().iter().map(|&place| {
            let address = storage.address(place) + u64::from(layers.0) * place.slice_pitch;
            level(address, place, place.size[2].min(deep))
        });
        let layers = layers.1 - layers.0 + 1;
        Ok(Self { kind: kind(shape), format, levels: levels.collect(), layers, has_levels })
    }

    /// The fields of a record that describe the memory, with the address of the table of levels.
    pub fn record(&self, level_table: u64) -> Record {
        // There is at least one level.
        let first = self.levels.first().copied().unwrap_or_default();
        let levels = if self.has_levels { self.levels.len() as u32 } else { 0 };
        Record {
            base: first.base,
            width: first.width,
            height: first.height,
            depth: first.depth,
            layers: self.layers,
            pitch: first.pitch,
            slice: first.slice,
            channels: self.format.channels(),
            level_table: if self.has_levels { level_table } else { 0 },
            levels,
            kind: self.kind,
            format: self.format.cuda_number(),
            ..Record::default()
        }
    }

    /// The table of levels, if there is one.
    pub fn table(&self) -> Vec<u8> {
        if self.has_levels { self.levels.iter().flat_map(LevelRecord::to_bytes).collect() } else { Vec::new() }
    }
}

fn check_range(what: &'static str, (first, last): (u32, u32), count: u32) -> Result<(), TextureError> {
    if first <= last && last < count { Ok(()) } else { Err(TextureError::ViewRange { what, first, last, count }) }
}

fn kind(shape: ArrayShape) -> Kind {
    match shape {
        ArrayShape::OneD { .. } => Kind::Array1d,
        ArrayShape::TwoD { .. } => Kind::Array2d,
        ArrayShape::ThreeD { .. } => Kind::Array3d,
        ArrayShape::OneDLayered { .. } => Kind::Layered1d,
        ArrayShape::TwoDLayered { .. } => Kind::Layered2d,
        ArrayShape::Cube { .. } => Kind::Cube,
        ArrayShape::CubeLayered { .. } => Kind::LayeredCube,
    }
}

/// A level as stored in records. Sizes and pitches within the limits fit.
fn level(base: u64, place: Level, depth: u64) -> LevelRecord {
    let Level { size: [width, height, _], row_pitch, slice_pitch, .. } = place;
    LevelRecord {
        base,
        slice: slice_pitch,
        width: width as u32,
        height: height as u32,
        depth: depth as u32,
        pitch: row_pitch as u32,
    }
}

/// The bound objects, by variable name and index in an array of references.
#[derive(Default)]
pub(crate) struct Bindings(Mutex<HashMap<(String, u64), Bound>>);

/// The objects to keep alive while a reference is bound to them.
pub(crate) struct Bound {
    _resource: Resource,
    _levels: Option<Buffer>,
}

impl Bound {
    /// A resource, and the table of levels used by its record.
    pub fn new(resource: Resource, levels: Option<Buffer>) -> Self {
        Self { _resource: resource, _levels: levels }
    }
}

impl Bindings {
    /// Writes a reference's record, and keeps the bound objects alive from then on. If two threads bind the same
    /// reference, both steps happen in the same order.
    ///
    /// # Errors
    /// The errors of `write`. The previous binding then remains.
    pub fn replace<E>(
        &self,
        reference: (String, u64),
        bound: Option<Bound>,
        write: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bindings = lock(&self.0);
        write()?;
        match bound {
            Some(bound) => bindings.insert(reference, bound),
            None => bindings.remove(&reference),
        };
        Ok(())
    }
}
