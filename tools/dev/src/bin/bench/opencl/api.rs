//! The part of OpenCL that the comparison needs, loaded from the system's loader.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use anyhow::{Context as _, Result, bail};
use libloading::Library;

type Handle = *mut c_void;
/// Callbacks are never used.
type NoCallback = *const c_void;

const DEVICE_TYPE_CPU: u64 = 1 << 1;
const DEVICE_NAME: u32 = 0x102b;
const PROGRAM_BUILD_LOG: u32 = 0x1183;
const MEM_COPY_HOST_PTR: u64 = 1 << 5;
const TRUE: u32 = 1;

/// Declares the functions as members of [`Api`], and loads them by name.
macro_rules! functions {
    ($(fn $name:ident($($argument:ty),* $(,)?) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "OpenCL's names")]
        struct Api {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// Keeps the functions alive.
            _library: Library,
        }

        impl Api {
            fn resolve(library: Library) -> Result<Self> {
                Ok(Self {
                    // SAFETY: the types are those of OpenCL's specification.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }?,)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    fn clGetPlatformIDs(u32, *mut Handle, *mut u32) -> i32;
    fn clGetDeviceIDs(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
    fn clGetDeviceInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn clCreateContext(*const isize, u32, *const Handle, NoCallback, Handle, *mut i32) -> Handle;
    fn clCreateCommandQueue(Handle, Handle, u64, *mut i32) -> Handle;
    fn clCreateProgramWithSource(Handle, u32, *const *const c_char, *const usize, *mut i32) -> Handle;
    fn clBuildProgram(Handle, u32, *const Handle, *const c_char, NoCallback, Handle) -> i32;
    fn clGetProgramBuildInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn clCreateKernel(Handle, *const c_char, *mut i32) -> Handle;
    fn clSetKernelArg(Handle, u32, usize, *const c_void) -> i32;
    fn clCreateBuffer(Handle, u64, usize, *mut c_void, *mut i32) -> Handle;
    fn clEnqueueNDRangeKernel(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, Handle, Handle) -> i32;
    fn clEnqueueReadBuffer(Handle, Handle, u32, usize, usize, *mut c_void, u32, Handle, Handle) -> i32;
    fn clFinish(Handle) -> i32;
    fn clReleaseMemObject(Handle) -> i32;
    fn clReleaseKernel(Handle) -> i32;
    fn clReleaseProgram(Handle) -> i32;
    fn clReleaseCommandQueue(Handle) -> i32;
    fn clReleaseContext(Handle) -> i32;
}

fn check(call: &str, code: i32) -> Result<()> {
    if code != 0 {
        bail!("{call} fails with {code}");
    }
    Ok(())
}

/// The CPU, with a queue.
pub struct Device {
    api: Api,
    device: Handle,
    context: Handle,
    queue: Handle,
}

impl Device {
    /// The first CPU of any platform.
    pub fn open() -> Result<Self> {
        // SAFETY: OpenCL's loader is trusted.
        let library = unsafe { Library::new("libOpenCL.so.1") }.context("OpenCL's loader")?;
        let api = Api::resolve(library)?;
        let mut platforms = [ptr::null_mut(); 8];
        let mut count = 0;
        // SAFETY: the array has space for the passed number of platforms.
        check("clGetPlatformIDs", unsafe { (api.clGetPlatformIDs)(8, platforms.as_mut_ptr(), &mut count) })?;
        let mut device = ptr::null_mut();
        for &platform in platforms.iter().take(count as usize) {
            // SAFETY: the platform is one of those above, and there is space for one device.
            unsafe { (api.clGetDeviceIDs)(platform, DEVICE_TYPE_CPU, 1, &mut device, ptr::null_mut()) };
            if !device.is_null() {
                break;
            }
        }
        if device.is_null() {
            bail!("no platform has a CPU");
        }
        let mut code = 0;
        // SAFETY: the device is live, and the result goes to a live variable.
        let context =
            unsafe { (api.clCreateContext)(ptr::null(), 1, &device, ptr::null(), ptr::null_mut(), &mut code) };
        check("clCreateContext", code)?;
        // SAFETY: both are live.
        let queue = unsafe { (api.clCreateCommandQueue)(context, device, 0, &mut code) };
        check("clCreateCommandQueue", code)?;
        Ok(Self { api, device, context, queue })
    }

    /// The device's name.
    pub fn name(&self) -> Result<String> {
        let mut bytes = [0u8; 256];
        // SAFETY: the size is that of the array.
        let code = unsafe {
            (self.api.clGetDeviceInfo)(
                self.device,
                DEVICE_NAME,
                bytes.len(),
                bytes.as_mut_ptr().cast(),
                ptr::null_mut(),
            )
        };
        check("clGetDeviceInfo", code)?;
        Ok(text(&bytes))
    }

    /// Compiles a source that contains a kernel with this name.
    pub fn kernel(&self, source: &str, name: &str) -> Result<Kernel<'_>> {
        let (pointer, length, mut code) = (source.as_ptr().cast(), source.len(), 0);
        // SAFETY: one text of that length.
        let program = unsafe { (self.api.clCreateProgramWithSource)(self.context, 1, &pointer, &length, &mut code) };
        check("clCreateProgramWithSource", code)?;
        let mut kernel = Kernel { device: self, program, kernel: ptr::null_mut() };
        // SAFETY: the program is live; no options, no notification.
        let built =
            unsafe { (self.api.clBuildProgram)(program, 1, &self.device, c"".as_ptr(), ptr::null(), ptr::null_mut()) };
        check("clBuildProgram", built).with_context(|| self.log(program))?;
        let name = CString::new(name)?;
        // SAFETY: the program is built, and the name ends with a zero.
        kernel.kernel = unsafe { (self.api.clCreateKernel)(program, name.as_ptr(), &mut code) };
        check("clCreateKernel", code)?;
        Ok(kernel)
    }

    fn log(&self, program: Handle) -> String {
        let mut bytes = vec![0u8; 1 << 16];
        // SAFETY: the size is that of the array.
        unsafe {
            let (size, to) = (bytes.len(), bytes.as_mut_ptr().cast());
            (self.api.clGetProgramBuildInfo)(program, self.device, PROGRAM_BUILD_LOG, size, to, ptr::null_mut());
        }
        text(&bytes)
    }

    /// A buffer with a copy of these bytes.
    pub fn buffer(&self, bytes: &[u8]) -> Result<Buffer<'_>> {
        let mut code = 0;
        // SAFETY: the bytes are only read, and only during the call.
        let memory = unsafe {
            (self.api.clCreateBuffer)(
                self.context,
                MEM_COPY_HOST_PTR,
                bytes.len(),
                bytes.as_ptr().cast_mut().cast(),
                &mut code,
            )
        };
        check("clCreateBuffer", code)?;
        Ok(Buffer { device: self, memory, len: bytes.len() })
    }

    /// Waits for all launches.
    pub fn finish(&self) -> Result<()> {
        // SAFETY: the queue is live.
        check("clFinish", unsafe { (self.api.clFinish)(self.queue) })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: no other code uses these handles any more.
        unsafe {
            (self.api.clReleaseCommandQueue)(self.queue);
            (self.api.clReleaseContext)(self.context);
        }
    }
}

/// Device memory.
pub struct Buffer<'a> {
    device: &'a Device,
    memory: Handle,
    len: usize,
}

impl Buffer<'_> {
    /// The buffer's contents.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.len];
        let (api, to) = (&self.device.api, bytes.as_mut_ptr().cast());
        // SAFETY: there is space for all bytes, and the call waits.
        let code = unsafe {
            (api.clEnqueueReadBuffer)(
                self.device.queue,
                self.memory,
                TRUE,
                0,
                self.len,
                to,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        check("clEnqueueReadBuffer", code)?;
        Ok(bytes)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: code that launches with the buffer waits before dropping it.
        unsafe { (self.device.api.clReleaseMemObject)(self.memory) };
    }
}

/// A kernel with its program.
pub struct Kernel<'a> {
    device: &'a Device,
    program: Handle,
    kernel: Handle,
}

impl Kernel<'_> {
    /// Sets an argument to a number.
    pub fn set_value(&self, index: u32, bytes: &[u8]) -> Result<()> {
        // SAFETY: the size is the slice's; OpenCL compares it with the parameter's.
        let code = unsafe { (self.device.api.clSetKernelArg)(self.kernel, index, bytes.len(), bytes.as_ptr().cast()) };
        check("clSetKernelArg", code)
    }

    /// Sets an argument to a buffer, which must live until all launches with it have finished.
    pub fn set_buffer(&self, index: u32, buffer: &Buffer<'_>) -> Result<()> {
        let (size, handle) = (size_of::<Handle>(), (&raw const buffer.memory).cast());
        // SAFETY: a handle and its size.
        check("clSetKernelArg", unsafe { (self.device.api.clSetKernelArg)(self.kernel, index, size, handle) })
    }

    /// Launches a grid of `grid` blocks of `block` threads.
    ///
    /// # Safety
    /// All arguments are set, and the kernel stays within its buffers.
    pub unsafe fn launch(&self, grid: [u32; 3], block: [u32; 3]) -> Result<()> {
        let local = block.map(|threads| threads as usize);
        let global: [usize; 3] = std::array::from_fn(|axis| grid[axis] as usize * local[axis]);
        let (device, none) = (self.device, ptr::null_mut());
        // SAFETY: both arrays have three sizes; the rest follows from the contract.
        let code = unsafe {
            (device.api.clEnqueueNDRangeKernel)(
                device.queue,
                self.kernel,
                3,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                none,
                none,
            )
        };
        check("clEnqueueNDRangeKernel", code)
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: no other code uses these handles; null handles are skipped.
        unsafe {
            if !self.kernel.is_null() {
                (self.device.api.clReleaseKernel)(self.kernel);
            }
            (self.device.api.clReleaseProgram)(self.program);
        }
    }
}

/// The text before the first zero.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}
