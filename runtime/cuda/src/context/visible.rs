//! The devices that a process sees, and their order: CUDA's variables.

use ptx2spv_runtime::{BusAddress, DeviceInfo};

/// CUDA's variable that names the visible devices, by number or UUID.
pub(crate) const VISIBLE_VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// CUDA's variable that orders the devices.
const ORDER_VARIABLE: &str = "CUDA_DEVICE_ORDER";

/// Whether the program wants the devices in the order of their bus addresses.
pub(crate) fn wants_bus_order() -> bool {
    std::env::var_os(ORDER_VARIABLE).is_some_and(|value| value == "PCI_BUS_ID")
}

/// The numbers of the visible devices in a list. As in CUDA, the list ends before its first name of no device, is empty if a device is
/// in it twice, and has names of the first one's kind: UUIDs or numbers.
pub(crate) fn chosen(text: &str, uuids: &[String]) -> Vec<usize> {
    const UUID: &str = "GPU-";
    let has_uuids = text.trim_start().starts_with(UUID);
    let mut list = Vec::new();
    for name in text.split(',').map(str::trim) {
        let number = if has_uuids {
            // The beginning of an UUID is enough if it is that of one device.
            let fits = |uuid: &String| name.starts_with(UUID) && uuid.starts_with(name);
            let mut found = uuids.iter().enumerate().filter(|(_, uuid)| fits(uuid));
            found.next().filter(|_| found.next().is_none()).map(|(number, _)| number)
        } else {
            name.parse().ok().filter(|&number| number < uuids.len())
        };
        match number {
            Some(number) if list.contains(&number) => return Vec::new(),
            Some(number) => list.push(number),
            None => break,
        }
    }
    list
}

/// The devices' addresses on the bus. A device that has none gets one that no other has, since programs tell devices by it.
pub(crate) fn bus_addresses<'d>(devices: impl Iterator<Item = &'d DeviceInfo>) -> Vec<BusAddress> {
    let known: Vec<_> = devices.map(|device| device.bus).collect();
    let mut list: Vec<BusAddress> = Vec::with_capacity(known.len());
    for (number, bus) in known.iter().enumerate() {
        let made = |bus| BusAddress { domain: 0, bus, device: 0, function: 0 };
        let is_free = |address: &BusAddress| !known.contains(&Some(*address)) && !list.contains(address);
        let first = u32::try_from(number).unwrap_or_default() + 1;
        list.push(
            bus.filter(|bus| !list.contains(bus)).or_else(|| (first..).map(made).find(is_free)).unwrap_or(made(0)),
        );
    }
    list
}

/// Reads an address on the bus, in which domain and function may be missing.
pub(crate) fn read_bus_address(text: &str) -> Option<BusAddress> {
    let (text, function) = text.split_once('.').map_or((text, "0"), |(text, function)| (text, function));
    let parts: Vec<_> = text.split(':').collect();
    let (domain, bus, device) = match parts[..] {
        [bus, device] => ("0", bus, device),
        [domain, bus, device] => (domain, bus, device),
        _ => return None,
    };
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    let (domain, bus) = (number(domain)?, number(bus)?);
    Some(BusAddress { domain, bus, device: number(device)?, function: number(function)? })
}

#[cfg(test)]
mod tests {
    use ptx2spv_runtime::{Config, Device};

    use super::*;

    #[test]
    fn visible_devices_as_cuda_documents_them() {
        let uuids = ["GPU-8932f937-d72c", "GPU-8932f999-d72c", "GPU-46a12345-d72c"].map(str::to_owned);
        let cases: [(&str, &[usize]); 16] = [
            ("0", &[0]),
            ("2,0", &[2, 0]),
            (" 1 , 2", &[1, 2]),
            ("0,1,2", &[0, 1, 2]),
            ("", &[]),
            ("-1", &[]),
            ("1,-1,2", &[1]),
            ("0,3,1", &[0]),
            ("1,1,2", &[]),
            ("0,2,0,7", &[]),
            ("0,7,0", &[0]),
            ("0,GPU-46a1", &[0]),
            ("GPU-46a1,0", &[2]),
            ("GPU-46a1,GPU-8932f99", &[2, 1]),
            ("GPU-8932f99", &[1]),
            ("GPU-8932f9", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(chosen(text, &uuids), expected, "{text:?}");
        }
    }

    #[test]
    fn each_device_has_a_bus_address_of_its_own() {
        let info = Device::reference(Config::default()).info().clone();
        let at = |bus| {
            let mut info = info.clone();
            info.bus = bus;
            info
        };
        let card = |bus| BusAddress { domain: 0, bus, device: 0, function: 0 };
        let list = [at(None), at(Some(card(2))), at(None), at(Some(card(2))), at(Some(card(1)))];
        let found: Vec<_> = bus_addresses(list.iter()).iter().map(|address| address.bus).collect();
        assert_eq!(found, [3, 2, 4, 5, 1]);
    }

    #[test]
    fn bus_addresses_in_their_forms() {
        let expected = Some(BusAddress { domain: 0, bus: 0x1a, device: 0, function: 0 });
        for text in ["0000:1a:00.0", "00000000:1A:00.0", "1a:00.0", "0000:1a:00", "1a:00", "1A:0"] {
            assert_eq!(read_bus_address(text), expected, "{text}");
        }
        for text in ["", "1a", "1a:", "0:1a:0:0", "x:0"] {
            assert_eq!(read_bus_address(text), None, "{text}");
        }
    }
}
