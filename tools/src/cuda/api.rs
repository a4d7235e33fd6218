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
#[derive(Clone, Copy)]
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

impl Default for CopyPart {
    fn default() -> Self {
        let nothing = ptr::null_mut();
        Self {
            x: 0,
            y: 0,
            z: 0,
            level: 0,
            kind: 0,
            host: nothing,
            device: 0,
            array: nothing,
            reserved: nothing,
            pitch: 0,
            height: 0,
        }
    }
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

macro_rules! api {
    ($(fn $name:ident($($argument:ty),*);)*) => {
        /// The functions, and the library, which has to stay loaded.
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> c_int,)*
            _library: Library,
        }

        impl Api {
            fn resolve(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: names and signatures are those of `cuda.h`.
                $(let $name = *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }?;)*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

api! {
    fn cuInit(c_uint);
    fn cuGetErrorName(c_int, *mut *const c_char);
    fn cuGetErrorString(c_int, *mut *const c_char);
    fn cuDeviceGet(*mut c_int, c_int);
    fn cuDeviceGetName(*mut c_char, c_int, c_int);
    fn cuCtxCreate_v2(*mut *mut c_void, c_uint, c_int);
    fn cuCtxDestroy_v2(*mut c_void);
    fn cuCtxSynchronize();
    fn cuModuleLoadDataEx(*mut *mut c_void, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    fn cuModuleUnload(*mut c_void);
    fn cuModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
    fn cuModuleGetGlobal_v2(*mut u64, *mut usize, *mut c_void, *const c_char);
    fn cuFuncSetAttribute(*mut c_void, c_int, c_int);
    fn cuFuncGetParamInfo(*mut c_void, usize, *mut usize, *mut usize);
    fn cuMemAlloc_v2(*mut u64, usize);
    fn cuMemFree_v2(u64);
    fn cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    fn cuMemFreeHost(*mut c_void);
    fn cuMemcpyHtoD_v2(u64, *const c_void, usize);
    fn cuMemcpyDtoH_v2(*mut c_void, u64, usize);
    fn cuArray3DCreate_v2(*mut *mut c_void, *const Array3D);
    fn cuArrayDestroy(*mut c_void);
    fn cuMipmappedArrayCreate(*mut *mut c_void, *const Array3D, c_uint);
    fn cuMipmappedArrayGetLevel(*mut *mut c_void, *mut c_void, c_uint);
    fn cuMipmappedArrayDestroy(*mut c_void);
    fn cuMemcpy3D_v2(*const Copy3D);
    fn cuTexObjectCreate(*mut u64, *const ResourceDesc, *const TextureDesc, *const ViewDesc);
    fn cuTexObjectDestroy(u64);
    fn cuSurfObjectCreate(*mut u64, *const ResourceDesc);
    fn cuSurfObjectDestroy(u64);
    fn cuModuleGetTexRef(*mut *mut c_void, *mut c_void, *const c_char);
    fn cuModuleGetSurfRef(*mut *mut c_void, *mut c_void, *const c_char);
    fn cuTexRefSetArray(*mut c_void, *mut c_void, c_uint);
    fn cuTexRefSetMipmappedArray(*mut c_void, *mut c_void, c_uint);
    fn cuTexRefSetAddress_v2(*mut usize, *mut c_void, u64, usize);
    fn cuTexRefSetAddress2D_v3(*mut c_void, *const Array2D, u64, usize);
    fn cuTexRefSetFormat(*mut c_void, c_uint, c_int);
    fn cuTexRefSetAddressMode(*mut c_void, c_int, c_uint);
    fn cuTexRefSetFilterMode(*mut c_void, c_uint);
    fn cuTexRefSetFlags(*mut c_void, c_uint);
    fn cuTexRefSetBorderColor(*mut c_void, *const f32);
    fn cuTexRefSetMipmapFilterMode(*mut c_void, c_uint);
    fn cuTexRefSetMipmapLevelBias(*mut c_void, f32);
    fn cuTexRefSetMipmapLevelClamp(*mut c_void, f32, f32);
    fn cuSurfRefSetArray(*mut c_void, *mut c_void, c_uint);
    fn cuLaunchKernel(*mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void, *mut *mut c_void);
    fn cuLaunchKernelEx(*const LaunchConfig, *mut c_void, *mut *mut c_void, *mut *mut c_void);
    fn cuEventCreate(*mut *mut c_void, c_uint);
    fn cuEventRecord(*mut c_void, *mut c_void);
    fn cuEventSynchronize(*mut c_void);
    fn cuEventElapsedTime(*mut f32, *mut c_void, *mut c_void);
    fn cuEventDestroy_v2(*mut c_void);
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
