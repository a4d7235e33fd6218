//! The library's one device, from `cuInit` to the process's end.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ptx2spv_runtime::{Device, DeviceSelector};

use crate::code::{Code, DEINITIALIZED, INVALID_DEVICE, NOT_INITIALIZED};
use crate::output;
use crate::sync::{read, write};
use crate::trace;

struct Open {
    device: Device,
    /// The process that opened the device: those forked off it can't use it.
    process: u32,
}

static OPEN: RwLock<Option<Open>> = RwLock::new(None);

/// Set when the process ends.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Opens the device: the one that `PTX2SPV_DEVICE` names, else the best. Later calls have nothing left to do.
pub(crate) fn open() -> Result<(), Code> {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let mut open = write(&OPEN);
    if let Some(open) = &*open {
        return open.check();
    }
    let device = Device::open(&DeviceSelector::Default).map_err(|error| {
        trace::say(&format!("no device: {error}"));
        Code::from(error)
    })?;
    if let Some(reason) = device.fallback() {
        trace::say(&format!(
            "no Vulkan device ({reason}); this is the reference device, an interpreter, which is slow"
        ));
    }
    *open = Some(Open { device, process: std::process::id() });
    // SAFETY: `end` is a function without arguments that doesn't unwind, and stays loaded (`-z nodelete`). Registered after the Vulkan
    // driver was loaded, so that `end` comes before what the driver does at the end.
    unsafe { libc::atexit(end) };
    Ok(())
}

/// The device, if it was opened.
pub(crate) fn device() -> Result<Device, Code> {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let open = read(&OPEN);
    let open = open.as_ref().ok_or(NOT_INITIALIZED)?;
    open.check()?;
    Ok(open.device.clone())
}

/// The device of that number: there is only the first.
pub(crate) fn device_by_ordinal(ordinal: i32) -> Result<Device, Code> {
    let device = device()?;
    if ordinal == 0 { Ok(device) } else { Err(INVALID_DEVICE) }
}

impl Open {
    fn check(&self) -> Result<(), Code> {
        if self.process == std::process::id() { Ok(()) } else { Err(NOT_INITIALIZED.because("forked off")) }
    }
}

/// Lets the device finish its work, and writes what is still to be written; later calls find nothing. Frees nothing: other threads may
/// still be in calls.
extern "C" fn end() {
    let wait = || {
        let device = device()?;
        device.synchronize()?;
        write_output(&device);
        Ok::<_, Code>(())
    };
    // What went wrong has nobody left to hear of it.
    let _ = std::panic::catch_unwind(wait);
    ENDED.store(true, Ordering::SeqCst);
}

/// Writes what kernels have printed to the standard output, as CUDA does where programs wait for the device.
pub(crate) fn write_output(device: &Device) {
    output::write(&device.take_output());
}
