//! Devices and their memory.

use std::ffi::{CString, c_char, c_void};

use ptx2spv_runtime as runtime;
use ptx2spv_runtime::{DeviceSelector, Error};

use crate::error::{Failure, Status, call};
use crate::pointer::{free, get, optional_text, put, slice};

/// An open device.
pub struct Device {
    pub(crate) device: runtime::Device,
    name: CString,
    fallback: Option<CString>,
}

/// Opens a device. The selector is a number, a kind ("cpu", "integrated", "discrete", "vulkan" for any of these,
/// "reference") or a part of the name, as for `--device`. Null stands for the environment variable `PTX2SPV_DEVICE`, or
/// the best device if that isn't set.
///
/// # Safety
/// `selector` is null or ends with a zero, and `device` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_open(selector: *const c_char, device: *mut *mut Device) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let selector = match unsafe { optional_text(selector, "selector") }? {
            Some(selector) => selector.parse()?,
            None => DeviceSelector::Default,
        };
        let open = || -> Result<_, Failure> {
            let device = runtime::Device::open(&selector)?;
            let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
            let name = text(&device.info().name);
            let fallback = device.fallback().map(|reason| text(&reason.to_string()));
            Ok(Box::into_raw(Box::new(Device { device, name, fallback })))
        };
        // SAFETY: by the contract.
        unsafe { put(device, "device", open) }
    })
}

/// The device's name, which stays valid as long as the device; null for a null pointer.
///
/// # Safety
/// `device` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_device_name(device: *const Device) -> *const c_char {
    // SAFETY: by the contract.
    unsafe { get(device, "device") }.map_or(std::ptr::null(), |device| device.name.as_ptr())
}

/// Why the reference device, an interpreter, is used instead of a Vulkan device. Null if a Vulkan device is used, or if
/// the reference device was asked for. The text stays valid as long as the device. ptx2spv_open has written a warning to
/// the standard error, once per process. With the selector "vulkan", ptx2spv_open fails instead.
///
/// # Safety
/// `device` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_fallback(device: *const Device) -> *const c_char {
    // SAFETY: by the contract.
    let device = unsafe { get(device, "device") }.ok();
    device.and_then(|device| device.fallback.as_ref()).map_or(std::ptr::null(), |reason| reason.as_ptr())
}

/// Waits until all work launched so far has finished.
///
/// # Safety
/// `device` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_synchronize(device: *const Device) -> Status {
    // SAFETY: by the contract.
    call(|| Ok(unsafe { get(device, "device") }?.device.synchronize()?))
}

/// Allocates device memory and stores its address, which is what kernels take for a pointer. Only this device's
/// ptx2spv_free may free the memory.
///
/// # Safety
/// `device` is null or live, and `address` points to room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_alloc(device: *const Device, bytes: u64, address: *mut u64) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let device = unsafe { get(device, "device") }?;
        // SAFETY: by the contract.
        unsafe { put(address, "address", || Ok(device.device.memory().allocate(bytes)?)) }
    })
}

/// Frees the device memory at an address, after all earlier launches have finished.
///
/// # Safety
/// `device` is null or live, and no later launch accesses the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_free(device: *const Device, address: u64) -> Status {
    // SAFETY: by the contract.
    call(|| Ok(unsafe { get(device, "device")?.device.memory().free(address) }?))
}

/// Writes bytes to device memory, in the order of the calls.
///
/// # Safety
/// `device` is null or live, and `data` points to `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_write(
    device: *const Device,
    address: u64,
    data: *const c_void,
    bytes: usize,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (device, data) = unsafe { (get(device, "device")?, slice(data.cast(), bytes, "data")?) };
        Ok(device.device.memory().write(address, data)?)
    })
}

/// Reads bytes of device memory, after all earlier launches have finished.
///
/// # Safety
/// `device` is null or live, and `data` points to room for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_read(device: *const Device, address: u64, data: *mut c_void, bytes: usize) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let device = unsafe { get(device, "device") }?;
        let memory = device.device.memory();
        if bytes > 0 {
            // A wrong size fails here, before as much memory is asked for.
            let range = memory.find(address).ok_or(Error::NotAllocated { address })?;
            let (offset, len, size) = (address - range.address, bytes as u64, range.size);
            if len > size - offset {
                return Err(Error::OutOfRange { offset, len, size }.into());
            }
        }
        // C's memory may be uninitialized, which a Rust slice must not be.
        let mut read = vec![0; bytes];
        memory.read(address, &mut read)?;
        if bytes == 0 {
            return Ok(());
        }
        if data.is_null() {
            return Err(Failure::argument("`data` is null"));
        }
        // SAFETY: by the contract.
        unsafe { std::ptr::copy_nonoverlapping(read.as_ptr(), data.cast(), bytes) };
        Ok(())
    })
}

/// Sets bytes of device memory.
///
/// # Safety
/// `device` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_set(device: *const Device, address: u64, value: u8, bytes: u64) -> Status {
    // SAFETY: by the contract.
    call(|| Ok(unsafe { get(device, "device") }?.device.memory().set(address, value, bytes)?))
}

/// Closes a device. The device itself lives until its last module and kernel are freed.
///
/// # Safety
/// `device` is null or live, and isn't used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_close(device: *mut Device) {
    // SAFETY: by the contract.
    unsafe { free(device) };
}
