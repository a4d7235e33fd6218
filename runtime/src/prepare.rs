//! Preparing kernels before their first launch, several in parallel.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::kernel::Kernel;
use crate::launch_config::LaunchConfig;
use crate::module::Module;

/// How long it took to prepare a kernel, in this call or an earlier one.
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
    /// Time of the driver to compile the translation.
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
    pub fn prepare(&self, config: &LaunchConfig) -> Result<PreparationTimes, Error> {
        let (version, variant) = self.version(config)?;
        let pipeline = version.prepare(variant)?.time;
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
        progress: impl Fn(&str, &Result<PreparationTimes, Error>) + Sync,
    ) -> Vec<Result<PreparationTimes, Error>> {
        in_parallel(launches, |(name, config)| {
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
    pub fn kernels(&self) -> Vec<Result<Kernel, Error>> {
        in_parallel(self.kernel_names(), |name| self.kernel(name))
    }
}

/// Calls `make` for each item of a list, on several threads if there are several items. Returns the results in order.
fn in_parallel<T: Sync, R: Send + Sync>(list: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(list.len());
    if threads <= 1 {
        return list.iter().map(make).collect();
    }
    let results: Vec<OnceLock<R>> = list.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item, result)) = Some(next.fetch_add(1, Relaxed)).and_then(|i| list.get(i).zip(results.get(i)))
        {
            result.get_or_init(|| make(item));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    // All results are there.
    results.into_iter().zip(list).map(|(result, item)| result.into_inner().unwrap_or_else(|| make(item))).collect()
}
