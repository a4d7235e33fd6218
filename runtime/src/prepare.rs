//! Kernels prepared ahead of their first launch, several side by side.

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

/// How long it took to prepare a kernel, whoever asked for that first.
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
    /// Translating the kernel, or finding its translation in the cache; zero if it was loaded translated.
    pub translation: Duration,
    /// Compiling the translation for the device, which is the driver's work.
    pub pipeline: Duration,
}

impl Kernel {
    /// Does all that the first launch with such blocks and so much shared memory would do before: translates the kernel if it was
    /// translated for smaller blocks, and has the driver compile the translation. What is there already is not done again.
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
    /// Prepares kernels, each for a launch as [`Kernel::prepare`] does, on as many threads as run at once on this machine.
    /// `progress` is called after each kernel, on one of these threads. What comes of each is in the order in which they were
    /// named: one that can't be prepared is not in the way of the others.
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
        side_by_side(launches, |(name, config)| {
            let times = self.kernel(name).and_then(|kernel| kernel.prepare(config));
            progress(name, &times);
            times
        })
    }

    /// Translates all kernels, as [`Module::kernel`] does one by one, on as many threads as run at once on this machine. What
    /// comes of each is in the order of [`Module::kernel_names`].
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
        side_by_side(self.kernel_names(), |name| self.kernel(name))
    }
}

/// Does something with all of a list, on several threads if that is more than one.
fn side_by_side<T: Sync, R: Send + Sync>(list: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
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
            // This thread does what others would have done, if there can be no more.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    // All of them are there.
    results.into_iter().zip(list).map(|(result, item)| result.into_inner().unwrap_or_else(|| make(item))).collect()
}
