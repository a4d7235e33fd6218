//! The library's one device, from `cuInit` until the process exits.

use std::cell::Cell;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ptx2spv_runtime::{Device, DeviceSelector, Process};

use crate::abi::sync::{read, write};
use crate::abi::{Code, DEINITIALIZED, INVALID_DEVICE, NOT_INITIALIZED, NOT_PERMITTED, trace};

struct Open {
    device: Device,
    /// The process that opened the device. Its forked children can't use the device.
    process: Process,
}

static OPEN: RwLock<Option<Open>> = RwLock::new(None);

/// Set when the process exits.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Opens the device that `PTX2SPV_DEVICE` names, or else the best one. Has no effect once a device is open.
pub(crate) fn open() -> Result<(), Code> {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let mut open = write(&OPEN);
    if let Some(open) = &*open {
        return open.check();
    }
    ptx2spv_runtime::survive_kernel_faults();
    let device = Device::open(&DeviceSelector::Default).map_err(|error| {
        trace::say(&format!("no device: {error}"));
        Code::from(error)
    })?;
    *open = Some(Open { device, process: Process::this() });
    // SAFETY: `end` takes no arguments, doesn't unwind, and stays loaded (`-z nodelete`). It is registered after the
    // Vulkan driver was loaded, and so runs before the driver's own exit handlers.
    unsafe { libc::atexit(end) };
    Ok(())
}

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the program that must not use the device: one in stream order would wait for itself.
pub(crate) fn call_back(function: impl FnOnce()) {
    let outer = IN_CALLBACK.replace(true);
    function();
    IN_CALLBACK.set(outer);
}

/// The device, if it is open and the thread may use it.
pub(crate) fn device() -> Result<Device, Code> {
    with_device(Device::clone)
}

/// Fails unless the device is open and the thread may use it.
pub(crate) fn check() -> Result<(), Code> {
    with_device(|_| ())
}

fn with_device<T>(act: impl FnOnce(&Device) -> T) -> Result<T, Code> {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let open = read(&OPEN);
    let open = open.as_ref().ok_or(NOT_INITIALIZED)?;
    open.check()?;
    if IN_CALLBACK.get() {
        return Err(NOT_PERMITTED.because("in a callback"));
    }
    Ok(act(&open.device))
}

/// The same, or nothing before `cuInit`.
pub(crate) fn device_if_open() -> Result<Option<Device>, Code> {
    let is_open = read(&OPEN).is_some();
    if is_open { device().map(Some) } else { Ok(None) }
}

/// The device of an ordinal. Only 0 exists.
pub(crate) fn device_by_ordinal(ordinal: i32) -> Result<Device, Code> {
    let device = device()?;
    if ordinal == 0 { Ok(device) } else { Err(INVALID_DEVICE) }
}

impl Open {
    fn check(&self) -> Result<(), Code> {
        if self.process.is_this() { Ok(()) } else { Err(NOT_INITIALIZED.because("forked off")) }
    }
}

/// Waits for the device, and writes the remaining output. Later calls fail. Nothing is freed, since other threads may
/// still be in calls.
extern "C" fn end() {
    let wait = || {
        let device = device()?;
        device.synchronize()?;
        write_output(&device);
        Ok::<_, Code>(())
    };
    // A panic is ignored, since the process is exiting.
    let _ = std::panic::catch_unwind(wait);
    ENDED.store(true, Ordering::SeqCst);
}

/// Writes what kernels have printed to the standard output, at the points where CUDA does: when programs wait for the
/// device.
pub(crate) fn write_output(device: &Device) {
    trace::write(&device.take_output());
}
