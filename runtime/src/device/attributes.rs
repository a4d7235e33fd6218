//! CUDA's device attributes, for the host and for kernels: the values that Vulkan reports, or else the values of a card of compute
//! capability 8.6.

use std::num::NonZero;

use crate::device::Device;
use crate::info::DeviceKind;
use crate::texel::limits as texture_limits;

/// Overrides the compute capability, as in `8.6`.
const CAPABILITY_VARIABLE: &str = "PTX2SPV_CUDA_CC";

/// Below 7.5, programs' built-in kernels don't load; from 9.0 on they use instructions of that one generation.
const CAPABILITY: (i32, i32) = (8, 6);

/// Maximum number of threads resident on a multiprocessor of a graphics card.
const THREADS_PER_MULTIPROCESSOR: u32 = 2048;

/// Maximum number of blocks resident on a multiprocessor.
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: u32 = 16;

/// Default limit of a block's shared memory.
const SHARED_PER_BLOCK: u32 = 48 << 10;

fn compute_capability() -> (i32, i32) {
    let chosen = std::env::var(CAPABILITY_VARIABLE).ok();
    let parts = chosen.as_deref().and_then(|value| value.split_once('.'));
    parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))).unwrap_or(CAPABILITY)
}

/// Maximum shared memory of a block.
fn shared_per_block(device: &Device) -> u32 {
    device.target().limits.max_compute_shared_memory_size
}

/// Shared memory of a multiprocessor.
pub(crate) fn shared_per_multiprocessor(device: &Device) -> u32 {
    shared_per_block(device).max(64 << 10)
}

/// Maximum number of threads resident on a multiprocessor. A processor's core runs one block at a time.
pub(crate) fn threads_per_multiprocessor(device: &Device) -> u32 {
    match device.info().kind {
        DeviceKind::Cpu | DeviceKind::Reference => 1024,
        _ => THREADS_PER_MULTIPROCESSOR,
    }
}

/// Whether the device shares its memory with the host.
fn is_unified(device: &Device) -> bool {
    matches!(device.info().kind, DeviceKind::Cpu | DeviceKind::Integrated)
}

pub(crate) fn multiprocessors(device: &Device) -> usize {
    match device.info().kind {
        DeviceKind::Cpu | DeviceKind::Reference => std::thread::available_parallelism().map_or(1, NonZero::get),
        // No Vulkan property that all drivers report.
        _ => 16,
    }
}

impl Device {
    /// The value of a CUDA device attribute: the one that Vulkan reports, or else that of a card of compute capability 8.6. `None` for
    /// unknown attributes.
    pub fn cuda_attribute(&self, number: u32) -> Option<i32> {
        value(self, number)
    }

    /// The compute capability that programs for CUDA see: 8.6, or the one in `PTX2SPV_CUDA_CC`.
    pub fn cuda_capability() -> (i32, i32) {
        compute_capability()
    }
}

/// An attribute is an `int`. Larger values become the largest `int`.
fn attribute_value(value: impl TryInto<i32>) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}

fn value(device: &Device, attribute: u32) -> Option<i32> {
    let is_cpu = matches!(device.info().kind, DeviceKind::Cpu | DeviceKind::Reference);
    Some(match attribute {
        // Threads of a block. Kernels are translated for blocks that are larger than the device's workgroups.
        1..=3 => 1024,
        4 => 64,
        // Blocks of a grid.
        5 => i32::MAX,
        6 | 7 => 65_535,
        8 => attribute_value(shared_per_block(device).min(SHARED_PER_BLOCK)),
        // Constant memory.
        9 => 65_536,
        // Threads of a warp.
        10 => 32,
        // Pitch.
        11 => i32::MAX,
        // Registers.
        12 | 82 => 65_536,
        // Clocks of the device and of its memory in kHz, and the width of its bus.
        13 | 36 => 1_000_000,
        37 => 128,
        // Alignment of textures, surfaces and pitches.
        14 | 30 => attribute_value(texture_limits::ADDRESS_ALIGNMENT),
        51 => attribute_value(texture_limits::PITCH_ALIGNMENT),
        // Copies concurrent with kernels, concurrent kernels, copy engines.
        15 | 31 | 40 => 1,
        16 => attribute_value(multiprocessors(device)),
        // No watchdog, default compute mode, no error correction, no TCC driver.
        17 | 20 | 32 | 35 => 0,
        18 => is_unified(device).into(),
        // Mapped host memory, addresses shared with the host, stream priorities, caches of globals and locals.
        19 | 41 | 78..=80 => 1,
        // Textures of arrays: 1D, 2D, 3D, and deep 3D.
        21 => attribute_value(texture_limits::ARRAY_1D),
        22 => attribute_value(texture_limits::ARRAY_2D[0]),
        23 => attribute_value(texture_limits::ARRAY_2D[1]),
        24..=26 => attribute_value(texture_limits::ARRAY_3D[0]),
        47 | 48 => attribute_value(texture_limits::ARRAY_3D_DEEP[0]),
        49 => attribute_value(texture_limits::ARRAY_3D_DEEP[2]),
        // Layers, gathering, cubes, levels.
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 73 | 74 | 77 => attribute_value(texture_limits::ARRAY_OTHERS),
        29 | 43 => attribute_value(texture_limits::LAYERS),
        54 | 68 => attribute_value(6 * texture_limits::CUBES),
        44 => 1,
        // Linear and pitched memory.
        69 => attribute_value(texture_limits::LINEAR),
        70 => attribute_value(texture_limits::PITCHED[0]),
        71 => attribute_value(texture_limits::PITCHED[1]),
        72 => attribute_value(texture_limits::PITCH),
        // Surfaces: 1D, 2D, 3D, layers, cubes.
        55 | 61 | 63 | 64 | 66 | 67 => attribute_value(texture_limits::ARRAY_OTHERS),
        56 => attribute_value(texture_limits::ARRAY_2D[0]),
        57 => attribute_value(texture_limits::ARRAY_2D[1]),
        58..=60 => attribute_value(texture_limits::ARRAY_3D[0]),
        62 | 65 => attribute_value(texture_limits::LAYERS),
        // Bus numbers, which are made up for a device that is on no bus.
        33 => attribute_value(device.info().bus.map_or(1, |bus| bus.bus)),
        34 => attribute_value(device.info().bus.map_or(0, |bus| bus.device)),
        50 => attribute_value(device.info().bus.map_or(0, |bus| bus.domain)),
        38 => 4 << 20,
        39 => attribute_value(threads_per_multiprocessor(device)),
        75 => compute_capability().0,
        76 => compute_capability().1,
        81 => attribute_value(shared_per_multiprocessor(device)),
        // Managed memory, also while kernels run. The device can't access pageable memory or use the host's pointers.
        83 | 89 | 101 => device.has_managed_memory().into(),
        88 | 91 | 100 => 0,
        // A single-device board, number 0; no atomics with the host.
        84..=86 => 0,
        87 => {
            if is_cpu {
                2
            } else {
                32
            }
        }
        90 => 1,
        // Cooperative launches on one device, but not across several.
        95 => 1,
        96 => 0,
        97 => attribute_value(shared_per_block(device)),
        // Stream memory operations, registered host memory.
        92..=94 | 98 => 0,
        99 => 1,
        // Virtual memory management, whose functions are there, but reserve memory with addresses: programs that find 1 here
        // reserve tens of gigabytes. No handles of it for other processes.
        102..=105 => 0,
        106 => attribute_value(BLOCKS_PER_MULTIPROCESSOR),
        // Compression, persisting cache, handles of other systems.
        107..=114 => 0,
        // Pools.
        115 => 1,
        116..=119 => 0,
        // Clusters and tensor maps.
        120 | 127 => (compute_capability().0 >= 9).into(),
        121..=125 => 0,
        126 => 1,
        128..=150 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::select::DeviceSelector;

    /// The numbers in the first column of the page's table, ranges included.
    fn documented(page: &str) -> Vec<u32> {
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
        let words = rows.flat_map(|(numbers, _)| numbers.split(", "));
        let range = |word: &str| {
            let (first, last) = word.split_once('–').unwrap_or((word, word));
            Some(first.parse().ok()?..=last.parse().ok()?)
        };
        words.filter_map(range).flatten().collect()
    }

    #[test]
    fn each_attribute_is_documented_once() {
        let device = Device::open(&"reference".parse::<DeviceSelector>().unwrap()).unwrap();
        let mut page = documented(include_str!("../../../docs/cuda-attributes.md"));
        page.sort_unstable();
        assert_eq!(page, (1..128).collect::<Vec<_>>());
        assert!((1..=150).all(|number| device.cuda_attribute(number).is_some()));
        assert!((128..=150).all(|number| device.cuda_attribute(number) == Some(0)));
        assert!([0, 151].iter().all(|&number| device.cuda_attribute(number).is_none()));
    }
}
