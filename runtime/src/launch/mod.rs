//! Launching: checks sizes and arguments, and splits the grid into several submissions if the program wants that.

pub(crate) mod args;
pub(crate) mod children;
pub(crate) mod cooperative;
pub(crate) mod launcher;
pub(crate) mod long_loops;
pub(crate) mod occupancy;
pub(crate) mod prepare;
pub(crate) mod split;

use std::sync::Arc;
use std::time::Duration;

use crate::backend::Backend;
use crate::backend::launch::{Launch, PipelineKey};
use crate::backend::order::StreamState;
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::limits::{check_block, check_grid, shared_bytes};
use crate::launch::args::{Arg, Args, LaunchConfig};
use crate::launch::children::Grid;
use crate::module::code::{Prepared, Version};
use crate::module::kernel::Kernel;
use crate::stream::Stream;
use crate::sync::lock;

impl Kernel {
    /// Launches the kernel after everything launched before, and returns without waiting for it. (The reference device
    /// runs it immediately.) With [`Device::set_max_dispatch_time`] the grid is submitted in parts, and the call waits
    /// for them, unless blocks may wait for each other.
    ///
    /// If the driver ends loops after some rounds, the call also waits for a kernel whose loops may take more: see
    /// [`Entry::suspends_in_loops`](ptx2spv_translator::interface::Entry::suspends_in_loops).
    ///
    /// For blocks larger than the device's workgroups, the kernel is translated again at the first such launch, so that
    /// each invocation runs several threads. For kernels loaded from SPIR-V, a variant is chosen that can hold the
    /// block.
    ///
    /// The call waits for a kernel that launches others
    /// ([`Entry::launches`](ptx2spv_translator::interface::Entry::launches)), and for child kernels that do. It returns
    /// the errors of all these launches.
    ///
    /// [`Device::set_max_dispatch_time`]: crate::Device::set_max_dispatch_time
    ///
    /// # Safety
    /// A kernel is foreign code that computes addresses. A Vulkan device doesn't check them, and a wrong address may
    /// crash or corrupt the process. The caller makes sure that
    /// * the arguments have the types that the kernel takes (only their number and sizes are checked), and are values that it
    ///   was written for;
    /// * what the kernel reads and writes with them lies inside of live buffers of this device, until it has ended: a buffer
    ///   must not be dropped while a launch is still to come that reaches it through an address stored elsewhere;
    /// * the threads have no data races, and whatever a kernel waits for happens.
    ///
    /// The reference device checks all of this.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentSize`], [`Error::ArgumentPointer`], [`Error::ForeignBuffer`],
    /// [`Error::TooFar`], [`Error::Block`], [`Error::Grid`], [`Error::SharedMemory`], [`Error::Translation`] for an
    /// invalid launch; [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Refused`], [`Error::Vulkan`];
    /// [`Error::Aborted`], [`Error::Fault`], [`Error::Timeout`] if the call waits; [`Error::NoKernel`],
    /// [`Error::Request`], [`Error::Overwritten`] for invalid requests of kernels.
    pub unsafe fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result {
        self.run(self.shared.device.default_state(), config, args)
    }

    /// Like [`Kernel::launch`], in stream order.
    ///
    /// # Safety
    /// As for [`Kernel::launch`].
    ///
    /// # Errors
    /// The errors of [`Kernel::launch`]; [`Error::ForeignBuffer`] also if the stream belongs to another device.
    pub unsafe fn launch_on(&self, stream: &Stream, config: &LaunchConfig, args: &[Arg<'_>]) -> Result {
        self.shared.device.check_same(stream.device())?;
        self.run(stream.state(), config, args)
    }

    /// Whether a launch waits for the device.
    pub(crate) fn waits(&self) -> bool {
        let is_split = self.shared.device.max_dispatch_time().is_some() && !self.entry().waits;
        is_split || self.entry().launches || self.entry().workspace().is_some()
    }

    fn run(&self, stream: &StreamState, config: &LaunchConfig, args: &[Arg<'_>]) -> Result {
        let device = &self.shared.device;
        let arguments = Args(args);
        let (prepared, mut launch) = self.with_args(config, &arguments)?;
        if self.entry().launches {
            return children::run(stream, Grid { kernel: self, prepared: &prepared, launch: &mut launch });
        }
        if let Some(bytes) = launch.workspace_bytes() {
            return cooperative::run(device, stream, &*prepared.pipeline, &mut launch, bytes);
        }
        if let Some(loops) = launch.long_loops() {
            return long_loops::run(device, stream, &*prepared.pipeline, &mut launch, loops);
        }
        // If blocks wait for each other, the first part might never end.
        let Some(most) = device.max_dispatch_time().filter(|_| !self.entry().waits) else {
            // A stopped kernel has already finished.
            let run = |_: &dyn Backend, key| Ok(prepared.pipeline.launch(key, &mut launch)?.unwrap_or_default());
            return device.submit(stream, run);
        };
        // Locked from the first part to the last, so that no other launch comes in between.
        let _alone = device.lock_parts();
        let _lock = device.wait_to_submit_several(stream)?;
        let backend = device.backend();
        backend.synchronize()?;
        split::run_in_parts(launch.part.1, most, &mut lock(&prepared.rate), |part| {
            launch.part = part;
            let start = Instant::now();
            let launched = prepared.pipeline.launch(stream.key(), &mut launch)?;
            backend.synchronize()?;
            Ok(launched.map(|_| start.elapsed()))
        })
    }

    /// Launches the kernel `repeats` times, one after another, and returns the time of each launch, from the end of all
    /// earlier work to its own end. The device's clock measures, or the host's: on the reference device, for
    /// cooperative launches, and for kernels that launch others, whose times are included. Grids are not split here.
    ///
    /// # Safety
    /// As for [`Kernel::launch`].
    ///
    /// # Errors
    /// [`Error::NoTimestamps`] if the device can't measure, [`Error::Aborted`], [`Error::Fault`], and the errors of [`Kernel::launch`].
    pub unsafe fn time(&self, config: &LaunchConfig, args: &[Arg<'_>], repeats: u32) -> Result<Vec<Duration>> {
        let arguments = Args(args);
        let (prepared, mut launch) = self.with_args(config, &arguments)?;
        if self.entry().workspace().is_some() || self.entry().launches {
            let device = &self.shared.device;
            let one = |_| {
                let start = Instant::now();
                self.run(device.default_state(), config, args)?;
                device.synchronize()?;
                Ok(start.elapsed())
            };
            device.synchronize()?;
            return (0..repeats).map(one).collect();
        }
        let _lock = self.shared.device.wait_to_submit_several(self.shared.device.default_state())?;
        prepared.pipeline.time(&mut launch, repeats)
    }

    /// Checks a launch, and prepares the kernel.
    pub(crate) fn check(&self, device: &Device, config: &LaunchConfig, args: &[Arg<'_>]) -> Result {
        self.shared.device.check_same(device)?;
        self.with_args(config, &Args(args)).map(|_| ())
    }

    fn with_args<'a>(&'a self, config: &LaunchConfig, args: &'a Args<'a>) -> Result<(Arc<Prepared>, Launch<'a>)> {
        let (prepared, mut launch) = self.empty(config)?;
        let variables = &self.shared.variables.layout;
        args::pack(&self.shared.device, variables, self.entry(), args.0, launch.params_mut())?;
        launch.args = Some(args);
        Ok((prepared, launch))
    }

    /// Prepares a launch with a complete parameter block, which may be longer than the parameters.
    pub(crate) fn with_block(&self, config: &LaunchConfig, params: &[u8]) -> Result<(Arc<Prepared>, Launch<'_>)> {
        let (prepared, mut launch) = self.empty(config)?;
        let size = self.entry().params_size as usize;
        let (Some(block), Some(params)) = (launch.params_mut().get_mut(..size), params.get(..size)) else {
            let what = format!("`{}` takes {size} bytes of parameters, a launch has {}", self.name(), params.len());
            return Err(Error::Interface(what));
        };
        block.copy_from_slice(params);
        Ok((prepared, launch))
    }

    /// Prepares a launch without parameters, which are set later.
    fn empty(&self, config: &LaunchConfig) -> Result<(Arc<Prepared>, Launch<'_>)> {
        let shared = &*self.shared;
        let (version, key) = self.version(config)?;
        let (entry, limits) = (&version.entry, &shared.device.target().limits);
        let mut launch = Launch::new(self.name(), entry, key, config.grid, limits);
        launch.set_variables_address(shared.variables.address());
        launch.status = shared.variables.status().filter(|_| !entry.reports.is_empty() || entry.prints);
        Ok((version.prepare(key)?, launch))
    }

    /// The version of the kernel for a launch, and the key of its pipeline. Checks the sizes.
    pub(crate) fn version(&self, config: &LaunchConfig) -> Result<(Arc<Version>, PipelineKey)> {
        let shared = &*self.shared;
        check_grid(self.entry(), config.grid)?;
        check_block(self.entry(), config.block)?;
        let LaunchConfig { block, dynamic_shared_bytes, .. } = *config;
        let version = shared.version(block, dynamic_shared_bytes)?;
        let (entry, limits) = (&version.entry, &shared.device.target().limits);
        let shared_bytes = shared_bytes(entry, limits, dynamic_shared_bytes)?;
        let texture_bits = if entry.texture_bits { shared.device.texture_bits().common() } else { 0 };
        let (packing, cluster) = (entry.packing, entry.cluster);
        let key = PipelineKey { block, shared_bytes, dynamic_shared_bytes, texture_bits, packing, cluster };
        Ok((version, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_rounds_up() {
        assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
        assert_eq!(LaunchConfig::linear(u32::MAX, 256).grid, [16_777_216, 1, 1]);
        assert_eq!(LaunchConfig::linear(5, 0).grid, [5, 1, 1]);
        let image = LaunchConfig::covering([1920, 1080, 1], [16, 16, 1]).with_shared(64);
        assert_eq!((image.grid, image.block, image.dynamic_shared_bytes), ([120, 68, 1], [16, 16, 1], 64));
    }
}
