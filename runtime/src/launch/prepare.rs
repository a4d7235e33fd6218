//! Preparing kernels before their first launch, several in parallel.

use std::time::Duration;

use ptx2spv_translator::internals::parallel;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::launch::args::LaunchConfig;
use crate::module::Module;
use crate::module::kernel::Kernel;

/// Times of the steps that prepare a kernel, in this call or an earlier one.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LaunchConfig, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
/// let kernel = device.load(&Source::new("nothing.ptx", ptx))?.kernel("nothing")?;
/// let times = kernel.prepare(&LaunchConfig::linear(64, 64))?;
/// println!("translated in {:?}, compiled in {:?}", times.translation, times.pipeline);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreparationTimes {
    /// Time to translate the kernel, or to read its translation from the cache. Zero if it was loaded translated.
    pub translation: Duration,
    /// Time of the driver to compile the translation. Nearly zero if an unloaded module of the device had the same kernel.
    pub pipeline: Duration,
}

impl Kernel {
    /// Prepares the kernel for launches with this block size and amount of shared memory, which the first such launch would
    /// do otherwise. Translates the kernel anew if its blocks are too large for the present translation, and compiles the
    /// translation with the driver. Finished steps are not repeated.
    ///
    /// # Errors
    /// [`Error::Block`], [`Error::Grid`], [`Error::SharedMemory`], [`Error::Translation`] if it can't be launched like this,
    /// [`Error::OutOfMemory`], [`Error::Refused`], [`Error::Vulkan`].
    pub fn prepare(&self, config: &LaunchConfig) -> Result<PreparationTimes> {
        let (version, key) = self.version(config)?;
        let pipeline = version.prepare(key)?.time;
        Ok(PreparationTimes { translation: version.translation, pipeline })
    }
}

impl Module {
    /// Prepares kernels for launches, as [`Kernel::prepare`] does, with one thread for each processor. Calls `progress`
    /// after each kernel on one of these threads. Returns the results in the order of `launches`; a kernel that fails
    /// doesn't affect the others.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, LaunchConfig, Source};
    ///
    /// let device = Device::reference(Config::default());
    /// let ptx = "
    ///     .version 7.0 .target sm_50 .address_size 64
    ///     .visible .entry one() { ret; }
    ///     .visible .entry two() { ret; }";
    /// let module = device.load(&Source::new("module.ptx", ptx))?;
    /// let launches = [("one", LaunchConfig::linear(64, 64)), ("two", LaunchConfig::linear(32, 32))];
    /// for times in module.prepare(&launches, |name, _| println!("{name} is ready")) {
    ///     times?;
    /// }
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    pub fn prepare(
        &self,
        launches: &[(&str, LaunchConfig)],
        progress: impl Fn(&str, &Result<PreparationTimes>) + Sync,
    ) -> Vec<Result<PreparationTimes>> {
        parallel::map(launches, None, |(name, config)| {
            let times = self.kernel(name).and_then(|kernel| kernel.prepare(config));
            progress(name, &times);
            times
        })
    }

    /// Translates all kernels, as [`Module::kernel`] does one by one, with one thread for each processor. Returns the
    /// results in the order of [`Module::kernel_names`].
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, Source};
    ///
    /// let device = Device::reference(Config::default());
    /// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
    /// let kernels = device.load(&Source::new("nothing.ptx", ptx))?.kernels();
    /// assert!(kernels.len() == 1 && kernels[0].is_ok());
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    pub fn kernels(&self) -> Vec<Result<Kernel>> {
        parallel::map(self.kernel_names(), None, |name| self.kernel(name))
    }
}
