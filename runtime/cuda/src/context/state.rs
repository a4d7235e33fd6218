//! The devices, from `cuInit` until the process exits. Each is opened when something of it is first asked for that its driver
//! doesn't say.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, RwLock};
use std::time::{Duration, Instant};

use ptx2spv_runtime::{BusAddress, Device, DeviceInfo, DeviceSelector, Error, InstanceOptions, ListedDevice, Process};

use crate::abi::sync::{read, write};
use crate::abi::{
    Code, DEINITIALIZED, INVALID_DEVICE, NO_DEVICE, NOT_INITIALIZED, NOT_PERMITTED, Result, call, lock, trace,
};
use crate::context::{exit, visible};

struct Open {
    /// The devices that the program sees, by ordinal.
    devices: Vec<Arc<Entry>>,
    /// The process that listed the devices. Its forked children can't use them.
    process: Process,
}

/// A device that may be open.
pub(crate) struct Entry {
    /// The number among all devices of the machine.
    pub number: usize,
    listed: ListedDevice,
    /// The address on the bus, or one that stands for it.
    pub bus: BusAddress,
    device: OnceLock<Device>,
    opening: Mutex<()>,
}

static OPEN: RwLock<Option<Open>> = RwLock::new(None);

/// Registers `end`.
static AT_EXIT: Once = Once::new();

/// Set when the process exits.
static ENDED: AtomicBool = AtomicBool::new(false);

/// All devices of the machine that the library uses, whether the program sees them or not.
pub(crate) fn all() -> Result<Vec<Arc<Entry>>> {
    let mut listed = ptx2spv_runtime::listed_devices(&InstanceOptions::default())?;
    // An order that the user gave stays.
    if visible::wants_bus_order() && DeviceSelector::of_environment()?.is_empty() {
        listed.sort_by_key(|device| device.info().bus);
    }
    let buses = visible::bus_addresses(listed.iter().map(ListedDevice::info));
    let entry = |(number, (listed, bus))| {
        Arc::new(Entry { number, listed, bus, device: OnceLock::new(), opening: Mutex::default() })
    };
    Ok(listed.into_iter().zip(buses).enumerate().map(entry).collect())
}

/// Lists the devices. Has no effect once they are listed.
pub(crate) fn open() -> Result {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let mut open = write(&OPEN);
    if let Some(open) = &*open {
        return open.check();
    }
    ptx2spv_runtime::survive_kernel_faults();
    let said = |code: Code| {
        trace::say(&format!("no device: {}", crate::abi::code::reason().unwrap_or_default()));
        code
    };
    let mut devices = all().map_err(said)?;
    if let Some(text) = std::env::var_os(visible::VISIBLE_VARIABLE) {
        let uuids: Vec<_> = devices.iter().map(|entry| entry.info().cuda_uuid()).collect();
        devices = visible::chosen(&text.to_string_lossy(), &uuids).into_iter().map(|at| devices[at].clone()).collect();
    }
    match &devices[..] {
        [] => return Err(NO_DEVICE.because("CUDA_VISIBLE_DEVICES names none")),
        // That a lone device can't be opened, programs learn here.
        [only] => only.open().map(|_| ()).map_err(said)?,
        _ => {}
    }
    *open = Some(Open { devices, process: Process::this() });
    Ok(())
}

impl Entry {
    /// The driver's description.
    pub fn info(&self) -> &DeviceInfo {
        self.device.get().map_or_else(|| self.listed.info(), Device::info)
    }

    /// Opens the device for the caller alone.
    pub fn open_apart(&self) -> Result<Device> {
        Ok(self.listed.open()?)
    }

    /// The device, which is opened now unless it is open.
    pub fn open(&self) -> Result<Device> {
        if let Some(open) = self.device.get() {
            return Ok(open.clone());
        }
        let _opening = lock(&self.opening);
        if let Some(open) = self.device.get() {
            return Ok(open.clone());
        }
        let device = self.listed.open()?;
        // Else what the driver registers during the first launch runs before `end`. If that fails, the program's own launches say why.
        let _ = device.warm_up();
        // Once is enough: what the program has registered since must find the devices.
        AT_EXIT.call_once(|| {
            exit::register(end);
        });
        Ok(self.device.get_or_init(|| device).clone())
    }
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

/// Acts on the devices, if they are listed and the thread may use them.
fn with<T>(act: impl FnOnce(&[Arc<Entry>]) -> T) -> Result<T> {
    if ENDED.load(Ordering::SeqCst) {
        return Err(DEINITIALIZED);
    }
    let open = read(&OPEN);
    let open = open.as_ref().ok_or(NOT_INITIALIZED)?;
    open.check()?;
    if IN_CALLBACK.get() {
        return Err(NOT_PERMITTED.because("in a callback"));
    }
    Ok(act(&open.devices))
}

/// Fails unless the devices are listed and the thread may use them.
pub(crate) fn check() -> Result {
    with(|_| ())
}

/// Fails in a process that was forked off after the devices were listed.
pub(crate) fn check_process() -> Result {
    read(&OPEN).as_ref().map_or(Ok(()), Open::check)
}

/// The devices that the program sees.
pub(crate) fn devices() -> Result<Vec<Arc<Entry>>> {
    with(<[_]>::to_vec)
}

/// The device of an ordinal, which may not be open.
pub(crate) fn entry(ordinal: c_int) -> Result<Arc<Entry>> {
    let find = |devices: &[Arc<Entry>]| usize::try_from(ordinal).ok().and_then(|ordinal| devices.get(ordinal).cloned());
    with(find)?.ok_or(INVALID_DEVICE)
}

pub(crate) fn device_by_ordinal(ordinal: c_int) -> Result<Device> {
    entry(ordinal)?.open()
}

/// The ordinal of an open device.
pub(crate) fn ordinal(device: &Device) -> Result<c_int> {
    let is_it = |entry: &Arc<Entry>| entry.device.get().is_some_and(|open| open.is(device));
    let found = with(|devices| devices.iter().position(is_it))?;
    found.and_then(|found| c_int::try_from(found).ok()).ok_or(INVALID_DEVICE)
}

/// The devices that are open, apart from one.
pub(crate) fn opened_beside(device: &Device) -> Vec<Device> {
    let open = read(&OPEN);
    let opened = open.iter().flat_map(|open| &open.devices).filter_map(|entry| entry.device.get());
    opened.filter(|other| !other.is(device)).cloned().collect()
}

impl Open {
    fn check(&self) -> Result {
        if self.process.is_this() { Ok(()) } else { Err(NOT_INITIALIZED.because("forked off")) }
    }
}

/// The longest wait of the process's exit for kernels and for calls of other threads.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has the exit wait for the devices once more, and earlier: a launch has had the driver register the exit handlers of its compiler. The library goes
/// on, since the program's own exit handlers may use it.
pub(crate) fn launched() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| exit::register(is_idle));
}

/// Waits for the devices, and writes the remaining output. Later calls fail. Nothing is freed, since other threads may
/// still be in calls. Gives whether nothing uses the devices any more.
fn end() -> bool {
    let devices = at_exit();
    // First, so that no call begins that isn't waited for.
    ENDED.store(true, Ordering::SeqCst);
    are_idle(&devices)
}

/// Waits for the devices and for calls of other threads, and writes the remaining output. Gives whether nothing uses the devices any more.
fn is_idle() -> bool {
    are_idle(&at_exit())
}

/// The devices that the exit waits for, also if a callback exits.
fn at_exit() -> Vec<Arc<Entry>> {
    read(&OPEN).as_ref().map_or_else(Vec::new, |open| open.devices.clone())
}

fn are_idle(devices: &[Arc<Entry>]) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let wait = || {
        let mut is_idle = true;
        for device in devices.iter().filter_map(|entry| entry.device.get()) {
            // Launches in other threads end by that too.
            device.set_wait_limit(Some(deadline.saturating_duration_since(Instant::now())));
            // Other errors of one device have no caller to report to, and the others' kernels have printed too.
            is_idle &= !matches!(device.synchronize(), Err(Error::Timeout));
            write_output(device);
        }
        is_idle
    };
    let mut is_idle = wait();
    while is_idle && call::are_in_progress() {
        is_idle = Instant::now() < deadline;
        std::thread::sleep(Duration::from_millis(1));
    }
    // These calls may have launched more.
    is_idle = is_idle && wait();
    // The program's exit handlers may wait longer.
    devices.iter().filter_map(|entry| entry.device.get()).for_each(|device| device.set_wait_limit(None));
    is_idle
}

/// Writes the output of kernels to the standard output, at the points where CUDA does: when programs wait for the device.
pub(crate) fn write_output(device: &Device) {
    trace::write(&device.take_output());
}
