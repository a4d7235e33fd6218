//! `cudaDeviceProp`, which CUDA 12 extended and CUDA 13 reordered.

use std::ffi::{c_int, c_uint};

use crate::abi::{Memory, Result};
use crate::context::{device, state};
use crate::cudart::version::{self, Version};

/// The contents of a field.
#[derive(Clone, Copy)]
enum Field {
    Name,
    /// The device's UUID, 16 bytes.
    Uuid,
    /// Bytes without meaning here.
    Zeros(usize),
    /// The size of the device's memory.
    TotalMemory,
    /// An attribute as a 32-bit number.
    Number(c_uint),
    /// A range of attributes, each as a 32-bit number.
    Numbers(c_uint, c_uint),
    /// An attribute as a 64-bit size.
    Size(c_uint),
}

use Field::{Name, Number, Numbers, Size, TotalMemory, Uuid, Zeros};

/// The versions that have a field.
#[derive(Clone, Copy)]
enum In {
    All,
    /// Before version 13.
    Old,
    /// Since version 12.
    Later,
    /// Since version 13.
    New,
}

use In::{All, Later, New, Old};

/// The fields in order, with the numbers of attributes.
const FIELDS: &[(In, Field)] = &[
    (All, Name),
    (All, Uuid),
    // The LUID, which only Windows has, and its mask.
    (All, Zeros(12)),
    (All, TotalMemory),
    (All, Size(8)),
    (All, Number(12)),
    (All, Number(10)),
    (All, Size(11)),
    (All, Numbers(1, 7)),
    (Old, Number(13)),
    (All, Size(9)),
    (All, Numbers(75, 76)),
    (All, Size(14)),
    (All, Size(51)),
    (Old, Number(15)),
    (All, Number(16)),
    (Old, Number(17)),
    (All, Numbers(18, 19)),
    (Old, Number(20)),
    // Textures: one dimension, two, three, cubes, layers.
    (All, Number(21)),
    (All, Number(77)),
    (Old, Number(69)),
    (All, Numbers(22, 23)),
    (All, Numbers(73, 74)),
    (All, Numbers(70, 72)),
    (All, Numbers(45, 46)),
    (All, Numbers(24, 26)),
    (All, Numbers(47, 49)),
    (All, Number(52)),
    (All, Numbers(42, 43)),
    (All, Numbers(27, 29)),
    (All, Numbers(53, 54)),
    // Surfaces in the same order.
    (All, Numbers(55, 68)),
    (All, Size(30)),
    (All, Numbers(31, 34)),
    (All, Number(50)),
    (All, Number(35)),
    (All, Numbers(40, 41)),
    (Old, Number(36)),
    (All, Numbers(37, 38)),
    (All, Number(108)),
    (All, Number(39)),
    (All, Numbers(78, 80)),
    (All, Size(81)),
    (All, Numbers(82, 86)),
    (Old, Number(87)),
    (All, Numbers(88, 91)),
    (All, Number(95)),
    (Old, Number(96)),
    (All, Size(97)),
    (All, Numbers(100, 101)),
    (All, Number(106)),
    (All, Number(109)),
    (All, Size(111)),
    (Later, Number(99)),
    (Later, Numbers(112, 119)),
    (Later, Number(121)),
    (Later, Number(125)),
    (Later, Number(120)),
    (Later, Number(129)),
    (New, Numbers(130, 131)),
    (New, Numbers(133, 134)),
    (New, Numbers(139, 140)),
    (New, Number(143)),
];

/// Bytes of the whole structure, including the reserved ones at the end.
fn size(version: Version) -> usize {
    match version {
        Version::V11 => 728,
        Version::V12 => 1032,
        Version::V13 => 1008,
    }
}

/// The device's values that fields are made from.
struct Known<'a> {
    name: &'a str,
    uuid: [u8; 16],
    memory: u64,
    value: &'a dyn Fn(c_uint) -> c_int,
}

/// The bytes of a field, and its alignment.
fn bytes(field: Field, known: &Known<'_>) -> (Vec<u8>, usize) {
    let value = known.value;
    let numbers = |first: c_uint, last: c_uint| (first..=last).flat_map(|number| value(number).to_ne_bytes()).collect();
    match field {
        Name => {
            let mut name = known.name.as_bytes().to_vec();
            // With a terminating zero.
            name.truncate(255);
            name.resize(256, 0);
            (name, 1)
        }
        Uuid => (known.uuid.to_vec(), 1),
        Zeros(count) => (vec![0; count], 4),
        TotalMemory => (known.memory.to_ne_bytes().to_vec(), 8),
        Number(number) => (numbers(number, number), 4),
        Numbers(first, last) => (numbers(first, last), 4),
        Size(number) => (u64::try_from(value(number)).unwrap_or(0).to_ne_bytes().to_vec(), 8),
    }
}

/// Lays out the structure.
fn layout(version: Version, known: &Known<'_>) -> Vec<u8> {
    let mut all = Vec::with_capacity(size(version));
    for &(versions, field) in FIELDS {
        let is_there = match versions {
            All => true,
            Old => version != Version::V13,
            Later => version != Version::V11,
            New => version == Version::V13,
        };
        if is_there {
            let (bytes, align) = bytes(field, known);
            all.resize(all.len().next_multiple_of(align), 0);
            all.extend(bytes);
        }
    }
    all.resize(size(version), 0);
    all
}

fn write(version: Version, place: Memory, device: c_int) -> Result {
    let entry = state::entry(device)?;
    let device = entry.open()?;
    let value = |number| device::attribute_of(&entry, number).ok().flatten().unwrap_or(0);
    let (info, memory) = (device.info(), device.memory().info().total);
    let layout = layout(version, &Known { name: &info.name, uuid: info.uuid, memory, value: &value });
    place.bytes_mut(layout.len() as u64)?.copy_from_slice(&layout);
    Ok(())
}

/// The function's unversioned name. Versions 11 and 13 use it, and version 12 kept it for programs built for version
/// 11.
pub(crate) fn get(place: Memory, device: c_int) -> Result {
    match version::of_program()? {
        Version::V13 => write(Version::V13, place, device),
        Version::V11 | Version::V12 => write(Version::V11, place, device),
    }
}

/// The name that version 12 uses.
pub(crate) fn get_v2(place: Memory, device: c_int) -> Result {
    write(Version::V12, place, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        // Offsets of attributes in NVIDIA's structures: capability, multiprocessors, warps, mip-mapped textures,
        // layered surfaces, threads and shared memory of a multiprocessor, cooperative launches, reserved shared
        // memory.
        let numbers = [75, 16, 10, 77, 68, 39, 81, 95, 111];
        let offsets_11 = [360, 388, 308, 412, 564, 624, 640, 688, 720];
        let offsets_13 = [360, 384, 308, 400, 548, 604, 624, 668, 696];
        // Pools, interprocess events, clusters, function pointers.
        let later = [(115, 744), (125, 768), (120, 772), (129, 776)];
        // The same, then host NUMA node, bus number, and multicast.
        let new = [(115, 720), (125, 744), (120, 748), (129, 752), (134, 768), (139, 772), (143, 780)];
        let value = |number: c_uint| number as c_int;
        for (version, len, offsets, others) in [
            (Version::V11, 728, offsets_11, &[][..]),
            (Version::V12, 1032, offsets_11, &later[..]),
            (Version::V13, 1008, offsets_13, &new[..]),
        ] {
            let layout = layout(version, &Known { name: "name", uuid: [7; 16], memory: 5, value: &value });
            assert_eq!((layout.len(), &layout[..5], layout[271], layout[288]), (len, &b"name\0"[..], 7, 5));
            for (number, offset) in numbers.into_iter().zip(offsets).chain(others.iter().copied()) {
                assert_eq!(layout[offset..offset + 4], [number, 0, 0, 0], "{version:?}: attribute {number}");
            }
        }
    }
}
