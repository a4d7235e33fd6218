//! NVIDIA's management library (NVML), in the parts that programs ask for before they open the driver.
//!
//! `nvml.in` lists the functions. What Vulkan has no query for, such as temperatures and clocks, is not supported. The device is the driver
//! library's. Before `cuInit` it is opened for the length of a call only, so that a program may ask for it here, fork, and use it in the child.

mod api;
mod call;

use std::ffi::{c_char, c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Device, DeviceInfo, DeviceSelector};

use crate::abi::{Code, INVALID_VALUE, Memory, NOT_FOUND, NOT_INITIALIZED, Out, Text, layouts, lock};
use crate::context::{device, state};
use call::TOO_SMALL;

/// What is known of the device, and how often the program has initialised the library without shutting it down.
static OPEN: Mutex<(Option<Arc<DeviceInfo>>, usize)> = Mutex::new((None, 0));

/// The only handle of a device.
const HANDLE: usize = 1;

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

fn current_device() -> Result<Device, Code> {
    Ok(match state::device_if_open()? {
        Some(device) => device,
        None => Device::open(&DeviceSelector::Default)?,
    })
}

pub(crate) fn initialize() -> Result<(), Code> {
    let mut open = lock(&OPEN);
    if open.0.is_none() {
        open.0 = Some(Arc::new(current_device()?.info().clone()));
    }
    open.1 += 1;
    Ok(())
}

pub(crate) fn shut_down() -> Result<(), Code> {
    let mut open = lock(&OPEN);
    open.1 = open.1.checked_sub(1).ok_or(NOT_INITIALIZED)?;
    if open.1 == 0 {
        open.0 = None;
    }
    Ok(())
}

/// What is known of the device, once the library is initialised.
fn opened() -> Result<Arc<DeviceInfo>, Code> {
    lock(&OPEN).0.clone().ok_or(NOT_INITIALIZED)
}

/// Fails before the library is initialised.
pub(crate) fn check() -> Result<(), Code> {
    opened().map(|_| ())
}

fn of_handle(handle: usize) -> Result<Arc<DeviceInfo>, Code> {
    let info = opened()?;
    if handle == HANDLE { Ok(info) } else { Err(INVALID_VALUE) }
}

pub(crate) fn count() -> Result<c_uint, Code> {
    opened().map(|_| 1)
}

pub(crate) fn by_index(index: c_uint) -> Result<usize, Code> {
    check()?;
    if index == 0 { Ok(HANDLE) } else { Err(INVALID_VALUE) }
}

pub(crate) fn by_uuid(text: Text) -> Result<usize, Code> {
    let info = opened()?;
    if text.get()? == info.cuda_uuid() { Ok(HANDLE) } else { Err(NOT_FOUND) }
}

pub(crate) fn by_bus_id(text: Text) -> Result<usize, Code> {
    check()?;
    let text = text.get()?;
    // The domain has four digits or eight.
    let known = [device::BUS_ID.to_owned(), bus_id()];
    if known.contains(&text.to_ascii_lowercase()) { Ok(HANDLE) } else { Err(NOT_FOUND) }
}

/// The answer of questions that have zero for one: there is one device, without a brand, in the default mode.
pub(crate) fn zero(device: usize) -> Result<c_uint, Code> {
    of_handle(device).map(|_| 0)
}

/// Writes a text to a buffer that must have room for all of it.
fn write(text: &str, place: Out<c_char>, length: c_uint) -> Result<(), Code> {
    if length as usize <= text.len() {
        return Err(TOO_SMALL);
    }
    device::write_text(text, place, length.try_into().unwrap_or(c_int::MAX))
}

pub(crate) fn name(device: usize, text: Out<c_char>, length: c_uint) -> Result<(), Code> {
    write(&of_handle(device)?.name, text, length)
}

pub(crate) fn uuid(device: usize, text: Out<c_char>, length: c_uint) -> Result<(), Code> {
    write(&of_handle(device)?.cuda_uuid(), text, length)
}

/// The total, free and used memory.
pub(crate) fn memory(handle: usize) -> Result<[u64; 3], Code> {
    of_handle(handle)?;
    let info = current_device()?.memory().info();
    Ok([info.total, info.free, info.total.saturating_sub(info.free)])
}

pub(crate) fn memory_with_version(device: usize, place: Memory) -> Result<(), Code> {
    let [total, free, used] = memory(device)?;
    if place.as_in::<u32>().get()? != MEMORY_VERSION {
        return Err(INVALID_VALUE);
    }
    place.as_out().set(MemoryInfo { version: MEMORY_VERSION, _gap: 0, total, reserved: 0, free, used })
}

/// The bus address, with eight digits for the domain.
fn bus_id() -> String {
    format!("0000{}", device::BUS_ID)
}

fn bus_with<const END: usize>(device: usize, id: &str) -> Result<Bus<END>, Code> {
    fn padded<const N: usize>(text: &str) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
        bytes
    }
    of_handle(device)?;
    let (short_id, id) = (padded(device::BUS_ID), padded(id));
    Ok(Bus { short_id, domain: 0, bus: 1, device: 0, kind: 0, subsystem: 0, id })
}

pub(crate) fn bus(device: usize) -> Result<BusInfo, Code> {
    bus_with(device, &bus_id())
}

pub(crate) fn bus_of_old(device: usize) -> Result<OldBusInfo, Code> {
    bus_with(device, "")
}

pub(crate) fn capability(device: usize, major: Out<c_int>, minor: Out<c_int>) -> Result<(), Code> {
    of_handle(device)?;
    let (major, minor) = (major.needed()?, minor.needed()?);
    let (a, b) = device::capability();
    major.set(a)?;
    minor.set(b)
}

/// NVML's number of an architecture, by the compute capability.
pub(crate) fn architecture(device: usize) -> Result<c_uint, Code> {
    of_handle(device)?;
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

pub(crate) fn cuda_version(version: Out<c_int>) -> Result<(), Code> {
    device::version(version)
}

/// The version of the Vulkan driver.
pub(crate) fn driver_version(text: Out<c_char>, length: c_uint) -> Result<(), Code> {
    write(opened()?.driver_number(), text, length)
}

/// The version of NVML, which begins with CUDA's.
pub(crate) fn own_version(text: Out<c_char>, length: c_uint) -> Result<(), Code> {
    check()?;
    write("12.0", text, length)
}
