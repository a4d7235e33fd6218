//! The functions of `libcuda` by name, and their error codes.
#![allow(non_snake_case)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use libloading::Library;

use super::error::CudaError;

/// File names of the driver library on Linux and Windows.
const LIBRARIES: &[&str] = &["libcuda.so.1", "nvcuda.dll"];

/// `CUlaunchConfig`
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: *mut c_void,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute` with a value of three numbers, padded to 64 bytes.
#[repr(C, align(8))]
pub struct LaunchAttribute {
    pub id: c_int,
    pub pad: [u8; 4],
    pub value: [c_uint; 3],
    pub rest: [c_uint; 13],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    const CLUSTER_DIMENSION: c_int = 4;
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    const COOPERATIVE: c_int = 2;

    /// Blocks of a cluster in x, y and z.
    pub fn cluster(size: [u32; 3]) -> Self {
        Self { id: Self::CLUSTER_DIMENSION, pad: [0; 4], value: size, rest: [0; 13] }
    }

    /// Blocks may wait for each other.
    pub fn cooperative() -> Self {
        Self { id: Self::COOPERATIVE, pad: [0; 4], value: [1, 0, 0], rest: [0; 13] }
    }
}

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
pub struct Array2D {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
pub struct Array3D {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// One side of `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CopyPart {
    pub x: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    pub kind: c_uint,
    pub host: *const c_void,
    pub device: u64,
    pub array: *mut c_void,
    pub reserved: *mut c_void,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
pub struct Copy3D {
    pub from: CopyPart,
    pub to: CopyPart,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Default)]
pub struct ResourceDesc {
    pub kind: c_uint,
    /// An array handle, or an address.
    pub place: u64,
    pub format: c_uint,
    pub channels: c_uint,
    /// Bytes of linear memory, or elements of a row.
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    pub reserved: [u64; 11],
    pub flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
pub struct TextureDesc {
    pub address: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mip_filter: c_uint,
    pub mip_bias: f32,
    pub mip_levels: [f32; 2],
    pub border: [f32; 4],
    pub reserved: [c_uint; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`
#[repr(C)]
pub struct ViewDesc {
    pub format: c_uint,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub levels: [c_uint; 2],
    pub layers: [c_uint; 2],
    pub reserved: [c_uint; 16],
}

/// The functions, each with its arguments, and with its name in the library where that differs.
macro_rules! api {
    ($($name:ident $($symbol:literal)? ($($argument:ident: $ty:ty),*);)*) => {
        /// The functions, and the library, which has to stay loaded.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($ty),*) -> c_int,)*
            _library: Library,
        }

        impl Api {
            fn resolve(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: names and signatures are those of `cuda.h`.
                $(let $name = *unsafe { library.get(api!(@symbol $name $($symbol)?).as_bytes()) }?;)*
                Ok(Self { $($name,)* _library: library })
            }

            $(
                /// Calls the function, and turns its result into an error, unless that is success.
                ///
                /// # Safety
                /// Pointers are to memory as the function needs it, and handles are alive.
                #[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
                #[allow(dead_code, reason = "some results are looked at by callers")]
                pub unsafe fn $name(&self, $($argument: $ty),*) -> Result<(), CudaError> {
                    // SAFETY: by the contract.
                    self.check(stringify!($name), unsafe { (self.$name)($($argument),*) })
                }
            )*
        }
    };
    (@symbol $name:ident) => {
        concat!(stringify!($name), "\0")
    };
    (@symbol $name:ident $symbol:literal) => {
        concat!($symbol, "\0")
    };
}

api! {
    cuInit(flags: c_uint);
    cuGetErrorName(code: c_int, name: *mut *const c_char);
    cuGetErrorString(code: c_int, text: *mut *const c_char);
    cuDeviceGet(device: *mut c_int, number: c_int);
    cuDeviceGetName(name: *mut c_char, size: c_int, device: c_int);
    cuCtxCreate "cuCtxCreate_v2" (context: *mut *mut c_void, flags: c_uint, device: c_int);
    cuCtxDestroy "cuCtxDestroy_v2" (context: *mut c_void);
    cuCtxSynchronize();
    cuModuleLoadDataEx(module: *mut *mut c_void, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void);
    cuModuleUnload(module: *mut c_void);
    cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char);
    cuModuleGetGlobal "cuModuleGetGlobal_v2" (address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char);
    cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int);
    cuFuncGetParamInfo(function: *mut c_void, index: usize, offset: *mut usize, size: *mut usize);
    cuMemAlloc "cuMemAlloc_v2" (address: *mut u64, bytes: usize);
    cuMemFree "cuMemFree_v2" (address: u64);
    cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(pointer: *mut c_void);
    cuMemcpyHtoD "cuMemcpyHtoD_v2" (to: u64, from: *const c_void, bytes: usize);
    cuMemcpyDtoH "cuMemcpyDtoH_v2" (to: *mut c_void, from: u64, bytes: usize);
    cuArray3DCreate "cuArray3DCreate_v2" (array: *mut *mut c_void, description: *const Array3D);
    cuArrayDestroy(array: *mut c_void);
    cuMipmappedArrayCreate(array: *mut *mut c_void, description: *const Array3D, levels: c_uint);
    cuMipmappedArrayGetLevel(array: *mut *mut c_void, of: *mut c_void, level: c_uint);
    cuMipmappedArrayDestroy(array: *mut c_void);
    cuMemcpy3D "cuMemcpy3D_v2" (copy: *const Copy3D);
    cuTexObjectCreate(handle: *mut u64, resource: *const ResourceDesc, texture: *const TextureDesc, view: *const ViewDesc);
    cuTexObjectDestroy(handle: u64);
    cuSurfObjectCreate(handle: *mut u64, resource: *const ResourceDesc);
    cuSurfObjectDestroy(handle: u64);
    cuModuleGetTexRef(reference: *mut *mut c_void, module: *mut c_void, name: *const c_char);
    cuModuleGetSurfRef(reference: *mut *mut c_void, module: *mut c_void, name: *const c_char);
    cuTexRefSetArray(reference: *mut c_void, array: *mut c_void, flags: c_uint);
    cuTexRefSetMipmappedArray(reference: *mut c_void, array: *mut c_void, flags: c_uint);
    cuTexRefSetAddress "cuTexRefSetAddress_v2" (offset: *mut usize, reference: *mut c_void, address: u64, bytes: usize);
    cuTexRefSetAddress2D "cuTexRefSetAddress2D_v3" (reference: *mut c_void, description: *const Array2D, address: u64, pitch: usize);
    cuTexRefSetFormat(reference: *mut c_void, format: c_uint, channels: c_int);
    cuTexRefSetAddressMode(reference: *mut c_void, dimension: c_int, mode: c_uint);
    cuTexRefSetFilterMode(reference: *mut c_void, filter: c_uint);
    cuTexRefSetFlags(reference: *mut c_void, flags: c_uint);
    cuTexRefSetBorderColor(reference: *mut c_void, color: *const f32);
    cuTexRefSetMipmapFilterMode(reference: *mut c_void, filter: c_uint);
    cuTexRefSetMipmapLevelBias(reference: *mut c_void, bias: f32);
    cuTexRefSetMipmapLevelClamp(reference: *mut c_void, least: f32, most: f32);
    cuSurfRefSetArray(reference: *mut c_void, array: *mut c_void, flags: c_uint);
    cuLaunchKernel(function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared_bytes: c_uint, stream: *mut c_void, params: *mut *mut c_void, extra: *mut *mut c_void);
    cuLaunchKernelEx(config: *const LaunchConfig, function: *mut c_void, params: *mut *mut c_void, extra: *mut *mut c_void);
    cuEventCreate(event: *mut *mut c_void, flags: c_uint);
    cuEventRecord(event: *mut c_void, stream: *mut c_void);
    cuEventSynchronize(event: *mut c_void);
    cuEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void);
    cuEventDestroy "cuEventDestroy_v2" (event: *mut c_void);
}

impl Api {
    /// Loads the driver. The newest function here, `cuFuncGetParamInfo`, requires driver 550 (CUDA 12.4).
    pub fn load() -> Result<Self, CudaError> {
        let mut reasons = Vec::new();
        for name in LIBRARIES {
            // SAFETY: NVIDIA's library is trusted.
            match unsafe { Library::new(name) } {
                Ok(library) => return Self::resolve(library).map_err(|error| CudaError::NoDriver(error.to_string())),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(CudaError::NoDriver(reasons.join("; ")))
    }

    /// Turns a result code into an error, unless it is success.
    pub fn check(&self, call: &'static str, code: c_int) -> Result<(), CudaError> {
        self.check_with_log(call, code, "")
    }

    /// [`Self::check`] with the assembler's messages.
    pub fn check_with_log(&self, call: &'static str, code: c_int, log: &str) -> Result<(), CudaError> {
        if code == 0 {
            return Ok(());
        }
        let name =
            format!("{} ({})", self.describe(self.cuGetErrorName, code), self.describe(self.cuGetErrorString, code));
        Err(CudaError::Call { call, code, name, log: log.to_owned() })
    }

    fn describe(&self, function: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int, code: c_int) -> String {
        let mut text = ptr::null();
        // SAFETY: the pointer is to a live variable, which is set to a static string, or to null for an unknown code.
        let result = unsafe { function(code, &mut text) };
        if result != 0 || text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: a static string, see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!((size_of::<Array2D>(), size_of::<Array3D>()), (24, 40));
        assert_eq!((size_of::<CopyPart>(), size_of::<Copy3D>()), (88, 200));
        let sizes = (size_of::<ResourceDesc>(), size_of::<TextureDesc>(), size_of::<ViewDesc>());
        assert_eq!(sizes, (144, 104, 112));
    }
}
