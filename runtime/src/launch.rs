//! Launching: checks sizes and arguments, then records the dispatches.

use ash::vk;
use ptx2spv_translator::interface::{Entry, ParamLocation, push_constant};
use ptx2spv_translator::target::Limits;

use crate::args::{self, Arg};
use crate::error::Error;
use crate::kernel::{Kernel, Variant};
use crate::queue::Recorder;

/// How many threads to launch, and with how much shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks (CTAs) in x, y and z: up to 2^31 - 1, 65,535 and 65,535 on every device.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic (`.extern .shared`) shared memory.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of blocks without dynamic shared memory.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared_bytes: 0 }
    }

    /// As many blocks of `block` threads in x as it takes for `threads` threads.
    pub fn linear(threads: u32, block: u32) -> Self {
        Self::new([threads.div_ceil(block.max(1)), 1, 1], [block, 1, 1])
    }
}

/// CUDA's grid limits.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// A launch that has passed all checks.
pub(crate) struct Prepared {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    grid: [u32; 3],
    /// Most blocks of one dispatch.
    max_count: [u32; 3],
    /// The push constants up to the parameters, and then the parameter block.
    data: Vec<u8>,
    push_size: usize,
    params: ParamLocation,
}

impl Kernel {
    /// Launches the kernel after everything launched before, and returns without waiting for it.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentSize`], [`Error::ArgumentPointer`], [`Error::ForeignBuffer`],
    /// [`Error::Block`], [`Error::Grid`], [`Error::SharedMemory`] if it can't be launched like this;
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Vulkan`].
    pub fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        let mut prepared = self.prepare(config, args)?;
        self.shared.device.shared.queue.record(|recorder| {
            prepared.place_params(recorder)?;
            self.watch(recorder);
            recorder.barrier();
            prepared.dispatch(recorder);
            Ok(())
        })?;
        Ok(())
    }

    /// Has the status word looked at when the host next waits or reads, if the kernel may report something there.
    pub(crate) fn watch(&self, recorder: &mut Recorder<'_>) {
        if let Some(word) = &self.shared.variables.status {
            recorder.watched.add(word, self.name());
        }
    }

    pub(crate) fn prepare(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<Prepared, Error> {
        let shared = &*self.shared;
        let (entry, limits) = (&shared.entry, &shared.device.target().limits);
        check_grid(entry, config.grid)?;
        check_block(entry, limits, config.block)?;
        let shared_bytes = shared_bytes(entry, limits, config.dynamic_shared_bytes)?;
        let params = push_constant::PARAMS as usize;
        // `check::interface` bounds `params_size`, and `push_constant_size` by this length.
        let mut data = vec![0; params + (entry.params_size as usize).next_multiple_of(4)];
        args::pack(&shared.device, entry, args, &mut data[params..])?;
        put(&mut data, push_constant::VARIABLES_ADDRESS, &shared.variables.address().to_le_bytes());
        put(&mut data, push_constant::GRID_SIZE, bytemuck::bytes_of(&config.grid));
        let variant = Variant { block: config.block, shared_bytes };
        Ok(Prepared {
            pipeline: shared.pipelines.get(variant)?,
            layout: shared.pipelines.layout,
            grid: config.grid,
            // No device has zero here, but a wrong one must not make us loop.
            max_count: limits.max_compute_work_group_count.map(|count| count.max(1)),
            data,
            push_size: entry.push_constant_size as usize,
            params: entry.params_location,
        })
    }
}

impl Prepared {
    /// Gives the parameter block its place for the batch that is being recorded.
    pub fn place_params(&mut self, recorder: &mut Recorder<'_>) -> Result<(), Error> {
        if self.params == ParamLocation::Buffer {
            let address = recorder.params(&self.data[push_constant::PARAMS as usize..])?;
            put(&mut self.data, push_constant::PARAMS_ADDRESS, &address.to_le_bytes());
        }
        Ok(())
    }

    /// Records the dispatches, which together are the whole grid. There is no barrier between them, as there is none
    /// between the blocks of a grid.
    pub fn dispatch(&self, recorder: &Recorder<'_>) {
        let (ash, commands) = (&recorder.raw.ash, recorder.commands);
        let stage = vk::ShaderStageFlags::COMPUTE;
        let mut push = self.data[..self.push_size].to_vec();
        // SAFETY: the command buffer is being recorded; pipeline and layout are retired through the queue when dropped.
        unsafe { ash.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline) };
        for (base, count) in parts(self.grid, self.max_count) {
            put(&mut push, push_constant::GRID_BASE, bytemuck::bytes_of(&base));
            // SAFETY: as above; the constants have the size of the layout's range, the counts are within the limits.
            unsafe {
                if !push.is_empty() {
                    ash.cmd_push_constants(commands, self.layout, stage, 0, &push);
                }
                ash.cmd_dispatch(commands, count[0], count[1], count[2]);
            }
        }
    }
}

/// Writes what fits: a kernel's push constants may end before.
fn put(data: &mut [u8], offset: u32, bytes: &[u8]) {
    for (place, byte) in data.iter_mut().skip(offset as usize).zip(bytes) {
        *place = *byte;
    }
}

/// Splits a grid into dispatches of at most `max` blocks per dimension: base and count of each.
fn parts(grid: [u32; 3], max: [u32; 3]) -> impl Iterator<Item = ([u32; 3], [u32; 3])> {
    let ranges =
        move |i: usize| (0..grid[i]).step_by(max[i] as usize).map(move |base| (base, max[i].min(grid[i] - base)));
    ranges(2).flat_map(move |(z, nz)| {
        ranges(1).flat_map(move |(y, ny)| ranges(0).map(move |(x, nx)| ([x, y, z], [nx, ny, nz])))
    })
}

fn check_grid(entry: &Entry, grid: [u32; 3]) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Grid { kernel: entry.name.clone(), grid, reason });
    if grid.contains(&0) {
        return refuse("no dimension may be zero");
    }
    if grid.iter().zip(MAX_GRID).any(|(&size, max)| size > max) {
        return refuse("CUDA allows 2147483647 x 65535 x 65535");
    }
    Ok(())
}

fn check_block(entry: &Entry, limits: &Limits, block: [u32; 3]) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Block { kernel: entry.name.clone(), block, reason });
    // Can't overflow: a product of three u32 has 96 bits.
    let product = |size: [u32; 3]| size.iter().map(|&n| u128::from(n)).product::<u128>();
    let threads = product(block);
    if threads == 0 {
        return refuse("no dimension may be zero".to_owned());
    }
    if let Some(required) = entry.block.required.filter(|&required| required != block) {
        return refuse(format!("its .reqntid demands {} x {} x {}", required[0], required[1], required[2]));
    }
    if let Some(max) = entry.block.max.filter(|&max| threads > product(max)) {
        return refuse(format!("its .maxntid allows {} threads, not {threads}", product(max)));
    }
    if let Some(exact) = entry.block.threads.filter(|&exact| u128::from(exact) != threads) {
        return refuse(format!("its barriers wait for {exact} threads, not {threads}"));
    }
    let [x, y, z] = limits.max_compute_work_group_size;
    if block.iter().zip([x, y, z]).any(|(&size, max)| size > max) {
        return refuse(format!("the device allows {x} x {y} x {z}"));
    }
    if threads > u128::from(limits.max_compute_work_group_invocations) {
        return refuse(format!(
            "the device allows {} threads, not {threads}",
            limits.max_compute_work_group_invocations
        ));
    }
    Ok(())
}

/// The value of `SHARED_BYTES`: never zero, since arrays of no elements don't exist in SPIR-V.
fn shared_bytes(entry: &Entry, limits: &Limits, dynamic: u32) -> Result<u32, Error> {
    let needed = u64::from(entry.shared.static_bytes).next_multiple_of(16) + u64::from(dynamic);
    let rounded = needed.next_multiple_of(16).max(16);
    let available = limits.max_compute_shared_memory_size;
    match u32::try_from(rounded) {
        Ok(bytes) if bytes <= available => Ok(bytes),
        _ => Err(Error::SharedMemory { kernel: entry.name.clone(), needed, available }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_grid_once() {
        for (grid, max) in
            [([1, 1, 1], [65_535; 3]), ([7, 5, 3], [3, 2, 2]), ([4, 4, 4], [2, 4, 1]), ([9, 1, 2], [u32::MAX; 3])]
        {
            let mut seen = std::collections::BTreeSet::new();
            for (base, count) in parts(grid, max) {
                assert!(count.iter().zip(max).all(|(&n, max)| n >= 1 && n <= max));
                for z in 0..count[2] {
                    for y in 0..count[1] {
                        for x in 0..count[0] {
                            assert!(seen.insert([base[0] + x, base[1] + y, base[2] + z]));
                        }
                    }
                }
            }
            assert_eq!(seen.len() as u32, grid[0] * grid[1] * grid[2]);
            assert!(seen.iter().all(|id| id.iter().zip(grid).all(|(&at, size)| at < size)));
        }
        assert_eq!(parts([i32::MAX as u32, 1, 1], [65_535; 3]).count(), 32_769);
    }

    #[test]
    fn linear_rounds_up() {
        assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
        assert_eq!(LaunchConfig::linear(u32::MAX, 256).grid, [16_777_216, 1, 1]);
        assert_eq!(LaunchConfig::linear(5, 0).grid, [5, 1, 1]);
    }
}
