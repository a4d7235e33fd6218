//! The driver's pipeline cache, whose data is kept in the user's cache folder.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use ash::vk;

use super::raw::RawDevice;
use crate::cache::{Cache, Key};
use crate::info::DeviceInfo;
use crate::probe;
use crate::sync::lock;

const KIND: &str = "pipelines";

/// The pipelines of a device, as far as the driver keeps them.
pub(crate) struct PipelineCache {
    /// Null if there can be none.
    handle: vk::PipelineCache,
    kept: Option<(Cache, Key)>,
    /// The hash of what the file holds.
    stored: Mutex<Option<Key>>,
    /// Pipelines made.
    made: AtomicU64,
    raw: Arc<RawDevice>,
}

impl PipelineCache {
    /// The cache with what is known from earlier.
    pub fn new(raw: Arc<RawDevice>, info: &DeviceInfo) -> Self {
        let kept = Cache::of_user().filter(|_| info.keeps_pipelines);
        let kept = kept.map(|cache| (cache, Key::new(&[probe::key(info).as_bytes()])));
        let data = kept.as_ref().and_then(|(cache, key)| cache.read(KIND, key)).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        let made = kept.is_some().then(|| {
            // SAFETY: the device is alive, and the data is what this driver gave, or nothing.
            unsafe { raw.ash.create_pipeline_cache(&info, None) }
        });
        let handle = made.and_then(Result::ok).unwrap_or_default();
        Self { handle, kept, stored: Mutex::new(hash(&data)), made: AtomicU64::new(0), raw }
    }

    /// To make pipelines with.
    pub fn handle(&self) -> vk::PipelineCache {
        self.handle
    }

    /// A pipeline was made. Writes the data at the first one, the second, the fourth and so on, as the process may end without
    /// closing the device.
    pub fn add(&self) {
        if (self.made.fetch_add(1, Relaxed) + 1).is_power_of_two() {
            self.store();
        }
    }

    fn store(&self) {
        let Some((cache, key)) = self.kept.as_ref().filter(|_| self.handle != vk::PipelineCache::null()) else {
            return;
        };
        // Held while writing, so that the newest comes last.
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

/// The hash of a cache's data; none if there is none.
fn hash(data: &[u8]) -> Option<Key> {
    (!data.is_empty()).then(|| Key::new(&[data]))
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        let Some(ash) = self.raw.destroyer() else { return };
        if *self.made.get_mut() > 0 {
            self.store();
        }
        // SAFETY: nobody makes pipelines any more; destroying nothing is allowed.
        unsafe { ash.destroy_pipeline_cache(self.handle, None) };
    }
}
