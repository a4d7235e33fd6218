//! Arrays and mip-mapped arrays.

use std::ffi::c_uint;
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{self as runtime, ArrayDescriptor, ArrayShape, TexelFormat};

use crate::abi::{Handle, INVALID_HANDLE, INVALID_VALUE, In, NOT_SUPPORTED, Result, layouts, lock, objects};
use crate::context::{self, Context};
use crate::stream::capture;

/// An array, or a level of a mip-mapped one.
pub(crate) struct Array {
    pub context: Arc<Context>,
    pub array: runtime::Array,
    pub description: Description3D,
    /// Whether the array is a level of a mip-mapped array and is freed with it.
    is_level: bool,
}

/// A mip-mapped array.
pub(crate) struct Mipmapped {
    context: Arc<Context>,
    pub array: runtime::MipmappedArray,
    pub description: Description3D,
    /// The levels that have been requested so far.
    levels: Mutex<Vec<(c_uint, ArrayHandle)>>,
}

pub(crate) type ArrayHandle = Handle<Array>;
pub(crate) type MipmappedHandle = Handle<Mipmapped>;

objects!(ARRAYS: Array = 12);
objects!(MIPMAPPED: Mipmapped = 13);

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Description {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Description3D {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// Flags of arrays: layers, surfaces, cubes, gathering, depth, colour of graphics.
const LAYERED: c_uint = 1;
const SURFACE: c_uint = 2;
const CUBE: c_uint = 4;
const GATHER: c_uint = 8;
const DEPTH: c_uint = 0x10;
const COLOR: c_uint = 0x20;
/// Flags of unsupported arrays.
const UNSUPPORTED: [(c_uint, &str); 3] =
    [(0x40, "sparse arrays"), (0x80, "arrays with deferred mapping"), (0x100, "arrays for video")];

impl From<Description> for Description3D {
    fn from(description: Description) -> Self {
        let Description { width, height, format, channels } = description;
        Self { width, height, depth: 0, format, channels, flags: 0 }
    }
}

impl Description3D {
    fn descriptor(&self) -> Result<ArrayDescriptor> {
        let flags = self.flags;
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(flag, _)| flags & flag != 0) {
            return Err(NOT_SUPPORTED.because(what));
        }
        if flags & !(LAYERED | SURFACE | CUBE | GATHER | DEPTH | COLOR) != 0 {
            return Err(INVALID_VALUE);
        }
        let size = |size: usize| u32::try_from(size).map_err(|_| INVALID_VALUE.because("an array size above 32 bits"));
        let (width, height, depth) = (size(self.width)?, size(self.height)?, size(self.depth)?);
        let shape = match (flags & LAYERED != 0, flags & CUBE != 0, height, depth) {
            (false, false, 0, 0) => ArrayShape::OneD { width },
            (false, false, _, 0) => ArrayShape::TwoD { width, height },
            (false, false, 0, _) => return Err(INVALID_VALUE.because("a depth without a height")),
            (false, false, ..) => ArrayShape::ThreeD { width, height, depth },
            (true, false, 0, layers) => ArrayShape::OneDLayered { width, layers },
            (true, false, _, layers) => ArrayShape::TwoDLayered { width, height, layers },
            (_, true, _, faces) if width != height || faces == 0 || faces % 6 != 0 => {
                return Err(INVALID_VALUE.because("a cube has six faces, which are squares"));
            }
            (false, true, _, 6) => ArrayShape::Cube { width },
            (false, true, ..) => return Err(INVALID_VALUE.because("a cube has six faces")),
            (true, true, _, faces) => ArrayShape::CubeLayered { width, cubes: faces / 6 },
        };
        let format = TexelFormat::from_cuda_number(self.format, self.channels)?;
        let descriptor = ArrayDescriptor::new(format, shape);
        Ok(ArrayDescriptor { surface: flags & SURFACE != 0, gather: flags & GATHER != 0, ..descriptor })
    }

    /// The description of one level.
    fn of_level(&self, array: &runtime::Array) -> Self {
        let [width, height, depth] = array.size().map(|size| size as usize);
        // Dimensions that the array lacks stay zero.
        let of = |own: usize, size: usize| if own == 0 { 0 } else { size };
        Self { width, height: of(self.height, height), depth: of(self.depth, depth), ..*self }
    }
}

fn make(description: Description3D) -> Result<ArrayHandle> {
    let context = context::current()?;
    capture::potentially_unsafe()?;
    let made = context.device.array(&description.descriptor()?)?;
    Handle::new(Arc::new(Array { context, array: made, description, is_level: false }))
}

pub(crate) fn create(description: In<Description>) -> Result<ArrayHandle> {
    make(description.get()?.into())
}

pub(crate) fn create_3d(description: In<Description3D>) -> Result<ArrayHandle> {
    make(description.get()?)
}

pub(crate) fn description(array: ArrayHandle) -> Result<Description> {
    context::current()?;
    let Description3D { width, height, format, channels, .. } = array.get()?.description;
    Ok(Description { width, height, format, channels })
}

pub(crate) fn description_3d(array: ArrayHandle) -> Result<Description3D> {
    context::current()?;
    Ok(array.get()?.description)
}

pub(crate) fn destroy(array: ArrayHandle) -> Result {
    context::current()?;
    if array.get()?.is_level {
        return Err(INVALID_HANDLE.because("a level is destroyed with its mip-mapped array"));
    }
    array.remove().map(|_| ())
}

pub(crate) fn create_mipmapped(description: In<Description3D>, levels: c_uint) -> Result<MipmappedHandle> {
    let context = context::current()?;
    let description = description.get()?;
    let descriptor = description.descriptor()?;
    capture::potentially_unsafe()?;
    let array = context.device.mipmapped_array(&descriptor, levels.clamp(1, descriptor.most_levels()))?;
    Handle::new(Arc::new(Mipmapped { context, array, description, levels: Mutex::default() }))
}

pub(crate) fn level(of: MipmappedHandle, level: c_uint) -> Result<ArrayHandle> {
    let of = of.get()?;
    let mut levels = lock(&of.levels);
    if let Some((_, handle)) = levels.iter().find(|(number, _)| *number == level) {
        return Ok(*handle);
    }
    let array = of.array.level(level)?;
    let description = of.description.of_level(&array);
    let handle = Handle::new(Arc::new(Array { context: of.context.clone(), array, description, is_level: true }))?;
    levels.push((level, handle));
    Ok(handle)
}

pub(crate) fn destroy_mipmapped(array: MipmappedHandle) -> Result {
    context::current()?;
    let removed = array.remove()?;
    for (_, level) in lock(&removed.levels).drain(..) {
        level.remove()?;
    }
    Ok(())
}

/// Destroys the arrays of a context.
pub(crate) fn end_context(context: &Context) {
    ARRAYS.remove_all(|array| array.context.is(context));
    MIPMAPPED.remove_all(|array| array.context.is(context));
}

layouts! {
    Description = 24;
    Description3D = 40;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let shape = |width, height, depth, flags| {
            let description = Description3D { width, height, depth, format: 0x20, channels: 1, flags };
            description.descriptor().map(|descriptor| descriptor.shape)
        };
        let cases = [
            ((8, 0, 0, SURFACE), Ok(ArrayShape::OneD { width: 8 })),
            ((8, 4, 0, 0), Ok(ArrayShape::TwoD { width: 8, height: 4 })),
            ((8, 4, 2, 0), Ok(ArrayShape::ThreeD { width: 8, height: 4, depth: 2 })),
            ((8, 0, 3, LAYERED), Ok(ArrayShape::OneDLayered { width: 8, layers: 3 })),
            ((8, 4, 3, LAYERED), Ok(ArrayShape::TwoDLayered { width: 8, height: 4, layers: 3 })),
            ((8, 8, 6, CUBE), Ok(ArrayShape::Cube { width: 8 })),
            ((8, 8, 12, CUBE | LAYERED), Ok(ArrayShape::CubeLayered { width: 8, cubes: 2 })),
            ((8, 0, 3, 0), Err(INVALID_VALUE)),
            ((8, 4, 6, CUBE), Err(INVALID_VALUE)),
            ((8, 8, 12, CUBE), Err(INVALID_VALUE)),
            ((8, 8, 7, CUBE | LAYERED), Err(INVALID_VALUE)),
            ((8, 8, 0, 0x40), Err(NOT_SUPPORTED)),
            ((8, 8, 0, 0x200), Err(INVALID_VALUE)),
        ];
        for ((width, height, depth, flags), expected) in cases {
            assert_eq!(shape(width, height, depth, flags), expected, "{width} {height} {depth} {flags:#x}");
        }
    }
}
