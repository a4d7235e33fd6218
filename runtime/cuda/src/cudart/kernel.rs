//! Attributes of kernels, and their occupancy.

use std::ffi::{c_int, c_uint};

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{In, Memory, Out};
use crate::cudart::launch::Config;
use crate::cudart::registry;
use crate::cudart::version::{self, Version};
use crate::launch::occupancy;
use crate::module::function::{self, FunctionHandle};

/// `cudaFuncAttributes` of CUDA 11.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Attributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    max_threads: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    caches: c_int,
    max_dynamic_shared_bytes: c_int,
    carveout: c_int,
}

/// Fields that later versions append: whether a cluster size is required, that size, the scheduling of clusters,
/// whether unusual sizes are allowed, and sixteen reserved numbers.
type Clusters = [c_int; 22];

pub(crate) fn attributes(attributes: Out<Attributes>, host: Memory) -> Result<(), Code> {
    let place = attributes.needed()?;
    let version = version::of_program()?;
    let function = registry::kernel(host)?.get()?;
    let value = |number: c_uint| function.attribute(number).ok_or(INVALID_VALUE);
    let bytes = |number| Ok::<_, Code>(usize::try_from(value(number)?).unwrap_or(0));
    place.set(Attributes {
        shared_bytes: bytes(1)?,
        constant_bytes: bytes(2)?,
        local_bytes: bytes(3)?,
        max_threads: value(0)?,
        registers: value(4)?,
        ptx_version: value(5)?,
        binary_version: value(6)?,
        caches: value(7)?,
        max_dynamic_shared_bytes: value(8)?,
        carveout: value(9)?,
    })?;
    if version == Version::V11 {
        return Ok(());
    }
    let mut clusters: Clusters = [0; 22];
    for (place, number) in clusters.iter_mut().zip([10, 11, 12, 13, 15, 14]) {
        *place = value(number)?;
    }
    const OFFSET: u64 = std::mem::offset_of!(Attributes, carveout) as u64 + 4;
    Memory::from(place).offset(OFFSET).as_out().set(clusters)
}

pub(crate) fn set_attribute_for_device(
    kernel: FunctionHandle,
    attribute: c_uint,
    value: c_int,
    device: c_int,
) -> Result<(), Code> {
    function::set_kernel_attribute(attribute, value, kernel, device)
}

pub(crate) fn parameter_count(host: Memory, count: Out<usize>) -> Result<(), Code> {
    count.needed()?.set(registry::kernel(host)?.get()?.kernel.params().len())
}

/// The driver API's handle of a kernel, by the address of its host stub.
pub(crate) fn of_symbol(function: Out<FunctionHandle>, host: Memory) -> Result<(), Code> {
    function.needed()?.set(registry::kernel(host)?)
}

pub(crate) fn active_clusters(count: Out<c_int>, host: Memory, config: In<Config>) -> Result<(), Code> {
    occupancy::clusters(count, registry::kernel(host)?, In::from(&config.get()?.driver()?))
}

pub(crate) fn cluster_size(size: Out<c_int>, host: Memory, config: In<Config>) -> Result<(), Code> {
    occupancy::cluster_size(size, registry::kernel(host)?, In::from(&config.get()?.driver()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        let clusters = std::mem::offset_of!(Attributes, carveout) + 4;
        // CUDA 11 has seven numbers after the sizes; later versions have 144 bytes in all.
        assert_eq!((clusters, (clusters + size_of::<Clusters>()).next_multiple_of(8)), (52, 144));
    }
}
