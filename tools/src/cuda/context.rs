//! A context with its memory, modules and kernels.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use super::api::{Api, LaunchAttribute, LaunchConfig};
use super::error::CudaError;

/// A context on the first device.
pub struct Context {
    pub(super) api: Api,
    handle: *mut c_void,
    device: c_int,
}

impl Context {
    /// The assembler's highest level of optimization, its default.
    pub const MOST_OPTIMIZED: usize = 4;

    /// Loads the driver and makes a context current on this thread.
    pub fn new() -> Result<Self, CudaError> {
        let api = Api::load()?;
        let mut device = 0;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointers are to live variables; `cuInit` comes first as the API wants.
        unsafe {
            api.cuInit(0)?;
            api.cuDeviceGet(&mut device, 0)?;
            api.cuCtxCreate(&mut handle, 0, device)?;
        }
        Ok(Self { api, handle, device })
    }

    /// The device's name.
    pub fn device_name(&self) -> Result<String, CudaError> {
        let mut name = [0 as c_char; 256];
        // SAFETY: the array has 256 bytes, of which CUDA may write 255. The last one stays zero and ends the text.
        let text = unsafe {
            self.api.cuDeviceGetName(name.as_mut_ptr(), 255, self.device)?;
            CStr::from_ptr(name.as_ptr())
        };
        Ok(text.to_string_lossy().into_owned())
    }

    /// Device memory with undefined contents.
    pub fn alloc(&self, bytes: usize) -> Result<Memory<'_>, CudaError> {
        let mut address = 0;
        // SAFETY: the pointer is to a live variable. CUDA refuses an empty allocation, so that at least one byte is
        // allocated.
        unsafe { self.api.cuMemAlloc(&mut address, bytes.max(1)) }?;
        Ok(Memory { context: self, address, len: bytes, owned: true })
    }

    /// Device memory with the given contents.
    pub fn upload(&self, bytes: &[u8]) -> Result<Memory<'_>, CudaError> {
        let memory = self.alloc(bytes.len())?;
        memory.write(bytes)?;
        Ok(memory)
    }

    /// Compiles and loads PTX.
    pub fn load(&self, ptx: &str) -> Result<Module<'_>, CudaError> {
        self.load_optimized(ptx, Self::MOST_OPTIMIZED)
    }

    /// Compiles PTX at a level of optimization up to [`Context::MOST_OPTIMIZED`], and loads it.
    pub fn load_optimized(&self, ptx: &str, level: usize) -> Result<Module<'_>, CudaError> {
        /// `CU_JIT_ERROR_LOG_BUFFER` and its size, `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`; `CU_JIT_OPTIMIZATION_LEVEL`.
        const OPTIONS: [c_int; 3] = [5, 6, 7];
        let text = c_string(ptx)?;
        let mut log = vec![0_u8; 16384];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut(log.len()),
            ptr::without_provenance_mut(level),
        ];
        let mut handle = ptr::null_mut();
        let mut options = OPTIONS;
        // SAFETY: the text ends with a zero byte. There are three options with a value each, and the log has the given
        // size.
        let code = unsafe {
            (self.api.cuModuleLoadDataEx)(
                &mut handle,
                text.as_ptr().cast(),
                3,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let log =
            CStr::from_bytes_until_nul(&log).map_or_else(|_| String::new(), |log| log.to_string_lossy().into_owned());
        self.api.check_with_log("cuModuleLoadDataEx", code, log.trim())?;
        Ok(Module { context: self, handle })
    }

    /// Waits for all launches.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        // SAFETY: no arguments; the context is current.
        unsafe { self.api.cuCtxSynchronize() }
    }

    /// The device time of launches in `work`, in milliseconds.
    pub fn time(&self, work: impl FnOnce() -> Result<(), CudaError>) -> Result<f32, CudaError> {
        let start = Event::new(self)?;
        let end = Event::new(self)?;
        start.record()?;
        work()?;
        end.record()?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive and recorded, and the second one has been waited for.
        unsafe {
            self.api.cuEventSynchronize(end.handle)?;
            self.api.cuEventElapsedTime(&mut milliseconds, start.handle, end.handle)?;
        }
        Ok(milliseconds)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the handle is from `cuCtxCreate`, and everything in the context borrows from it. An error can only be
        // an earlier kernel's.
        unsafe { (self.api.cuCtxDestroy)(self.handle) };
    }
}

/// A range of device memory.
pub struct Memory<'c> {
    context: &'c Context,
    address: u64,
    len: usize,
    /// Whether this object owns the memory. A module's variable is not owned.
    owned: bool,
}

impl Memory<'_> {
    /// The device address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the size is zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes bytes at the beginning.
    pub fn write(&self, bytes: &[u8]) -> Result<(), CudaError> {
        self.check_len(bytes.len())?;
        let api = &self.context.api;
        // SAFETY: the destination has at least as many bytes.
        unsafe { api.cuMemcpyHtoD(self.address, bytes.as_ptr().cast(), bytes.len()) }
    }

    /// Reads the first `len` bytes, after earlier launches.
    pub fn read(&self, len: usize) -> Result<Vec<u8>, CudaError> {
        self.check_len(len)?;
        let mut bytes = vec![0; len];
        self.read_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills a slice with the first bytes, after earlier launches.
    pub fn read_to(&self, bytes: &mut [u8]) -> Result<(), CudaError> {
        self.check_len(bytes.len())?;
        let api = &self.context.api;
        // SAFETY: source and destination have at least this many bytes.
        unsafe { api.cuMemcpyDtoH(bytes.as_mut_ptr().cast(), self.address, bytes.len()) }
    }

    fn check_len(&self, len: usize) -> Result<(), CudaError> {
        if len > self.len {
            return Err(CudaError::Arguments(format!("{len} bytes of {} asked for", self.len)));
        }
        Ok(())
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the address is from `cuMemAlloc` and is freed once. An error can only be an earlier kernel's.
            unsafe { (self.context.api.cuMemFree)(self.address) };
        }
    }
}

/// A loaded module.
pub struct Module<'c> {
    pub(super) context: &'c Context,
    pub(super) handle: *mut c_void,
}

impl<'c> Module<'c> {
    /// A kernel by name.
    pub fn function(&self, name: &str) -> Result<Function<'_>, CudaError> {
        let name = c_string(name)?;
        let mut handle = ptr::null_mut();
        let api = &self.context.api;
        // SAFETY: the module is alive and the name ends with a zero byte.
        unsafe { api.cuModuleGetFunction(&mut handle, self.handle, name.as_ptr()) }?;
        Ok(Function { context: self.context, handle, module: PhantomData })
    }

    /// A variable, by its name.
    pub fn variable(&self, name: &str) -> Result<Memory<'_>, CudaError> {
        let name = c_string(name)?;
        let (mut address, mut len) = (0, 0);
        let api = &self.context.api;
        // SAFETY: the module is alive, the name ends with a zero byte, and the pointers are to live variables.
        unsafe { api.cuModuleGetGlobal(&mut address, &mut len, self.handle, name.as_ptr()) }?;
        Ok(Memory { context: self.context, address, len, owned: false })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is from `cuModuleLoadDataEx`; functions and variables borrow from this object. An error
        // can only be an earlier kernel's.
        unsafe { (self.context.api.cuModuleUnload)(self.handle) };
    }
}

/// Sizes of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

/// A kernel.
pub struct Function<'m> {
    context: &'m Context,
    handle: *mut c_void,
    module: PhantomData<&'m ()>,
}

impl<'m> Function<'m> {
    /// Checks the arguments' bytes against the kernel's parameters, and sets the limit of shared memory.
    pub fn bind(self, launch: Launch, args: Vec<Vec<u8>>) -> Result<BoundFunction<'m>, CudaError> {
        let api = &self.context.api;
        let sizes = self.param_sizes()?;
        let given: Vec<usize> = args.iter().map(Vec::len).collect();
        if sizes != given {
            return Err(CudaError::Arguments(format!("the parameters have {sizes:?} bytes, the arguments {given:?}")));
        }
        if launch.dynamic_shared_bytes > 0 {
            /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`, which is required for more than 48 KiB.
            const MAX_DYNAMIC_SHARED: c_int = 8;
            let bytes = c_int::try_from(launch.dynamic_shared_bytes).unwrap_or(c_int::MAX);
            // SAFETY: the function is alive.
            unsafe { api.cuFuncSetAttribute(self.handle, MAX_DYNAMIC_SHARED, bytes) }?;
        }
        Ok(BoundFunction { function: self, launch, attributes: Vec::new(), args })
    }

    fn param_sizes(&self) -> Result<Vec<usize>, CudaError> {
        /// `CUDA_ERROR_INVALID_VALUE`, the answer for an index past the last parameter.
        const INVALID_VALUE: c_int = 1;
        let api = &self.context.api;
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function is alive and the pointers are to live variables.
            match unsafe { (api.cuFuncGetParamInfo)(self.handle, sizes.len(), &mut offset, &mut size) } {
                INVALID_VALUE => return Ok(sizes),
                code => api.check("cuFuncGetParamInfo", code)?,
            }
            sizes.push(size);
        }
    }
}

/// A kernel with its arguments.
pub struct BoundFunction<'m> {
    function: Function<'m>,
    launch: Launch,
    /// Additional attributes of the launch.
    attributes: Vec<LaunchAttribute>,
    /// The bytes of each argument, of its parameter's size.
    args: Vec<Vec<u8>>,
}

impl BoundFunction<'_> {
    /// Launches in clusters of the given size, unless the kernel sets it.
    #[must_use]
    pub fn in_clusters(mut self, cluster: Option<[u32; 3]>) -> Self {
        self.attributes.extend(cluster.map(LaunchAttribute::cluster));
        self
    }

    /// Launches cooperatively if requested.
    #[must_use]
    pub fn cooperatively(mut self, cooperative: bool) -> Self {
        self.attributes.extend(cooperative.then(LaunchAttribute::cooperative));
        self
    }

    /// Launches asynchronously.
    pub fn launch(&self) -> Result<(), CudaError> {
        let mut pointers: Vec<*mut c_void> = self.args.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let Launch { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared_bytes } = self.launch;
        let api = &self.function.context.api;
        if !self.attributes.is_empty() {
            let config = LaunchConfig {
                grid: self.launch.grid,
                block: self.launch.block,
                shared_bytes: dynamic_shared_bytes,
                stream: ptr::null_mut(),
                attributes: self.attributes.as_ptr(),
                attribute_count: u32::try_from(self.attributes.len()).unwrap_or(0),
            };
            // SAFETY: as below; the configuration and its attributes are alive.
            return unsafe {
                api.cuLaunchKernelEx(&config, self.function.handle, pointers.as_mut_ptr(), ptr::null_mut())
            };
        }
        // SAFETY: there is a pointer for each parameter, to as many bytes as the parameter has, which CUDA copies and
        // does not write. As in CUDA itself, the kernel's author is responsible for its effects.
        unsafe {
            api.cuLaunchKernel(
                self.function.handle,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                dynamic_shared_bytes,
                ptr::null_mut(),
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        }
    }
}

struct Event<'c> {
    context: &'c Context,
    handle: *mut c_void,
}

impl<'c> Event<'c> {
    fn new(context: &'c Context) -> Result<Self, CudaError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        unsafe { context.api.cuEventCreate(&mut handle, 0) }?;
        Ok(Self { context, handle })
    }

    fn record(&self) -> Result<(), CudaError> {
        let api = &self.context.api;
        // SAFETY: the event is alive, and launches use the null stream.
        unsafe { api.cuEventRecord(self.handle, ptr::null_mut()) }
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is from `cuEventCreate` and is destroyed once.
        unsafe { (self.context.api.cuEventDestroy)(self.handle) };
    }
}

pub(super) fn c_string(text: &str) -> Result<CString, CudaError> {
    CString::new(text).map_err(|_| CudaError::Arguments("text with a zero byte".to_owned()))
}
