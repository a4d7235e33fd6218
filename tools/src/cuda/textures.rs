//! Arrays, textures and surfaces of the driver API.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use ptx2spv_runtime::{
    AddressMode, ArrayDescriptor, ArrayShape, ReadMode, ResourceView, TexelFormat, TextureDescriptor,
};

use super::api::{Array3D, Copy3D, CopyPart, ResourceDesc, TextureDesc, ViewDesc};
use super::context::{Context, Memory, Module, c_string};
use super::error::CudaError;

/// An array, mip-mapped or not.
pub struct Array<'c> {
    context: &'c Context,
    handle: *mut c_void,
    is_mipmapped: bool,
}

/// A texture or surface object.
pub struct Object<'c> {
    context: &'c Context,
    handle: u64,
    is_surface: bool,
}

/// The memory of a texture.
pub enum Resource<'a> {
    /// An array.
    Array(&'a Array<'a>),
    /// Linear memory.
    Linear(&'a Memory<'a>, TexelFormat),
    /// Pitched memory: width, height, pitch.
    Pitched(&'a Memory<'a>, TexelFormat, [u32; 3]),
}

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_ARRAY`.
const HOST: c_uint = 1;
const ARRAY: c_uint = 3;

/// `CUDA_ARRAY3D_LAYERED`, `_SURFACE_LDST`, `_CUBEMAP`, `_TEXTURE_GATHER`.
const LAYERED: c_uint = 1;
const SURFACE: c_uint = 2;
const CUBE: c_uint = 4;
const GATHER: c_uint = 8;

/// CUDA's description of an array. Dimensions that the shape lacks are zero.
fn description(descriptor: &ArrayDescriptor) -> Array3D {
    let (size, flags) = match descriptor.shape {
        ArrayShape::OneD { width } => ([width, 0, 0], 0),
        ArrayShape::TwoD { width, height } => ([width, height, 0], 0),
        ArrayShape::ThreeD { width, height, depth } => ([width, height, depth], 0),
        ArrayShape::OneDLayered { width, layers } => ([width, 0, layers], LAYERED),
        ArrayShape::TwoDLayered { width, height, layers } => ([width, height, layers], LAYERED),
        ArrayShape::Cube { width } => ([width, width, 6], CUBE),
        ArrayShape::CubeLayered { width, cubes } => ([width, width, 6 * cubes], CUBE | LAYERED),
    };
    let [width, height, depth] = size.map(|size| size as usize);
    let surface = if descriptor.surface { SURFACE } else { 0 };
    let gather = if descriptor.gather { GATHER } else { 0 };
    let (format, channels) = (descriptor.format.cuda_number(), descriptor.format.channels());
    Array3D { width, height, depth, format, channels, flags: flags | surface | gather }
}

impl Context {
    /// Creates an array, or a mip-mapped one if `levels` is given.
    pub fn array(&self, descriptor: &ArrayDescriptor, levels: Option<u32>) -> Result<Array<'_>, CudaError> {
        let description = description(descriptor);
        let mut handle = ptr::null_mut();
        // SAFETY: the pointers are to live variables.
        unsafe {
            match levels {
                Some(levels) => {
                    self.api.cuMipmappedArrayCreate(&mut handle, &description, levels)?;
                }
                None => {
                    self.api.cuArray3DCreate(&mut handle, &description)?;
                }
            }
        }
        Ok(Array { context: self, handle, is_mipmapped: levels.is_some() })
    }

    /// A texture object.
    pub fn texture(
        &self,
        resource: &Resource<'_>,
        descriptor: &TextureDescriptor,
        view: Option<(&ResourceView, [u64; 3], TexelFormat)>,
    ) -> Result<Object<'_>, CudaError> {
        let view = view.map(|(view, size, format)| view_desc(view, size, format)).transpose()?;
        let mut handle = 0;
        // SAFETY: the pointers are to live variables, and the resource is alive.
        unsafe {
            let view = view.as_ref().map_or(ptr::null(), ptr::from_ref);
            self.api.cuTexObjectCreate(&mut handle, &resource.desc(), &texture_desc(descriptor), view)
        }?;
        Ok(Object { context: self, handle, is_surface: false })
    }

    /// A surface object.
    pub fn surface(&self, array: &Array<'_>) -> Result<Object<'_>, CudaError> {
        let mut handle = 0;
        // SAFETY: the pointers are to live variables, and the array is alive.
        unsafe { self.api.cuSurfObjectCreate(&mut handle, &Resource::Array(array).desc()) }?;
        Ok(Object { context: self, handle, is_surface: true })
    }
}

impl Array<'_> {
    /// Writes a level's contiguous elements: bytes of a row, rows, slices or layers.
    pub fn write(&self, level: u32, extent: [usize; 3], bytes: &[u8]) -> Result<(), CudaError> {
        check(extent, bytes.len())?;
        let host = CopyPart::host(bytes.as_ptr().cast(), extent);
        self.copy(level, extent, |array| (host, array))
    }

    /// Reads a level's elements.
    pub fn read(&self, level: u32, extent: [usize; 3]) -> Result<Vec<u8>, CudaError> {
        let mut bytes = vec![0_u8; extent.iter().product()];
        let host = CopyPart::host(bytes.as_mut_ptr().cast(), extent);
        self.copy(level, extent, |array| (array, host))?;
        Ok(bytes)
    }

    /// Copies between host memory with the bytes of the extent, and a level.
    fn copy(
        &self,
        level: u32,
        [width, height, depth]: [usize; 3],
        sides: impl FnOnce(CopyPart) -> (CopyPart, CopyPart),
    ) -> Result<(), CudaError> {
        let api = &self.context.api;
        let mut array = self.handle;
        if self.is_mipmapped {
            // SAFETY: the array is alive, and the pointer to a live variable.
            unsafe { api.cuMipmappedArrayGetLevel(&mut array, self.handle, level) }?;
        }
        let (from, to) = sides(CopyPart { kind: ARRAY, array, ..CopyPart::default() });
        let copy = Copy3D { from, to, width, height, depth };
        // SAFETY: the host memory has these bytes, see above; CUDA checks the array.
        unsafe { api.cuMemcpy3D(&copy) }
    }
}

impl CopyPart {
    fn host(pointer: *const c_void, [width, height, _]: [usize; 3]) -> Self {
        Self { kind: HOST, host: pointer, pitch: width, height, ..Self::default() }
    }
}

fn check(extent: [usize; 3], given: usize) -> Result<(), CudaError> {
    let expected: usize = extent.iter().product();
    if expected == given {
        return Ok(());
    }
    Err(CudaError::Arguments(format!("{given} bytes are not the {expected} bytes of a level")))
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        let api = &self.context.api;
        // SAFETY: the handle is from the function for this kind of array, and is destroyed once. An error can only be
        // an earlier kernel's.
        unsafe {
            if self.is_mipmapped {
                (api.cuMipmappedArrayDestroy)(self.handle)
            } else {
                (api.cuArrayDestroy)(self.handle)
            }
        };
    }
}

impl Object<'_> {
    /// The handle for kernels.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        let api = &self.context.api;
        // SAFETY: as for arrays.
        unsafe {
            if self.is_surface { (api.cuSurfObjectDestroy)(self.handle) } else { (api.cuTexObjectDestroy)(self.handle) }
        };
    }
}

impl Resource<'_> {
    fn desc(&self) -> ResourceDesc {
        let mut desc = ResourceDesc::default();
        match self {
            Self::Array(array) => {
                desc.kind = array.is_mipmapped.into();
                desc.place = array.handle.expose_provenance() as u64;
            }
            Self::Linear(memory, format) => {
                (desc.kind, desc.place, desc.width) = (2, memory.address(), memory.len());
                (desc.format, desc.channels) = (format.cuda_number(), format.channels());
            }
            Self::Pitched(memory, format, [width, height, pitch]) => {
                (desc.kind, desc.place) = (3, memory.address());
                (desc.format, desc.channels) = (format.cuda_number(), format.channels());
                (desc.width, desc.height, desc.pitch) = (*width as usize, *height as usize, *pitch as usize);
            }
        }
        desc
    }
}

/// Flags such as `CU_TRSF_READ_AS_INTEGER`.
fn flags(descriptor: &TextureDescriptor) -> c_uint {
    let flags = [
        (descriptor.read_mode == ReadMode::ElementType, 1),
        (descriptor.normalized_coordinates, 2),
        (descriptor.srgb, 0x10),
        (descriptor.no_trilinear_optimization, 0x20),
        (descriptor.seamless_cube, 0x40),
    ];
    flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag)
}

fn texture_desc(descriptor: &TextureDescriptor) -> TextureDesc {
    TextureDesc {
        address: descriptor.address_mode.map(AddressMode::code),
        filter: descriptor.filter.code(),
        flags: flags(descriptor),
        max_anisotropy: descriptor.max_anisotropy,
        mip_filter: descriptor.mip_filter.code(),
        mip_bias: descriptor.mip_bias,
        mip_levels: [descriptor.min_mip_level, descriptor.max_mip_level],
        border: descriptor.border_color,
        reserved: [0; 12],
    }
}

/// The view of an array of a given size. `CUresourceViewFormat` counts kinds of formats, each with 1, 2 and 4 channels.
fn view_desc(view: &ResourceView, size: [u64; 3], own: TexelFormat) -> Result<ViewDesc, CudaError> {
    const KINDS: [u32; 8] = [1, 8, 2, 9, 3, 10, 0x10, 0x20];
    let format = view.format.unwrap_or(own);
    let kind = KINDS.iter().position(|&kind| kind == format.cuda_number());
    let kind = kind.ok_or_else(|| CudaError::Arguments("a view of normalized elements".to_owned()))?;
    let [width, height, _] = size.map(|size| size as usize);
    let depth = match view.layers {
        (0, 0) => size[2] as usize,
        (first, last) => (last - first + 1) as usize,
    };
    Ok(ViewDesc {
        format: 1 + 3 * kind as c_uint + format.channels().ilog2(),
        width,
        height,
        depth,
        levels: [view.levels.0, view.levels.1],
        layers: [view.layers.0, view.layers.1],
        reserved: [0; 16],
    })
}

impl Module<'_> {
    /// Binds a texture reference.
    pub fn bind_texture(
        &self,
        name: &str,
        resource: &Resource<'_>,
        descriptor: &TextureDescriptor,
    ) -> Result<(), CudaError> {
        /// `CU_TRSA_OVERRIDE_FORMAT`
        const OVERRIDE_FORMAT: c_uint = 1;
        let api = &self.context.api;
        let name = c_string(name)?;
        let mut reference = ptr::null_mut();
        // SAFETY: the module is alive, the name ends with a zero byte, and the pointers are to live variables. The
        // bound object lives until the launch has ended.
        unsafe {
            api.cuModuleGetTexRef(&mut reference, self.handle, name.as_ptr())?;
            match resource {
                Resource::Array(array) if array.is_mipmapped => {
                    api.cuTexRefSetMipmappedArray(reference, array.handle, OVERRIDE_FORMAT)
                }
                Resource::Array(array) => api.cuTexRefSetArray(reference, array.handle, OVERRIDE_FORMAT),
                Resource::Linear(memory, format) => {
                    api.cuTexRefSetFormat(reference, format.cuda_number(), format.channels() as c_int)?;
                    api.cuTexRefSetAddress(ptr::null_mut(), reference, memory.address(), memory.len())
                }
                Resource::Pitched(memory, format, [width, height, pitch]) => {
                    let description = super::api::Array2D {
                        width: *width as usize,
                        height: *height as usize,
                        format: format.cuda_number(),
                        channels: format.channels(),
                    };
                    api.cuTexRefSetAddress2D(reference, &description, memory.address(), *pitch as usize)
                }
            }?;
            for (dimension, mode) in (0..).zip(descriptor.address_mode) {
                api.cuTexRefSetAddressMode(reference, dimension, mode.code())?;
            }
            api.cuTexRefSetFilterMode(reference, descriptor.filter.code())?;
            api.cuTexRefSetFlags(reference, flags(descriptor))?;
            let border = descriptor.border_color;
            api.cuTexRefSetBorderColor(reference, border.as_ptr())?;
            if matches!(resource, Resource::Array(array) if array.is_mipmapped) {
                api.cuTexRefSetMipmapFilterMode(reference, descriptor.mip_filter.code())?;
                api.cuTexRefSetMipmapLevelBias(reference, descriptor.mip_bias)?;
                let (least, most) = (descriptor.min_mip_level, descriptor.max_mip_level);
                api.cuTexRefSetMipmapLevelClamp(reference, least, most)?;
            }
        }
        Ok(())
    }

    /// Binds a surface reference.
    pub fn bind_surface(&self, name: &str, array: &Array<'_>) -> Result<(), CudaError> {
        let api = &self.context.api;
        let name = c_string(name)?;
        let mut reference = ptr::null_mut();
        // SAFETY: as for textures.
        unsafe {
            api.cuModuleGetSurfRef(&mut reference, self.handle, name.as_ptr())?;
            api.cuSurfRefSetArray(reference, array.handle, 0)
        }
    }
}
