//! The open device: what it is, and waiting for it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ptx2spv_translator::Target;

use crate::backend::{Backend, Shader};
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::sync::lock;

/// An open device. Clones share it; it is closed with the last of its clones, buffers, modules and kernels, after it
/// has finished its work.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    backend: Arc<dyn Backend>,
    info: DeviceInfo,
    fallback: Option<Error>,
    max_dispatch_time: Mutex<Option<Duration>>,
    /// Held by a launch that is submitted in parts.
    split: Mutex<()>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.shared.info.name)
    }
}

impl Device {
    /// The device that a back end has opened; `fallback` is why it is not the one that was asked for.
    pub(crate) fn new(backend: Arc<dyn Backend>, info: DeviceInfo, fallback: Option<Error>) -> Self {
        let shared = Shared { backend, info, fallback, max_dispatch_time: Mutex::default(), split: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.shared.backend
    }

    /// Takes a module that passed [`crate::check::interface`].
    pub(crate) fn shader(&self, spirv: &[u32]) -> Result<Arc<dyn Shader>, Error> {
        self.shared.backend.clone().shader(spirv).map(Arc::from)
    }

    /// Whether both are the same open device.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Keeps other launches from coming between the parts of one that is submitted in parts.
    pub(crate) fn lock_parts(&self) -> MutexGuard<'_, ()> {
        lock(&self.shared.split)
    }

    /// What the driver says of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// What the translator needs to know of the device. All its features are enabled.
    pub fn target(&self) -> &Target {
        &self.shared.info.target
    }

    /// Why the reference device stands in for a Vulkan device; `None` if it doesn't.
    pub fn fallback(&self) -> Option<&Error> {
        self.shared.fallback.as_ref()
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::Fault`], [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.shared.backend.synchronize()?;
        self.shared.backend.check_stopped()
    }

    /// Lets no submission of a launch take much longer than this, as far as one block allows, so that a desktop's watchdog
    /// doesn't take the device for hung; `None`, as at first, submits whole grids. [`Kernel::launch`](crate::Kernel::launch)
    /// then submits a few blocks at first, measures, and goes on with as many as fill half of the time, also at the kernel's
    /// later launches. It returns when the last part has ended.
    ///
    /// Grids whose blocks may wait for each other, as at a barrier of the whole grid, stay whole
    /// ([`Entry::waits`](ptx2spv_translator::interface::Entry::waits)). If several threads use the device, copies may come between two parts.
    pub fn set_max_dispatch_time(&self, time: Option<Duration>) {
        *lock(&self.shared.max_dispatch_time) = time;
    }

    /// What was last set.
    pub fn max_dispatch_time(&self) -> Option<Duration> {
        *lock(&self.shared.max_dispatch_time)
    }

    /// How often work was submitted to the device so far: launches and copies that collected while it was busy count once, a
    /// launch in several parts as often as it has parts.
    pub fn submissions(&self) -> u64 {
        self.shared.backend.submissions()
    }

    /// What kernels have printed since the last call, as far as the device was waited for or read from after them. The text
    /// of one `printf` stands together; which thread's comes first is open.
    pub fn take_output(&self) -> Vec<u8> {
        self.shared.backend.take_output()
    }
}
