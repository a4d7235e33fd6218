//! Allocations of launches on the host. A test program of its own: its allocator counts.

#[path = "../../tests/counting/mod.rs"]
mod counting;

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use ptx2spv_cuda as _;
use ptx2spv_runtime::{Device, DeviceSelector};

type Function = *const c_void;
type Stream = *const c_void;
type Pointer = *const c_void;

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: Stream,
    attributes: *const Attribute,
    count: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C, align(8))]
struct Attribute {
    number: c_uint,
    value: [c_uint; 16],
}

unsafe extern "C" {
    fn cuInit(flags: c_uint) -> u32;
    fn cuDevicePrimaryCtxRetain(context: *mut Pointer, device: c_int) -> u32;
    fn cuCtxSetCurrent(context: Pointer) -> u32;
    fn cuCtxSynchronize() -> u32;
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32;
    fn cuMemsetD32_v2(address: u64, word: c_uint, count: usize) -> u32;
    fn cuMemcpyDtoH_v2(host: *mut c_void, address: u64, bytes: usize) -> u32;
    fn cuStreamCreate(stream: *mut Stream, flags: c_uint) -> u32;
    fn cuModuleLoadData(module: *mut Pointer, image: *const c_void) -> u32;
    fn cuModuleGetFunction(function: *mut Function, module: Pointer, name: *const std::ffi::c_char) -> u32;
    fn cuLaunchKernelEx(
        config: *const Config,
        function: Function,
        params: *const Pointer,
        extra: *const Pointer,
    ) -> u32;
    fn cuLaunchKernel(
        function: Function,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Stream,
        params: *const Pointer,
        extra: *const Pointer,
    ) -> u32;
}

const PTX: &CStr = c"
    .version 7.0
    .target sm_50
    .address_size 64
    .visible .entry add(.param .u64 out, .param .u32 by)
    {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [by];
        red.global.add.u32 [%rd1], %r1;
        ret;
    }";

/// The parameters as one buffer.
#[repr(C)]
struct Parameters {
    out: u64,
    by: u32,
}

/// A call's error, which is a `CUresult`.
fn ok(result: u32) -> Result<(), u32> {
    if result == 0 { Ok(()) } else { Err(result) }
}

const LAUNCHES: u32 = 1000;

#[test]
fn launches_allocate_nothing() -> Result<(), u32> {
    let device = Device::open(&DeviceSelector::Default);
    if device.is_ok_and(|device| device.as_reference().is_some()) {
        // The interpreter runs a launch at once, and makes threads for that.
        return Ok(());
    }
    let (mut context, mut module, mut function, mut stream) = (null(), null(), null(), null());
    let mut parameters = Parameters { out: 0, by: 1 };
    // SAFETY: the places have the types of the results, and the image and the name end with a zero.
    unsafe {
        ok(cuInit(0))?;
        ok(cuDevicePrimaryCtxRetain(&mut context, 0))?;
        ok(cuCtxSetCurrent(context))?;
        ok(cuModuleLoadData(&mut module, PTX.as_ptr().cast()))?;
        ok(cuModuleGetFunction(&mut function, module, c"add".as_ptr()))?;
        ok(cuStreamCreate(&mut stream, 0))?;
        ok(cuMemAlloc_v2(&mut parameters.out, 4))?;
        ok(cuMemsetD32_v2(parameters.out, 0, 1))?;
    }
    let size = size_of::<Parameters>();
    let pointers: [Pointer; 2] = [(&raw const parameters.out).cast(), (&raw const parameters.by).cast()];
    // `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`.
    let extra: [Pointer; 5] =
        [1 as Pointer, (&raw const parameters).cast(), 2 as Pointer, (&raw const size).cast(), null_mut()];
    // A priority, and a launch that may begin early.
    let mut attributes = [Attribute { number: 8, value: [0; 16] }, Attribute { number: 6, value: [0; 16] }];
    attributes[1].value[0] = 1;
    let config = |stream| Config {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        stream,
        attributes: attributes.as_ptr(),
        count: 2,
    };
    // SAFETY: all pointers are to what lives here; the kernel adds to one number.
    let launches: [(&str, &dyn Fn(Stream) -> u32); 3] = unsafe {
        [
            ("pointers", &|stream| cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, pointers.as_ptr(), null())),
            ("buffer", &|stream| cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null(), extra.as_ptr())),
            ("attributes", &|stream| cuLaunchKernelEx(&config(stream), function, pointers.as_ptr(), null())),
        ]
    };
    let mut rounds = 0;
    for (name, launch) in launches {
        let round = || (0..LAUNCHES).try_for_each(|_| ok(launch(null())).and_then(|()| ok(launch(stream))));
        rounds += counting::until_none(name, round)?;
    }
    let mut sum = 0_u32;
    // SAFETY: `sum` has four bytes.
    unsafe {
        ok(cuCtxSynchronize())?;
        ok(cuMemcpyDtoH_v2((&raw mut sum).cast(), parameters.out, 4))?;
    }
    assert_eq!(sum, rounds * 2 * LAUNCHES);
    Ok(())
}
