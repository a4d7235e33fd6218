//! Modules, kernels and launches.

use std::ffi::{c_char, c_void};

use ptx2spv_runtime as runtime;
use ptx2spv_runtime::{Arg, Error, LaunchConfig, Source};
use ptx2spv_translator::names::parameter;

use crate::device::Device;
use crate::error::{Failure, Status, call};
use crate::pointer::{free, get, put, slice, text};

/// Loaded PTX.
pub struct Module {
    module: runtime::Module,
}

/// A kernel of a module.
pub struct Kernel {
    kernel: runtime::Kernel,
}

/// Loads a PTX text on a device. Messages call it `name`. A kernel is translated when it is first asked for.
///
/// # Safety
/// `device` is null or live, the texts end with a zero, and `module` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_load(
    device: *const Device,
    name: *const c_char,
    ptx: *const c_char,
    module: *mut *mut Module,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (device, name, ptx) = unsafe { (get(device, "device")?, text(name, "name")?, text(ptx, "ptx")?) };
        let load = || Ok(Box::into_raw(Box::new(Module { module: device.device.load(&Source::new(name, ptx))? })));
        // SAFETY: by the contract.
        unsafe { put(module, "module", load) }
    })
}

/// Address and size of a module's variable; `bytes` may be null.
///
/// # Safety
/// `module` is null or live, `name` ends with a zero, `address` points to room for a number, and so does `bytes`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_find_variable(
    module: *const Module,
    name: *const c_char,
    address: *mut u64,
    bytes: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (module, name) = unsafe { (get(module, "module")?, text(name, "name")?) };
        let found = module.module.variable(name).ok_or_else(|| Error::NoVariable(name.to_owned()))?;
        // SAFETY: by the contract.
        if let Some(bytes) = unsafe { bytes.as_mut() } {
            *bytes = found.size;
        }
        // SAFETY: by the contract.
        unsafe { put(address, "address", || Ok(found.address)) }
    })
}

/// A kernel by its name in PTX.
///
/// # Safety
/// `module` is null or live, `name` ends with a zero, and `kernel` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_find_kernel(
    module: *const Module,
    name: *const c_char,
    kernel: *mut *mut Kernel,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (module, name) = unsafe { (get(module, "module")?, text(name, "name")?) };
        let find = || Ok(Box::into_raw(Box::new(Kernel { kernel: module.module.kernel(name)? })));
        // SAFETY: by the contract.
        unsafe { put(kernel, "kernel", find) }
    })
}

/// Launches a kernel, asynchronously and in the order of the calls. `grid` and `block` are three numbers each, x first.
/// As with CUDA's cuLaunchKernel, `arguments` holds one pointer per parameter, to a value of the parameter's size.
/// `count` is their number.
///
/// # Safety
/// `kernel` is null or live. The arguments point to values of the parameters' sizes, and the kernel is valid for them:
/// a Vulkan device doesn't check the addresses that a kernel computes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_launch(
    kernel: *const Kernel,
    grid: *const u32,
    block: *const u32,
    dynamic_shared_bytes: u32,
    arguments: *const *const c_void,
    count: usize,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (kernel, grid, block, arguments) = unsafe {
            (
                get(kernel, "kernel")?,
                get(grid.cast::<[u32; 3]>(), "grid")?,
                get(block.cast::<[u32; 3]>(), "block")?,
                slice(arguments, count, "arguments")?,
            )
        };
        let params = kernel.kernel.params();
        if params.len() != count {
            let message = format!("the kernel has {} parameters, not {count}", params.len());
            return Err(Failure::argument(message));
        }
        let values = arguments.iter().zip(params).map(|(value, param)| {
            // SAFETY: by the contract.
            unsafe { slice(value.cast::<u8>(), param.size as usize, parameter(kernel.kernel.name(), &param.name)) }
                .map(Arg::Bytes)
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let config = LaunchConfig::new(*grid, *block).with_shared(dynamic_shared_bytes);
        // SAFETY: by the contract.
        Ok(unsafe { kernel.kernel.launch(&config, &values) }?)
    })
}

/// Frees a kernel.
///
/// # Safety
/// `kernel` is null or live, and isn't used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_kernel_free(kernel: *mut Kernel) {
    // SAFETY: by the contract.
    unsafe { free(kernel) };
}

/// Frees a module. Its kernels stay usable.
///
/// # Safety
/// `module` is null or live, and isn't used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_unload(module: *mut Module) {
    // SAFETY: by the contract.
    unsafe { free(module) };
}
