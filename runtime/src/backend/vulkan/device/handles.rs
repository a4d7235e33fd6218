//! The Vulkan objects of a pipeline.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use ash::vk;

use crate::backend::vulkan::raw::RawDevice;
use crate::backend::vulkan::transfer::images::Tables;
use crate::cache::{Cache, Key};
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::sync::lock;

/// The objects of a pipeline, destroyed once they are no longer used.
pub(crate) struct Handles {
    pub layout: vk::PipelineLayout,
    /// Null only while the pipeline is being created.
    pub pipeline: vk::Pipeline,
    /// The tables of images, if the kernel reads them.
    pub tables: Option<Arc<Tables>>,
    raw: Arc<RawDevice>,
}

impl Handles {
    /// Creates the layout, without a pipeline.
    pub fn new(raw: &Arc<RawDevice>, push_constant_size: u32, tables: Option<Arc<Tables>>) -> Result<Self> {
        let stage = vk::ShaderStageFlags::COMPUTE;
        let range = [vk::PushConstantRange::default().stage_flags(stage).size(push_constant_size)];
        let ranges = if push_constant_size == 0 { &[][..] } else { &range };
        let sets: Vec<_> = tables.iter().map(|tables| tables.layout).collect();
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges).set_layouts(&sets);
        // SAFETY: the range is within the device's limit (`check::interface`).
        let layout = unsafe { raw.ash.create_pipeline_layout(&info, None) };
        let layout = layout.map_err(Error::vulkan("vkCreatePipelineLayout"))?;
        Ok(Self { layout, pipeline: vk::Pipeline::null(), tables, raw: raw.clone() })
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: the code that drops this has made sure that no submission uses it. Null handles may be destroyed.
            unsafe {
                ash.destroy_pipeline(self.pipeline, None);
                ash.destroy_pipeline_layout(self.layout, None);
            }
        }
    }
}

// Pipelines that stay after their modules are unloaded.
//
// Frameworks load their own kernels again for each context, and their caches for pipelines spare drivers only a part of the work:
// Mesa's CPU device compiles a second of machine code again and again.

/// The number of pipelines that stay.
const MOST: usize = 64;
/// The number of bytes of SPIR-V that they were made from. Machine code grows with the SPIR-V.
const MOST_BYTES: usize = 8 << 20;

/// The pipelines that were made or asked for last, by everything that they depend on.
pub(crate) struct KeptPipelines<P> {
    /// The last one is the newest.
    kept: Mutex<Vec<Kept<P>>>,
}

struct Kept<P> {
    key: Key,
    pipeline: Arc<P>,
    spirv_bytes: usize,
}

impl<P> Default for KeptPipelines<P> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<P> KeptPipelines<P> {
    /// The pipeline with this key, if it is there.
    pub fn find(&self, key: &Key) -> Option<Arc<P>> {
        let mut kept = lock(&self.kept);
        let index = kept.iter().position(|known| known.key == *key)?;
        let found = kept.remove(index);
        let pipeline = found.pipeline.clone();
        kept.push(found);
        Some(pipeline)
    }

    /// Keeps a pipeline, and returns those that have to go for it. The device may still be running them.
    pub fn keep(&self, key: Key, pipeline: Arc<P>, spirv_bytes: usize) -> Vec<Arc<P>> {
        let mut kept = lock(&self.kept);
        if kept.iter().any(|known| known.key == key) {
            // Another thread has made the same pipeline meanwhile.
            return Vec::new();
        }
        kept.push(Kept { key, pipeline, spirv_bytes });
        let bytes = |kept: &[Kept<P>]| kept.iter().map(|kept| kept.spirv_bytes).sum::<usize>();
        let mut leaving = 0;
        while kept.len() - leaving > MOST || bytes(&kept[leaving..]) > MOST_BYTES {
            leaving += 1;
        }
        kept.drain(..leaving).map(|kept| kept.pipeline).collect()
    }
}

// The driver's pipeline cache, whose data is stored in the user's cache folder.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key::new(&[&number.to_le_bytes()])
    }

    #[test]
    fn the_oldest_leave() {
        let kept = KeptPipelines::default();
        for number in 0..MOST {
            assert!(kept.keep(key(number), Arc::new(number), 1).is_empty());
        }
        assert_eq!(kept.find(&key(0)).as_deref(), Some(&0));
        assert_eq!(kept.keep(key(MOST), Arc::new(MOST), 1), [Arc::new(1)]);
        assert_eq!((kept.find(&key(1)), kept.find(&key(0)).as_deref()), (None, Some(&0)));
        // A large one takes the place of all others, and one that is too large doesn't stay.
        assert_eq!(kept.keep(key(100), Arc::new(100), MOST_BYTES).len(), MOST);
        assert_eq!(kept.find(&key(100)).as_deref(), Some(&100));
        assert_eq!(kept.keep(key(101), Arc::new(101), MOST_BYTES + 1), [Arc::new(100), Arc::new(101)]);
        assert_eq!(kept.find(&key(101)), None);
    }
}
