//! The device for tests: the one that `PTX2SPV_DEVICE` selects, or the best one, with validation layers unless
//! `PTX2SPV_VALIDATION` is `0`.

use std::sync::{Mutex, PoisonError, RwLock};

use ptx2spv::cases::DeviceBackend;
use ptx2spv_runtime::{DeviceSelector, Error, InstanceOptions, Restrictions, VALIDATION_VARIABLE};
use ptx2spv_translator::Target;
use ptx2spv_translator::target::Version;

/// Held for reading while devices are used, and for writing while one is opened or closed: the validation layers of
/// Debian 12 look up each call's device in a table without a lock
/// (<https://github.com/KhronosGroup/Vulkan-ValidationLayers/issues/4391>).
static DEVICES: RwLock<()> = RwLock::new(());

/// Open devices. Tests run on several threads, each with its own device. Opening a device takes longer than most tests.
#[derive(Default)]
pub struct Pool {
    restrictions: Option<Restrictions>,
    idle: Mutex<Vec<DeviceBackend>>,
}

impl Pool {
    /// Devices with some of their features hidden; `None` if they can't run kernels without them.
    ///
    /// # Errors
    /// The errors of [`Pool::with`].
    pub fn restricted(restrictions: Restrictions) -> Result<Option<Self>, Error> {
        let pool = Self { restrictions: Some(restrictions), idle: Mutex::default() };
        match pool.with(|_| ()) {
            Ok(()) => Ok(Some(pool)),
            Err(Error::UnusableDevice { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs a closure on a device that no other test uses at the same time.
    ///
    /// # Errors
    /// There is no such device, or there are no validation layers.
    pub fn with<T>(&self, work: impl FnOnce(&mut DeviceBackend) -> T) -> Result<T, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut device = match idle {
            Some(device) => device,
            None => {
                let (validation, restrictions) = (Some(validation()), self.restrictions.clone());
                let options = InstanceOptions::default().validation(validation).restrictions(restrictions);
                let _all = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
                DeviceBackend::open_with(&DeviceSelector::Default, options)?
            }
        };
        let used = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut device);
        drop(used);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(device);
        Ok(result)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _all = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
        self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn validation() -> bool {
    std::env::var_os(VALIDATION_VARIABLE).is_none_or(|value| value != "0")
}

/// The environment of `spirv-val` for a target's modules, by its name on the command line.
pub fn environment(target: &Target) -> &'static str {
    match (target.vulkan, target.spirv) {
        (Version(1, 0..=1), Version(1, 4..)) => "vulkan1.1spv1.4",
        (Version(1, 0..=1), _) => "vulkan1.1",
        (Version(1, 2), _) => "vulkan1.2",
        _ => "vulkan1.3",
    }
}
