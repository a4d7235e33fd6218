//! The driver's pipeline cache, whose data is stored in the user's cache folder.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use ash::vk;

use crate::backend::vulkan::device::raw::RawDevice;
use crate::cache::{Cache, Key};
use crate::info::DeviceInfo;
use crate::sync::lock;

const KIND: &str = "pipelines";

/// The driver's pipeline cache of a device.
pub(crate) struct PipelineCache {
    /// Null if the driver can't create a cache.
    handle: vk::PipelineCache,
    kept: Option<(Cache, Key)>,
    /// The hash of the data in the file.
    stored: Mutex<Option<Key>>,
    /// Number of pipelines created.
    made: AtomicU64,
    raw: Arc<RawDevice>,
}

impl PipelineCache {
    /// A pipeline cache with the data of earlier processes.
    pub fn new(raw: Arc<RawDevice>, info: &DeviceInfo) -> Self {
        let kept = Cache::of_user().filter(|_| info.keeps_pipelines);
        let kept = kept.map(|cache| (cache, Key::new(&[info.identity().as_bytes()])));
        let data = kept.as_ref().and_then(|(cache, key)| cache.read(KIND, key)).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        let made = kept.is_some().then(|| {
            // SAFETY: the device is alive, and the data is from this driver, or empty.
            unsafe { raw.ash.create_pipeline_cache(&info, None) }
        });
        let handle = made.and_then(Result::ok).unwrap_or_default();
        Self { handle, kept, stored: Mutex::new(hash(&data)), made: AtomicU64::new(0), raw }
    }

    /// The handle for creating pipelines.
    pub fn handle(&self) -> vk::PipelineCache {
        self.handle
    }

    /// Counts a new pipeline. Stores the data after the first, second, fourth one and so on, as the process may exit
    /// without closing the device.
    pub fn add(&self) {
        if (self.made.fetch_add(1, Relaxed) + 1).is_power_of_two() {
            self.store();
        }
    }

    fn store(&self) {
        let Some((cache, key)) = self.kept.as_ref().filter(|_| self.handle != vk::PipelineCache::null()) else {
            return;
        };
        // Locked while writing, so that the newest data is written last.
        let mut stored = lock(&self.stored);
        // SAFETY: the cache is alive.
        let Ok(data) = (unsafe { self.raw.ash.get_pipeline_cache_data(self.handle) }) else { return };
        let found = hash(&data);
        if found.is_some() && *stored != found {
            cache.write(KIND, key, &data);
            *stored = found;
        }
    }
}

/// The hash of a cache's data; `None` if it is empty.
fn hash(data: &[u8]) -> Option<Key> {
    (!data.is_empty()).then(|| Key::new(&[data]))
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        let Some(ash) = self.raw.destroyer() else { return };
        if *self.made.get_mut() > 0 {
            self.store();
        }
        // SAFETY: no pipelines are being created. A null handle may be destroyed.
        unsafe { ash.destroy_pipeline_cache(self.handle, None) };
    }
}
