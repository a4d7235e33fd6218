//! The driver's report on a lost device (`VK_EXT_device_fault`).

use std::ffi::CStr;
use std::fmt::Write;

use ash::{ext, vk};

use crate::backend::vulkan::instance::Instance;

/// Maximum number of addresses and vendor notes in a report.
const MOST: u32 = 8;

/// A driver's report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The driver's description.
    pub text: String,
    /// The address of an invalid access to memory, if there was one.
    pub address: Option<u64>,
}

/// Requests reports from a device's driver.
pub(crate) struct FaultReports {
    ask: vk::PFN_vkGetDeviceFaultInfoEXT,
    device: vk::Device,
}

impl FaultReports {
    /// The device must have been created with the extension and its feature.
    pub fn new(instance: &Instance, device: &ash::Device) -> Self {
        let functions = ext::device_fault::Device::new(instance.raw(), device);
        Self { ask: functions.fp().get_device_fault_info_ext, device: device.handle() }
    }

    /// The driver's description of the fault, if it has one.
    ///
    /// # Safety
    /// The device exists, and was lost.
    pub unsafe fn read(&self) -> Option<Fault> {
        let mut counts = vk::DeviceFaultCountsEXT::default();
        // SAFETY: by the contract; `counts` is alive, and NULL for the contents requests the counts.
        unsafe { (self.ask)(self.device, &mut counts, std::ptr::null_mut()) }.result().ok()?;
        let mut addresses =
            vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count.min(MOST) as usize];
        let mut notes = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count.min(MOST) as usize];
        counts.address_info_count = addresses.len() as u32;
        counts.vendor_info_count = notes.len() as u32;
        counts.vendor_binary_size = 0;
        let mut info = vk::DeviceFaultInfoEXT {
            p_address_infos: addresses.as_mut_ptr(),
            p_vendor_infos: notes.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: by the contract; the lists have space for the numbers of elements in `counts`.
        let asked = unsafe { (self.ask)(self.device, &mut counts, &mut info) };
        // It is fine if the driver has more elements.
        if asked != vk::Result::INCOMPLETE {
            asked.result().ok()?;
        }
        addresses.truncate(counts.address_info_count as usize);
        notes.truncate(counts.vendor_info_count as usize);
        let text = describe(text(info.description_as_c_str()), &addresses, &notes);
        Some(Fault { text, address: addresses.iter().find_map(accessed) })
    }
}

/// The address of an invalid access.
fn accessed(info: &vk::DeviceFaultAddressInfoEXT) -> Option<u64> {
    use vk::DeviceFaultAddressTypeEXT as Kind;
    let is_access = matches!(info.address_type, Kind::READ_INVALID | Kind::WRITE_INVALID);
    is_access.then_some(info.reported_address)
}

fn text<E>(text: Result<&CStr, E>) -> String {
    text.map(|text| text.to_string_lossy().trim().to_owned()).unwrap_or_default()
}

fn describe(
    what: String,
    addresses: &[vk::DeviceFaultAddressInfoEXT],
    notes: &[vk::DeviceFaultVendorInfoEXT],
) -> String {
    let mut parts = Vec::new();
    parts.extend(Some(what).filter(|what| !what.is_empty()));
    parts.extend(addresses.iter().filter_map(describe_address));
    for note in notes {
        let mut part = text(note.description_as_c_str());
        // Writing to a string can't fail.
        let _ = write!(part, " (code {:#x}, data {:#x})", note.vendor_fault_code, note.vendor_fault_data);
        parts.push(part.trim().to_owned());
    }
    if parts.is_empty() { "the driver doesn't say why".to_owned() } else { parts.join("; ") }
}

fn describe_address(info: &vk::DeviceFaultAddressInfoEXT) -> Option<String> {
    use vk::DeviceFaultAddressTypeEXT as Kind;
    let what = match info.address_type {
        Kind::NONE => return None,
        Kind::READ_INVALID => "an invalid read at",
        Kind::WRITE_INVALID => "an invalid write at",
        Kind::EXECUTE_INVALID => "an invalid instruction at",
        Kind::INSTRUCTION_POINTER_UNKNOWN => "an instruction at",
        Kind::INSTRUCTION_POINTER_INVALID => "an invalid instruction pointer,",
        Kind::INSTRUCTION_POINTER_FAULT => "a fault of the instruction at",
        _ => "an address:",
    };
    // The precision is a power of two; the bits below it are unknown.
    let below = info.address_precision.max(1) - 1;
    let (first, last) = (info.reported_address & !below, info.reported_address | below);
    Some(if below == 0 { format!("{what} {first:#x}") } else { format!("{what} {first:#x} to {last:#x}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "system" fn silent(
        _device: vk::Device,
        _counts: *mut vk::DeviceFaultCountsEXT<'_>,
        _info: *mut vk::DeviceFaultInfoEXT<'_>,
    ) -> vk::Result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
    }

    /// A driver that reports twenty addresses and one vendor code.
    unsafe extern "system" fn talkative(
        _device: vk::Device,
        counts: *mut vk::DeviceFaultCountsEXT<'_>,
        info: *mut vk::DeviceFaultInfoEXT<'_>,
    ) -> vk::Result {
        // SAFETY: the caller passes valid structures, whose lists have as many elements as the counts say.
        unsafe {
            let Some(info) = info.as_mut() else {
                ((*counts).address_info_count, (*counts).vendor_info_count) = (20, 1);
                (*counts).vendor_binary_size = 1000;
                return vk::Result::SUCCESS;
            };
            let count = (*counts).address_info_count;
            for (index, kind) in (0..count).zip([2, 1, 0, 6, 0, 0, 0, 0]) {
                *info.p_address_infos.add(index as usize) = vk::DeviceFaultAddressInfoEXT {
                    address_type: vk::DeviceFaultAddressTypeEXT::from_raw(kind),
                    reported_address: 0x1234_5678,
                    address_precision: if kind == 1 { 0x1000 } else { 1 },
                };
            }
            let mut note =
                vk::DeviceFaultVendorInfoEXT { vendor_fault_code: 13, vendor_fault_data: 1, ..Default::default() };
            for (to, from) in note.description.iter_mut().zip(b"MMU fault") {
                *to = *from as _;
            }
            *info.p_vendor_infos = note;
            for (to, from) in info.description.iter_mut().zip(b"Page fault ") {
                *to = *from as _;
            }
            vk::Result::INCOMPLETE
        }
    }

    #[test]
    fn drivers_tell_what_they_know() {
        let read = |ask| {
            let reports = FaultReports { ask, device: vk::Device::null() };
            // SAFETY: the functions don't use the device.
            unsafe { reports.read() }
        };
        assert_eq!(read(silent), None);
        let expected = "Page fault; an invalid write at 0x12345678; \
            an invalid read at 0x12345000 to 0x12345fff; a fault of the instruction at 0x12345678; \
            MMU fault (code 0xd, data 0x1)";
        assert_eq!(read(talkative), Some(Fault { text: expected.to_owned(), address: Some(0x1234_5678) }));
        assert_eq!(describe(String::new(), &[], &[]), "the driver doesn't say why");
    }
}
