//! NVIDIA's management library (NVML), in the parts that programs ask for before they open the driver.
//!
//! `nvml.in` lists the functions. What Vulkan has no query for, such as temperatures and clocks, is not supported. The devices are the driver
//! library's, whether `CUDA_VISIBLE_DEVICES` shows them or not. Before `cuInit`, Vulkan is loaded for the length of a call only, so that a program may
//! ask here, fork, and use the devices in the child.

mod api;
mod call;

use std::ffi::{c_char, c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{BusAddress, Device, DeviceInfo};

use crate::abi::{INVALID_VALUE, Memory, NOT_FOUND, NOT_INITIALIZED, Out, Result, Text, layouts, lock};
use crate::context::{device, state, visible};
use call::TOO_SMALL;

/// The attributes of a device.
struct Known {
    /// The device's number. Its handle is one more.
    number: usize,
    info: DeviceInfo,
    bus: BusAddress,
}

impl Known {
    fn handle(&self) -> usize {
        self.number + 1
    }

    /// The address on the bus, with eight digits for the domain.
    fn bus_id(&self) -> String {
        format!("0000{}", self.bus)
    }
}

/// The devices, and how often the program has initialised the library without shutting it down.
static OPEN: Mutex<(Option<Arc<[Known]>>, usize)> = Mutex::new((None, 0));

/// `nvmlMemory_v2_t`, with the version of its layout.
#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryInfo {
    version: u32,
    _gap: u32,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

const MEMORY_VERSION: u32 = 2 << 24 | size_of::<MemoryInfo>() as u32;

/// `nvmlPciInfo_t`, and of old programs `nvmlPciInfo_v2_t`, whose end is reserved.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Bus<const END: usize> {
    short_id: [u8; 16],
    domain: u32,
    bus: u32,
    device: u32,
    kind: u32,
    subsystem: u32,
    id: [u8; END],
}

pub(crate) type BusInfo = Bus<32>;
pub(crate) type OldBusInfo = Bus<16>;

layouts! {
    MemoryInfo = 40, total at 8;
    BusInfo = 68;
    OldBusInfo = 52;
}

/// The device of a number: the driver library's, or one for the length of a call.
fn device_of(number: usize) -> Result<Device> {
    state::check_process()?;
    let entries = match state::devices() {
        Err(NOT_INITIALIZED) => Vec::new(),
        entries => entries?,
    };
    match entries.iter().find(|entry| entry.number == number) {
        Some(entry) => entry.open(),
        None => state::all()?.get(number).ok_or(INVALID_VALUE)?.open_apart(),
    }
}

pub(crate) fn initialize() -> Result {
    state::check_process()?;
    let mut open = lock(&OPEN);
    if open.0.is_none() {
        let known =
            |entry: &Arc<state::Entry>| Known { number: entry.number, info: entry.info().clone(), bus: entry.bus };
        open.0 = Some(state::all()?.iter().map(known).collect());
    }
    open.1 += 1;
    Ok(())
}

pub(crate) fn shut_down() -> Result {
    let mut open = lock(&OPEN);
    open.1 = open.1.checked_sub(1).ok_or(NOT_INITIALIZED)?;
    if open.1 == 0 {
        open.0 = None;
    }
    Ok(())
}

/// The devices, once the library is initialised.
fn opened() -> Result<Arc<[Known]>> {
    lock(&OPEN).0.clone().ok_or(NOT_INITIALIZED)
}

/// Fails before the library is initialised.
pub(crate) fn check() -> Result {
    opened().map(|_| ())
}

/// Calls a function with the attributes of the device of a handle.
fn of_handle<T>(handle: usize, act: impl FnOnce(&Known) -> T) -> Result<T> {
    let known = opened()?;
    known.iter().find(|known| known.handle() == handle).map(act).ok_or(INVALID_VALUE)
}

/// The handle of the first device that is meant.
fn find(is_meant: impl Fn(&Known) -> bool) -> Result<usize> {
    opened()?.iter().find(|known| is_meant(known)).map(Known::handle).ok_or(NOT_FOUND)
}

pub(crate) fn count() -> Result<c_uint> {
    opened().map(|known| c_uint::try_from(known.len()).unwrap_or(c_uint::MAX))
}

pub(crate) fn by_index(index: c_uint) -> Result<usize> {
    opened()?.get(index as usize).map(Known::handle).ok_or(INVALID_VALUE)
}

pub(crate) fn by_uuid(text: Text) -> Result<usize> {
    check()?;
    let text = text.get()?;
    find(|known| known.info.cuda_uuid() == text)
}

pub(crate) fn by_bus_id(text: Text) -> Result<usize> {
    check()?;
    let bus = visible::read_bus_address(&text.get()?).ok_or(NOT_FOUND)?;
    find(|known| known.bus == bus)
}

/// The device's number.
pub(crate) fn index(device: usize) -> Result<c_uint> {
    of_handle(device, |known| c_uint::try_from(known.number).unwrap_or(c_uint::MAX))
}

/// The answer of questions that have zero for one: there is no brand, and the mode is the default one.
pub(crate) fn zero(device: usize) -> Result<c_uint> {
    of_handle(device, |_| 0)
}

/// Writes a text to a buffer that must have room for all of it.
fn write(text: &str, place: Out<c_char>, length: c_uint) -> Result {
    if length as usize <= text.len() {
        return Err(TOO_SMALL);
    }
    device::write_text(text, place, length.try_into().unwrap_or(c_int::MAX))
}

pub(crate) fn name(device: usize, text: Out<c_char>, length: c_uint) -> Result {
    write(&of_handle(device, |known| known.info.name.clone())?, text, length)
}

pub(crate) fn uuid(device: usize, text: Out<c_char>, length: c_uint) -> Result {
    write(&of_handle(device, |known| known.info.cuda_uuid())?, text, length)
}

/// The total, free and used memory.
pub(crate) fn memory(handle: usize) -> Result<[u64; 3]> {
    let info = device_of(of_handle(handle, |known| known.number)?)?.memory().info();
    Ok([info.total, info.free, info.total.saturating_sub(info.free)])
}

pub(crate) fn memory_with_version(device: usize, place: Memory) -> Result {
    let [total, free, used] = memory(device)?;
    if place.as_in::<u32>().get()? != MEMORY_VERSION {
        return Err(INVALID_VALUE);
    }
    place.as_out().set(MemoryInfo { version: MEMORY_VERSION, _gap: 0, total, reserved: 0, free, used })
}

fn bus_with<const END: usize>(device: usize, has_id: bool) -> Result<Bus<END>> {
    fn padded<const N: usize>(text: &str) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
        bytes
    }
    of_handle(device, |known| {
        let BusAddress { domain, bus, device, .. } = known.bus;
        let id = if has_id { known.bus_id() } else { String::new() };
        let (short_id, id) = (padded(&known.bus.to_string()), padded(&id));
        Bus { short_id, domain, bus, device, kind: 0, subsystem: 0, id }
    })
}

pub(crate) fn bus(device: usize) -> Result<BusInfo> {
    bus_with(device, true)
}

pub(crate) fn bus_of_old(device: usize) -> Result<OldBusInfo> {
    bus_with(device, false)
}

pub(crate) fn capability(device: usize, major: Out<c_int>, minor: Out<c_int>) -> Result {
    of_handle(device, |_| ())?;
    let (major, minor) = (major.needed()?, minor.needed()?);
    let (a, b) = device::capability();
    major.set(a)?;
    minor.set(b)
}

/// NVML's number of an architecture, by the compute capability.
pub(crate) fn architecture(device: usize) -> Result<c_uint> {
    of_handle(device, |_| ())?;
    Ok(match device::capability() {
        (..5, _) => 2,
        (5, _) => 3,
        (6, _) => 4,
        (7, ..5) => 5,
        (7, _) => 6,
        (8, ..9) => 7,
        (8, _) => 8,
        (9, _) => 9,
        _ => 10,
    })
}

pub(crate) fn cuda_version(version: Out<c_int>) -> Result {
    device::version(version)
}

/// The version of the first device's Vulkan driver.
pub(crate) fn driver_version(text: Out<c_char>, length: c_uint) -> Result {
    write(opened()?.first().map_or("0.0", |known| known.info.driver_number()), text, length)
}

/// The version of NVML, which begins with CUDA's.
pub(crate) fn own_version(text: Out<c_char>, length: c_uint) -> Result {
    check()?;
    write("12.0", text, length)
}
